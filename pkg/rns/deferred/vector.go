package deferred

import "fmt"

// Vector is a vector of aligned numbers as residue planes: the residue modulo m_k of element j is
// planes[k*ld + j], and element j is the integer of the residues times 2^low, plus what was truncated. It is immutable and
// safe for concurrent use. It keeps a reference to the Numbers it was made of only if it is truncated.
type Vector struct {
	base      *base
	n, ld     int
	planes    []uint32
	low, bits int
	truncated bool
	special   []special

	src    Numbers
	layout Layout
}

// Measure returns the extent of the finite elements of x, laid out by l.
func Measure(x Numbers, l Layout) (Extent, error) {
	if err := l.check(x.Len()); err != nil {
		return Extent{}, err
	}
	var all Extent
	for i := range l.Rows {
		for j := range l.Cols {
			if s := x.Span(l.index(i, j)); s.Class == Finite {
				all = all.Union(s.Extent)
			}
		}
	}
	return all, nil
}

// NewVector converts the column vector x, laid out by l, for products with A: it is aligned at the least bit position that occurs in
// it, or truncated to the XBits of A's plan.
func (a *Matrix) NewVector(x Numbers, l Layout) (*Vector, error) {
	if l.Cols != 1 {
		return nil, fmt.Errorf("deferred: a vector of %d columns", l.Cols)
	}
	extent, err := Measure(x, l)
	if err != nil {
		return nil, err
	}
	v := &Vector{base: a.base, n: l.Rows, ld: roundUp(l.Rows, laneMultiple), low: extent.Low, bits: extent.Bits(), src: x, layout: l}
	if v.bits > a.xBits {
		v.low, v.bits, v.truncated = extent.Top-a.xBits, a.xBits, true
	}
	for i := range l.Rows {
		if s := x.Span(l.index(i, 0)); s.Class == Infinite || s.Class == NaN {
			v.special = append(v.special, special{i, 0, s.Class, s.Neg})
		}
	}
	v.planes = alignedUint32(a.base.n * v.ld)
	c := newConverter(a.base)
	for i := 0; i < v.n; i += laneMultiple {
		c.convert(v.planes, v.ld, i, x, l.index(i, 0), l.RowStride, min(laneMultiple, v.n-i), []int{v.low}, 0)
	}
	if !v.truncated {
		v.src = nil
	}
	return v, nil
}

// Len returns the number of elements.
func (v *Vector) Len() int { return v.n }

// Truncated reports whether elements are truncated.
func (v *Vector) Truncated() bool { return v.truncated }

// plane returns the plane of modulus k.
func (v *Vector) plane(k int) []uint32 { return v.planes[k*v.ld : (k+1)*v.ld] }
