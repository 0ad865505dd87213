package numbers

import (
	"math"
	"math/big"
	"math/bits"
	"slices"

	"mpbench/pkg/exact"
)

// Source is a list of numbers in some format, for reading. Its methods are safe for concurrent use with different z.
type Source interface {
	Len() int
	// Span returns the class, sign and bit positions of number i.
	Span(i int) Span
	// Read sets z to number i.
	Read(z *Number, i int)
}

// Scaled is a Source of numbers that are no dyadic fractions, such as decimals: number i is what Read reads, divided
// by Denominator. Engines that compute in integers divide once, at the end; others round each number on loading.
type Scaled interface {
	Source
	Denominator() *big.Int // odd and greater than 1; it must not be changed
}

// Chunked is a Source of binary64 numbers that are not in memory, such as those of a large file. They are read in
// runs, from any place, by several goroutines at once; Span and Read are for single numbers and slow. One with a
// method Sequential() bool that returns true reads each number only once if runs are in ascending order, and is slow
// otherwise.
type Chunked interface {
	Source
	// ReadRun sets x to the numbers from number `from` on.
	ReadRun(x []float64, from int) error
}

// Integers are numbers that are not in memory, integers of 64 bits, which need not be binary64.
type Integers interface {
	Source
	// ReadIntegers sets x to the integers from number `from` on, in two's complement if they are Signed.
	ReadIntegers(x []uint64, from int) error
	Signed() bool
}

// Float64s are a Source of binary64 numbers. Methods that work on such numbers find them in it.
type Float64s []float64

func (x Float64s) Len() int { return len(x) }

// Significand returns the integer s < 2^53 and e with |x| = s * 2^e, for finite x.
func Significand(x float64) (s uint64, e int) {
	word := math.Float64bits(x)
	field := word >> 52 & 0x7ff
	normal := min(field, 1) // 0 for zeros and subnormals
	return word&(1<<52-1) | normal<<52, int(field) - int(normal) - 1074
}

func (x Float64s) Span(i int) Span {
	v := x[i]
	switch {
	case v == 0:
		return Span{}
	case v != v:
		return Span{Class: NaN}
	case math.Abs(v) > math.MaxFloat64:
		return Span{Class: Infinite, Neg: v < 0}
	}
	s, e := Significand(v)
	return Span{Extent{e + bits.TrailingZeros64(s), e + bits.Len64(s)}, Finite, v < 0}
}

func (x Float64s) Read(z *Number, i int) {
	span := x.Span(i)
	z.Class, z.Neg = span.Class, span.Neg
	z.Words = z.Words[:0]
	if span.Class == Finite {
		var s uint64
		s, z.Exp = Significand(x[i])
		z.Words = append(z.Words, s)
	}
}

// Bigs are a Source of numbers of any precision. A nil stands for NaN, which big.Float lacks.
type Bigs []*big.Float

func (x Bigs) Len() int { return len(x) }

func (x Bigs) Span(i int) Span { return spanOfBig(x[i]) }

func spanOfBig(v *big.Float) Span {
	class, neg := classOfBig(v)
	if class != Finite {
		return Span{Class: class, Neg: neg}
	}
	top := v.MantExp(nil)
	return Span{Extent{top - int(v.MinPrec()), top}, Finite, neg}
}

func classOfBig(v *big.Float) (class Class, neg bool) {
	switch {
	case v == nil:
		return NaN, false
	case v.IsInf():
		return Infinite, v.Signbit()
	case v.Sign() == 0:
		return Zero, false
	}
	return Finite, v.Signbit()
}

func (x Bigs) Read(z *Number, i int) { z.SetBig(x[i]) }

// Values are a Source of exact values that are dyadic fractions or no numbers, such as results.
type Values []exact.Value

func (x Values) Len() int { return len(x) }

func (x Values) Read(z *Number, i int) {
	v := x[i]
	if v.Class == exact.NaN {
		z.Class, z.Neg, z.Words = NaN, false, z.Words[:0]
		return
	}
	bits := 1
	if v.Rat != nil {
		bits = max(1, v.Rat.Num().BitLen())
	}
	z.SetBig(v.Round(uint(bits))) // exact, as the denominator is a power of two
}

