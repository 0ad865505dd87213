package gemv_test

import (
	"context"
	"fmt"

	"mpbench/datasets"
	"mpbench/pkg/gemv"
	"mpbench/pkg/measure"
	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
)

// A product whose rows have condition numbers of about 1e40, by every method at 160 bits: how many bits of the worst
// component are correct.
func Example() {
	spec, err := datasets.Matrices.Parse("gengemv:cond=1e40,n=50,seed=7")
	if err != nil {
		panic(err)
	}
	d, err := datasets.Generate(spec, datasets.Options{})
	if err != nil {
		panic(err)
	}
	p := d.Problem(op.Gemv)
	p.Alpha = numbers.Scalar(1.0 / 3)
	in, err := measure.NewInput(d.Record(), p)
	if err != nil {
		panic(err)
	}
	for _, m := range method.Catalog(gemv.Methods()).Of(op.Gemv) {
		e, err := m.New(method.Config{Precision: 160})
		if err != nil {
			panic(err)
		}
		if err := method.Run(context.Background(), e, p); err != nil {
			panic(err)
		}
		y, err := e.Result()
		if err != nil {
			panic(err)
		}
		j, err := in.Judge(y, m.ErrorBound(e.Info(), p).Of)
		if err != nil {
			panic(err)
		}
		fmt.Printf("%-9s  %3.0f bits  within bound: %v\n", m.Name, j.Errors.CorrectBits(), !j.Outside)
	}
	// Output:
	// float64      0 bits  within bound: true
	// bigfloat    26 bits  within bound: true
	// rns-basic   24 bits  within bound: true
	// rns-split   26 bits  within bound: true
	// deferred   161 bits  within bound: true
}
