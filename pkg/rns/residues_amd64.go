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

func addMod(z, x, y, m []uint32) {
	switch n := len(z); {
	case useAVX512:
		addModAVX512(&z[0], &x[:n][0], &y[:n][0], &m[:n][0], n)
	case useAVX2:
		addModAVX2(&z[0], &x[:n][0], &y[:n][0], &m[:n][0], n)
	default:
		addModGeneric(z, x, y, m)
	}
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
