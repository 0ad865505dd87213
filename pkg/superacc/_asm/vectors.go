package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// vectors are registers of 8 lanes (AVX-512) or of 4 (AVX2), and what has another name in each.
type vectors struct{ wide bool }

func (v vectors) lanes() int {
	if v.wide {
		return 8
	}
	return 4
}

func (v vectors) vector() reg.VecVirtual {
	if v.wide {
		return ZMM()
	}
	return YMM()
}

// constants are the operands that AVX2 kernels take from memory, as 16 registers are few.
var constants = map[string]Mem{}

// constant returns an operand with the same 64 bits in every lane.
func (v vectors) constant(name string, bits uint64) Op {
	if v.wide {
		word, r := GP64(), v.vector()
		MOVQ(U64(bits), word)
		VPBROADCASTQ(word, r)
		return r
	}
	if _, ok := constants[name]; !ok {
		constants[name] = GLOBL(name, RODATA|NOPTR)
		for lane := range v.lanes() {
			DATA(8*lane, U64(bits))
		}
	}
	return constants[name]
}

func (v vectors) zero() reg.VecVirtual {
	r := v.vector()
	if v.wide {
		VPXORQ(r, r, r)
	} else {
		VPXOR(r, r, r)
	}
	return r
}

func (v vectors) store(r reg.Register, to Mem) {
	if v.wide {
		VMOVDQU64(r, to)
	} else {
		VMOVDQU(r, to)
	}
}

func (v vectors) and(a Op, b, to reg.Register) {
	if v.wide {
		VPANDQ(a, b, to)
	} else {
		VANDPD(a, b, to)
	}
}

func (v vectors) or(a, b reg.Register) {
	if v.wide {
		VPORQ(a, b, b)
	} else {
		VORPD(a, b, b)
	}
}

// maximum sets b to the larger of two magnitudes. With AVX-512 the order is that of the bit patterns, so that a NaN is
// larger than anything; with AVX2 a NaN may get lost, but then it is what is left after the last level.
func (v vectors) maximum(a, b reg.Register) {
	if v.wide {
		VPMAXUQ(a, b, b)
	} else {
		VMAXPD(a, b, b)
	}
}

// reduce stores the lanes of r combined by op, which sets its second operand.
func (v vectors) reduce(r reg.VecVirtual, op func(a, b reg.Register), to Mem) {
	high := v.vector()
	if v.wide {
		VEXTRACTI64X4(U8(1), r, high.AsY())
		op(high.AsY(), r.AsY())
		VEXTRACTI64X2(U8(1), r.AsY(), high.AsX()) // unlike VEXTRACTI128 for all 32 registers
	} else {
		VEXTRACTI128(U8(1), r.AsY(), high.AsX())
	}
	op(high.AsX(), r.AsX())
	VPSHUFD(U8(0xee), r.AsX(), high.AsX())
	op(high.AsX(), r.AsX())
	VMOVQ(r.AsX(), to)
}
