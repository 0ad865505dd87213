package deferred

import (
	"fmt"
	"mpbench/pkg/numbers"
	"slices"
)

// Packed is an array of numbers with significands of at most a fixed number of bits in packed words: it takes 8 * (1 +
// ceil(bits/64)) bytes a number. Number i is (-1)^neg * W * 2^exp, where W are the words [i*width, (i+1)*width), least
// significant first, and exponents[i] = 2*exp + neg. Significands are normalized: bit bits-1 of W is set unless the
// number is zero. It implements [Numbers].
type Packed struct {
	bits, width int
	words       []uint64 // and packedSlack beyond the last number
	exponents   []int64
	special     []special
}

// packedSlack is how many words after the last number kernels may read: they take 4 words at a time.
const packedSlack = 4

// NewPacked returns n zeros.
func NewPacked(n, bits int) *Packed {
	p := &Packed{bits: bits, width: max(1, (bits+63)/64)}
	p.words = make([]uint64, n*p.width+packedSlack)
	p.exponents = make([]int64, n)
	return p
}

// Len returns the number of numbers.
func (p *Packed) Len() int { return len(p.exponents) }

// Bits returns the greatest length of a significand.
func (p *Packed) Bits() int { return p.bits }

// Bytes returns the size of the numbers in memory.
func (p *Packed) Bytes() int64 { return 8 * int64(len(p.exponents)) * int64(1+p.width) }

// Set makes number i equal to x. It fails if x has more than Bits bits.
func (p *Packed) Set(i int, x *numbers.Number) error {
	w := p.words[i*p.width : (i+1)*p.width]
	clear(w)
	p.exponents[i] = 0
	p.special = slices.DeleteFunc(p.special, func(s special) bool { return s.i == i })
	switch x.Class {
	case numbers.Zero:
		return nil
	case numbers.Infinite, numbers.NaN:
		p.special = append(p.special, special{i: i, class: x.Class, neg: x.Neg})
		return nil
	}
	span := x.Span()
	if span.Bits() > p.bits {
		return fmt.Errorf("deferred: a number of %d bits among packed numbers of %d", span.Bits(), p.bits)
	}
	exp := span.Top - p.bits
	for h := range w {
		w[h] = bitsAt(x.Words, 64*h-(x.Exp-exp))
	}
	p.exponents[i] = int64(exp) << 1
	if x.Neg {
		p.exponents[i]++
	}
	return nil
}

// Part returns numbers from to to-1, which share their memory with p: neither must be changed afterwards.
func (p *Packed) Part(from, to int) *Packed {
	q := &Packed{bits: p.bits, width: p.width, words: p.words[from*p.width : to*p.width+packedSlack],
		exponents: p.exponents[from:to]}
	for _, s := range p.special {
		if from <= s.i && s.i < to {
			s.i -= from
			q.special = append(q.special, s)
		}
	}
	return q
}

// Select returns copies of the numbers of these indices.
func (p *Packed) Select(indices []int) *Packed {
	q := NewPacked(len(indices), p.bits)
	for to, from := range indices {
		copy(q.words[to*p.width:(to+1)*p.width], p.words[from*p.width:])
		q.exponents[to] = p.exponents[from]
		for _, s := range p.special {
			if s.i == from {
				s.i = to
				q.special = append(q.special, s)
			}
		}
	}
	return q
}

// Copy makes the numbers of these indices those of q, which has the same Bits; neither has infinities or NaN.
func (p *Packed) Copy(q *Packed, indices []int) {
	for _, i := range indices {
		copy(p.words[i*p.width:(i+1)*p.width], q.words[i*p.width:])
		p.exponents[i] = q.exponents[i]
	}
}

// bitsAt returns bits pos to pos+63 of the words, zeros where there are none.
func bitsAt(words []uint64, pos int) uint64 {
	if pos <= -64 {
		return 0
	}
	if pos < 0 {
		return words[0] << -pos
	}
	i, shift := pos/64, uint(pos%64)
	if i >= len(words) {
		return 0
	}
	w := words[i] >> shift
	if i+1 < len(words) {
		w |= words[i+1] << (64 - shift) // a shift by 64 gives 0
	}
	return w
}

func (p *Packed) Span(i int) numbers.Span {
	var z numbers.Number
	p.Read(&z, i)
	return z.Span()
}

func (p *Packed) Read(z *numbers.Number, i int) {
	w := p.words[i*p.width : (i+1)*p.width]
	z.Words = append(z.Words[:0], w...)
	z.Class, z.Neg, z.Exp = numbers.Zero, p.exponents[i]&1 != 0, int(p.exponents[i]>>1)
	if w[len(w)-1] != 0 {
		z.Class = numbers.Finite
		return
	}
	for _, s := range p.special {
		if s.i == i {
			z.Class, z.Neg = s.class, s.neg
			return
		}
	}
	if slices.ContainsFunc(w, func(x uint64) bool { return x != 0 }) {
		z.Class = numbers.Finite
	}
}
