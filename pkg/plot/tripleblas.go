package plot

import (
	"math"

	"mpbench/pkg/record"
)

// single is the method that times are relative to: binary32 in the order of additions of all other formats.
const single = "float32-lanes"

// tripleBLAS is a figure of the slides on triple and quadruple precision BLAS: the time of an operation in number
// formats, relative to that in binary32, against n.
func tripleBLAS(command string, log bool) Kind {
	draw := func(records []*record.Record, _ Options) *chart { return drawRelative(records, command, log) }
	return Kind{
		"tripleblas-" + command, "time of " + command + " relative to " + single + " against n, as on the slides",
		"times of " + command + " by " + single + " and others, as of mpbench paper tripleblas-" + command, draw,
		func(records []*record.Record) bool { return severalSizes(relatives(records, command)) }, false,
	}
}

// sizeKey is what records have in common whose times are compared.
type sizeKey struct {
	device string
	n      int
}

func keyOf(r *record.Record) sizeKey { return sizeKey{r.Device, r.Shape.N} }

// relatives returns the records of a command with a time beside one of binary32.
func relatives(records []*record.Record, command string) []*record.Record {
	base := singles(records, command)
	if len(base) == 0 {
		return nil
	}
	return filter(records, func(r *record.Record) bool {
		return r.Command == command && hasTime(r) && base[keyOf(r)] > 0
	})
}

// singles returns the times in binary32.
func singles(records []*record.Record, command string) map[sizeKey]float64 {
	base := map[sizeKey]float64{}
	for _, r := range records {
		if r.Command == command && r.Method == single && hasTime(r) {
			base[keyOf(r)] = r.Time.Median
		}
	}
	return base
}

func drawRelative(records []*record.Record, command string, log bool) *chart {
	base := singles(records, command)
	at, text := func(n int) float64 { return float64(n) }, plainText
	if log {
		at, text = func(n int) float64 { return math.Log10(float64(n)) }, countText
	}
	c := &chart{
		title: "Slides on triple precision: time of " + command + " relative to binary32",
		x:     axis{label: "n", log: log, text: text, empty: [2]float64{0, 3}},
		y:     axis{label: "time relative to " + single, text: plainText, zero: true, empty: [2]float64{0, 4}},
	}
	return c.gather(relatives(records, command), source{
		panel: func(r *record.Record) string { return r.Device },
		point: func(r *record.Record) (point, bool) {
			one := base[keyOf(r)]
			p := point{xy: xy{at(r.Shape.N), r.Time.Median / one}}
			p.lo, p.hi = p.y, p.y
			if r.Time.Lo > 0 && r.Time.Hi >= r.Time.Lo {
				p.lo, p.hi = r.Time.Lo/one, r.Time.Hi/one
			}
			return p, true
		},
	})
}
