// Package operands makes numbers that strain the arithmetic of package rns and products of package rns/deferred, for
// the tests and benchmarks of their implementations.
package operands

import (
	"math"
	"math/big"
	"math/rand/v2"
)

// Number is Sig * 2^Exp, with a signed significand; zero has Exp 0.
type Number struct {
	Sig *big.Int
	Exp int
}

// Normal gives zero the exponent 0.
func Normal(x Number) Number {
	if x.Sig.Sign() == 0 {
		x.Exp = 0
	}
	return x
}

// Rat returns the number's value.
func (x Number) Rat() *big.Rat {
	r := new(big.Rat).SetInt(x.Sig)
	power := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(max(x.Exp, -x.Exp))))
	if x.Exp < 0 {
		return r.Quo(r, power)
	}
	return r.Mul(r, power)
}

// Source makes operands that strain decisions: significands of every length, next to powers of two, to the limit of
// wide ones and to each other, with long runs of zeros and ones, and exponents from equal to far apart.
//
// P is the precision of the base, F = floor(log2 M), Limit the largest significand that is not wide.
type Source struct {
	Rand  *rand.Rand
	P, F  int
	Limit *big.Int
}

// Significand returns one of at most F - 4 bits.
func (a Source) Significand() *big.Int {
	one := big.NewInt(1)
	length := a.Rand.IntN(a.P + 2)
	x := new(big.Int)
	switch a.Rand.IntN(8) {
	case 0: // a power of two and its neighbours
		x.Lsh(one, uint(length))
		x.Add(x, big.NewInt(int64(a.Rand.IntN(3)-1)))
	case 1: // next to the limit
		x.Sub(a.Limit, big.NewInt(int64(a.Rand.IntN(3))))
	case 2: // runs of ones and zeros
		for range 1 + a.Rand.IntN(4) {
			x.Lsh(x.Add(x, one), uint(a.Rand.IntN(a.P/2+1)))
			x.Sub(x, big.NewInt(int64(a.Rand.IntN(2))))
		}
	case 3: // a wide one, as a conversion makes it
		x = a.Bits(a.F - 4)
	case 4:
		x.SetUint64(a.Rand.Uint64() >> (11 + a.Rand.IntN(53)))
	case 5: // the very top of the kept range
		x.Lsh(one, uint(a.F-4))
		x.Sub(x, big.NewInt(int64(1+a.Rand.IntN(2))))
	default:
		x = a.Bits(length)
	}
	if x.Sign() < 0 {
		x.SetInt64(0)
	}
	if over := x.BitLen() - (a.F - 4); over > 0 {
		x.Rsh(x, uint(over))
	}
	return x
}

// Bits returns a number of at most n random bits.
func (a Source) Bits(n int) *big.Int {
	x := new(big.Int)
	for range n/64 + 1 {
		x.Lsh(x, 64).Add(x, new(big.Int).SetUint64(a.Rand.Uint64()))
	}
	return x.Rsh(x, uint(64*(n/64+1)-n))
}

// Number returns a number with an exponent of moderate size.
func (a Source) Number() Number {
	x := a.Significand()
	if a.Rand.IntN(2) == 0 {
		x.Neg(x)
	}
	return Normal(Number{x, a.Rand.IntN(80) - 40})
}

// Pair returns two operands related in one of the ways that matter to an addition.
func (a Source) Pair() (x, y Number) {
	x, y = a.Number(), a.Number()
	switch a.Rand.IntN(8) {
	case 0: // cancellation to a few units
		y = Normal(Number{new(big.Int).Neg(x.Sig), x.Exp})
		if a.Rand.IntN(2) == 0 && y.Sig.Sign() != 0 {
			y.Sig.Add(y.Sig, big.NewInt(int64(a.Rand.IntN(5)-2)))
			y = Normal(y)
		}
	case 1: // cancellation with different exponents
		shift := uint(a.Rand.IntN(a.P/2 + 1))
		if x.Sig.BitLen()+int(shift) <= a.F-4 {
			y = Normal(Number{new(big.Int).Neg(new(big.Int).Lsh(x.Sig, shift)), x.Exp - int(shift)})
			if y.Sig.Sign() != 0 {
				y.Sig.Add(y.Sig, big.NewInt(int64(a.Rand.IntN(3)-1)))
			}
			y = Normal(y)
		}
	case 2: // equal exponents
		if y.Sig.Sign() != 0 && x.Sig.Sign() != 0 {
			y.Exp = x.Exp
		}
	case 3: // exponents near the border of shifting
		if y.Sig.Sign() != 0 && x.Sig.Sign() != 0 {
			y.Exp = x.Exp - (a.F - x.Sig.BitLen()) + a.Rand.IntN(9) - 4
		}
	case 4: // hopelessly far apart
		if y.Sig.Sign() != 0 {
			y.Exp += (a.Rand.IntN(2)*2 - 1) * a.Rand.IntN(5*a.F)
		}
	}
	if y.Sig.BitLen() > a.F-4 { // a unit more would be rounded on entry
		y.Sig.Quo(y.Sig, big.NewInt(2))
	}
	return x, y
}

// CancellingRows returns a square matrix, row after row, and a vector of float64 numbers of nearly all exponents,
// whose products in each of the first open rows add up to exactly zero. size is even, or open 0.
func CancellingRows(size, open int) (a, x []float64) {
	r := rand.New(rand.NewPCG(5, 6))
	number := func() float64 { return math.Ldexp(r.Float64()-0.5, r.IntN(2000)-1000) }
	a, x = make([]float64, size*size), make([]float64, size)
	for k := range a {
		if a[k] = number(); k < open*size && k%2 == 1 {
			a[k] = -a[k-1]
		}
	}
	for j := range x {
		if x[j] = number(); j%2 == 1 {
			x[j] = x[j-1]
		}
	}
	return a, x
}
