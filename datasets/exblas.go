package datasets

import "math"

const exblasSource = "generators of ExBLAS's tests (Collange, Defour, Graillat and Iakymchuk, " +
	"doi:10.1016/j.parco.2015.09.001)"

// exblasSets are the generators as they are defined, under names that say whose definition it is.
func exblasSets() []*Set {
	return []*Set{
		{
			Name:    "exblas-fpuniform",
			Summary: "positive: significand uniform in [1, 2.01), exponent uniform in [emax - range, emax)",
			Source:  exblasSource,
			Params: []Param{
				{Name: "range", Meaning: "number of binades", Default: "10", Kind: Int, Min: 1, Max: 2045},
				{Name: "emax", Meaning: "exponent above the largest", Default: "0", Kind: Int, Min: -1020, Max: 1023},
			},
			DefaultN: 1_000_000, Seeded: true, make: exblasFPUniform,
		},
		{
			Name:    "exblas-lognormal",
			Summary: "exp(mean + stddev * z), z standard normal",
			Source:  exblasSource,
			Params: []Param{
				{Name: "mean", Meaning: "mean of the logarithm", Default: "0", Kind: Real, Min: -300, Max: 300},
				{Name: "stddev", Meaning: "standard deviation of the logarithm", Default: "1", Kind: Real, Max: 40},
			},
			DefaultN: 1_000_000, Seeded: true, make: exblasLogNormal,
		},
		{
			Name:     "exblas-naive",
			Summary:  "all terms fl(1.1)",
			Source:   exblasSource,
			DefaultN: 1_000_000,
			make:     func(j *job) error { fill(j.terms, 1.1); return nil },
		},
		{
			Name: "exblas-illcond",
			Summary: "random signs with exponents up to log2(c)/2; called ill-conditioned there, but nothing is made to " +
				"cancel, so c is not the condition number (see gensum for that)",
			Source: exblasSource,
			Params: []Param{{Name: "c", Meaning: "sets the exponents, not the condition number", Default: "1e+16",
				Kind: Real, Min: 1, Max: 1e300}},
			DefaultN: 1_000_000, MinN: 4, Seeded: true, make: exblasIllCond,
		},
	}
}

func exblasFPUniform(j *job) error {
	width, emax := j.int("range"), j.int("emax")
	if emax-width < -1022 {
		return usagef("emax - range = %d: want at least -1022, the least exponent of a normal number", emax-width)
	}
	r := j.random(0)
	each(j.terms, func() float64 {
		m := 1 + r.unit()/0.99
		return math.Ldexp(m, emax-width+r.below(width))
	})
	return nil
}

func exblasLogNormal(j *job) error {
	mean, stddev := j.real("mean"), j.real("stddev")
	r := j.random(0)
	each(j.terms, func() float64 {
		// |z| < 8.6 for 53-bit uniform numbers, so the argument stays within 300 + 40*8.6 = 644.
		return exp(mean + float64(stddev*r.normal()))
	})
	return nil
}

// exblasIllCond has the exponents of GenDot: random ones in the first half, falling ones in the second.
func exblasIllCond(j *job) error {
	r := j.random(0)
	b := logDD(j.real("c")).div(dd{ln2[0], ln2[1]}).hi / 2
	half := j.n / 2
	for i := range j.terms {
		e := math.RoundToEven(float64(r.unit() * b))
		switch {
		case i == 0:
			e = math.RoundToEven(b) + 1
		case i == half-1:
			e = 0
		case i >= half:
			e = math.RoundToEven(float64(b*float64(j.n-1-i)) / float64(j.n-half-1))
		}
		j.terms[i] = math.Ldexp(r.symmetric(), int(e))
	}
	j.notes = append(j.notes, conditionNote(j.terms))
	return nil
}
