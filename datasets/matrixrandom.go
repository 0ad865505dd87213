package datasets

import (
	"math"
	"math/big"
)

// randomMatrixSets are matrices of random numbers.
func randomMatrixSets() []*Set {
	return []*Set{
		{
			Name: "uniform11",
			Summary: "A, x, y uniform in [-1, 1): multiples of 2^-52, or with bits=p full p-bit significands, a random p-bit integer " +
				"times such a multiple times 2^-p, rounded to nearest even",
			Source: "timing data of Isupov and Knyazkov (2020), doi:10.25209/2079-3316-2020-11-3-61-84",
			Params: []Param{bitsParam()},
			Seeded: true,
			matrix: func(j *matrixJob) error {
				r := j.random(0)
				if j.bits == 0 {
					j.each(r.symmetric)
					return nil
				}
				for _, numbers := range [][]*big.Float{j.wideA, j.wideX, j.wideY} {
					for i := range numbers {
						numbers[i] = r.wide(j.bits)
					}
				}
				return nil
			},
		},
		{
			Name:    "wide",
			Summary: "A, x, y = +-f*2^e with f uniform in [1, 2) and e a uniform integer in [-range, range]",
			Source:  "range of exponents of tests of " + zhuHayes2010,
			Params:  []Param{exponentRange},
			Seeded:  true,
			matrix: func(j *matrixJob) error {
				r, largest := j.random(0), j.int("range")
				j.each(func() float64 { return r.spread(largest) })
				return nil
			},
		},
		{
			Name: "blockcancel",
			Summary: "op(A) = [B, -B + E], x = [v, v], B and v uniform in [-1, 1), E = B times uniform numbers in [-1, 1) times 2^-drop, " +
				"so that all but E*v cancels; an odd number of terms ends with a column of zeros; y = 0",
			Source: "own; cancellation of blocks as in Higham, Accuracy and Stability, 2nd ed., section 1.8",
			Params: []Param{{Name: "drop", Meaning: "how many bits E lies below B", Default: "40", Kind: Int, Max: 1000}},
			Seeded: true, matrix: blockCancel,
		},
	}
}

// each sets the numbers of A, x and y, in this order.
func (j *matrixJob) each(next func() float64) {
	for _, xs := range [][]float64{j.a, j.x, j.y} {
		each(xs, next)
	}
}

// wide returns a number of [-1, 1) with a significand of p random bits.
func (s *source) wide(p int) *big.Float {
	words := make([]big.Word, 0, p/32+2)
	n := new(big.Int)
	for bits := 0; bits < p; bits += 64 {
		w := s.uint64()
		if rest := p - bits; rest < 64 {
			w >>= 64 - rest
		}
		if math.MaxUint > math.MaxUint32 {
			words = append(words, big.Word(w))
		} else {
			words = append(words, big.Word(uint32(w)), big.Word(w>>32))
		}
	}
	n.SetBits(words)
	x := new(big.Float).SetPrec(uint(p)).SetInt(n)
	x.Mul(x, new(big.Float).SetFloat64(s.symmetric()))
	return x.SetMantExp(x, -p)
}

// spread returns a number of random sign, with an exponent in [-largest, largest].
func (s *source) spread(largest int) float64 {
	f := 2 * s.halfToOne()
	return math.Ldexp(f, s.below(2*largest+1)-largest)
}

func blockCancel(j *matrixJob) error {
	r, drop := j.random(0), j.int("drop")
	half := j.terms / 2
	if half < 1 {
		return usagef("%d terms: want at least 2", j.terms)
	}
	for k := range half {
		v := r.symmetric()
		j.x[k], j.x[half+k] = v, v
	}
	for i := range j.rows {
		for k := range half {
			b := r.symmetric()
			e := math.Ldexp(float64(b*r.symmetric()), -drop)
			j.a[j.place(i, k)], j.a[j.place(i, half+k)] = b, e-b
		}
	}
	return nil
}
