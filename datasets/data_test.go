package datasets

import (
	"math/big"

	"mpbench/pkg/exact"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
)

// floats returns numbers that are float64, nil for others.
func floats(x Numbers) []float64 {
	list, _ := x.Float64()
	return list
}

// rationals returns numbers that are not float64, nil for others.
func rationals(x Numbers) (list []*big.Rat) {
	if _, ok := x.Float64(); ok || x.Source == nil {
		return nil
	}
	for i := range x.Len() {
		list = append(list, numbers.At(x.Source, i).Number())
	}
	return list
}

// summaryOf returns the exact sum of a vector, or dot product of a pair, and that of the magnitudes.
func summaryOf(d *Data) exact.Summary {
	o := op.Sum
	if d.Y.Source != nil {
		o = op.Dot
	}
	r, err := op.Exact(d.Problem(o))
	if err != nil {
		panic(err)
	}
	return r.Component(0)
}
