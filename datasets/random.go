package datasets

import (
	"hash/fnv"
	"math/bits"
	"math/rand/v2"
)

// source makes random numbers from the integer output of a PCG generator. It uses none of math/rand's derived
// distributions, so the numbers depend on the documented PCG stream only.
type source struct{ pcg rand.PCG }

// newSource seeds a source. The set's name and the attempt choose the second word of the seed, so that two sets with the
// same seed are not made of the same numbers.
func newSource(seed uint64, name string, try uint64) *source {
	h := fnv.New64a()
	h.Write([]byte(name))
	s := new(source)
	s.pcg.Seed(seed, h.Sum64()+try)
	return s
}

// uint64 returns 64 random bits.
func (s *source) uint64() uint64 { return s.pcg.Uint64() }

// unit returns a uniform multiple of 2^-53 in [0, 1).
func (s *source) unit() float64 { return float64(float64(s.uint64()>>11) * 0x1p-53) }

// symmetric returns 2u - 1 for such a u: a uniform multiple of 2^-52 in [-1, 1), exactly.
func (s *source) symmetric() float64 {
	return float64(float64(int64(s.uint64()>>11)-1<<52) * 0x1p-52)
}

// below returns a uniform integer in [0, n), n > 0. The bias, at most n * 2^-64, is of no consequence here.
func (s *source) below(n int) int {
	hi, _ := bits.Mul64(s.uint64(), uint64(n))
	return int(hi)
}

// shuffle permutes xs uniformly (Fisher and Yates).
func (s *source) shuffle(xs []float64) {
	for i := len(xs) - 1; i > 0; i-- {
		j := s.below(i + 1)
		xs[i], xs[j] = xs[j], xs[i]
	}
}
