// Package exact is the reference that every result is judged against: exact sums of binary64 numbers and of
// rationals, and exact measures of the error of a computed value.
//
// Nothing in this package rounds unless the name of the function says so (Float64, Float32, Round, Text): sums are
// accumulated in fixed-point integers wide enough for every finite binary64 number, and errors are rationals, so a
// relative error of 10^-1000 is represented, compared and printed as such. Infinities and NaN follow IEEE 754 and are
// values like any other; no input makes the package panic.
package exact

import (
	"fmt"
	"math"
	"math/big"
)

// Class says what kind of number a Value is.
type Class uint8

// The classes of IEEE 754 that matter for a result. Signed zeros are one value here.
const (
	Finite Class = iota
	PosInf
	NegInf
	NaN
)

// String returns "finite", "+Inf", "-Inf" or "NaN".
func (c Class) String() string {
	switch c {
	case Finite:
		return "finite"
	case PosInf:
		return "+Inf"
	case NegInf:
		return "-Inf"
	case NaN:
		return "NaN"
	}
	return fmt.Sprintf("Class(%d)", uint8(c))
}

// Value is an exact number, or the IEEE special value that a computation ends in.
// Rat is the number itself for Finite and nil for the other classes; it must not be modified.
//
// The zero Value (Finite with a nil Rat) stands for the number 0.
type Value struct {
	Class Class
	Rat   *big.Rat
}

// FromFloat64 returns x, exactly. Both zeros give 0, every NaN gives NaN.
func FromFloat64(x float64) Value {
	switch {
	case x != x:
		return Value{Class: NaN}
	case x > math.MaxFloat64:
		return Value{Class: PosInf}
	case x < -math.MaxFloat64:
		return Value{Class: NegInf}
	}
	m, e := significand(x)
	n := new(big.Int).SetUint64(m)
	if x < 0 {
		n.Neg(n)
	}
	return Value{Rat: dyadic(n, e+leastExp)}
}

// FromBig returns x, exactly. The Value keeps no reference to x; a nil x gives NaN, the only special value that
// big.Float lacks, so that FromBig(v.Round(prec)) is v rounded for every v.
func FromBig(x *big.Float) Value {
	switch {
	case x == nil:
		return Value{Class: NaN}
	case x.IsInf() && x.Sign() > 0:
		return Value{Class: PosInf}
	case x.IsInf():
		return Value{Class: NegInf}
	}
	exp := x.MantExp(nil) - int(x.MinPrec())
	integer, _ := new(big.Float).SetMantExp(x, -exp).Int(nil)
	return Value{Rat: dyadic(integer, exp)}
}

// FromRat returns the number x. The Value keeps x itself, which must not be modified afterwards.
func FromRat(x *big.Rat) Value { return Value{Rat: x} }

// IsFinite reports whether v is a number.
func (v Value) IsFinite() bool { return v.Class == Finite }

// Sign returns -1, 0 or +1: the sign of the number or of the infinity, 0 for NaN.
func (v Value) Sign() int {
	switch v.Class {
	case Finite:
		return v.Number().Sign()
	case PosInf:
		return 1
	case NegInf:
		return -1
	}
	return 0
}

// Equal reports whether v and w are the same number or the same special value. NaN equals NaN here: two
// computations that both end in NaN agree.
func (v Value) Equal(w Value) bool {
	if v.Class != w.Class {
		return false
	}
	return v.Class != Finite || v.Number().Cmp(w.Number()) == 0
}

// Abs returns |v|; the magnitude of NaN is NaN.
func (v Value) Abs() Value {
	switch {
	case v.Class == NegInf:
		return Value{Class: PosInf}
	case v.Class == Finite && v.Sign() < 0:
		return Value{Rat: new(big.Rat).Abs(v.Rat)}
	}
	return v
}

// Float64 returns v rounded to the nearest binary64 number, ties to even: gradual underflow below 2^-1022, an
// infinity from 2^1024 - 2^970 on. It is correctly rounded for every v.
func (v Value) Float64() float64 {
	switch v.Class {
	case PosInf:
		return math.Inf(1)
	case NegInf:
		return math.Inf(-1)
	case NaN:
		return math.NaN()
	}
	f, _ := v.Number().Float64()
	return f
}

// Float32 returns v rounded once to the nearest binary32 number, ties to even (not twice, through binary64).
func (v Value) Float32() float32 {
	switch v.Class {
	case PosInf:
		return float32(math.Inf(1))
	case NegInf:
		return float32(math.Inf(-1))
	case NaN:
		return float32(math.NaN())
	}
	f, _ := v.Number().Float32()
	return f
}

// Round returns v correctly rounded to prec bits, ties to even, with the exponent range of big.Float (no underflow or
// overflow for any rational that fits in memory). A prec of 0 counts as 1. NaN gives nil.
func (v Value) Round(prec uint) *big.Float {
	z := new(big.Float).SetPrec(max(prec, 1)).SetMode(big.ToNearestEven)
	switch v.Class {
	case PosInf:
		return z.SetInf(false)
	case NegInf:
		return z.SetInf(true)
	case NaN:
		return nil
	}
	return z.SetRat(v.Number())
}

// Text returns v in decimal scientific notation with the given number of significant digits (at least 1), correctly
// rounded, ties to even, in the form of strconv's 'e': "3.487e-06". Zero is "0"; others are "+Inf", "-Inf" and "NaN".
func (v Value) Text(digits int) string {
	if v.Class != Finite {
		return v.Class.String()
	}
	return FormatRat(v.Number(), digits)
}

// String returns v to 17 significant digits.
func (v Value) String() string { return v.Text(17) }

// zero is the number that the zero Value stands for; it is never written to.
var zero = new(big.Rat)

// Number returns the number of a Finite value, which must not be modified.
func (v Value) Number() *big.Rat {
	if v.Rat == nil {
		return zero
	}
	return v.Rat
}
