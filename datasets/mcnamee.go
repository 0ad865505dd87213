package datasets

import (
	"math/big"

	"mpbench/pkg/exact"
)

const mcNameeSource = "Isupov, Knyazkov and Kuvaev (2018), Table 1, after McNamee, ACM SIGSAM Bull. 38(1), 2004, " +
	"doi:10.1145/980175.980177"

// mcNameeSets are the three sets of the 2018 paper. All terms are binary64 numbers that are then taken as exact, which
// is what reproduces the paper's "exact" values.
func mcNameeSets() []*Set {
	return []*Set{
		{
			Name:     "mcnamee1",
			Summary:  "2047 terms 10, two terms fl(1e-18), 2047 terms -10",
			Source:   mcNameeSource,
			DefaultN: 4096, FixedN: fixed(4096), make: mcNamee1,
		},
		{
			Name:     "mcnamee2",
			Summary:  "1, then 10^6 terms fl(1e-16)",
			Source:   mcNameeSource,
			DefaultN: 1_000_001, FixedN: fixed(1_000_001), make: mcNamee2,
		},
		{
			Name:     "mcnamee3",
			Summary:  "the Taylor terms x^i/i! of exp(x), x = -4 pi, i = 0..63, in binary64",
			Source:   mcNameeSource,
			DefaultN: 64, FixedN: fixed(64),
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

// mcNamee3Terms are fl(fl(x^i) / f_i) for i = 0..63, where x = fl(-4 pi), fl(x^i) is the correctly rounded power and
// f_i = i! is accumulated in binary64 (f_0 = 1, f_i = fl(f_(i-1) * i), inexact from i = 23 on). A table, because
// math.Pow is not correctly rounded and differs for 55 of the 64 powers; TestMcNamee3Table computes it again.
var mcNamee3Terms = [64]float64{
	0x1.0000000000000p+0, -0x1.921fb54442d18p+3, 0x1.3bd3cc9be45dep+6, -0x1.4abbce625be52p+8,
	0x1.03c1f081b5ac3p+10, -0x1.466bc6775aae1p+11, 0x1.55d3c7e3cbff9p+12, -0x1.32d2cce62bd84p+13,
	0x1.e1f506891bab8p+13, -0x1.50783487ee77fp+14, 0x1.a6d1f2a204a89p+14, -0x1.e3074fde8871cp+14,
	0x1.f9d38a3763cbep+14, -0x1.e8f434d018d5fp+14, 0x1.b6e24f44b128bp+14, -0x1.6fadb9f155740p+14,
	0x1.20c62c2f2d7f1p+14, -0x1.aaec32af93355p+13, 0x1.2a0c591af8310p+13, -0x1.8a404211f9542p+12,
	0x1.ef6e308d6d1bdp+11, -0x1.2877020d52cecp+11, 0x1.52ae4120fde21p+10, -0x1.7215f879e1ac2p+9,
	0x1.838d8f43217fap+8, -0x1.859c594ba456cp+7, 0x1.789d662bb547bp+6, -0x1.5e91aac4928d4p+5,
	0x1.3aab85bac235fp+4, -0x1.10b5242e256c7p+3, 0x1.c8ed0a80ad0bap+1, -0x1.7271f9271ad2ap+0,
	0x1.22f26dacf7fd3p-1, -0x1.bb2b5ea2cae76p-3, 0x1.47970e6d2470fp-4, -0x1.d6787c412d0bbp-6,
	0x1.487352263c200p-7, -0x1.be356c9163044p-9, 0x1.271df6466687bp-10, -0x1.7c5d366adee26p-12,
	0x1.ddfac9a6fd296p-14, -0x1.24ff9dd793026p-15, 0x1.5ea8e7d4f1781p-17, -0x1.99e8aebb138cfp-19,
	0x1.d44762c42cddbp-21, -0x1.0589479409534p-22, 0x1.1dc9b71a62b7ap-24, -0x1.31a4deda2a1b9p-26,
	0x1.4011d6386d1d9p-28, -0x1.4855fa3e5ea40p-30, 0x1.4a14464f17722p-32, -0x1.455346a3cd94cp-34,
	0x1.3a794525c9025p-36, -0x1.2a3fa09116959p-38, 0x1.159f5262d6b31p-40, -0x1.fb72b37b2d8d2p-43,
	0x1.c77bfb73c0b87p-45, -0x1.91ab49c2fde52p-47, 0x1.5c1ae23264da6p-49, -0x1.28921408de973p-51,
	0x1.f0e8a9c0c32f5p-54, -0x1.997707a6f399ap-56, 0x1.4bf78d16eec92p-58, -0x1.08dd6254a4859p-60,
}
