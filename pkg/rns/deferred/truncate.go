package deferred

import (
	"math/big"
	"mpbench/pkg/numbers"
)

// truncation bounds what truncated elements leave out of the sums of an accumulator.
//
// With a = a' + da and x = x' + dx, where a' and x' are the truncated elements, in units of their last places, |da| <
// 1 if the row is truncated and 0 otherwise, |dx| likewise, |a'| < 2^bits(A) and |x| < 2^bits(x), a sum of N terms has
//
//	|sum a*x - sum a'*x'| = |sum da*x + a'*dx| <= N*2^bits(x) [A truncated] + N*2^bits(A) [x truncated].
//
// A row of zeros leaves nothing out.
type truncation struct {
	parts []part
	op    Op
}

func (s *Accumulator) truncation() truncation { return truncation{s.parts, s.op} }

// affects reports whether row i may differ from the exact sum.
func (b truncation) affects(i int) bool {
	for _, p := range b.parts {
		if _, width := p.a.alignment(i); width > 0 && (p.x.truncated || p.a.rowTruncated(i)) {
			return true
		}
	}
	return false
}

// of sets z to the bound for row i.
func (b truncation) of(z *big.Int, i int) {
	z.SetInt64(0)
	var t big.Int
	for _, p := range b.parts {
		_, terms := p.a.shape(b.op)
		_, width := p.a.alignment(i)
		if p.x.truncated && width > 0 {
			z.Add(z, t.Lsh(t.SetInt64(int64(terms)), uint(width)))
		}
		if p.a.rowTruncated(i) {
			z.Add(z, t.Lsh(t.SetInt64(int64(terms)), uint(p.x.bits)))
		}
	}
}

// exactRow returns alpha times the exact sum of row i, plus w.addend, in the sense of addTerms: every product is
// formed of the original numbers.
func (s *Accumulator) exactRow(w *rounder, i int, alpha *scalar, prec int) *term {
	var products products
	var a, x term
	for _, p := range s.parts {
		_, n := p.a.shape(s.op)
		for j := range n {
			p.x.entry(j).exact(&x, w)
			if x.x.Sign() == 0 {
				continue
			}
			p.a.entry(s.op, i, j).exact(&a, w)
			if a.x.Sign() == 0 {
				continue
			}
			products.add(&a, &x, alpha)
		}
	}
	return products.sum(&w.addend, prec)
}

// products are products of three factors.
type products []*term

func (list *products) add(a, x *term, alpha *scalar) {
	t := &term{exp: a.exp + x.exp + alpha.Exp}
	t.x.Mul(&a.x, &x.x)
	t.x.Mul(&t.x, &alpha.x)
	*list = append(*list, t)
}

// sum returns the sum of the products and the addend, in the sense of addTerms.
func (list products) sum(addend *term, prec int) *term {
	t := &term{exp: addend.exp}
	t.x.Set(&addend.x)
	return sumTerms(append(list, t), prec)
}

// entry is where an element of a matrix or a vector is.
type entry struct {
	src        numbers.Source // that has it as number i, if it is truncated; otherwise nil
	i          int
	base       *base
	planes     []uint32 // its residues are planes[k*stride + at]
	stride, at int
	low        int
}

func (v *Vector) entry(j int) entry {
	return entry{v.src, v.layout.Index(j, 0), v.base, v.planes, v.ld, v.offset + j, v.low}
}

// entry is that of element (i, j) of op(A).
func (a *Matrix) entry(op Op, i, j int) entry {
	low, _ := a.alignment(i)
	if op == Trans {
		i, j = j, i
	}
	return entry{a.src, a.layout.Index(i, j), a.base, a.planes, a.layout.Rows * a.ld, i*a.ld + j, low}
}

// exact sets z to the element, from its residues or, if they are truncated, from the source.
func (e entry) exact(z *term, w *rounder) {
	if e.src != nil {
		e.src.Read(&w.number, e.i)
		z.set(&w.number)
		return
	}
	w.single.coefficients(e.base, e.planes, e.stride, e.at, 1)
	w.single.integer(&w.element, e.base, 0)
	z.x.Set(&w.element)
	z.exp = e.low
}

// class returns the class and sign of the element.
func (e entry) class(r *reconstructor, x *big.Int) special {
	if e.src != nil {
		span := e.src.Span(e.i)
		return special{class: span.Class, neg: span.Neg}
	}
	r.coefficients(e.base, e.planes, e.stride, e.at, 1)
	r.integer(x, e.base, 0)
	return classOf(x)
}

// set sets z to x, or to zero if x is not finite.
func (z *term) set(x *numbers.Number) {
	z.exp = x.Exp
	z.x.SetInt64(0)
	if x.Class == numbers.Finite {
		integerOf(x, &z.x)
	}
}

// integer sets z to the signed significand of a finite x.
func integerOf(x *numbers.Number, z *big.Int) {
	words := numbers.BigWords(z.Bits()[:0], x.Words)
	for len(words) > 0 && words[len(words)-1] == 0 {
		words = words[:len(words)-1]
	}
	z.SetBits(words)
	if x.Neg {
		z.Neg(z)
	}
}
