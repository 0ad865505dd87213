package accuratetest_test

import (
	"fmt"

	"mpbench/pkg/accurate"
	"mpbench/pkg/accurate/accuratetest"
)

// printer is a test that prints; yours is a *testing.T.
type printer struct{}

func (printer) Helper()                           {}
func (printer) Errorf(format string, args ...any) { fmt.Printf(format+"\n", args...) }

// A loop loses one of three numbers.
func ExampleSum() {
	var t printer
	x := []float64{1e16, 1, 1e-16, -1e16}
	loop := 0.0
	for _, v := range x {
		loop += v
	}
	accuratetest.Sum(t, loop, x, 50)
	accuratetest.Sum(t, accurate.Sum(x), x, 50)
	// Output:
	// sum of 4 numbers: 0 correct bits, want 50
	// 	got               0
	// 	nearest float64   1
	// 	exact             1.000000000000000099999999999999997909779e+00
	// 	condition number  2.0e+16
}
