package accurate_test

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"mpbench/pkg/accurate"
)

// A loop loses what an accurate sum keeps.
func Example() {
	x := []float64{1e16, 1, -1e16}
	loop := 0.0
	for _, v := range x {
		loop += v
	}
	fmt.Println("loop:", loop)
	fmt.Println("exact, rounded once:", accurate.Sum(x))
	// Output:
	// loop: 0
	// exact, rounded once: 1
}

func ExampleSum() {
	tenths := []float64{0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1}
	fmt.Println(accurate.Sum(tenths)) // a loop gives 0.9999999999999999
	fmt.Println(accurate.Sum([]float64{math.MaxFloat64, math.MaxFloat64, -math.MaxFloat64}) == math.MaxFloat64)
	fmt.Println(accurate.Sum([]float64{math.Inf(1), math.Inf(-1)}), accurate.Sum(nil))
	// Output:
	// 1
	// true
	// NaN 0
}

func ExampleSumPrec() {
	x := []float64{1, 1e-30, 1e-60}
	fmt.Println(accurate.SumPrec(x, 53))
	fmt.Println(accurate.SumPrec(x, 240).Text('g', 65))
	fmt.Println(accurate.SumPrec(x, 0).Prec(), "bits are exact")
	// Output:
	// 1
	// 1.0000000000000000000000000000010000000000000000833364206075869854
	// 252 bits are exact
}

func ExampleDot() {
	x := []float64{1e200, 3, -1e200}
	y := []float64{1e200, 5, 1e200}
	fmt.Println(accurate.Dot(x, y)) // a loop gives NaN: the products overflow
	// Output: 15
}

func ExampleDotPrec() {
	x := []float64{0.1}
	fmt.Println(accurate.DotPrec(x, x, 0).Text('g', 40)) // the square of the float64 next to 0.1, exactly
	// Output: 0.01000000000000000111022302462515657123851
}

func ExampleMulVec() {
	// two rows next to each other; accurate.ColMajor takes two columns
	a := accurate.RowMajor(2, 3, []float64{
		1e16, 1, -1e16,
		1, 2, 3,
	})
	x := []float64{1, 1, 1}
	dst := make([]float64, 2)
	accurate.MulVec(dst, a, x)
	fmt.Println(dst)
	// Output: [1 6]
}

func ExampleMulVec_gonum() {
	a := mat.NewDense(2, 3, []float64{
		1e16, 1, -1e16,
		1, 2, 3,
	})
	rows, columns := make([]float64, 2), make([]float64, 3)
	accurate.MulVec(rows, a, []float64{1, 1, 1})
	accurate.MulVec(columns, a.T(), []float64{1, 1}) // no element is copied
	fmt.Println(rows, columns)
	// Output: [1 6] [1e+16 3 -9.999999999999996e+15]
}

func ExampleMulVecDense() {
	a := mat.NewSymDense(2, []float64{2, 1, 1, 2})
	x := mat.NewVecDense(2, []float64{3, 4})
	var dst mat.VecDense
	accurate.MulVecDense(&dst, a, x) // as dst.MulVec(a, x)
	fmt.Println(mat.Formatted(&dst))
	// Output:
	// ⎡10⎤
	// ⎣11⎦
}

func ExampleMulVecPrec() {
	y := accurate.MulVecPrec(accurate.RowMajor(1, 2, []float64{1, 1e-20}), []float64{1, 1}, 100)
	fmt.Println(y[0].Text('g', 30))
	// Output: 1.00000000000000000001
}

// A residual: what is left of b after a solution is a difference of nearly equal numbers, and has to be accurate.
func ExampleGemv() {
	a := accurate.RowMajor(2, 2, []float64{3, 1, 1, 2})
	x := []float64{0.2, 0.4} // the solution of a*x = (1, 1), rounded
	residual := []float64{1, 1}
	accurate.Gemv(-1, a, x, 1, residual) // 1 - (3*0.2 + 0.4) is 0 in float64
	fmt.Println(residual)
	// Output: [-5.551115123125783e-17 -5.551115123125783e-17]
}

func ExampleThreads() {
	x := make([]float64, 1_000_000)
	for i := range x {
		x[i] = 1 / float64(i+1)
	}
	fmt.Println(accurate.Threads(0).Sum(x) == accurate.Sum(x)) // by all processors: the same bits
	// Output: true
}

// Parts of a sum, from anywhere, in any order.
func ExampleAccumulator() {
	var first, second accurate.Accumulator
	first.AddSlice([]float64{0x1p600, 0.1})
	second.AddProduct(-0x1p300, 0x1p300)
	first.Merge(&second)
	fmt.Println(first.Float64(), "of", first.Terms(), "terms")
	fmt.Println("exactly", first.Big(0).Text('g', 60))
	// Output:
	// 0.1 of 3 terms
	// exactly 0.1000000000000000055511151231257827021181583404541015625
}

// Bytes of an accumulator go over a network, or into a file, and are merged there.
func ExampleAccumulator_UnmarshalBinary() {
	var part accurate.Accumulator
	part.AddSlice([]float64{0.1, 0.2})
	bytes, err := part.MarshalBinary()
	if err != nil {
		panic(err)
	}

	var received, total accurate.Accumulator
	if err := received.UnmarshalBinary(bytes); err != nil {
		panic(err)
	}
	total.Add(0.3)
	total.Merge(&received)
	fmt.Println(total.Float64())

	bytes[10]++
	err = received.UnmarshalBinary(bytes)
	fmt.Println(errors.Is(err, accurate.ErrChecksum), err)
	// Output:
	// 0.6
	// true accurate: damaged bytes of an accumulator: their checksum is wrong
}
