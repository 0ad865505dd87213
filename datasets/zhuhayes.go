package datasets

import (
	"math"
	"math/big"

	"mpbench/pkg/exact"
)

const zhuHayesSource = "Zhu and Hayes, Algorithm 908, ACM Trans. Math. Softw. 37(3), 2010, doi:10.1145/1824801.1824815"

// zhuHayesSets are the four types of data of Algorithm 908's driver.
func zhuHayesSets() []*Set {
	delta := Param{
		Name: "delta", Meaning: "exponents are uniform in [-delta/2, delta/2); 0 makes them all 0",
		Default: "2000", Kind: Int, Max: 2000,
	}
	set := func(name, summary string, f func(j *job, next func() float64) error) *Set {
		return &Set{
			Name:     name,
			Summary:  summary,
			Source:   zhuHayesSource,
			Params:   []Param{delta},
			DefaultN: 1000, Seeded: true,
			make: func(j *job) error {
				r, delta := j.random(0), j.int("delta")
				if err := f(j, func() float64 { return zhuHayesNumber(r, delta) }); err != nil {
					return err
				}
				transpose(j.terms, r)
				return nil
			},
		}
	}
	return []*Set{
		set("zhuhayes1", "random significands and exponents, all negative: condition number 1", zhuHayes1),
		set("zhuhayes2", "random significands, exponents and signs", zhuHayes2),
		set("zhuhayes3", "zhuhayes2 with the mean subtracted: ill-conditioned, after Anderson", zhuHayes3),
		set("zhuhayes4", "pairs -v, +v: the exact sum is 0 (an odd n adds one term 0)", zhuHayes4),
	}
}

// zhuHayesNumber returns a number with random sign and fraction and an exponent uniform in [-delta/2, delta/2).
func zhuHayesNumber(r *source, delta int) float64 {
	e := 0
	if delta > 0 {
		e = r.below(delta) - delta/2
	}
	return math.Float64frombits(r.uint64()&^(0x7ff<<52) | uint64(e+1023)<<52)
}

func zhuHayes1(j *job, next func() float64) error {
	each(j.terms, func() float64 { return -math.Abs(next()) })
	return nil
}

func zhuHayes2(j *job, next func() float64) error {
	each(j.terms, next)
	return nil
}

func zhuHayes3(j *job, next func() float64) error {
	each(j.terms, next)
	if s := subtractMean(j.terms); math.IsInf(s, 0) {
		return usagef("the mean of %d terms overflows for delta=%d; take a smaller delta", j.n, j.int("delta"))
	}
	return nil
}

func zhuHayes4(j *job, next func() float64) error {
	for i := 0; i+1 < j.n; i += 2 {
		v := next()
		j.terms[i], j.terms[i+1] = -v, v
	}
	j.knownIs(exact.FromRat(new(big.Rat)))
	return nil
}

// transpose applies 2n random transpositions, the driver's way of shuffling.
func transpose(xs []float64, r *source) {
	for range 2 * len(xs) {
		i, j := r.below(len(xs)), r.below(len(xs))
		xs[i], xs[j] = xs[j], xs[i]
	}
}
