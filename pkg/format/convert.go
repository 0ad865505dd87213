package format

import (
	"cmp"

	"mpbench/pkg/exact"
)

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
