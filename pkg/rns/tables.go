package rns

import "math/bits"

// Tables are the constants of a base that arithmetic on another device needs. Slices by residue have Stride elements,
// where padding repeats the first modulus; they must not be modified.
type Tables struct {
	Modulus      []uint32
	Weight       Prepared // (M/m_i)^-1 mod m_i
	CofactorLow  []uint32 // M/m_i mod 2^32, 0 in padding
	FractionHigh []uint32 // floor(2^96 / m_i) in three half-words, 0 in padding
	FractionMid  []uint32
	FractionLow  []uint32
	EvalError    uint64     // sums of n terms floor(c_i * floor(2^96/m_i) / 2^32) are too small by less
	Powers       []Prepared // 2^(32h) mod m_i for 32h up to Log2M + 32

	Limit         []uint32 // residues of floor(sqrt(M - 1)), above which a significand is wide
	LimitInterval Interval

	RangeLow  uint32 // M mod 2^32
	RangeMant uint64 // M = (RangeMant + [0, 1)) * 2^(Log2M - 63)
	InvMant   uint64 // 1/M = (InvMant + [0, 1)) * 2^(-Log2M - 64)
	Log2M     int    // F = floor(log2 M)
	DropBits  int    // F' of the package comment
}

// Prepared is a vector of constants w_i < m_i with floor(w_i * 2^32 / m_i), for multiplication by a varying residue.
type Prepared struct{ Value, Scaled []uint32 }

// Tables returns the base's constants.
func (b *Base) Tables() Tables {
	t := Tables{
		Modulus: b.modulus, Weight: Prepared{b.crtWeight.value, b.crtWeight.scaled}, CofactorLow: b.radix.low,
		FractionHigh: b.fractions.high, FractionMid: b.fractions.mid, FractionLow: b.fractions.low, EvalError: b.evalError,
		Limit: b.limit.digits, LimitInterval: b.limit.interval,
		RangeLow: b.radix.lowM, RangeMant: b.rangeMant, InvMant: b.invMant, Log2M: b.log2M, DropBits: b.dropBits,
	}
	for _, row := range b.powers.coarse {
		t.Powers = append(t.Powers, Prepared{row.value, row.scaled})
	}
	return t
}

// Fields are the arrays of a [Vector], which share its memory. Digits has Stride residues a number.
type Fields struct {
	Digits      []uint32
	Lo, Up      []uint64
	Exp         []int64
	IntervalExp []int32
	Neg         []bool
}

// Fields returns the arrays of v. Whoever writes to them must keep to what [Float] and [Interval] say.
func (v *Vector) Fields() Fields {
	return Fields{Digits: v.digits, Lo: v.lo, Up: v.up, Exp: v.exp, IntervalExp: v.ivExp, Neg: v.neg}
}

// VectorOf returns a vector in the memory of f, which holds numbers of b.
func (b *Base) VectorOf(f Fields) *Vector {
	return &Vector{base: b, digits: f.Digits, lo: f.Lo, up: f.Up, exp: f.Exp, ivExp: f.IntervalExp, neg: f.Neg}
}

// fractions holds 1/m_i for sums of c_i/m_i: floor(2^96 / m_i) in three half-words, and in binary64. Padding is 0.
type fractions struct {
	high, mid, low []uint32
	quotient       []float64
}

// setFractions fills the table. A term floor(c * floor(2^96/m) / 2^32) is below c*2^64/m by less than c/2^32 for the
// inner floor and 1 for the outer one, hence by less than 2.
func (b *Base) setFractions() {
	f := &b.fractions
	f.high, f.mid, f.low = make([]uint32, b.stride), make([]uint32, b.stride), make([]uint32, b.stride)
	f.quotient = make([]float64, b.stride)
	for i, m := range b.modulus[:b.n] {
		word, rest := bits.Div64(1, 0, uint64(m)) // m >= 17 > 1
		low, _ := bits.Div64(rest, 0, uint64(m))
		f.high[i], f.mid[i], f.low[i] = uint32(word>>32), uint32(word), uint32(low>>32)
		f.quotient[i] = 1 / float64(m)
	}
	b.evalError = 2 * uint64(b.n)
}