func (x Values) Span(i int) Span {
	var z Number
	x.Read(&z, i)
	return z.Span()
}

// Sums are a Source of unevaluated sums: number i is x[0][i] + x[1][i] + ..., exactly.
type Sums []Float64s

func (x Sums) Len() int { return len(x[0]) }

// AllFinite tells whether all parts of all numbers are finite.
func (x Sums) AllFinite() bool {
	return !slices.ContainsFunc(x, func(part Float64s) bool {
		return slices.ContainsFunc(part, func(v float64) bool { return v-v != 0 })
	})
}

// Clone returns a copy.
func (x Sums) Clone() Sums {
	z := make(Sums, len(x))
	for k, part := range x {
		z[k] = slices.Clone(part)
	}
	return z
}

func (x Sums) Read(z *Number, i int) { Values{x.value(i)}.Read(z, 0) }

func (x Sums) value(i int) exact.Value {
	var sum exact.Dot
	for _, part := range x {
		sum.Add(part[i], 1)
	}
	return sum.Value()
}

func (x Sums) Span(i int) Span {
	var z Number
	x.Read(&z, i)
	return z.Span()
}

// mostParts is how many binary64 numbers AppendParts takes for one number at most.
const mostParts = 24

// AppendParts appends binary64 numbers that add up to number i of a source, z being scratch; infinities and NaN where
// the source has them in binary64. It reports false where it would take many, or others than normal numbers.
func AppendParts(parts []float64, s Source, i int, z *Number) ([]float64, bool) {
	switch x := s.(type) {
	case Float64s:
		return append(parts, x[i]), true
	case Sums:
		for _, part := range x {
			parts = append(parts, part[i])
		}
		return parts, true
	case Scaled:
		return parts, false
	}
	s.Read(z, i)
	top := z.Exp + 64*len(z.Words)
	switch {
	case z.Class == Zero:
		return parts, true
	case z.Class != Finite || 2*len(z.Words) > mostParts || z.Exp < -1000 || top > 1000:
		return parts, false
	}
	sign := 1.0
	if z.Neg {
		sign = -1
	}
	for k, w := range z.Words {
		low := math.Ldexp(sign, z.Exp+64*k)
		parts = append(parts, low*float64(w&math.MaxUint32), low*0x1p32*float64(w>>32))
	}
	return parts, true
}

// Rationals returns a Source of rational numbers: Scaled, with their least common odd denominator, unless that is 1.
func Rationals(x []*big.Rat) Source {
	den := big.NewInt(1)
	var odd, gcd big.Int
	for _, r := range x {
		odd.Rsh(r.Denom(), r.Denom().TrailingZeroBits())
		gcd.GCD(nil, nil, den, &odd)
		den.Mul(den, odd.Quo(&odd, &gcd))
	}
	list := make(Bigs, len(x))
	for i, r := range x {
		n := new(big.Rat).Mul(r, new(big.Rat).SetInt(den)) // a dyadic fraction
		f := new(big.Float).SetPrec(uint(max(1, n.Num().BitLen()))).SetInt(n.Num())
		list[i] = f.SetMantExp(f, -int(n.Denom().TrailingZeroBits()))
	}
	if den.IsInt64() && den.Int64() == 1 {
		return list
	}
	return Quotients(list, den)
}

// Quotients returns the numbers of a source divided by an odd integer, nil for 1.
func Quotients(s Source, denominator *big.Int) Source {
	if denominator == nil {
		return s
	}
	return &quotients{s, denominator}
}

type quotients struct {
	Source
	denominator *big.Int
}

func (q *quotients) Denominator() *big.Int { return q.denominator }

// At returns number i of a source exactly.
func At(s Source, i int) exact.Value {
	switch x := s.(type) {
	case Float64s:
		return exact.FromFloat64(x[i])
	case Values:
		return x[i]
	case joined:
		part, i := x.find(i)
		return At(part, i)
	case Sums:
		return x.value(i)
	}
	var z Number
	s.Read(&z, i)
	v := z.Value()
	if d, ok := s.(Scaled); ok && v.IsFinite() {
		v = exact.FromRat(new(big.Rat).Quo(v.Number(), new(big.Rat).SetInt(d.Denominator())))
	}
	return v
}
