package superacc

// WordCount is the number of words of [Accumulator.Words], and UnitExponent the exponent of their unit: the product of
// any two finite binary64 numbers is a multiple of 2^-2148.
const (
	WordCount    = magnitudeSize
	UnitExponent = unitExponent
)

// Words returns an exact sum as an integer in units of 2^UnitExponent: in two's complement, least significant word
// first. A sum that is infinite or NaN, because a term is, has no such integer: special is then what it is, else 0.
func (a *Accumulator) Words() (words [WordCount]uint64, special float64) {
	if v, is := a.special(); is {
		return words, v
	}
	a.fixed.words(&words)
	return words, 0
}

// AppendMagnitude appends the magnitude of an exact sum, in the unit 2^exp, to words: least significant word first,
// the first and the last of them may be zero. A sum that is infinite or NaN, because a term is, has none: special is
// then what it is, else 0.
func (a *Accumulator) AppendMagnitude(words []uint64) (_ []uint64, exp int, negative bool, special float64) {
	if v, is := a.special(); is {
		return words, 0, false, v
	}
	words, exp, negative = a.fixed.appendMagnitude(words)
	return words, exp, negative, 0
}

// AddWords adds the sum of other terms as Words gives it. Sums together must stay below 2^2171 in magnitude.
func (a *Accumulator) AddWords(words *[WordCount]uint64, special float64) {
	if special-special != 0 {
		a.addSpecial(special)
		return
	}
	a.fixed.addWords(words)
}

// addWords adds an integer in units of 2^unitExponent, in two's complement.
func (f *fixed) addWords(words *[magnitudeSize]uint64) {
	if f.adds == maxAdds {
		f.propagate()
	}
	f.adds++
	sign, to := int64(words[magnitudeSize-1])>>63, magnitudeSize
	for to > 0 && words[to-1] == uint64(sign) {
		to--
	}
	for i, w := range words[:min(to, magnitudeSize-1)] {
		f.chunk[2*i] += int64(w & chunkMask)
		f.chunk[2*i+1] += int64(w >> chunkBits)
	}
	if to < magnitudeSize {
		f.chunk[2*to] += sign
	} else {
		f.chunk[chunkCount-1] += int64(int32(words[magnitudeSize-1]))
	}
}
