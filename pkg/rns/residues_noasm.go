//go:build !amd64 || noasm

package rns

func addMod(z, x, y, m []uint32)                         { addModGeneric(z, x, y, m) }
func subMod(z, x, y, m []uint32)                         { subModGeneric(z, x, y, m) }
func mulConst(z, x []uint32, w *shoup, m []uint32)       { mulConstGeneric(z, x, w, m) }
func mulConstAdd(z, x []uint32, w *shoup, y, m []uint32) { mulConstAddGeneric(z, x, w, y, m) }
func mulConstSub(z, x []uint32, w *shoup, y, m []uint32) { mulConstSubGeneric(z, x, w, y, m) }
func (b *Base) mulMod(z, x, y []uint32)                  { mulModGeneric(z, x, y, b.modulus, b.mulhi) }
func (b *Base) floatMod(z []uint32, x float64)           { floatModGeneric(z, x, b.modulus, b.mulhi) }

// SIMD returns the instruction set that the residue operations use: "none", "avx2" or "avx512".
func SIMD() string { return "none" }
