package rns

// shoup is a vector of constants w_i < m_i prepared for multiplication by a varying residue:
// with scaled_i = floor(w_i * 2^32 / m_i), x*w_i - floor(x*scaled_i / 2^32)*m_i is congruent to x*w_i and lies in
// [0, 2*m_i) for every x < 2^32.
//
// Source: V. Shoup, NTL; D. Harvey, "Faster arithmetic for number-theoretic transforms", J. Symb. Comp. 60 (2014).
type shoup struct {
	value, scaled []uint32
}

func newShoup(w, modulus []uint32) shoup {
	s := shoup{value: w, scaled: make([]uint32, len(w))}
	for i, m := range modulus {
		s.scaled[i] = uint32(uint64(w[i]) << 32 / uint64(m))
	}
	return s
}

// powerTable holds a base's powers of two (or of one half): fine[j] = 2^j for j < 32 and
// coarse[h] = 2^(32h), so that any power is at most two multiplications away.
type powerTable struct {
	fine, coarse []shoup
}

const fineBits = 5

// newPowerTable makes the table for exponents 0 to largest; root(m) is the residue of their base.
func newPowerTable(modulus []uint32, largest int, root func(m uint64) uint64) powerTable {
	t := powerTable{fine: make([]shoup, 1<<fineBits), coarse: make([]shoup, largest>>fineBits+2)}
	step := make([]uint32, len(modulus))
	for i, m := range modulus {
		step[i] = uint32(root(uint64(m)))
	}
	last := fillPowers(t.fine, step, modulus)
	fillPowers(t.coarse, last, modulus)
	return t
}

// fillPowers sets rows[j] = step^j and returns step^len(rows).
func fillPowers(rows []shoup, step, modulus []uint32) []uint32 {
	power := make([]uint32, len(modulus))
	for i, m := range modulus {
		power[i] = 1 % m
	}
	for j := range rows {
		rows[j] = newShoup(power, modulus)
		next := make([]uint32, len(modulus))
		for i, m := range modulus {
			next[i] = uint32(uint64(power[i]) * uint64(step[i]) % uint64(m))
		}
		power = next
	}
	return power
}

// split returns the rows whose product is 2^k; coarse is nil if fine alone is 2^k.
func (t *powerTable) split(k int) (coarse, fine *shoup) {
	if k >= 1<<fineBits {
		coarse = &t.coarse[k>>fineBits]
	}
	return coarse, &t.fine[k&(1<<fineBits-1)]
}

// mulPower sets z = x * 2^k mod m (2^-k for the table of inverses), 0 <= k <= log2 M. z may be x.
func (b *Base) mulPower(z, x []uint32, t *powerTable, k int) {
	coarse, fine := t.split(k)
	if coarse != nil {
		mulConst(z, x, coarse, b.modulus)
		x = z
	}
	mulConst(z, x, fine, b.modulus)
}
