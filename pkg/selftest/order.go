package selftest

import "slices"

// The orders of additions, over any arithmetic, written down for reading: see package reduce for their sources.

// recursiveSum adds from left to right.
func recursiveSum(a arithmetic, terms []number) number {
	sum := zero
	for i, x := range terms {
		if i == 0 {
			sum = x
		} else {
			sum = a.add(sum, x)
		}
	}
	return sum
}

// pairwiseSum adds neighbours, then neighbouring sums: a stack of sums whose lengths are powers of two.
func pairwiseSum(a arithmetic, terms []number) number {
	var stack []number
	join := func() {
		n := len(stack)
		stack = append(stack[:n-2], a.add(stack[n-2], stack[n-1]))
	}
	for i, x := range terms {
		stack = append(stack, x)
		for k := i + 1; k%2 == 0; k /= 2 {
			join()
		}
	}
	for len(stack) > 1 {
		join()
	}
	return recursiveSum(a, stack)
}

// blockSum is Reduce3 with blocks of size threads: thread t of block b adds terms i and i + size from i = 2*b*size + t
// in steps of 2*blocks*size; the threads' sums are added in a tree, and those of the blocks from left to right.
func blockSum(a arithmetic, terms []number, blocks, size int) number {
	total := zero
	for b := range blocks {
		sums := make([]number, size)
		for t := range sums {
			sums[t] = zero
			for i := 2*b*size + t; i < len(terms); i += 2 * blocks * size {
				sums[t] = a.add(sums[t], terms[i])
				if i+size < len(terms) {
					sums[t] = a.add(sums[t], terms[i+size])
				}
			}
		}
		for half := size / 2; half >= 1; half /= 2 {
			for t := range half {
				sums[t] = a.add(sums[t], sums[t+half])
			}
		}
		total = a.add(total, sums[0])
	}
	return total
}

// rowSum is the sum of step 4 of the 2020 paper's GEMV with a block of size threads: thread t adds terms t, t + size,
// ...; then, for h = P/2, ..., 1 with the least power of two P >= the threads in use, thread t < h adds the sum of
// thread t + h.
func rowSum(a arithmetic, terms []number, size int) number {
	used := min(size, len(terms))
	if used == 0 {
		return zero
	}
	sums := make([]number, used)
	for j, x := range terms {
		if j < used {
			sums[j] = x
		} else {
			sums[j%size] = a.add(sums[j%size], x)
		}
	}
	half := 1
	for half < used {
		half *= 2
	}
	for half /= 2; half >= 1; half /= 2 {
		for t := 0; t < half && t+half < used; t++ {
			sums[t] = a.add(sums[t], sums[t+half])
		}
	}
	return sums[0]
}

// kahanSum is Kahan's compensated summation.
func kahanSum(b binary, terms []number) number {
	sum, compensation := zero, zero
	for _, x := range terms {
		y := b.sub(x, compensation)
		t := b.add(sum, y)
		compensation = b.sub(b.sub(t, sum), y)
		sum = t
	}
	return sum
}

// neumaierSum adds the exact errors of the additions at the end.
func neumaierSum(b binary, terms []number) number {
	sum, correction := zero, zero
	for _, x := range terms {
		t := b.add(sum, x)
		if sum.smaller(x) {
			correction = b.add(correction, b.add(b.sub(x, t), sum))
		} else {
			correction = b.add(correction, b.add(b.sub(sum, t), x))
		}
		sum = t
	}
	return b.add(sum, correction)
}

// dot64 is the recursive dot product with multiply-adds.
func dot64(b binary, x, y []number) number {
	sum := zero
	for i := range x {
		sum = b.mulAdd(x[i], y[i], sum)
	}
	return sum
}

// twoSum returns the rounded sum of two numbers and its error.
func (b binary) twoSum(x, y number) (s, e number) {
	s = b.add(x, y)
	z := b.sub(s, x)
	return s, b.add(b.sub(x, b.sub(s, z)), b.sub(y, z))
}

