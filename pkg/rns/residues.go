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

// increment sets z = z + 1 mod m in the n lanes that carry residues.
func (b *Base) increment(z []uint32) {
	for i := range z[:b.n] {
		z[i] = reduceOnce(z[i]+1, b.modulus[i])
	}
}
