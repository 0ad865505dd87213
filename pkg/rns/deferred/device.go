package deferred

import "fmt"

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

// PlanExtents is [NewPlan] for products A*x of a matrix whose elements are elsewhere: its row i has the extent rows[i], and there are as
// many columns as terms. The plan has no numbers, so no matrix can be made of it, and special elements are the caller's affair.
func PlanExtents(rows []Extent, terms int, x Extent, opt Options) (*Plan, error) {
	if opt.MaxModuli <= 0 || opt.MaxModuli > MaxModuli {
		opt.MaxModuli = MaxModuli
	}
	p := &Plan{layout: Layout{Rows: len(rows), Cols: terms}, op: NoTrans, opt: opt, xBits: x.Bits(), allTerms: terms}
	if terms < 0 {
		return nil, fmt.Errorf("deferred: sums of %d terms", terms)
	}
	if err := p.align(rows); err != nil {
		return nil, err
	}
	return p, nil
}

// Lows returns for each row of op(A) the exponent that its integers are multiplied by: element (i, j) is an integer times 2^Lows()[i]. There is
// one for all rows if the plan is for Both.
func (p *Plan) Lows() []int { return append([]int(nil), p.low...) }

// VectorLow returns the exponent of a vector of that extent in products with the plan, and whether it is truncated.
func (p *Plan) VectorLow(x Extent) (low int, truncated bool) {
	if x.Bits() > p.xBits {
		return x.Top - p.xBits, true
	}
	return x.Low, false
}

// Words returns the numbers as they lie in memory: number i is (-1)^(heads[i] mod 2) * W * 2^floor(heads[i]/2), with W of the
// words[i*width] to words[(i+1)*width-1], least significant first. Infinities and NaN are zeros here. The slices must not be changed.
func (p *Packed) Words() (words []uint64, heads []int64, width int) {
	return p.words[:len(p.heads)*p.width], p.heads, p.width
}
