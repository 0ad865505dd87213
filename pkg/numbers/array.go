package numbers

import (
	"math/big"

	"mpbench/pkg/exact"
)

// Array is a vector or a matrix: numbers and where its elements are among them. The zero Array has no elements. A scalar is an array of one.
type Array struct {
	Source
	Layout
}

// Vector returns all numbers of a source as a vector.
func Vector(s Source) Array { return Array{s, Strided(s.Len(), 1)} }

// Scalar returns the number x as an array of one.
func Scalar(x float64) Array { return Vector(Float64s([]float64{x})) }

// Absent tells whether there is no array.
func (a Array) Absent() bool { return a.Source == nil }

// Len returns the number of elements.
func (a Array) Len() int { return a.Rows * a.Cols }

// ReadAt sets z to element (i, j).
func (a Array) ReadAt(z *Number, i, j int) { a.Read(z, a.Index(i, j)) }

// Part returns rows from to to-1; it shares the numbers.
func (a Array) Part(from, to int) Array {
	if !a.Absent() {
		a.Offset, a.Rows = a.Offset+from*a.RowStride, to-from
	}
	return a
}

// Row returns row i as a vector.
func (a Array) Row(i int) Array { return a.Part(i, i+1).Transposed() }

// Column returns column j.
func (a Array) Column(j int) Array {
	a.Offset, a.Cols = a.Offset+j*a.ColStride, 1
	return a
}

// Transposed returns the transpose of a matrix; it shares the numbers.
func (a Array) Transposed() Array {
	a.Rows, a.Cols, a.RowStride, a.ColStride = a.Cols, a.Rows, a.ColStride, a.RowStride
	return a
}

// Contiguous returns the float64 numbers of a vector if that is what it consists of, one next to the other: what vector code wants.
func (a Array) Contiguous() ([]float64, bool) {
	x, ok := a.Source.(Float64s)
	if !ok || a.Cols != 1 || a.RowStride != 1 && a.Rows > 1 {
		return nil, false
	}
	return x[a.Offset : a.Offset+a.Rows], true
}

// Scaled is a Source of numbers that are no dyadic fractions, such as decimals: number i is what Read reads, divided by Denominator. Engines that
// compute in integers divide once, at the end; the others round each number when they load it.
type Scaled interface {
	Source
	Denominator() *big.Int // positive and odd
}

// Rationals presents rational numbers as a Scaled source with their common denominator.
func Rationals(x []*big.Rat) Source {
	den := big.NewInt(1)
	var odd, gcd big.Int
	for _, r := range x {
		odd.Rsh(r.Denom(), r.Denom().TrailingZeroBits())
		gcd.GCD(nil, nil, den, &odd)
		den.Mul(den, odd.Quo(&odd, &gcd))
	}
	scaled := make([]*big.Float, len(x))
	for i, r := range x {
		n := new(big.Rat).Mul(r, new(big.Rat).SetInt(den)) // a dyadic fraction
		k := n.Denom().TrailingZeroBits()
		scaled[i] = new(big.Float).SetPrec(uint(max(1, n.Num().BitLen()))).SetInt(n.Num())
		scaled[i].SetMantExp(scaled[i], -int(k))
	}
	return rationals{Bigs(scaled), den}
}

type rationals struct {
	Source
	den *big.Int
}

func (r rationals) Denominator() *big.Int { return r.den }

// Value returns z as an exact value.
func (z *Number) Value() exact.Value {
	switch {
	case z.Class == NaN:
		return exact.Value{Class: exact.NaN}
	case z.Class == Infinite && z.Neg:
		return exact.Value{Class: exact.NegInf}
	case z.Class == Infinite:
		return exact.Value{Class: exact.PosInf}
	case z.Class == Zero:
		return exact.Value{}
	}
	return exact.FromBig(z.Big())
}

// Big returns z, which is finite, as a big.Float that holds it exactly.
func (z *Number) Big() *big.Float {
	words := make([]big.Word, 0, len(z.Words))
	for _, w := range z.Words {
		words = append(words, big.Word(w)) // 64-bit platforms
	}
	n := new(big.Int).SetBits(words)
	if z.Neg {
		n.Neg(n)
	}
	f := new(big.Float).SetPrec(uint(max(1, n.BitLen()))).SetInt(n)
	return f.SetMantExp(f, z.Exp)
}

// At returns number i of a source exactly.
func At(s Source, i int) exact.Value {
	if x, ok := s.(Float64s); ok {
		return exact.FromFloat64(x[i])
	}
	if x, ok := s.(Values); ok {
		return x[i]
	}
	var z Number
	s.Read(&z, i)
	v := z.Value()
	if d, ok := s.(Scaled); ok && v.IsFinite() && v.Rat != nil {
		v = exact.FromRat(new(big.Rat).Quo(v.Rat, new(big.Rat).SetInt(d.Denominator())))
	}
	return v
}

// Values presents exact values, such as results, as a Source; those that are rational must be dyadic.
type Values []exact.Value

func (x Values) Len() int { return len(x) }

func (x Values) Read(z *Number, i int) {
	switch v := x[i]; v.Class {
	case exact.NaN:
		z.Class = NaN
	case exact.PosInf, exact.NegInf:
		z.Class, z.Neg = Infinite, v.Class == exact.NegInf
	default:
		z.SetBig(v.Round(uint(1 + bitsOf(v))))
	}
}

func bitsOf(v exact.Value) int {
	if v.Rat == nil {
		return 0
	}
	return v.Rat.Num().BitLen()
}

func (x Values) Span(i int) Span {
	var z Number
	x.Read(&z, i)
	return z.Span()
}
