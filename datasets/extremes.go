package datasets

import (
	"math"
	"math/big"

	"mpbench/pkg/exact"
)

// extremeTerms is the number of powers of two among the finite binary64 numbers, 2^1023 to 2^-1074.
const extremeTerms = 1023 + 1074 + 1

// extremeKinds maps each kind to its generator; a size of 0 means any.
var extremeKinds = map[string]struct {
	size int
	make func(*job)
}{
	"overflow":    {5, extremeOverflow},
	"alternating": {extremeTerms, extremeAlternating},
	"powers":      {extremeTerms, extremePowers},
	"subnormals":  {0, extremeSubnormals},
	"negzero":     {0, func(j *job) { fill(j.terms, math.Copysign(0, -1)); j.knownIs(exact.FromFloat64(0)) }},
	"inf":         {0, func(j *job) { extremeMiddle(j, math.Inf(1)) }},
	"infinf":      {0, extremeInfInf},
	"nan":         {0, func(j *job) { extremeMiddle(j, math.NaN()) }},
}

func extremeSets() []*Set {
	return []*Set{{
		Name: "extremes",
		Summary: "the ends of the format: overflow = 2^1023, 2^1023, -2^1023, -2^1023, 2^-1074; alternating = +2^1023, " +
			"-2^1022, ..., -2^-1074; powers = 2^1023, ..., 2^-1074; subnormals = random subnormals of both signs; negzero = " +
			"zeros with the sign bit; inf = ones with one +Inf in the middle; infinf = ones with +Inf first and -Inf last; " +
			"nan = ones with one NaN in the middle",
		Source: "after Kulisch, Computer Arithmetic and Validity, 2nd ed., 2013, and Neal, arXiv 1505.05571",
		Params: []Param{{
			Name:    "kind",
			Meaning: "which terms",
			Default: "overflow",
			Kind:    Choice,
			Choices: []string{"overflow", "alternating", "powers", "subnormals", "negzero", "inf", "infinf", "nan"},
		}},
		DefaultN: 1000, Seeded: true,
		FixedN: func(value func(string) string) int { return extremeKinds[value("kind")].size },
		make: func(j *job) error {
			extremeKinds[j.text("kind")].make(j)
			return nil
		},
	}}
}

func fill(xs []float64, x float64) {
	for i := range xs {
		xs[i] = x
	}
}

// extremeOverflow has the sum 2^-1074, but the first three partial sums are at least 2^1023, and the second overflows.
func extremeOverflow(j *job) {
	copy(j.terms, []float64{0x1p1023, 0x1p1023, -0x1p1023, -0x1p1023, 0x1p-1074})
	j.knownIs(exact.FromFloat64(0x1p-1074))
}

// extremeAlternating has the sum (2^1024 - 2^-1074)/3.
func extremeAlternating(j *job) {
	for i := range j.terms {
		j.terms[i] = math.Ldexp(1, 1023-i)
		if i%2 == 1 {
			j.terms[i] = -j.terms[i]
		}
	}
	sum := allPowers()
	j.knownIs(exact.FromRat(sum.Quo(sum, big.NewRat(3, 1))))
}

// extremePowers has the sum 2^1024 - 2^-1074, which needs 2098 bits and rounds to an infinity.
func extremePowers(j *job) {
	for i := range j.terms {
		j.terms[i] = math.Ldexp(1, 1023-i)
	}
	j.knownIs(exact.FromRat(allPowers()))
}

// allPowers returns 2^1024 - 2^-1074.
func allPowers() *big.Rat {
	one := big.NewInt(1)
	num := new(big.Int).Lsh(one, extremeTerms)
	return new(big.Rat).SetFrac(num.Sub(num, one), new(big.Int).Lsh(one, 1074))
}

func extremeSubnormals(j *job) {
	r := j.random(0)
	for i := range j.terms {
		j.terms[i] = math.Float64frombits(r.uint64() &^ (0x7ff << 52))
	}
}

// extremeMiddle has an infinity or NaN among ones, which is then the sum.
func extremeMiddle(j *job, x float64) {
	fill(j.terms, 1)
	j.terms[j.n/2] = x
	j.knownIs(exact.FromFloat64(x))
}

// extremeInfInf puts the second infinity over the first when there is only one term.
func extremeInfInf(j *job) {
	fill(j.terms, 1)
	j.terms[0] = math.Inf(1)
	j.terms[j.n-1] = math.Inf(-1)
	class := exact.NaN
	if j.n == 1 {
		class = exact.NegInf
	}
	j.knownIs(exact.Value{Class: class})
}
