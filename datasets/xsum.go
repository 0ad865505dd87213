package datasets

import (
	"math/big"

	"mpbench/pkg/exact"
)

// xsumSets is the data that Neal times his superaccumulators on.
func xsumSets() []*Set {
	return []*Set{{
		Name: "xsum",
		Summary: "n/2 terms exp(30 r) r' and their negatives, mirrored (the exact sum is 0; an odd n has a 0 in the " +
			"middle); r, r' from the generator r <- 8192 r mod 67101323 that starts at 2345678",
		Source: "Neal, arXiv 1505.05571, 2015, section 5",
		Params: []Param{{
			Name: "permute", Meaning: "whether the terms are permuted, by the same generator",
			Default: "no", Kind: Choice, Choices: []string{"no", "yes"},
		}},
		DefaultN: 1000, make: xsum,
	}}
}

const (
	xsumFactor  = 8192
	xsumModulus = 67101323
	xsumStart   = 2345678
)

func xsum(j *job) error {
	state := uint64(xsumStart)
	next := func() float64 {
		state = state * xsumFactor % xsumModulus
		return float64(state) / xsumModulus
	}
	for i := range j.n / 2 {
		large := exp(float64(30 * next()))
		v := float64(large * next())
		j.terms[i], j.terms[j.n-1-i] = v, -v
	}
	if j.text("permute") == "yes" {
		for i := j.n - 1; i > 0; i-- {
			k := int(float64(next() * float64(i+1)))
			j.terms[i], j.terms[k] = j.terms[k], j.terms[i]
		}
	}
	j.knownIs(exact.FromRat(new(big.Rat)))
	return nil
}
