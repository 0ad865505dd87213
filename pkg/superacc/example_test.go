package superacc_test

import (
	"bytes"
	"fmt"
	"math"

	"mpbench/pkg/superacc"
)

// The sum is exact until it is rounded, so neither cancellation nor an overflow on the way matters.
func ExampleSum() {
	fmt.Println(superacc.Sum([]float64{1e100, 1, -1e100}, 1))
	fmt.Println(superacc.Sum([]float64{0x1p1023, 0x1p1023, -0x1p1023, -0x1p1023, 0x1p-1074}, 1) == 0x1p-1074)
	// Output:
	// 1
	// true
}

// Products are exact too.
func ExampleDot() {
	x := []float64{math.MaxFloat64, 0x1p-1074, -math.MaxFloat64}
	y := []float64{math.MaxFloat64, 0x1p1000, math.MaxFloat64}
	fmt.Println(superacc.Dot(x, y, 1) == 0x1p-74)
	// Output:
	// true
}

// An accumulator gives its value in any precision.
func ExampleAccumulator() {
	var a superacc.Accumulator
	for range 10 {
		a.Add(0.1)
	}
	fmt.Println(a.Float64())
	fmt.Println(a.Round(200).Text('g', 40))
	// Output:
	// 1
	// 1.000000000000000055511151231257827021182
}

// A stream is summed in constant memory.
func ExampleSumReader() {
	// 1 and -2, the highest byte first
	data := bytes.NewReader([]byte{0x3f, 0xf0, 0, 0, 0, 0, 0, 0, 0xc0, 0, 0, 0, 0, 0, 0, 0})
	fmt.Println(superacc.SumReader(data, superacc.Float64BigEndian))
	// Output:
	// -1 <nil>
}
