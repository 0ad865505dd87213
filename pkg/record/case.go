package record

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Label returns the data set as users type it: "gensum:c=1e20,seed=1". Parameters are in alphabetical order.
func (d Dataset) Label() string {
	if len(d.Params) == 0 {
		return d.Name
	}
	var b strings.Builder
	b.WriteString(d.Name)
	sep := byte(':')
	for _, key := range slices.Sorted(maps.Keys(d.Params)) {
		b.WriteByte(sep)
		b.WriteString(key + "=" + d.Params[key])
		sep = ','
	}
	return b.String()
}

// A Setting is one of the choices that tell one case from another.
type Setting struct{ Key, Value string }

// Settings returns everything that was chosen for the record, in a fixed order: method, data set, shape,
// precision and the options that the method uses. Results, times and the environment are no part of it.
func (r *Record) Settings() []Setting {
	s := []Setting{{"method", r.Method}}
	add := func(key string, value any, present bool) {
		if present {
			s = append(s, Setting{key, fmt.Sprint(value)})
		}
	}
	add("precision", r.PrecisionBits, true)
	add("dataset", r.Dataset.Label(), true)
	add("m", r.Shape.M, r.Shape.M != 0)
	add("n", r.Shape.N, true)
	add("k", r.Shape.K, r.Shape.K != 0)
	add("nnz", r.Shape.NNZ, r.Shape.NNZ != 0)
	add("trans", r.Shape.Trans, r.Shape.Trans != "")
	add("device", r.Device, r.Device != "" && r.Device != "cpu")
	add("moduli-bits", r.ModuliBits, r.ModuliBits != 0)
	add("rounding", r.Rounding, r.Rounding != "")
	add("alignment", r.Alignment, r.Alignment != "")
	add("blocks", r.Blocks, r.Blocks != 0)
	add("block-size", r.BlockSize, r.BlockSize != 0)
	return s
}

// Case identifies what was measured: two records with the same Case are runs of the same thing, on the same
// data if Dataset.SHA256 agrees too.
func (r *Record) Case() string {
	var b strings.Builder
	b.WriteString(r.Command)
	for _, s := range r.Settings() {
		b.WriteString("/" + s.Key + "=" + s.Value)
	}
	fmt.Fprintf(&b, "/threads=%d", r.Threads)
	return b.String()
}
