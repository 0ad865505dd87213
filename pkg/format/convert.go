package format

import (
	"cmp"

	"mpbench/pkg/exact"
	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
)

// Convert returns a vector of one format in another one, rounded once: as numbers of files are.
func Convert[V, S, W, T any](to Format[W, T], from Format[V, S], x V, n int) (W, method.Rounded) {
	values := make(numbers.Values, n)
	for i := range values {
		values[i] = from.Value(from.Get(x, i))
	}
	return to.Load(numbers.Vector(values))
}

// Compare compares two numbers exactly: -1, 0 or 1. Of a NaN it returns false.
func (f Format[V, S]) Compare(x, y S) (order int, ok bool) {
	a, b := f.Value(x), f.Value(y)
	if a.Class == exact.NaN || b.Class == exact.NaN {
		return 0, false
	}
	rank := func(v exact.Value) int {
		switch v.Class {
		case exact.PosInf:
			return 1
		case exact.NegInf:
			return -1
		}
		return 0
	}
	if a.IsFinite() && b.IsFinite() {
		return a.Number().Cmp(b.Number()), true
	}
	return cmp.Compare(rank(a), rank(b)), true
}
