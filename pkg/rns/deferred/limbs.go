package deferred

import (
	"fmt"
	"math/bits"

	"mpbench/internal/parallel"
	"mpbench/pkg/numbers"
)

// This file has products A*x of short factors without residues: half as many bytes are read, or fewer.
//
// Aligned numbers are limbs of 28 bits, all with the number's sign. The products of limbs of the same weight are added
// in words, each a sum of halves: sums[2q] + 2^32*sums[2q+1] is worth 2^(28q). Nothing is rounded.

// mostLimbs is up to how many limbs there are kernels: the square of their number are the products of an element, so
// that longer factors are faster as residues wherever they lie.
const mostLimbs = 5

// leastLimbBytes is how many bytes of residues make limbs worth while: those that fit the caches are read at their
// speed, and take fewer multiplications (BenchmarkLimbs).
const leastLimbBytes = 8 << 20

// wordsOf returns how many words the products of n limbs take.
func wordsOf(n int) int { return 2*n - 1 }

// Limbs returns how many limbs the factors of the plan take, or 0 where residues are better, or the only way: where
// factors are truncated, and for products with both A and its transpose.
func (p *Plan) Limbs() int {
	if p.Bytes() < leastLimbBytes {
		return 0
	}
	return p.limbs()
}

// limbs is Limbs of matrices of all sizes.
func (p *Plan) limbs() int {
	n := max(1, (max(p.width, p.xBits)+limbBits-1)/limbBits)
	if p.op == Both || p.truncated || len(p.special) > 0 || n > mostLimbs {
		return 0
	}
	return n
}

// LimbBytes returns the size of a matrix of n limbs.
func (p *Plan) LimbBytes(n int) int64 { return p.Bytes() / int64(p.moduli) * int64(n) }

// LimbMatrix is op(A) of aligned numbers as limbs: limb k of element (i, j) is planes[(k*rows + i)*ld + j], in two's
// complement, and the element is the integer of its limbs times 2^low[i]; rows are padded with zeros. It is immutable
// and safe for concurrent use.
type LimbMatrix struct {
	limbs      int
	rows, cols int
	ld         int
	low        []int
	planes     []uint32
}

// LimbVector is a vector for products with a LimbMatrix: limb k of element j is planes[k*ld + j].
type LimbVector struct {
	low    int
	ld     int
	planes []uint32
}

// LimbMatrix converts the numbers to the limbs of the plan, of which there must be some.
func (p *Plan) LimbMatrix() *LimbMatrix {
	l := p.nearLayout
	if p.op == Trans {
		l.Rows, l.Cols, l.RowStride, l.ColStride = l.Cols, l.Rows, l.ColStride, l.RowStride
	}
	a := &LimbMatrix{limbs: p.limbs(), rows: l.Rows, cols: l.Cols, ld: leadingDimension(l.Cols), low: p.low}
	if a.limbs == 0 {
		panic("deferred: limbs of a plan for residues")
	}
	a.planes = alignedUint32(a.limbs * a.rows * a.ld)
	convertParallel(baseOf(a.limbs), p.opt.Threads, a.rows, func(c *converter, i int) {
		for j := 0; j < a.cols; j += laneMultiple {
			c.read(p.near, l.Index(i, j), l.ColStride, min(laneMultiple, a.cols-j), a.low[i:], 0)
			c.storeLimbs(a.planes[i*a.ld+j:], a.rows*a.ld)
		}
	})
	return a
}

// NewVector converts the column vector x, laid out by l. An error says that it is not one, of finite numbers of at
// most the plan's bits, as long as the matrix is wide.
func (a *LimbMatrix) NewVector(x numbers.Source, l numbers.Layout) (*LimbVector, error) {
	extent, err := Measure(x, l)
	switch {
	case err != nil:
		return nil, err
	case l.Cols != 1 || l.Rows != a.cols || extent.Bits() > a.limbs*limbBits:
		return nil, fmt.Errorf("deferred: %d x %d numbers of %d bits for a matrix of %d columns and %d limbs",
			l.Rows, l.Cols, extent.Bits(), a.cols, a.limbs)
	}
	v := &LimbVector{low: extent.Low, ld: leadingDimension(l.Rows)}
	v.planes = alignedUint32(a.limbs * v.ld)
	c := newConverter(baseOf(a.limbs))
	for j := 0; j < l.Rows; j += laneMultiple {
		c.read(x, l.Index(j, 0), l.RowStride, min(laneMultiple, l.Rows-j), []int{v.low}, 0)
		c.storeLimbs(v.planes[j:], v.ld)
	}
	return v, nil
}

// storeLimbs sets a column of z, which is 0, and those behind it to the limbs that have been read, whose planes lie
// stride words apart.
func (c *converter) storeLimbs(z []uint32, stride int) {
	for h := c.first; h < c.end; h++ {
		if c.limbs[h] == [laneMultiple]uint64{} {
			continue
		}
		for t, limb := range c.limbs[h] {
			z[h*stride+t] = uint32(limb^c.neg[t]) - uint32(c.neg[t])
		}
	}
	c.clear()
}

// MulVec calls do with the exact sum of the products of each row of op(A) and x, on several goroutines; z is its own
// for the time of the call.
func (a *LimbMatrix) MulVec(x *LimbVector, threads int, do func(i int, z *numbers.Number)) {
	const grain = 16
	words := wordsOf(a.limbs)
	scratch := make([]limbScratch, parallel.Threads(threads))
	parallel.Ranges(threads, a.rows, grain, func(worker, from, to int) {
		s := &scratch[worker]
		for i := from; i < to; i++ {
			clear(s.sums[:])
			if a.ld > 0 {
				dotLimbs(s.sums[:2*words], a.planes[i*a.ld:], a.rows*a.ld, x.planes, x.ld, a.ld)
			}
			s.number(words)
			s.z.Exp = a.low[i] + x.low
			do(i, &s.z)
		}
	})
}

// limbScratch is what a goroutine adds a row with.
type limbScratch struct {
	sums  [2 * (2*mostLimbs - 1)]int64
	limbs [2*mostLimbs + 3]uint64
	z     numbers.Number
}

// number sets z to the number of the words. The sum of N < 2^32 products of L limbs each is less than 2^(56L+32) in
// magnitude; four limbs more than there are words hold it with its sign.
func (s *limbScratch) number(words int) {
	limbs := s.limbs[:words+4]
	var carryHigh int64
	var carryLow uint64
	for q := range limbs {
		var low, c uint64
		var high int64
		if q < words {
			low, c = bits.Add64(uint64(s.sums[2*q+1])<<32, uint64(s.sums[2*q]), 0)
			high = s.sums[2*q+1]>>32 + int64(c)
		}
		low, c = bits.Add64(low, carryLow, 0)
		high += carryHigh + int64(c)
		limbs[q] = low & limbMask
		carryLow, carryHigh = low>>limbBits|uint64(high)<<(64-limbBits), high>>limbBits
	}
	if s.z.Neg = limbs[len(limbs)-1]>>(limbBits-1) != 0; s.z.Neg {
		negate(limbs)
	}
	s.z.Words = s.z.Words[:0]
	for range (len(limbs)*limbBits + 63) / 64 {
		s.z.Words = append(s.z.Words, 0)
	}
	s.z.Class = numbers.Zero
	for q, limb := range limbs {
		if limb == 0 {
			continue
		}
		s.z.Class = numbers.Finite
		at, shift := q*limbBits/64, q*limbBits%64
		s.z.Words[at] |= limb << shift
		if shift > 64-limbBits {
			s.z.Words[at+1] |= limb >> (64 - shift)
		}
	}
}
