package deferred

import (
	"fmt"
	"math/big"
	"mpbench/pkg/numbers"
)

// Vector is a vector of aligned numbers as residue planes: the residue modulo m_k of element j is planes[k*ld +
// offset + j], and element j is the integer of the residues times 2^low, plus what was truncated. It is immutable and
// safe for concurrent use. It keeps a reference to the Numbers it was made of only if it is truncated.
type Vector struct {
	base      *base
	n, ld     int
	offset    int
	planes    []uint32
	low, bits int
	truncated bool
	special   []special

	src    numbers.Source
	layout numbers.Layout
}

// NewVector converts the column vector x, laid out by l, for products with the matrix of the plan: it is aligned at
// the least bit position that occurs in it, or truncated to the plan's XBits.
func (p *Plan) NewVector(x numbers.Source, l numbers.Layout) (*Vector, error) {
	if l.Cols != 1 {
		return nil, fmt.Errorf("deferred: a vector of %d columns", l.Cols)
	}
	extent, err := Measure(x, l)
	if err != nil {
		return nil, err
	}
	b := baseOf(p.moduli)
	// A slice that begins anywhere reads up to a multiple of laneMultiple.
	v := &Vector{base: b, n: l.Rows, ld: roundUp(l.Rows, laneMultiple) + laneMultiple, low: extent.Low,
		bits: extent.Bits(), src: x, layout: l}
	if v.bits > p.xBits {
		v.low, v.bits, v.truncated = extent.Top-p.xBits, p.xBits, true
	}
	for i := range l.Rows {
		if s := x.Span(l.Index(i, 0)); s.Class == numbers.Infinite || s.Class == numbers.NaN {
			v.special = append(v.special, special{i, 0, s.Class, s.Neg})
		}
	}
	v.planes = alignedUint32(b.n * v.ld)
	const width = 16 * laneMultiple // elements of one task
	low := []int{v.low}
	convertParallel(b, p.opt.Threads, (v.n+width-1)/width, func(c *converter, task int) {
		for i := task * width; i < min((task+1)*width, v.n); i += laneMultiple {
			c.convert(v.planes, v.ld, i, x, l.Index(i, 0), l.RowStride, min(laneMultiple, v.n-i), low, 0)
		}
	})
	if !v.truncated {
		v.src = nil
	}
	return v, nil
}

// Len returns the number of elements.
func (v *Vector) Len() int { return v.n }

// Truncated reports whether elements are truncated.
func (v *Vector) Truncated() bool { return v.truncated }

// plane returns the elements in the plane of modulus k, and what follows them up to a multiple of laneMultiple.
func (v *Vector) plane(k int) []uint32 {
	return v.planes[k*v.ld+v.offset:][:roundUp(v.n, laneMultiple)]
}

// Slice returns elements i to j-1, which share memory with v and have its alignment.
func (v *Vector) Slice(i, j int) *Vector {
	if i < 0 || j < i || v.n < j {
		panic(fmt.Sprintf("deferred: elements %d to %d of %d", i, j, v.n))
	}
	w := *v
	w.n, w.offset = j-i, v.offset+i
	w.layout.Offset = v.layout.Index(i, 0)
	w.layout.Rows = j - i
	w.special = nil
	for _, e := range v.special {
		if i <= e.i && e.i < j {
			e.i -= i
			w.special = append(w.special, e)
		}
	}
	return &w
}

// Sum returns the sum of the elements rounded once to prec bits in z, which may be nil, or nil if it is NaN: residues
// are added modulo nothing, 2^36 of them fit a word. It panics if v is truncated.
func (v *Vector) Sum(z *big.Float, prec uint) *big.Float {
	if v.truncated {
		panic("deferred: Vector.Sum of a truncated vector")
	}
	y := bigResults{[]*big.Float{z}, prec}
	var total special
	for _, s := range v.special {
		total.add(s)
	}
	if total.class >= numbers.Infinite {
		y.special(0, total.class, total.neg)
		return y.y[0]
	}
	residues := make([]uint32, v.base.n)
	for k := range residues {
		plane, whole := v.plane(k), v.n&^(laneMultiple-1)
		// Behind the elements of a slice there are others.
		residues[k] = fold(sumBlock(plane[:whole])+sumBlockGeneric(plane[whole:v.n]), v.base.delta[k])
	}
	var r reconstructor
	var t term
	r.coefficients(v.base, residues, 1, 0, 1)
	r.integer(&t.x, v.base, 0)
	t.exp = v.low
	y.round(0, &t, nil)
	return y.y[0]
}
