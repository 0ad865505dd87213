package deferred

import (
	"fmt"
	"slices"
)

// Accumulator holds the exact sums of products of one matrix-vector product, before they are rounded, as residues: the
// residue modulo m_k of row i is residues[k*stride + i]. They are integers, so partial sums may be added in any order,
// by any number of accumulators and devices, and the result is the same. Memory: 4 bytes per modulus and row, and
// scratch that does not grow with rows.
//
// An Accumulator is not safe for concurrent use; its methods use several goroutines themselves. They panic if
// matrices, vectors and results of different shape, base or alignment are brought together.
type Accumulator struct {
	base       *base
	op         Op
	rows       int
	stride     int
	residues   []uint32
	parts      []part // the products added
	terms      int    // of each sum
	workers    []worker
	recomputed int
}

// part is a product in an accumulator. All of an accumulator have the same alignments.
type part struct {
	a *Matrix
	x *Vector
}

type worker struct {
	sums []uint64
	rounder
}

// NewAccumulator returns zero, for products op(A)*x.
func (a *Matrix) NewAccumulator(op Op) *Accumulator {
	if op == Both || a.op != Both && op != a.op {
		panic(fmt.Sprintf("deferred: a matrix prepared for %v used for %v", a.op, op))
	}
	rows, _ := a.shape(op)
	s := &Accumulator{base: a.base, op: op, rows: rows, stride: roundUp(rows, laneMultiple)}
	s.residues = make([]uint32, s.base.n*s.stride)
	return s
}

// Reset makes s zero.
func (s *Accumulator) Reset() {
	clear(s.residues)
	clear(s.parts)
	s.parts = s.parts[:0]
	s.terms = 0
	s.recomputed = 0
}

// Len returns the number of rows.
func (s *Accumulator) Len() int { return s.rows }

// Residues returns the residues, which begin every stride numbers for the next modulus. Sums that a device computed of
// part of a product may be added to them, modulo Moduli(n) each.
func (s *Accumulator) Residues() (residues []uint32, stride int) { return s.residues, s.stride }

// Add adds t, which must come from the same matrix, or from one of the same alignment.
func (s *Accumulator) Add(t *Accumulator) {
	if s.base.n != t.base.n || s.rows != t.rows || s.op != t.op {
		panic("deferred: accumulators of different shape")
	}
	for _, p := range t.parts {
		s.join(p.a, p.x)
	}
	for k, m := range s.base.modulus[:s.base.n] {
		z, x := s.residues[k*s.stride:][:s.rows], t.residues[k*s.stride:][:s.rows]
		for i := range z {
			z[i] = addMod(z[i], x[i], m)
		}
	}
}

// join notes a product, and checks that it fits.
func (s *Accumulator) join(a *Matrix, x *Vector) {
	rows, terms := a.shape(s.op)
	switch {
	case a.base.n != s.base.n || rows != s.rows || a.op != Both && a.op != s.op:
		panic("deferred: the matrix does not fit the accumulator")
	case x.base.n != a.base.n || x.n != terms:
		panic(fmt.Sprintf("deferred: a vector of %d elements, made for another matrix, or not of %d elements", x.n, terms))
	}
	if s.terms += terms; s.terms > a.allTerms {
		panic(fmt.Sprintf("deferred: sums of %d terms with moduli chosen for %d", s.terms, a.allTerms))
	}
	if len(s.parts) > 0 {
		if first := s.parts[0]; first.x.low != x.low || !slices.Equal(first.a.low, a.low) {
			panic("deferred: products of different alignment in one accumulator")
		}
	}
	s.parts = append(s.parts, part{a, x})
}

// grow provides scratch for n goroutines.
func (s *Accumulator) grow(n int) {
	for len(s.workers) < n {
		s.workers = append(s.workers, worker{})
	}
}
