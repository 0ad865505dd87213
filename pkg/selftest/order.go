package selftest

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

// dot2 is the compensated dot product of Ogita, Rump and Oishi.
func dot2(b binary, x, y []number) number {
	sum, correction := zero, zero
	for i := range x {
		p := b.mul(x[i], y[i])
		pe := b.fma(x[i], y[i], p.neg())
		s := b.add(sum, p)
		z := b.sub(s, sum)
		se := b.add(b.sub(sum, b.sub(s, z)), b.sub(p, z))
		sum = s
		correction = b.add(correction, b.add(pe, se))
	}
	return b.add(sum, correction)
}

// products returns x_i*y_i, rounded.
func products(a arithmetic, x, y []number) []number {
	list := make([]number, len(x))
	for i := range x {
		list[i] = a.mul(x[i], y[i])
	}
	return list
}
