package datasets

import (
	"math/big"

	"mpbench/pkg/exact"
)

const mcNameeSource = "Isupov, Knyazkov and Kuvaev (2018), Table 1, after McNamee, ACM SIGSAM Bull. 38(1), 2004, doi:10.1145/980175.980177"

// mcNameeSets are the three sets of the 2018 paper. All terms are binary64 numbers that are then taken as exact, which
// is what reproduces the paper's "exact" values.
func mcNameeSets() []*Set {
	return []*Set{
		{
			Name:     "mcnamee1",
			Summary:  "2047 terms 10, two terms fl(1e-18), 2047 terms -10",
			Source:   mcNameeSource,
			DefaultN: 4096,
			FixedN:   fixed(4096),
			make:     mcNamee1,
		},
		{
			Name:     "mcnamee2",
			Summary:  "1, then 10^6 terms fl(1e-16)",
			Source:   mcNameeSource,
			DefaultN: 1_000_001,
			FixedN:   fixed(1_000_001),
			make:     mcNamee2,
		},
		{
			Name:     "mcnamee3",
			Summary:  "the Taylor terms x^i/i! of exp(x), x = -4 pi, i = 0..63, in binary64",
			Source:   mcNameeSource,
			DefaultN: 64,
			FixedN:   fixed(64),
			make: func(j *job) error {
				copy(j.terms, mcNamee3Terms[:])
				return nil
			},
		},
	}
}

func mcNamee1(j *job) error {
	const tiny = 1e-18
	for i := range 2047 {
		j.terms[i], j.terms[4095-i] = 10, -10
	}
	j.terms[2047], j.terms[2048] = tiny, tiny
	j.knownIs(exact.FromFloat64(2 * tiny))
	return nil
}

func mcNamee2(j *job) error {
	tiny := 1e-16 // a variable: constant arithmetic would be exact in the decimal
	for i := range j.terms {
		j.terms[i] = tiny
	}
	j.terms[0] = 1
	sum := new(big.Rat).SetFloat64(tiny)
	sum.Mul(sum, big.NewRat(1_000_000, 1))
	j.knownIs(exact.FromRat(sum.Add(sum, big.NewRat(1, 1))))
	return nil
}
