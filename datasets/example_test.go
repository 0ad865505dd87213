package datasets_test

import (
	"errors"
	"fmt"

	"mpbench/datasets"
	"mpbench/pkg/op"
)

// A set is named by a spec; its exact sum comes from the terms, not from the definition.
func ExampleGenerate() {
	spec, err := datasets.Vectors.Parse("mcnamee3")
	if err != nil {
		fmt.Println(err)
		return
	}
	d, err := datasets.Generate(spec, datasets.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := op.Exact(d.Problem(op.Sum))
	if err != nil {
		panic(err)
	}
	s := r.Component(0)
	fmt.Println(d.N, "terms, exact sum", s.Sum.Text(30), "condition", s.Condition().Text(3))
	// Output:
	// 64 terms, exact sum 3.48733745022891305989079454711e-06 condition 8.22e+10
}

// Errors say what is wrong, what would be right, and whose mistake it is.
func ExampleFamily_Parse() {
	_, err := datasets.Vectors.Parse("mcname1")
	fmt.Println(err)
	_, err = datasets.Vectors.Parse("zhuhayes3:delta=5000")
	fmt.Println(err, errors.Is(err, datasets.ErrUsage))
	// Output:
	// unknown data set "mcname1" (did you mean mcnamee1?)
	// zhuhayes3: delta=5000: want an integer from 0 to 2000 true
}
