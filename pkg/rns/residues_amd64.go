//go:build !noasm

package rns

import "golang.org/x/sys/cpu"

//go:generate sh -c "cd _asm && go generate"

// The instruction sets in use; every bit that the kernels need is tested.
var (
	useAVX2   = cpu.X86.HasAVX2
	useAVX512 = useAVX2 && cpu.X86.HasAVX512F && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512VL
)

// SIMD returns the instruction set that the residue operations use: "none", "avx2" or "avx512".
func SIMD() string {
	switch {
	case useAVX512:
		return "avx512"
	case useAVX2:
		return "avx2"
	}
	return "none"
}

func subMod(z, x, y, m []uint32) {
	switch n := len(z); {
	case useAVX512:
		subModAVX512(&z[0], &x[:n][0], &y[:n][0], &m[:n][0], n)
	case useAVX2:
		subModAVX2(&z[0], &x[:n][0], &y[:n][0], &m[:n][0], n)
	default:
		subModGeneric(z, x, y, m)
	}
}

func mulConst(z, x []uint32, w *shoup, m []uint32) {
	switch n := len(z); {
	case useAVX512:
		mulConstAVX512(&z[0], &x[:n][0], &w.value[:n][0], &w.scaled[:n][0], &m[:n][0], n)
	case useAVX2:
		mulConstAVX2(&z[0], &x[:n][0], &w.value[:n][0], &w.scaled[:n][0], &m[:n][0], n)
	default:
		mulConstGeneric(z, x, w, m)
	}
}

func mulConstAdd(z, x []uint32, w *shoup, y, m []uint32) {
	switch n := len(z); {
	case useAVX512:
		mulConstAddAVX512(&z[0], &x[:n][0], &w.value[:n][0], &w.scaled[:n][0], &y[:n][0], &m[:n][0], n)
	case useAVX2:
		mulConstAddAVX2(&z[0], &x[:n][0], &w.value[:n][0], &w.scaled[:n][0], &y[:n][0], &m[:n][0], n)
	default:
		mulConstAddGeneric(z, x, w, y, m)
	}
}

func mulConstSub(z, x []uint32, w *shoup, y, m []uint32) {
	switch n := len(z); {
	case useAVX512:
		mulConstSubAVX512(&z[0], &x[:n][0], &w.value[:n][0], &w.scaled[:n][0], &y[:n][0], &m[:n][0], n)
	case useAVX2:
		mulConstSubAVX2(&z[0], &x[:n][0], &w.value[:n][0], &w.scaled[:n][0], &y[:n][0], &m[:n][0], n)
	default:
		mulConstSubGeneric(z, x, w, y, m)
	}
}

func (b *Base) mulMod(z, x, y []uint32) {
	switch n := len(z); {
	case useAVX512:
		mulModAVX512(&z[0], &x[:n][0], &y[:n][0], &b.reciprocal[:n][0], &b.modulus[:n][0], n)
	case useAVX2:
		mulModAVX2(&z[0], &x[:n][0], &y[:n][0], &b.reciprocal[:n][0], &b.modulus[:n][0], n)
	default:
		mulModGeneric(z, x, y, b.modulus, b.mulhi)
	}
}

func (b *Base) floatMod(z []uint32, x float64) {
	switch n := len(z); {
	case useAVX512:
		floatModAVX512(&z[0], x, &b.reciprocal[:n][0], &b.modulus[:n][0], n)
	case useAVX2:
		floatModAVX2(&z[0], x, &b.reciprocal[:n][0], &b.modulus[:n][0], n)
	default:
		floatModGeneric(z, x, b.modulus, b.mulhi)
	}
}

func subMulConst(z, x, y []uint32, w *shoup, m []uint32) {
	switch n := len(z); {
	case useAVX512:
		subMulConstAVX512(&z[0], &x[:n][0], &y[:n][0], &w.value[:n][0], &w.scaled[:n][0], &m[:n][0], n)
	case useAVX2:
		subMulConstAVX2(&z[0], &x[:n][0], &y[:n][0], &w.value[:n][0], &w.scaled[:n][0], &m[:n][0], n)
	default:
		subMulConstGeneric(z, x, y, w, m)
	}
}

func quotientSum(c []uint32, quotient []float64) float64 {
	switch n := len(c); {
	case useAVX512:
		return quotientSumAVX512(&c[0], &quotient[:n][0], n)
	case useAVX2:
		return quotientSumAVX2(&c[0], &quotient[:n][0], n)
	}
	return quotientSumGeneric(c, quotient)
}

func fractionSum(c []uint32, f *fractions) uint64 {
	switch n := len(c); {
	case useAVX512:
		return fractionSumAVX512(&c[0], &f.high[:n][0], &f.mid[:n][0], &f.low[:n][0], n)
	case useAVX2:
		return fractionSumAVX2(&c[0], &f.high[:n][0], &f.mid[:n][0], &f.low[:n][0], n)
	}
	return fractionSumGeneric(c, f)
}

func lowWord(c, w []uint32) uint32 {
	switch n := len(c); {
	case useAVX512:
		return lowWordAVX512(&c[0], &w[:n][0], n)
	case useAVX2:
		return lowWordAVX2(&c[0], &w[:n][0], n)
	}
	return lowWordGeneric(c, w)
}

func weightedWords(z []uint64, c, t []uint32, pitch int) {
	_ = t[:(len(c)-1)*pitch+len(z)]
	switch {
	case useAVX512:
		weightedWordsAVX512(&z[0], &c[0], &t[0], len(c), pitch, len(z))
	case useAVX2:
		weightedWordsAVX2(&z[0], &c[0], &t[0], len(c), pitch, len(z))
	default:
		weightedWordsGeneric(z, c, t, pitch)
	}
}

func wordsMod(z []uint32, words []uint64, powers []uint32, base2 *powerTable, m []uint32) {
	n := len(z)
	high, one := &base2.coarse[1], base2.fine[0].scaled
	powers = powers[:n*len(words)]
	switch {
	case useAVX512:
		wordsModAVX512(&z[0], &words[0], &powers[0], len(words), &high.value[:n][0], &high.scaled[:n][0], &one[:n][0],
			&m[:n][0], n)
	case useAVX2:
		wordsModAVX2(&z[0], &words[0], &powers[0], len(words), &high.value[:n][0], &high.scaled[:n][0], &one[:n][0],
			&m[:n][0], n)
	default:
		wordsModGeneric(z, words, powers, base2, m)
	}
}
