package exact

import (
	"math"
	"math/big"
	"math/bits"
)

// Errors measures a computed value against the exact one.
//
// Specials: where both values are the same special value the error is 0, as IEEE arithmetic did what it should; where
// one is NaN and the other is not, the errors are NaN; where an infinity stands against a number or against the other
// infinity, they are +Inf.
type Errors struct {
	// Abs is |computed - exact|.
	Abs Value
	// Rel is |computed - exact| / |exact|; 0 where both are 0 and +Inf where only exact is.
	Rel Value

	exact Value
}

// Measure returns the errors of computed against exact, without rounding.
func Measure(computed, exact Value) Errors {
	switch {
	case computed.Class != exact.Class && (computed.Class == NaN || exact.Class == NaN):
		return Errors{Abs: Value{Class: NaN}, Rel: Value{Class: NaN}, exact: exact}
	case computed.Class != exact.Class:
		return Errors{Abs: Value{Class: PosInf}, Rel: Value{Class: PosInf}, exact: exact}
	case computed.Class != Finite:
		return Errors{Abs: Value{Rat: new(big.Rat)}, Rel: Value{Rat: new(big.Rat)}, exact: exact}
	}
	abs := distance(computed.Number(), exact.Number())
	return Errors{Abs: Value{Rat: abs}, Rel: relative(abs, exact.Number()), exact: exact}
}

// distance returns |x - y|.
func distance(x, y *big.Rat) *big.Rat {
	d := Add(x, new(big.Rat).Neg(y))
	return d.Abs(d)
}

// relative returns abs/|of|, with 0/0 = 0.
func relative(abs, of *big.Rat) Value {
	switch {
	case abs.Sign() == 0:
		return Value{Rat: new(big.Rat)}
	case of.Sign() == 0:
		return Value{Class: PosInf}
	}
	r := new(big.Rat).Quo(abs, of)
	return Value{Rat: r.Abs(r)}
}

// Exact reports whether the computed value is the exact one.
func (e Errors) Exact() bool { return e.Abs.IsFinite() && e.Abs.Sign() == 0 }

// Within reports whether the absolute error is at most bound. Nothing is within nil: a bound that could not be proved.
func (e Errors) Within(bound *big.Rat) bool {
	return bound != nil && e.Abs.IsFinite() && e.Abs.Number().Cmp(bound) <= 0
}

// ULP returns the error in units in the last place of a format with the given precision in bits and an unbounded
// exponent range: |computed - exact| / 2^(floor(log2 |exact|) - precision + 1). Where exact is 0 it is 0 or +Inf, as
// Rel.
func (e Errors) ULP(precision int) Value {
	if !e.Rel.IsFinite() || e.Exact() {
		return e.Rel
	}
	return Value{Rat: scaleExp2(e.Abs.Number(), precision-1-Exponent(e.exact.Number()))}
}

// CorrectBits returns -log2 of the relative error, not below 0: the number of correct leading bits. It is +Inf for an
// exact result and 0 for errors that are infinite or NaN. It is within 2^-60 + 2^-53*result of the true number for
// every magnitude of the error, far outside the range of float64 too, and has the same bits on every platform.
func (e Errors) CorrectBits() float64 {
	if !e.Rel.IsFinite() {
		return 0
	}
	if e.Rel.Sign() == 0 {
		return math.Inf(1)
	}
	return max(0, -log2(e.Rel.Number()))
}

// Exponent returns floor(log2 |x|) for x != 0.
func Exponent(x *big.Rat) int {
	e := x.Num().BitLen() - x.Denom().BitLen() // 2^(e-1) < |x| < 2^(e+1)
	num, den := x.Num(), x.Denom()
	if e >= 0 {
		den = new(big.Int).Lsh(den, uint(e))
	} else {
		num = new(big.Int).Lsh(num, uint(-e))
	}
	if num.CmpAbs(den) < 0 {
		e--
	}
	return e
}

