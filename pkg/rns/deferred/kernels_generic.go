package deferred

// The functions of this file are what the vector kernels compute. Residues are below their modulus m = 2^28 - delta,
// and rows of residues have lengths that are multiples of laneMultiple, padded with zeros.

// dotGeneric returns low + 2^32*high = sum a[j]*x[j]. How the sum is split over the two words is not specified, only
// that each is below 2^32 * (len(x)/256 + 16). len(x) is a multiple of laneMultiple and at most dotColumns.
func dotGeneric(a, x []uint32) (low, high uint64) {
	a = a[:len(x)]
	for len(x) > 0 {
		n := min(len(x), lazyProducts)
		var s0, s1, s2, s3 uint64
		for j := 0; j+4 <= n; j += 4 {
			p, q := a[j:j+4:j+4], x[j:j+4:j+4]
			s0 += uint64(p[0]) * uint64(q[0])
			s1 += uint64(p[1]) * uint64(q[1])
			s2 += uint64(p[2]) * uint64(q[2])
			s3 += uint64(p[3]) * uint64(q[3])
		}
		s0 += s1 + s2 + s3
		low += s0 & 0xffffffff
		high += s0 >> 32
		a, x = a[n:], x[n:]
	}
	return low, high
}

// dotLimbsGeneric adds the products of n columns, limb by limb, to sums: those of limb i of a and limb k of x, which
// are below 2^28 in magnitude, to word q = i + k, which is sums[2q] + 2^32*sums[2q+1]. Limb k begins at a[k*aStride],
// and at x[k*xStride]; n is a multiple of laneMultiple. How a word is split is not specified, only that both parts are
// below 2^32 * (5n + 1) in magnitude, and the first is not negative.
func dotLimbsGeneric(sums []int64, a []uint32, aStride int, x []uint32, xStride, n int) {
	limbs := (len(sums)/2 + 1) / 2
	for i := range limbs {
		for k := range limbs {
			for j, v := range a[i*aStride:][:n] {
				product := int64(int32(v)) * int64(int32(x[k*xStride+j]))
				sums[2*(i+k)] += product & (1<<32 - 1)
				sums[2*(i+k)+1] += product >> 32
			}
		}
	}
}

// axpyBlockGeneric adds a combination of rows of A to sums: sums[j] += sum_r c[r] * a[r*ld + j]. There are two vector
// versions: axpyBlock for a matrix that is streamed through, axpyTable for one that stays in the caches. The sums wrap
// modulo 2^64; callers bring them back before that happens, every lazyProducts rows.
func axpyBlockGeneric(sums []uint64, a []uint32, ld int, c []uint32) {
	n := len(sums)
	r := 0
	for ; r+4 <= len(c); r += 4 {
		c0, c1, c2, c3 := uint64(c[r]), uint64(c[r+1]), uint64(c[r+2]), uint64(c[r+3])
		r0, r1, r2, r3 := a[r*ld:][:n], a[(r+1)*ld:][:n], a[(r+2)*ld:][:n], a[(r+3)*ld:][:n]
		for j := range sums {
			sums[j] += c0*uint64(r0[j]) + c1*uint64(r1[j]) + c2*uint64(r2[j]) + c3*uint64(r3[j])
		}
	}
	for ; r < len(c); r++ {
		cr, row := uint64(c[r]), a[r*ld:][:n]
		for j := range sums {
			sums[j] += cr * uint64(row[j])
		}
	}
}

// reduceSumsGeneric sets sums[j] = sums[j] mod m for one modulus.
func reduceSumsGeneric(sums []uint64, delta uint32) {
	for j, s := range sums {
		sums[j] = uint64(fold(s, delta))
	}
}

// convertGeneric adds the residues of laneMultiple numbers to z: those modulo m_k begin at z[k*stride]. The numbers
// are sum_l limbs[l][t] * 2^(28l) with limbs below 2^28, fewer than lazyProducts, negative where neg[t] is all ones
// and not 0. powers[l*lanes + k] is 2^(28(l+h)) modulo m_k, for any h that the numbers are to be shifted by.
func convertGeneric(z []uint32, stride int, limbs [][laneMultiple]uint64, powers []uint32, lanes int, delta []uint32,
	neg *[laneMultiple]uint64) {
	for k, d := range delta {
		m := 1<<ModulusBits - d
		row := z[k*stride:][:laneMultiple]
		for t := range row {
			s := uint64(row[t])
			for l := range limbs {
				s += limbs[l][t] * uint64(powers[l*lanes+k])
			}
			r := fold(s, d)
			if neg[t] != 0 && r != 0 {
				r = m - r
			}
			row[t] = r
		}
	}
}

// Numbers of at most shortLimbs limbs and moduli 2^28 - delta with delta at most shortDelta take a shorter reduction:
// s < (shortLimbs+1)*2^56, so that s>>28 fits the 32 bits of a factor, and
//
//	(s >> 28)*delta + low 28     < 2^32*delta + 2^28
//	(s >> 28)*delta + low 28     < (16*delta + 1)*delta + 2^28 < 2m
const (
	shortLimbs = 15
	shortDelta = 4000
)

// sumBlockGeneric returns the sum of fewer than 2^36 residues.
func sumBlockGeneric(x []uint32) uint64 {
	var sum uint64
	for _, r := range x {
		sum += uint64(r)
	}
	return sum
}

// fold returns s mod m for m = 2^28 - delta and any s. Since 2^28 = delta modulo m, the bits above the 28th are worth
// delta each:
//
//	s                            < 2^64
//	(s >> 32)*16*delta + low 32  < 2^52 + 2^32      (2^32 = 16*delta)
//	(s >> 32)*16*delta + low 32  < 2^40 + 2^33
//	(s >> 28)*delta + low 28     < 2m
//
// The last line needs delta * (2^12 + 32) < 2^28 - 2*delta, which holds up to delta = 64,000; the largest is about
// 40,000.
func fold(s uint64, delta uint32) uint32 {
	d := uint64(delta)
	s = s>>32*(16*d) + s&0xffffffff
	s = s>>32*(16*d) + s&0xffffffff
	s = s>>28*d + s&limbMask
	m := uint32(1<<ModulusBits) - delta
	return min(uint32(s), uint32(s)-m) // s - m wraps to a large number if s < m
}

// mulMod returns x*y mod m for x, y < 2^32.
func mulMod(x, y, delta uint32) uint32 { return fold(uint64(x)*uint64(y), delta) }

// addMod returns x + y mod m.
func addMod(x, y, m uint32) uint32 { return min(x+y, x+y-m) }

// packedAddGeneric adds numbers i to i+n-1 of p, of s.width words, to the buckets of s as long as those are in the
// window. It returns how many.
func packedAddGeneric(s *LimbSum, p *Packed, i, n int) int {
	for done := range n {
		at := uint64(p.exponents[i+done] - s.base)
		if at >= windowSize || s.window[at] < 0 {
			return done
		}
		acc := s.acc[int(s.window[at])+done%s.ways*s.lanes:]
		words := p.words[(i+done)*p.width : (i+done+1)*p.width]
		acc = acc[:2*len(words)]
		for h, w := range words {
			acc[2*h] += w & 0xffffffff
			acc[2*h+1] += w >> 32
		}
	}
	return n
}
