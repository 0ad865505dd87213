package exact_test

import (
	"fmt"
	"math/big"

	"mpbench/pkg/exact"
)

// The exact sum of three numbers that binary64 arithmetic loses entirely, and the error of what it gives instead.
func ExampleMeasure() {
	xs := []float64{1e100, 1, -1e100}
	s := exact.SumOf(xs)
	naive := 0.0
	for _, x := range xs {
		naive += x
	}
	e := exact.Measure(exact.FromFloat64(naive), s.Sum)
	fmt.Println("exact", s.Sum.Text(3), "condition", s.Condition().Text(3))
	fmt.Println("computed", naive, "relative error", e.Rel.Text(2), "correct bits", e.CorrectBits())
	// Output:
	// exact 1.00e+00 condition 2.00e+100
	// computed 0 relative error 1.0e+00 correct bits 0
}

// Accumulators of parts of the data are merged without loss, and rationals stand beside float64 numbers.
func ExampleSum() {
	var left, right exact.Sum
	left.AddSlice([]float64{0.5, 0x1p-1074})
	right.AddRat(big.NewRat(1, 3))
	right.Add(-0x1p-1074)
	left.Merge(&right)
	fmt.Println(left.N(), left.Value().Rat)
	// Output:
	// 4 5/6
}

// FormatRat writes errors of any magnitude.
func ExampleFormatRat() {
	tiny, _ := new(big.Rat).SetString("6.24e-2700")
	fmt.Println(exact.FormatRat(tiny, 2))
	// Output:
	// 6.2e-2700
}
