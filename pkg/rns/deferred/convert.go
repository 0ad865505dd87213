package deferred

import (
	"math/bits"

	"mpbench/internal/parallel"
	"mpbench/pkg/numbers"
)

// converter turns numbers into columns of residue planes, laneMultiple of them at a time: their limbs side by side,
// and then modulus after modulus. Each goroutine needs its own.
type converter struct {
	base   *base
	number numbers.Number
	limbs  [][laneMultiple]uint64 // of the aligned numbers, least significant first
	neg    [laneMultiple]uint64   // all ones where negative

	first, end int // the limbs that may not be 0
}

func newConverter(b *base) *converter {
	return &converter{base: b, limbs: make([][laneMultiple]uint64, b.n+2)}
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

// convert sets columns at to at+laneMultiple-1 of the planes, which are 0, to the residues of the aligned numbers
//
//	truncate(x_t * 2^-low[t*lowStep]),  x_t = src number first + t*step,  t < count <= laneMultiple
//
// and leaves those from at+count on 0. Plane k begins at planes[k*planeStride]. Zeros, infinities and NaN have
// residues 0. The aligned numbers are below 2^(28n) in magnitude, n being the number of moduli.
func (c *converter) convert(
	planes []uint32, planeStride, at int, src numbers.Source, first, step, count int, low []int, lowStep int,
) {
	c.read(src, first, step, count, low, lowStep)
	c.store(planes[at:], planeStride)
}

// read reads count numbers for convert.
func (c *converter) read(src numbers.Source, first, step, count int, low []int, lowStep int) {
	c.first, c.end = len(c.limbs), 0
	switch x := src.(type) {
	case numbers.Float64s:
		for t := range count {
			c.setFloat64(t, x[first+t*step], low[t*lowStep])
		}
	case *Packed:
		for t := range count {
			i := first + t*step
			c.set(t, x.words[i*x.width:(i+1)*x.width], int(x.exponents[i]>>1)-low[t*lowStep], x.exponents[i]&1 != 0)
		}
	default:
		for t := range count {
			src.Read(&c.number, first+t*step)
			if c.number.Class == numbers.Finite {
				c.set(t, c.number.Words, c.number.Exp-low[t*lowStep], c.number.Neg)
			}
		}
	}
}

// store sets a column of z, and those behind it, to the residues of what has been read.
func (c *converter) store(z []uint32, planeStride int) {
	b := c.base
	var positive [laneMultiple]uint64
	for from := c.first; from < c.end; from += lazyProducts - 1 {
		to, neg := min(from+lazyProducts-1, c.end), &positive
		if to == c.end {
			neg = &c.neg
		}
		convertBlock(z, planeStride, c.limbs[from:to], b.powers[from*b.lanes:], b.lanes, b.delta[:b.n], neg)
	}
	c.clear()
}

// clear makes all limbs 0.
func (c *converter) clear() {
	if c.first < c.end {
		clear(c.limbs[c.first:c.end])
	}
	clear(c.neg[:])
}

// setFloat64 makes number t truncate(x * 2^-low): three limbs, the last of which may be 0, as a count that changes
// would be mispredicted.
func (c *converter) setFloat64(t int, x float64, low int) {
	s, e := numbers.Significand(x)
	shift := e - low
	if s == 0 || e > 1023-52 { // zero, infinity or NaN
		return
	}
	if shift <= 0 {
		if s >>= min(uint(-shift), 63); s == 0 {
			return
		}
		shift = 0
	}
	h := shift / limbBits
	hi, lo := bits.Mul64(s, 1<<(shift%limbBits)) // below 2^80
	c.limbs[h][t] = lo & limbMask
	c.limbs[h+1][t] = lo >> limbBits & limbMask
	end := h + 2
	if top := hi<<(64-2*limbBits) | lo>>(2*limbBits); top != 0 {
		c.limbs[h+2][t] = top
		end++
	}
	c.note(t, h, end, x < 0)
}

// set makes number t truncate(W * 2^shift), negated if neg.
func (c *converter) set(t int, words []uint64, shift int, neg bool) {
	last := len(words) - 1
	for last >= 0 && words[last] == 0 {
		last--
	}
	if last < 0 {
		return
	}
	h := max(shift, 0) / limbBits
	end := (64*last + bits.Len64(words[last]) + shift + limbBits - 1) / limbBits
	if end <= h {
		return // nothing is left
	}
	c.note(t, h, end, neg)
	pos := h*limbBits - shift
	if pos < 0 {
		c.limbs[h][t] = words[0] << -pos & limbMask
		h, pos = h+1, pos+limbBits
	}
	for ; h < end; h, pos = h+1, pos+limbBits {
		i, r := pos/64, uint(pos%64)
		limb := words[i] >> r
		if r > 64-limbBits && i < last {
			limb |= words[i+1] << (64 - r)
		}
		c.limbs[h][t] = limb & limbMask
	}
}

// note notes that number t has the limbs first to end-1.
func (c *converter) note(t, first, end int, neg bool) {
	c.first, c.end = min(c.first, first), max(c.end, end)
	if neg {
		c.neg[t] = 1<<64 - 1
	}
}