// scaleExp2 returns x * 2^k.
func scaleExp2(x *big.Rat, k int) *big.Rat {
	if k >= 0 {
		return new(big.Rat).SetFrac(new(big.Int).Lsh(x.Num(), uint(k)), x.Denom())
	}
	return new(big.Rat).SetFrac(x.Num(), new(big.Int).Lsh(x.Denom(), uint(-k)))
}

// log2 returns log2 |x| for x != 0.
//
// |x| = m * 2^e with m in [1, 2) taken to 64 bits; the fraction bits of log2 m are found by squaring m and halving it
// whenever it reaches 2, in integers only. Each squaring truncates by at most 2^-63 relative, which counts for 2^-k in
// the k-th bit, so all of them together and the first truncation stay below 2^-61 absolute. When e is -1 the logarithm
// is e + log2 m in (-1, 0), and a value next to 0 would lose its leading bits: there 1/|x| in (1, 2] is taken instead.
func log2(x *big.Rat) float64 {
	e := Exponent(x)
	if e == -1 {
		return -log2(new(big.Rat).Inv(x))
	}
	num, den := x.Num(), x.Denom()
	if k := 63 - e; k >= 0 {
		num = new(big.Int).Lsh(num, uint(k))
	} else {
		den = new(big.Int).Lsh(den, uint(-k))
	}
	m := new(big.Int).Quo(num, den)
	return float64(e) + log2Fraction(m.Abs(m).Uint64())
}

// log2Fraction returns log2(m / 2^63) for m in [2^63, 2^64), in [0, 1).
func log2Fraction(m uint64) float64 {
	var fraction uint64
	for range 60 {
		hi, lo := bits.Mul64(m, m) // in [2^126, 2^128)
		fraction <<= 1
		if hi>>63 != 0 {
			fraction |= 1
			m = hi
		} else {
			m = hi<<1 | lo>>63
		}
	}
	return float64(float64(fraction) * 0x1p-60) // exact
}

// Gamma returns gamma(k) = k*u / (1 - k*u), the bound on the accumulated relative error of k operations of unit
// roundoff u; nil if k*u >= 1, where there is none.
//
// Source: N. J. Higham, "Accuracy and Stability of Numerical Algorithms", 2nd ed., lemma 3.1.
func Gamma(k int, u *big.Rat) *big.Rat {
	ku := new(big.Rat).Mul(new(big.Rat).SetInt64(int64(k)), u)
	rest := new(big.Rat).Sub(big.NewRat(1, 1), ku)
	if rest.Sign() <= 0 {
		return nil
	}
	return ku.Quo(ku, rest)
}

// GammaTimes returns gamma(k)*s, the bound on the error of a sum in which each term passes through at most k
// operations of unit roundoff u and s is the sum of the magnitudes; nil if there is no gamma(k).
//
// Source: the same, section 4.2.
func GammaTimes(k int, u, s *big.Rat) *big.Rat {
	g := Gamma(k, u)
	if g == nil {
		return nil
	}
	return g.Mul(g, s)
}

// Above returns a number of at most 64 significant bits that is at least x >= 0, and less than 1 + 2^-62 times x; x
// itself where it is short, or no binary fraction.
func Above(x *big.Rat) *big.Rat {
	num, denom := x.Num(), x.Denom()
	k := num.BitLen() - 63
	if k <= 1+int(num.TrailingZeroBits()) || int(denom.TrailingZeroBits()) != denom.BitLen()-1 {
		return x
	}
	top := new(big.Int).Rsh(num, uint(k))
	top.Add(top, big.NewInt(1))
	if k -= denom.BitLen() - 1; k >= 0 {
		return new(big.Rat).SetInt(top.Lsh(top, uint(k)))
	}
	return new(big.Rat).SetFrac(top, new(big.Int).Lsh(big.NewInt(1), uint(-k)))
}

// PowerOfTwo returns 2^k.
func PowerOfTwo(k int) *big.Rat {
	power := new(big.Int).Lsh(big.NewInt(1), uint(max(k, -k)))
	if k < 0 {
		return new(big.Rat).SetFrac(big.NewInt(1), power)
	}
	return new(big.Rat).SetInt(power)
}
