package datasets

import "mpbench/pkg/exact"

func dotSummary(x, y []float64) exact.Summary {
	var sum exact.Dot
	for i := range x {
		sum.Add(x[i], y[i])
	}
	return sum.Summary()
}

const zhuHayes2010 = "Zhu and Hayes, ACM Trans. Math. Softw. 37(3), 2010, doi:10.1145/1824801.1824815"

// exponentRange is the parameter of the sets named wide.
var exponentRange = Param{
	Name: "range", Meaning: "largest magnitude of an exponent", Default: "300", Kind: Int, Max: 500,
}

func pairSets() []*Set {
	return []*Set{
		{
			Name: "gendot",
			Summary: "condition number 2 sum|x_i y_i| / |sum x_i y_i| near cond (within a factor 10, mostly 2), the " +
				"last pair chosen for the condition number; the pairs are shuffled",
			Source: "Ogita, Rump and Oishi, SIAM J. Sci. Comput. 26(6), 2005, algorithm 6.1, doi:10.1137/030601818",
			Params: []Param{{Name: "cond", Meaning: "condition number of the dot product; 2 is the least there is, and less " +
				"counts as 2", Default: "1e+16", Kind: Real, Min: 1, Max: 1e300}},
			DefaultN: 1000, MinN: 4, Seeded: true, make: genDotPair,
		},
		{
			Name:     "uniform11",
			Summary:  "x and y uniform in [-1, 1), multiples of 2^-52",
			Source:   "Higham, SIAM J. Sci. Comput. 14(4), 1993, doi:10.1137/0914050",
			DefaultN: 1_000_000, Seeded: true,
			make: func(j *job) error { return j.draw((*source).symmetric) },
		},
		{
			Name:     "wide",
			Summary:  "x and y = +-f*2^e with f uniform in [1, 2) and e a uniform integer in [-range, range]",
			Source:   "range of exponents of tests of " + zhuHayes2010,
			Params:   []Param{exponentRange},
			DefaultN: 1000, Seeded: true,
			make: func(j *job) error {
				largest := j.int("range")
				return j.draw(func(r *source) float64 { return r.spread(largest) })
			},
		},
	}
}

// genDotPair searches as genSum does. A condition number c of the dot product is c/2 of the sum of the products.
func genDotPair(j *job) error {
	target := max(j.real("cond"), 2) / 2
	x, y := make([]float64, j.n), make([]float64, j.n)
	half, ok := j.search(target, func(r *source, c float64) exact.Value {
		order := r.permutation(j.n)
		genDot(j.n, c, target, r, func(i int, xi, yi float64, _ dd) { x[order[i]], y[order[i]] = xi, yi })
		return dotSummary(x, y).Condition()
	}, func() {
		copy(j.terms, x)
		copy(j.y, y)
	})
	reached := exact.FromFloat64(2 * half.Float64())
	if !ok {
		return usagef("cond=%g was not reached with %d pairs (nearest: %s); take more", 2*target, j.n, reached.Text(2))
	}
	j.notes = append(j.notes, "condition number "+reached.Text(3))
	return nil
}
