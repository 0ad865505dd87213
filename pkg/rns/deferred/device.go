package deferred

import (
	"fmt"
	"math/big"
	"mpbench/pkg/numbers"
)

// What follows is for devices that do the work of this package on their own: constants, alignments and packed words.

// Tables are the constants of the first n moduli. They are shared and must not be changed.
type Tables struct {
	Moduli     int
	Lanes      int       // length of a row of Powers and of CRT
	Delta      []uint32  // modulus k is 2^28 - Delta[k]
	Powers     []uint32  // row h < n + 2: 2^(28h) modulo each modulus
	Weight     []uint32  // (M/m_k)^-1 modulo m_k
	Reciprocal []float64 // 1/m_k
	CRT        []uint32  // row k < n: M/m_k, row n: 2^(28n) - M, in limbs of 28 bits, least significant first
}

// TablesOf returns the constants of the first n moduli, 1 <= n <= MaxModuli.
func TablesOf(n int) Tables {
	b := baseOf(n)
	return Tables{n, b.lanes, b.delta, b.powers, b.weight, b.reciprocal, b.crt}
}

// PlanExtents is [NewPlan] for products A*x of a matrix whose elements are elsewhere: its row i has the extent
// rows[i], and there are as many columns as terms. The plan has no numbers, so no matrix can be made of it, and
// special elements are the caller's affair.
func PlanExtents(rows []numbers.Extent, terms int, x numbers.Extent, opt Options) (*Plan, error) {
	if opt.MaxModuli <= 0 || opt.MaxModuli > MaxModuli {
		opt.MaxModuli = MaxModuli
	}
	p := &Plan{layout: numbers.Layout{Rows: len(rows), Cols: terms}, op: NoTrans, opt: opt, xBits: x.Bits(),
		allTerms: terms}
	if terms < 0 {
		return nil, fmt.Errorf("deferred: sums of %d terms", terms)
	}
	if err := p.align(rows); err != nil {
		return nil, err
	}
	return p, nil
}

// Lows returns for each row of op(A) the exponent that its integers are multiplied by: element (i, j) is an integer
// times 2^Lows()[i]. There is one for all rows if the plan is for Both.
func (p *Plan) Lows() []int { return append([]int(nil), p.low...) }

// VectorLow returns the exponent of a vector of that extent in products with the plan, and whether it is truncated.
func (p *Plan) VectorLow(x numbers.Extent) (low int, truncated bool) {
	if x.Bits() > p.xBits {
		return x.Top - p.xBits, true
	}
	return x.Low, false
}

// ProductModuli returns how many moduli exact sums of so many products of these extents take; it may exceed MaxModuli.
func ProductModuli(row, x numbers.Extent, terms int) int {
	return moduliOf(row.Bits(), x.Bits(), terms)
}

// RowExtent returns the extent of row i of op(A), also where the plan truncates it.
func (p *Plan) RowExtent(i int) numbers.Extent {
	if p.extents != nil {
		return p.extents[i]
	}
	return numbers.Extent{Low: p.low[i], Top: p.low[i] + p.bits[i]}
}

// ErrorBits bounds what the plan's truncation leaves out of the sum of row i times a vector of extent x: less than
// 2^ErrorBits in units of the sum, 2^(Lows()[i] + low) with the low of VectorLow. It is -1 for a sum that is exact.
func (p *Plan) ErrorBits(i int, x numbers.Extent) int {
	bits := p.bits[i]
	_, xTruncated := p.VectorLow(x)
	aTruncated := p.truncated && bits == p.width
	error := -1
	if xTruncated && bits > 0 {
		error = bits
	}
	if aTruncated {
		error = max(error, min(x.Bits(), p.xBits))
	}
	if error < 0 {
		return -1
	}
	if xTruncated && aTruncated { // the sum of two bounds
		error++
	}
	return error + log2Ceil(p.allTerms)
}

// RoundedRow returns alpha times the sum of the products of a row a and a column x, plus beta*y, all divided by an odd
// integer d (nil for 1), rounded once to prec bits. The layouts are of 1 x n and n x 1 elements, of which infinities
// and NaN count as 0. alpha and beta are finite, y is not read where beta is zero.
func RoundedRow(
	a numbers.Array, x numbers.Array, alpha, beta *big.Float, y *numbers.Number, d *big.Int, prec uint,
) *big.Float {
	var factor scalar
	factor.set(alpha)
	var number numbers.Number
	var list products
	var left, right, addend term
	for j := range a.Cols {
		x.ReadAt(&number, j, 0)
		if right.set(&number); right.x.Sign() == 0 {
			continue
		}
		a.ReadAt(&number, 0, j)
		if left.set(&number); left.x.Sign() != 0 {
			list.add(&left, &right, &factor)
		}
	}
	if beta.Sign() != 0 {
		factor.set(beta)
		addend.set(y)
		addend.x.Mul(&addend.x, &factor.x)
		addend.exp += factor.Exp
	}
	z := new(big.Float)
	if d == nil {
		setRounded(z, list.sum(&addend, int(prec)), prec)
		return z
	}
	t := list.sum(&addend, quotientBits(d, prec))
	t.divide(d, prec)
	setRounded(z, t, prec)
	return z
}

// Words returns the numbers as they lie in memory: number i is (-1)^(exponents[i] mod 2) * W *
// 2^floor(exponents[i]/2), with W of the words[i*width] to words[(i+1)*width-1], least significant first. Infinities
// and NaN are zeros here. The slices must not be changed.
func (p *Packed) Words() (words []uint64, exponents []int64, width int) {
	return p.words[:len(p.exponents)*p.width], p.exponents, p.width
}

// PackedWords presents numbers that lie in memory as Words describes them; it takes them over.
func PackedWords(words []uint64, exponents []int64, width int) *Packed {
	return &Packed{bits: 64 * width, width: width, words: words, exponents: exponents}
}

// PackedNumbers presents numbers of so many bits that lie in memory as Words describes them, each with its bit bits-1
// set or 0; it takes them over.
func PackedNumbers(bits int, words []uint64, exponents []int64) *Packed {
	return &Packed{bits: bits, width: max(1, (bits+63)/64), words: words, exponents: exponents}
}
