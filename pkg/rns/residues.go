package rns

// allZero reports whether every residue is 0, that is X = 0.
func allZero(x []uint32) bool {
	var any uint32
	for _, digit := range x {
		any |= digit
	}
	return any == 0
}

// negMod sets z = -x mod m. z may be x.
func negMod(z, x, m []uint32) {
	for i, digit := range x {
		z[i] = reduceOnce(m[i]-digit, m[i])
	}
}

// increment sets z = z + 1 mod m.
func (b *Base) increment(z []uint32) {
	for i := range z {
		z[i] = reduceOnce(z[i]+1, b.modulus[i])
	}
}

// pad copies the first n residues of x to z and repeats the first of them in the padding lanes.
func (b *Base) pad(z, x []uint32) {
	copy(z[:b.n], x)
	for i := b.n; i < b.stride; i++ {
		z[i] = z[0]
	}
}

// padded returns a padded copy of residues, of which there are at least n.
func (b *Base) padded(residues []uint32) []uint32 {
	z := make([]uint32, b.stride)
	b.pad(z, residues)
	return z
}

// The functions of this file are the plain Go versions of the sums over residues, which tests compare the others with.

// subMulConstGeneric sets z = (x - y) * w mod m for a prepared constant w. z may be x or y.
func subMulConstGeneric(z, x, y []uint32, w *shoup, m []uint32) {
	for i := range z {
		z[i] = reduceOnce(w.mulLazy(x[i]+m[i]-y[i], i, m[i]), m[i])
	}
}

// quotientSumGeneric returns the sum of c_i * quotient_i in binary64.
func quotientSumGeneric(c []uint32, quotient []float64) (sum float64) {
	for i, ci := range c {
		sum += float64(float64(ci) * quotient[i])
	}
	return sum
}

// fractionSumGeneric returns the sum of floor(c_i * f_i / 2^32) modulo 2^64, where f_i is the 96-bit constant of f.
func fractionSumGeneric(c []uint32, f *fractions) (sum uint64) {
	for i, ci := range c {
		word := uint64(f.high[i])<<32 | uint64(f.mid[i])
		sum += uint64(ci)*word + uint64(ci)*uint64(f.low[i])>>32
	}
	return sum
}

// lowWordGeneric returns the sum of c_i * w_i modulo 2^32.
func lowWordGeneric(c, w []uint32) (sum uint32) {
	for i, ci := range c {
		sum += ci * w[i]
	}
	return sum
}

// weightedWordsGeneric sets z_h to the sum of c_i * t[i*pitch+h] modulo 2^64.
func weightedWordsGeneric(z []uint64, c, t []uint32, pitch int) {
	clear(z)
	for i, ci := range c {
		row := t[i*pitch:][:len(z)]
		for h := range z {
			z[h] += uint64(ci) * uint64(row[h])
		}
	}
}

// wordsModGeneric sets z_i to the sum of words_h * powers[h*n+i], n = len(z), modulo m_i, where the sums are below
// 2^64; base2 are the powers of two.
func wordsModGeneric(z []uint32, words []uint64, powers []uint32, base2 *powerTable, m []uint32) {
	for block := 0; block < len(z); block += laneMultiple {
		var sums [laneMultiple]uint64
		for h, word := range words {
			row := powers[h*len(z)+block:][:laneMultiple]
			for i := range sums {
				sums[i] += word * uint64(row[i])
			}
		}
		for i, sum := range sums {
			z[block+i] = reduceWord(sum, block+i, base2, m[block+i])
		}
	}
}

// reduceWord returns sum mod m for any sum: its upper half times 2^32 plus its lower half.
func reduceWord(sum uint64, i int, base2 *powerTable, m uint32) uint32 {
	high := reduceOnce(base2.coarse[1].mulLazy(uint32(sum>>32), i, m), m)
	low := reduceOnce(base2.fine[0].mulLazy(uint32(sum), i, m), m)
	return reduceOnce(high+low, m)
}
