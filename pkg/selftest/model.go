package selftest

import (
	"math"
	"math/big"
)

// arithmetic is a model of a number format: numbers, and operations that round.
type arithmetic interface {
	load(x float64) number // a number of the format
	add(x, y number) number
	mul(x, y number) number
}

// rooted is an arithmetic with square roots, of x >= 0. Its numbers are below 2^most; 0 where they have no end.
type rooted interface {
	arithmetic
	sqrt(x number) number
	most() int
}

// A roundingMode says how binary rounds.
type roundingMode int

const (
	nearestEven roundingMode = iota
	towardZero
	downward
	upward
)

// binary is binary floating-point arithmetic in integers. Overflow is not modelled: no data here come near it.
type binary struct {
	bits  int // of a significand
	least int // exponent of the least unit: that of subnormal numbers
	mode  roundingMode

	flushToZero, denormalsAreZero bool // numbers below 2^(least + bits - 1) count as 0, as results, as operands
	fused                         bool // mulAdd rounds once
}

// unbounded is the least exponent of a format without subnormal numbers.
const unbounded = math.MinInt32

func binary64() binary              { return binary{bits: 53, least: -1074} }
func binary32() binary              { return binary{bits: 24, least: -149} }
func bigFloat(precision int) binary { return binary{bits: precision, least: unbounded} }

// round returns x rounded once.
func (b binary) round(x number) number {
	if x.sig.Sign() == 0 || b.flushToZero && b.tiny(x) {
		return zero
	}
	unit := max(x.top()-b.bits, b.least)
	if unit > x.exp {
		k := uint(unit - x.exp)
		abs := new(big.Int).Abs(x.sig)
		q := new(big.Int).Rsh(abs, k)
		if b.away(x.sig.Sign(), abs, q, k) {
			q.Add(q, big.NewInt(1))
		}
		if x.sig.Sign() < 0 {
			q.Neg(q)
		}
		x = number{q, unit}.normal()
	}
	return x
}

// tiny reports whether x, rounded with an unbounded exponent, is below the normal numbers: amd64 flushes it then.
func (b binary) tiny(x number) bool {
	b.flushToZero, b.least = false, unbounded
	return b.round(x).top() < binary64().least+b.bits
}

// away reports whether |x|/2^k = abs/2^k, with the integer part q, is rounded to q + 1.
func (b binary) away(sign int, abs, q *big.Int, k uint) bool {
	rest := new(big.Int).Sub(abs, new(big.Int).Lsh(q, k))
	if rest.Sign() == 0 {
		return false
	}
	switch b.mode {
	case towardZero:
		return false
	case downward:
		return sign < 0
	case upward:
		return sign > 0
	}
	order := rest.Cmp(new(big.Int).Lsh(big.NewInt(1), k-1))
	return order > 0 || order == 0 && q.Bit(0) == 1
}

// flushed returns x, or 0 if it is subnormal.
func (b binary) flushed(x number) number {
	if x.sig.Sign() != 0 && x.top() < b.least+b.bits {
		return zero
	}
	return x
}

func (b binary) operand(x number) number {
	if b.denormalsAreZero {
		return b.flushed(x)
	}
	return x
}

func (b binary) load(x float64) number  { return b.round(fromFloat(x)) }
func (b binary) add(x, y number) number { return b.round(b.operand(x).plus(b.operand(y))) }
func (b binary) sub(x, y number) number { return b.add(x, y.neg()) }
func (b binary) mul(x, y number) number { return b.round(b.operand(x).times(b.operand(y))) }

// fma is x*y + z rounded once.
func (b binary) fma(x, y, z number) number {
	return b.round(b.operand(x).times(b.operand(y)).plus(b.operand(z)))
}

// mulAdd is x*y + z with both operations rounded, unless the model is one of a compiler that fuses them.
func (b binary) mulAdd(x, y, z number) number {
	if b.fused {
		return b.fma(x, y, z)
	}
	return b.add(b.mul(x, y), z)
}

// div is x/y for y != 0.
func (b binary) div(x, y number) number {
	x, y = b.operand(x), b.operand(y)
	if x.sig.Sign() == 0 || y.sig.Sign() == 0 {
		return zero
	}
	// Enough bits that the quotient's last one can stand for all that follow.
	shift := max(0, 2*b.bits+8+y.sig.BitLen()-x.sig.BitLen())
	q, r := new(big.Int).QuoRem(new(big.Int).Lsh(x.sig, uint(shift)), y.sig, new(big.Int))
	return b.round(sticky(q, r.Sign() != 0, x.sig.Sign()*y.sig.Sign(), x.exp-y.exp-shift))
}

// most follows from the least exponent as in the formats of IEEE 754.
func (b binary) most() int {
	if b.least == unbounded {
		return 0
	}
	return 3 - b.bits - b.least
}

// sqrt is the square root of x >= 0.
func (b binary) sqrt(x number) number {
	x = b.operand(x)
	if x.sig.Sign() <= 0 {
		return zero
	}
	shift := max(0, 4*b.bits+8-x.sig.BitLen())
	shift += (x.exp - shift) & 1
	wide := new(big.Int).Lsh(x.sig, uint(shift))
	root := new(big.Int).Sqrt(wide)
	exact := new(big.Int).Mul(root, root).Cmp(wide) == 0
	return b.round(sticky(root, !exact, 1, (x.exp-shift)/2))
}

// sticky returns (q + something in (0, 1) if inexact) * 2^exp with the given sign, something being a half.
func sticky(q *big.Int, inexact bool, sign, exp int) number {
	abs := new(big.Int).Abs(q)
	abs.Lsh(abs, 1)
	if inexact {
		abs.Add(abs, big.NewInt(1))
	}
	if sign < 0 {
		abs.Neg(abs)
	}
	return number{abs, exp - 1}.normal()
}

// A fault is a way in which binary64 arithmetic goes wrong, for naming what was found.
type fault struct {
	name, advice string
	model        binary
}

const (
	adviceMode = "A library that was loaded into the process, or the program that started it, changed the control " +
		"register of floating-point arithmetic (on amd64 MXCSR); do not load libraries built with -ffast-math."
	adviceFused = "The compiler fused x*y + z. Build for an architecture level without fused operations (GOAMD64=v1), " +
		"or write float64(x*y) + z."
)

var faults = []fault{
	{"results are rounded toward zero", adviceMode, binary{bits: 53, least: -1074, mode: towardZero}},
	{"results are rounded downward", adviceMode, binary{bits: 53, least: -1074, mode: downward}},
	{"results are rounded upward", adviceMode, binary{bits: 53, least: -1074, mode: upward}},
	{"subnormal results are flushed to zero", adviceMode, binary{bits: 53, least: -1074, flushToZero: true}},
	{"subnormal operands count as zero", adviceMode, binary{bits: 53, least: -1074, denormalsAreZero: true}},
	{"subnormal operands and results count as zero", adviceMode, binary{bits: 53, least: -1074, flushToZero: true,
		denormalsAreZero: true}},
	{"multiply-adds are fused", adviceFused, binary{bits: 53, least: -1074, fused: true}},
}