// cascade is SumK and DotK of Ogita, Rump and Oishi in 16 lanes: sums of each lane by level, each of which adds the
// errors of the one before.
type cascade struct {
	binary
	sums [16][]number
}

func newCascade(b binary, levels int) *cascade {
	c := &cascade{binary: b}
	for l := range c.sums {
		c.sums[l] = slices.Repeat([]number{zero}, levels)
	}
	return c
}

// deposit adds x at a level, and errors at the levels after it.
func (c *cascade) deposit(lane, level int, x number) {
	s := c.sums[lane]
	for ; level < len(s)-1; level++ {
		s[level], x = c.twoSum(s[level], x)
	}
	s[level] = c.add(s[level], x)
}

// total joins the lanes in a tree, and then the levels.
func (c *cascade) total() number {
	for half := 8; half >= 1; half /= 2 {
		for l := range half {
			for level, x := range c.sums[l+half] {
				c.deposit(l, level, x)
			}
		}
	}
	s := c.sums[0]
	sum, last := s[0], len(s)-1
	for level := 1; level < last; level++ {
		var e number
		sum, e = c.twoSum(sum, s[level])
		c.deposit(0, level+1, e)
	}
	return c.add(sum, s[last])
}

func sumK(b binary, levels int, terms []number) number {
	c := newCascade(b, levels)
	for i, x := range terms {
		c.deposit(i%16, 0, x)
	}
	return c.total()
}

// dotK adds the errors of a product and of its addition to each other first if there are two levels.
func dotK(b binary, levels int, x, y []number) number {
	c := newCascade(b, levels)
	for i := range x {
		s := c.sums[i%16]
		p := b.mul(x[i], y[i])
		pe := b.fma(x[i], y[i], p.neg())
		var se number
		s[0], se = b.twoSum(s[0], p)
		if levels == 2 {
			c.deposit(i%16, 1, b.add(pe, se))
			continue
		}
		c.deposit(i%16, 1, pe)
		c.deposit(i%16, 1, se)
	}
	return c.total()
}

// numpySum halves the terms at multiples of 8, and adds up to 128 of them in eight sums.
func numpySum(a arithmetic, terms []number) number {
	n := len(terms)
	if n > 128 {
		first := n / 16 * 8
		return a.add(numpySum(a, terms[:first]), numpySum(a, terms[first:]))
	}
	if n < 8 {
		return recursiveSum(a, terms)
	}
	sums := slices.Clone(terms[:8])
	for i := 8; i < n-n%8; i++ {
		sums[i%8] = a.add(sums[i%8], terms[i])
	}
	return recursiveSum(a, append([]number{pairwiseSum(a, sums)}, terms[n-n%8:]...))
}

// products returns x_i*y_i, rounded.
func products(a arithmetic, x, y []number) []number {
	list := make([]number, len(x))
	for i := range x {
		list[i] = a.mul(x[i], y[i])
	}
	return list
}

// laneSum is the order of package multifloat: in segments of 2048 terms each of 32 lanes adds every 32nd term, then
// lane t the sum of lane t + 16, t + 8, ..., t + 1; the sums of segments are added in pairs of neighbours.
func laneSum(a arithmetic, terms []number) number {
	sums := []number{}
	for segment := range slices.Chunk(terms, 2048) {
		lanes := make([]number, 32)
		for t := range lanes {
			lanes[t] = zero
		}
		for i, x := range segment {
			lanes[i%32] = a.add(lanes[i%32], x)
		}
		for half := 16; half >= 1; half /= 2 {
			for t := range half {
				lanes[t] = a.add(lanes[t], lanes[t+half])
			}
		}
		sums = append(sums, lanes[0])
	}
	for len(sums) > 1 {
		var pairs []number
		for pair := range slices.Chunk(sums, 2) {
			pairs = append(pairs, recursiveSum(a, pair))
		}
		sums = pairs
	}
	return recursiveSum(a, sums)
}
