package exact

import (
	"math"
	"math/big"
	"math/bits"
)

// Sums and products of rationals: those of big.Rat look for common divisors of numerator and denominator as of any two
// integers. Nearly all denominators here are powers of two times a small factor, that of a decimal, for which shifts
// and one remainder do.

// Add returns x + y.
func Add(x, y *big.Rat) *big.Rat {
	p, q := denominatorOf(x), denominatorOf(y)
	if p.odd == 0 || q.odd == 0 {
		return new(big.Rat).Add(x, y)
	}
	a, b := new(big.Int).Set(x.Num()), y.Num()
	if p.odd != q.odd {
		a.Mul(a, new(big.Int).SetUint64(q.odd))
		b = new(big.Int).Mul(b, new(big.Int).SetUint64(p.odd))
		p.odd *= q.odd
	}
	switch {
	case p.twos < q.twos:
		a.Lsh(a, q.twos-p.twos)
	case p.twos > q.twos:
		b = new(big.Int).Lsh(b, p.twos-q.twos)
	}
	return reduced(a.Add(a, b), denominator{p.odd, max(p.twos, q.twos)})
}

// Mul returns x * y.
func Mul(x, y *big.Rat) *big.Rat {
	p, q := denominatorOf(x), denominatorOf(y)
	if p.odd == 0 || q.odd == 0 {
		return new(big.Rat).Mul(x, y)
	}
	return reduced(new(big.Int).Mul(x.Num(), y.Num()), denominator{p.odd * q.odd, p.twos + q.twos})
}

// denominator is odd * 2^twos.
type denominator struct {
	odd  uint64
	twos uint
}

// denominatorOf returns the denominator of x, with odd = 0 if that has more than 32 bits.
func denominatorOf(x *big.Rat) denominator {
	if x.IsInt() {
		return denominator{1, 0}
	}
	d := x.Denom()
	twos := d.TrailingZeroBits()
	switch bits := d.BitLen() - int(twos); {
	case bits == 1:
		return denominator{1, twos}
	case bits > 32:
		return denominator{}
	}
	return denominator{new(big.Int).Rsh(d, twos).Uint64(), twos}
}

// reduced returns n/d in lowest terms, and may modify n.
func reduced(n *big.Int, d denominator) *big.Rat {
	if n.Sign() == 0 {
		return new(big.Rat)
	}
	if both := min(n.TrailingZeroBits(), d.twos); both > 0 {
		n.Rsh(n, both)
		d.twos -= both
	}
	if d.odd > 1 {
		odd := new(big.Int).SetUint64(d.odd)
		if g := gcd(new(big.Int).Mod(n, odd).Uint64(), d.odd); g > 1 {
			n.Quo(n, odd.SetUint64(g))
			d.odd /= g
		}
	}
	if d.odd == 1 && d.twos == 0 {
		return new(big.Rat).SetInt(n)
	}
	r := new(big.Rat).Set(half)
	r.Num().Set(n)
	r.Denom().Lsh(r.Denom().SetUint64(d.odd), d.twos)
	return r
}

func gcd(x, y uint64) uint64 {
	for x != 0 {
		x, y = y%x, x
	}
	return y
}

// QuotientAbove returns an upper bound on |x/y| that is too large by less than the factor 1 + 2^-48; 0 for x = 0, and
// +Inf where x or y are no numbers, y is 0, or the quotient is of extreme size. Four factors and their products and
// quotient, each rounded once and the factors cut off before, are off by less than 8 * 2^-53.
func QuotientAbove(x, y Value) float64 {
	if x.IsFinite() && x.Sign() == 0 {
		return 0
	}
	if !x.IsFinite() || !y.IsFinite() || y.Sign() == 0 {
		return math.Inf(1)
	}
	a, b := leading(x.Number().Num()), leadingDenominator(y.Number())
	c, d := leadingDenominator(x.Number()), leading(y.Number().Num())
	exponent := a.exponent + b.exponent - c.exponent - d.exponent
	if exponent < -1000 || exponent > 1000 {
		return math.Inf(1)
	}
	return math.Ldexp(a.fraction*b.fraction/(c.fraction*d.fraction)*(1+0x1p-49), exponent)
}

// float is fraction * 2^exponent, with 1/2 <= fraction <= 1.
type float struct {
	fraction float64
	exponent int
}

// leading returns |x|, not 0, cut off after 64 bits and then rounded.
func leading(x *big.Int) float {
	words := x.Bits()
	last := len(words) - 1
	top, have := uint64(words[last]), bits.Len(uint(words[last]))
	for i := last - 1; i >= 0 && have < 64; i-- {
		take := min(bits.UintSize, 64-have)
		top = top<<take | uint64(words[i])>>(bits.UintSize-take)
		have += take
	}
	return float{math.Ldexp(float64(top), -have), x.BitLen()}
}

func leadingDenominator(x *big.Rat) float {
	if x.IsInt() {
		return float{0.5, 1}
	}
	return leading(x.Denom())
}

// Below returns a lower bound on x >= 0, too small by less than the factor 1 - 2^-49 between 2^-1000 and 2^1000: 0
// below that, 2^1000 above it, and +Inf for what is no number.
func Below(x Value) float64 {
	if !x.IsFinite() {
		return math.Inf(1)
	}
	f := x.Float64()
	if f < 0x1p-1000 {
		return 0
	}
	return min(f*(1-0x1p-50), 0x1p1000)
}
