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
