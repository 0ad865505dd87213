package selftest

import (
	"math"
	"math/big"

	"mpbench/pkg/exact"
)

// number is sig * 2^exp with a signed significand; zero has the exponent 0.
type number struct {
	sig *big.Int
	exp int
}

var zero = number{new(big.Int), 0}

// fromFloat returns the finite number x with an odd significand, from its bits.
func fromFloat(x float64) number {
	word := math.Float64bits(x)
	sig, exp := int64(word&(1<<52-1)), int(word>>52&0x7ff)
	if exp == 0 {
		exp = 1
	} else {
		sig |= 1 << 52
	}
	if word>>63 != 0 {
		sig = -sig
	}
	return number{big.NewInt(sig), exp - 1075}.odd()
}

// odd returns x with an odd significand.
func (x number) odd() number {
	if x.sig.Sign() == 0 {
		return zero
	}
	zeros := x.sig.TrailingZeroBits()
	return number{new(big.Int).Rsh(x.sig, zeros), x.exp + int(zeros)}
}

func (x number) neg() number { return number{new(big.Int).Neg(x.sig), x.exp} }

func (x number) magnitude() number { return number{new(big.Int).Abs(x.sig), x.exp} }

// plus returns x + y, exactly.
func (x number) plus(y number) number {
	if x.sig.Sign() == 0 {
		return y
	}
	if y.sig.Sign() == 0 {
		return x
	}
	if x.exp < y.exp {
		x, y = y, x
	}
	sum := new(big.Int).Lsh(x.sig, uint(x.exp-y.exp))
	return number{sum.Add(sum, y.sig), y.exp}.normal()
}

// times returns x * y, exactly.
func (x number) times(y number) number {
	return number{new(big.Int).Mul(x.sig, y.sig), x.exp + y.exp}.normal()
}

func (x number) normal() number {
	if x.sig.Sign() == 0 {
		return zero
	}
	return x
}

// top returns e with 2^(e-1) <= |x| < 2^e, for x != 0.
func (x number) top() int { return x.exp + x.sig.BitLen() }

func (x number) smaller(y number) bool {
	low := min(x.exp, y.exp)
	a := new(big.Int).Lsh(x.sig, uint(x.exp-low))
	return a.CmpAbs(new(big.Int).Lsh(y.sig, uint(y.exp-low))) < 0
}

func (x number) value() exact.Value {
	r := new(big.Rat).SetInt(x.sig)
	return exact.FromRat(r.Mul(r, exact.PowerOfTwo(x.exp)))
}

// float returns the float64 with the value of x, which must have one, by its bits.
func (x number) float() float64 {
	x = x.odd()
	if x.sig.Sign() == 0 {
		return 0
	}
	abs := new(big.Int).Abs(x.sig)
	exp := x.top() - 1 // 2^exp <= |x|
	unit := max(exp-52, -1074)
	word := abs.Lsh(abs, uint(x.exp-unit)).Uint64()
	if exp >= -1022 {
		word = word&(1<<52-1) | uint64(exp+1023)<<52
	}
	if x.sig.Sign() < 0 {
		word |= 1 << 63
	}
	return math.Float64frombits(word)
}
