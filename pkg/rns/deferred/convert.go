package deferred

import (
	"math/bits"
	"mpbench/internal/parallel"
	"mpbench/pkg/numbers"
)

// converter turns numbers into columns of residue planes. Each goroutine needs its own.
type converter struct {
	base   *base
	number numbers.Number
	coef   []uint32
	block  []uint32 // laneMultiple numbers, their residues next to each other
}

func newConverter(b *base) *converter {
	return &converter{base: b, block: make([]uint32, laneMultiple*b.lanes)}
}

// convertParallel calls convert for every task, each goroutine with a converter of its own.
func convertParallel(b *base, threads, tasks int, convert func(c *converter, task int)) {
	threads = min(parallel.Threads(threads), tasks)
	converters := make([]*converter, threads)
	parallel.Tasks(threads, tasks, func(worker, task int) {
		if converters[worker] == nil {
			converters[worker] = newConverter(b)
		}
		convert(converters[worker], task)
	})
}

// convert sets columns at to at+count-1 of the planes, count <= laneMultiple, to the residues of the aligned numbers
//
//	truncate(x_t * 2^-low[t*lowStep]),  x_t = src number first + t*step
//
// where plane k begins at planes[k*planeStride]. Zeros, infinities and NaN have residues 0.
func (c *converter) convert(
	planes []uint32, planeStride, at int, src numbers.Source, first, step, count int, low []int, lowStep int,
) {
	lanes := c.base.lanes
	floats, isFloats := src.(numbers.Float64s)
	for t := range count {
		z := c.block[t*lanes : (t+1)*lanes]
		clear(z)
		i := first + t*step
		if isFloats {
			c.float64(z, floats[i], low[t*lowStep])
			continue
		}
		src.Read(&c.number, i)
		if c.number.Class == numbers.Finite {
			c.residues(z, &c.number, low[t*lowStep])
		}
	}
	for k := range c.base.n {
		row := planes[k*planeStride+at:][:count]
		for t := range row {
			row[t] = c.block[t*lanes+k]
		}
	}
}

// float64 sets z, which is zero, to the residues of truncate(x * 2^-low).
func (c *converter) float64(z []uint32, x float64, low int) {
	s, e := numbers.Significand(x)
	shift := e - low
	if s == 0 || e > 1023-52 { // zero, infinity or NaN
		return
	}
	var limbs [3]uint32
	if shift <= 0 {
		s >>= min(uint(-shift), 63)
		shift = 0
	}
	h := shift / limbBits
	hi, lo := bits.Mul64(s, 1<<(shift%limbBits)) // below 2^80
	limbs[0] = uint32(lo & limbMask)
	limbs[1] = uint32(lo >> limbBits & limbMask)
	limbs[2] = uint32(hi<<(64-2*limbBits) | lo>>(2*limbBits))
	// Always three limbs, though the last may be zero: a count that changes would be mispredicted.
	b := c.base
	combine(z, b.powers[h*b.lanes:], b.lanes, limbs[:], b.delta, x < 0)
}

// residues sets z, which is zero, to the residues of truncate(x * 2^-low) for a finite x.
func (c *converter) residues(z []uint32, x *numbers.Number, low int) {
	var h int
	c.coef, h = appendLimbs(c.coef[:0], x.Words, x.Exp-low)
	c.combine(z, h, c.coef, x.Neg)
}

// combine sets z, which is zero, to the residues of sum limbs[l] * 2^(28(h+l)), negated if neg.
func (c *converter) combine(z []uint32, h int, limbs []uint32, neg bool) {
	b := c.base
	for len(limbs) > 0 {
		part := min(len(limbs), lazyProducts)
		combine(z, b.powers[h*b.lanes:], b.lanes, limbs[:part], b.delta, neg && part == len(limbs))
		limbs, h = limbs[part:], h+part
	}
}

// appendLimbs appends the limbs of W * 2^shift, truncated to an integer if shift is negative, without those below the
// first and above the last that can be nonzero; first is the position of the first.
func appendLimbs(limbs []uint32, words []uint64, shift int) (_ []uint32, first int) {
	for len(words) > 0 && words[len(words)-1] == 0 {
		words = words[:len(words)-1]
	}
	if len(words) == 0 {
		return limbs, 0
	}
	top := 64*(len(words)-1) + bits.Len64(words[len(words)-1]) + shift
	first = max(shift, 0) / limbBits
	for pos := first*limbBits - shift; pos < top-shift; pos += limbBits {
		if pos < 0 {
			limbs = append(limbs, uint32(words[0]<<-pos&limbMask))
			continue
		}
		i, r := pos/64, uint(pos%64)
		limb := words[i] >> r
		if i+1 < len(words) {
			limb |= words[i+1] << (64 - r) // a shift by 64 gives 0
		}
		limbs = append(limbs, uint32(limb&limbMask))
	}
	return limbs, first
}
