package gemv_test

import (
	"fmt"

	"mpbench/datasets"
	"mpbench/pkg/gemv"
)

// A product whose rows have condition numbers of about 1e40, by every method at 160 bits: how many bits of the worst component
// are correct.
func Example() {
	spec, err := datasets.ParseMatrix("gengemv:cond=1e40,n=50,seed=7")
	if err != nil {
		panic(err)
	}
	d, err := datasets.GenerateMatrix(spec, datasets.MatrixOptions{})
	if err != nil {
		panic(err)
	}
	p := gemv.Problem{
		M: d.M, N: d.N, LDA: d.M, Alpha: gemv.Number(1.0 / 3), A: gemv.Numbers{Float64: d.A},
		X: gemv.Numbers{Float64: d.X}, IncX: 1, Y: gemv.Numbers{Float64: d.Y}, IncY: 1,
	}
	reference, err := gemv.Exact(p, 0)
	if err != nil {
		panic(err)
	}
	for _, m := range gemv.Methods() {
		e, err := m.New(gemv.Options{Precision: 160})
		if err != nil {
			panic(err)
		}
		if err := e.Load(p); err != nil {
			panic(err)
		}
		e.Run()
		a := gemv.Measure(e.Result(), reference)
		within := a.Components[a.Worst].Within(e.ErrorBound(a.Worst, reference.Summary(a.Worst)))
		fmt.Printf("%-9s  %3.0f bits  within bound: %v\n", m.Name, a.Components[a.Worst].CorrectBits(), within)
	}
	// Output:
	// float64      0 bits  within bound: true
	// bigfloat    26 bits  within bound: true
	// rns-basic   24 bits  within bound: true
	// rns-split   26 bits  within bound: true
	// deferred   161 bits  within bound: true
}
