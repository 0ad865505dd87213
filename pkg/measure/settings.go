package measure

import (
	"strconv"

	"mpbench/pkg/exact"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
)

// factors returns what the arrays of a problem are multiplied by, but for a factor 1 of x and 0 of y, the usual ones;
// nil for none. A float64 has as few digits as tell it.
func factors(p *op.Problem) (list map[string]string) {
	for _, o := range p.Op.Operands {
		a := p.Operand(o.Name)
		if o.Kind != op.Number || a.Absent() {
			continue
		}
		usual := 1.0
		if o.Default == "0" {
			usual = 0
		}
		if a.Equals(usual) {
			continue
		}
		x := numbers.At(a.Source, a.Offset)
		text := x.Text(exactDigits)
		if f := x.Float64(); exact.FromFloat64(f).Equal(x) {
			text = strconv.FormatFloat(f, 'g', -1, 64)
		}
		list = with(list, o.Name, text)
	}
	return list
}

// strides returns the leading dimensions and increments that are not those of arrays without gaps.
func strides(p *op.Problem) (list map[string]int) {
	if !p.Op.Has(op.Matrix) {
		return nil
	}
	for _, o := range p.Op.Arrays() {
		a := p.Operand(o.Name)
		switch {
		case a.Absent():
		case o.Kind == op.Vector && a.RowStride != 1 && a.Rows > 1:
			list = with(list, "inc"+o.Name, a.RowStride)
		case o.Kind == op.Matrix && a.RowStride == 1 && a.Cols > 1 && a.ColStride != max(1, a.Rows):
			list = with(list, "ld"+o.Name, a.ColStride)
		}
	}
	return list
}

// with returns a map with a further entry, a new one in place of nil.
func with[T any](list map[string]T, key string, value T) map[string]T {
	if list == nil {
		list = map[string]T{}
	}
	list[key] = value
	return list
}
