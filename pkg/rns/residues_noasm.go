//go:build !amd64 || noasm

package rns

func subMod(z, x, y, m []uint32)                         { subModGeneric(z, x, y, m) }
func mulConst(z, x []uint32, w *shoup, m []uint32)       { mulConstGeneric(z, x, w, m) }
func mulConstAdd(z, x []uint32, w *shoup, y, m []uint32) { mulConstAddGeneric(z, x, w, y, m) }
func mulConstSub(z, x []uint32, w *shoup, y, m []uint32) { mulConstSubGeneric(z, x, w, y, m) }
func (b *Base) mulMod(z, x, y []uint32)                  { mulModGeneric(z, x, y, b.modulus, b.mulhi) }
func (b *Base) floatMod(z []uint32, x float64)           { floatModGeneric(z, x, b.modulus, b.mulhi) }

func subMulConst(z, x, y []uint32, w *shoup, m []uint32) { subMulConstGeneric(z, x, y, w, m) }
func quotientSum(c []uint32, quotient []float64) float64 { return quotientSumGeneric(c, quotient) }
func fractionSum(c []uint32, f *fractions) uint64        { return fractionSumGeneric(c, f) }
func lowWord(c, w []uint32) uint32                       { return lowWordGeneric(c, w) }

func weightedWords(z []uint64, c, t []uint32, pitch int) { weightedWordsGeneric(z, c, t, pitch) }

func wordsMod(z []uint32, words []uint64, powers []uint32, base2 *powerTable, m []uint32) {
	wordsModGeneric(z, words, powers, base2, m)
}

// SIMD returns the instruction set that the residue operations use: "none", "avx2" or "avx512".
func SIMD() string { return "none" }
