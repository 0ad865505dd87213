package rns

import (
	"fmt"
	"math/big"
)

// Rounding says how a wide significand becomes one of p bits.
type Rounding uint8

// Truncate cuts the magnitude, as the papers do; Nearest rounds to nearest, ties to even.
const (
	Truncate Rounding = iota
	Nearest
)

// String returns the name a user types.
func (r Rounding) String() string {
	if r == Nearest {
		return "nearest"
	}
	return "truncate"
}

// ParseRounding is the inverse of String.
func ParseRounding(name string) (Rounding, error) {
	switch name {
	case "truncate":
		return Truncate, nil
	case "nearest":
		return Nearest, nil
	}
	return 0, fmt.Errorf("unknown rounding %q (want truncate or nearest)", name)
}

// Alignment says how an addition brings its operands to a common exponent; see the package comment.
type Alignment uint8

// Align2018 shifts one operand up as far as it goes and the other down by the rest; AlignBLAS drops the smaller
// operand where shifting up does not suffice.
const (
	Align2018 Alignment = iota
	AlignBLAS
)

// String returns the name a user types.
func (a Alignment) String() string {
	if a == AlignBLAS {
		return "blas"
	}
	return "2018"
}

// ParseAlignment is the inverse of String.
func ParseAlignment(name string) (Alignment, error) {
	switch name {
	case "2018":
		return Align2018, nil
	case "blas":
		return AlignBLAS, nil
	}
	return 0, fmt.Errorf("unknown alignment %q (want 2018 or blas)", name)
}

// Context does arithmetic on the numbers of one base with one rounding and one alignment. It holds scratch
// memory: each goroutine needs its own. Operations allocate nothing, except Mul on wide significands.
//
// Any operand may be the destination z; all must belong to the context's base.
type Context struct {
	base      *Base
	rounding  Rounding
	alignment Alignment

	counts Counts

	coef  []uint32 // coefficients of the Chinese remainder theorem
	shift []uint32 // an operand scaled down
	words []uint64 // binary digits of a significand
}

// Counts says how often operations did what takes more time than residues alone.
type Counts struct {
	Alignments int // additions of numbers that are not 0 and have different exponents
	Roundings  int // significands that were scaled down to p bits
}

// Add adds the counts of another context.
func (c *Counts) Add(d Counts) {
	c.Alignments += d.Alignments
	c.Roundings += d.Roundings
}

// Counts returns the context's counts since the last reset.
func (c *Context) Counts() Counts { return c.counts }

// ResetCounts sets the context's counts to 0.
func (c *Context) ResetCounts() { c.counts = Counts{} }

// NewContext returns a context for the base b.
func NewContext(b *Base, r Rounding, a Alignment) *Context {
	return &Context{
		base: b, rounding: r, alignment: a,
		coef: make([]uint32, b.stride), shift: make([]uint32, b.stride), words: make([]uint64, b.radix.pitch),
	}
}

// Clone returns a context with the same base, rounding and alignment and scratch memory of its own.
func (c *Context) Clone() *Context { return NewContext(c.base, c.rounding, c.alignment) }

// Rounding returns the context's rounding.
func (c *Context) Rounding() Rounding { return c.rounding }

// Alignment returns the context's alignment.
func (c *Context) Alignment() Alignment { return c.alignment }

// Base returns the base the context works in.
func (c *Context) Base() *Base { return c.base }

// UnitRoundoff returns an upper bound on the relative error of one operation of the context; it is
// less than 4/sqrt(M). With L = floor(sqrt(M - 1)):
//
//	truncate, 2018   2^(1-p)
//	nearest, 2018    2^-p + 2^(3-2p)
//	blas             the greater of that and L / (2^F' - L)
//
// Truncation cuts less than one unit, nearest at most half a unit, of a significand of p bits, which is at least
// 2^(p-1). Scaling an operand down adds less than one unit of an aligned sum of at least 2^(F-2) - 2^(F-5) >=
// 2^(2p-3); under truncation the two errors have opposite signs or add up to less than one unit of the result. A
// dropped operand is at most L while the other is at least 2^F'.
func (c *Context) UnitRoundoff() *big.Rat {
	p := uint(c.base.precision)
	u := inversePower(p - 1)
	if c.rounding == Nearest {
		u.Add(inversePower(p), inversePower(2*p-3))
	}
	if c.alignment == AlignBLAS {
		kept := new(big.Int).Lsh(big.NewInt(1), uint(c.base.dropBits))
		drop := new(big.Rat).SetFrac(c.base.limitInt, kept.Sub(kept, c.base.limitInt))
		if drop.Cmp(u) > 0 {
			return drop
		}
	}
	return u
}

func inversePower(k uint) *big.Rat {
	return new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), k))
}
