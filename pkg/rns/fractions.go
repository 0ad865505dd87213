package rns

import "math/bits"

// fractions holds 1/m_i for sums of c_i/m_i: floor(2^96 / m_i) in three half-words, and in binary64. Padding lanes
// hold 0.
type fractions struct {
	high, mid, low []uint32
	quotient       []float64
}

// setFractions fills the table. A term floor(c * floor(2^96/m) / 2^32) is below c*2^64/m by less than c/2^32 for the
// inner floor and 1 for the outer one, hence by less than 2.
func (b *Base) setFractions() {
	f := &b.fractions
	f.high, f.mid, f.low = make([]uint32, b.stride), make([]uint32, b.stride), make([]uint32, b.stride)
	f.quotient = make([]float64, b.stride)
	for i, m := range b.modulus[:b.n] {
		word, rest := bits.Div64(1, 0, uint64(m)) // m >= 17 > 1
		low, _ := bits.Div64(rest, 0, uint64(m))
		f.high[i], f.mid[i], f.low[i] = uint32(word>>32), uint32(word), uint32(low>>32)
		f.quotient[i] = 1 / float64(m)
	}
	b.evalError = 2 * uint64(b.n)
}
