package datasets

// seriesSets are series whose partial sums are tabulated, in two orders.
func seriesSets() []*Set {
	order := Param{
		Name: "order", Meaning: "forward: largest term first; backward: smallest first",
		Default: "forward", Kind: Choice, Choices: []string{"forward", "backward"},
	}
	series := func(name, summary, source string, term func(i float64) float64) *Set {
		return &Set{
			Name:     name,
			Summary:  summary,
			Source:   source,
			Params:   []Param{order},
			DefaultN: 1_000_000,
			make: func(j *job) error {
				for i := range j.terms {
					at := i
					if j.text("order") == "backward" {
						at = j.n - 1 - i
					}
					j.terms[at] = term(float64(i + 1))
				}
				return nil
			},
		}
	}
	return []*Set{
		series("harmonic", "fl(1/i), i = 1..n",
			"Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., section 4",
			func(i float64) float64 { return 1 / i }),
		series("basel", "fl(1/fl(i*i)), i = 1..n; the infinite series is pi^2/6",
			"Higham, SIAM J. Sci. Comput. 14(4), 1993, doi:10.1137/0914050",
			func(i float64) float64 { return 1 / float64(i*i) }),
	}
}
