package accurate

import (
	"math"
	"math/big"
	"math/rand/v2"
)

// exactBits hold every sum and product of three numbers of the tests.
const exactBits = 8000

// expected is an exact sum: a number, or, if finite is nil, special.
type expected struct {
	finite  *big.Float
	special float64
}

// reference returns the exact sum of products, each of several factors, by IEEE 754 without overflow.
func reference(terms [][]float64) expected {
	finite, special, isSpecial := new(big.Float).SetPrec(exactBits), 0.0, false
	for _, factors := range terms {
		product, sign, isProduct := new(big.Float).SetPrec(200).SetInt64(1), 1.0, true
		for _, f := range factors {
			isProduct = isProduct && f-f == 0
			if f-f == 0 {
				product.Mul(product, new(big.Float).SetFloat64(f))
				f = signOf(f)
			}
			sign *= f
		}
		if isProduct {
			finite.Add(finite, product)
		} else {
			special += sign
			isSpecial = true
		}
	}
	if isSpecial {
		return expected{nil, special}
	}
	return expected{finite, 0}
}

func signOf(x float64) float64 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return 0
}

// nearest returns the reference rounded to float64; zero is +0.
func (e expected) nearest() float64 {
	if e.finite == nil {
		return e.special
	}
	v, _ := e.finite.Float64()
	return v + 0
}

// rounded returns the reference rounded to prec bits, nil for NaN; a prec of 0 stands for all.
func (e expected) rounded(prec uint) *big.Float {
	switch {
	case e.finite == nil && e.special != e.special:
		return nil
	case e.finite == nil:
		return new(big.Float).SetInf(e.special < 0)
	case prec == 0:
		return e.finite
	}
	return new(big.Float).SetPrec(prec).Set(e.finite)
}

func termsOf(x []float64) [][]float64 {
	terms := make([][]float64, len(x))
	for i, v := range x {
		terms[i] = []float64{v}
	}
	return terms
}

func productsOf(x, y []float64) [][]float64 {
	terms := make([][]float64, len(x))
	for i, v := range x {
		terms[i] = []float64{v, y[i]}
	}
	return terms
}

// same compares results bit for bit; NaN equals NaN.
func same(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) || a != a && b != b }

func sameBig(a, b *big.Float) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Cmp(b) == 0
}

func newRand() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

// kinds is the number of kinds of numbers of random.
const kinds = 6

// random returns n numbers of one kind.
func random(r *rand.Rand, n, kind int) []float64 {
	x := make([]float64, n)
	for i := range x {
		u := float64(r.Uint64()>>11)*0x1p-52 - 1
		switch kind {
		case 0: // uniform
			x[i] = u
		case 1: // any exponent, subnormal numbers among them
			x[i] = math.Ldexp(u, r.IntN(2098)-1074)
		case 2: // cancelling
			x[i] = u
			if i%2 == 1 {
				x[i] = -x[i-1] * (1 + 0x1p-40*float64(r.IntN(3)))
			}
		case 3: // at the ends of the range
			x[i] = math.Copysign([]float64{0x1p-1074, math.MaxFloat64, 0, 0x1p-1022, 0x1p1023}[r.IntN(5)], u)
		case 4: // integers: sums of exactly zero, and ties
			x[i] = math.Ldexp(float64(r.IntN(5)-2), 53*r.IntN(2))
		case 5: // infinities and NaN among others
			x[i] = []float64{u, u, u, u, u, u, 0, math.Inf(1), math.Inf(-1), math.NaN()}[r.IntN(4+r.IntN(7))]
		}
	}
	return x
}

// lengths around those at which something changes: elements of a vector register, of a tile, of a goroutine's share.
var lengths = []int{0, 1, 2, 3, 7, 8, 9, 31, 33, 255, 256, 257, 1025}
