package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// mostLimbs is how many limbs a factor has at most.
const mostLimbs = 5

// dotLimbs multiplies a row by x, limb by limb. A lane of a register takes the products of L limbs of a column in each
// word, and two columns each turn: it holds 127/L columns, and then its halves are added to those in memory.
func (s isa) dotLimbs(n int) {
	words := 2*n - 1
	name := fmt.Sprintf("dotLimbs%d%s", n, s.name)
	TEXT(name, 0, "func(sums *int64, a *uint32, aStride int, x *uint32, xStride int, n int)")
	Pragma("noescape")
	Doc(name+" adds to the words the products of rows of n > 0 columns. It works like dotLimbsGeneric.",
		fmt.Sprintf("There are %d words.", words))
	a, x := s.limbPointers("a", "aStride", n), s.limbPointers("x", "xStride", n)
	left := Load(Param("n"), GP64())
	register := 8 * s.words
	half := func(word, k int) Mem { return halves(words, register, word, k) }
	zero := s.zero()
	for _, m := range allHalves(words, register) {
		s.store(zero, m)
	}
	offset, turns := GP64(), GP64()
	XORQ(offset, offset)
	var sums []reg.VecVirtual
	for range words {
		sums = append(sums, s.zero())
	}
	Label("part")
	MOVQ(I32(int32(127/n/2)), turns)
	Label("turn")
	s.limbProducts(a, x, offset, sums)
	ADDQ(I32(int32(register)), offset)
	SUBQ(I32(int32(2*s.words)), left)
	JLE(LabelRef("flush"))
	DECQ(turns)
	JNZ(LabelRef("turn"))
	Label("flush")
	s.flushHalves(sums, half)
	CMPQ(left, Imm(0))
	JG(LabelRef("part"))
	to := Load(Param("sums"), GP64())
	for w := range words {
		for k := range 2 {
			s.addLanes(s.load(half(w, k)), Mem{Base: to, Disp: 16*w + 8*k})
		}
	}
	VZEROUPPER()
	RET()
}

// limbPointers returns where the limbs of a row are.
func (s isa) limbPointers(base, stride string, n int) []reg.Register {
	p, step := Load(Param(base), GP64()), Load(Param(stride), GP64())
	list := []reg.Register{p}
	for range n - 1 {
		next := GP64()
		LEAQ(Mem{Base: list[len(list)-1], Index: step, Scale: 4}, next)
		list = append(list, next)
	}
	return list
}

var locals = map[int]Mem{}

// halves is the memory of the lower, or the upper, halves of a word.
func halves(words, register, word, k int) Mem {
	m := locals[words*register]
	m.Disp += (2*word + k) * register
	return m
}

func allHalves(words, register int) (list []Mem) {
	locals[words*register] = AllocLocal(2 * words * register)
	for w := range words {
		list = append(list, halves(words, register, w, 0), halves(words, register, w, 1))
	}
	return list
}

// limbProducts adds the products of two columns for each lane: those of the even ones, and then of the odd ones.
func (s isa) limbProducts(a, x []reg.Register, offset reg.Register, sums []reg.VecVirtual) {
	at := func(p reg.Register) Mem { return Mem{Base: p, Index: offset, Scale: 1} }
	var left []reg.VecVirtual
	for _, p := range a {
		left = append(left, s.load(at(p)))
	}
	for odd := range 2 {
		if odd == 1 {
			for _, v := range left {
				VPSRLQ(Imm(32), v, v)
			}
		}
		for k, p := range x {
			right := s.load(at(p))
			if odd == 1 {
				VPSRLQ(Imm(32), right, right)
			}
			for i, v := range left {
				product := s.vector()
				VPMULDQ(right, v, product)
				VPADDQ(product, sums[i+k], sums[i+k])
			}
		}
	}
}

// flushHalves adds the lower 32 bits of all lanes, and the upper ones with their sign, to memory, and sets them to 0.
func (s isa) flushHalves(sums []reg.VecVirtual, half func(word, k int) Mem) {
	mask := s.constant(1<<32 - 1)
	for w, v := range sums {
		low := s.vector()
		s.and(v, mask, low)
		VPADDQ(half(w, 0), low, low)
		s.store(low, half(w, 0))
		if s.words == 8 {
			VPSRAQ(Imm(32), v, v)
		} else { // 1 * the lower 32 bits with their sign
			VPSRLQ(Imm(32), v, v)
			one := s.vector()
			VPSRLQ(Imm(31), mask, one)
			VPMULDQ(one, v, v)
		}
		VPADDQ(half(w, 1), v, v)
		s.store(v, half(w, 1))
		s.xor(v, v, v)
	}
}

// addLanes adds the lanes of a register to a word.
func (s isa) addLanes(v reg.VecVirtual, to Mem) {
	lower, sum, upper, word := v.AsY(), v.AsX(), XMM(), GP64()
	if s.words == 8 {
		half := YMM()
		VEXTRACTI64X4(Imm(1), v, half)
		VPADDQ(half, lower, lower)
		VEXTRACTI32X4(Imm(1), lower, upper)
	} else {
		VEXTRACTI128(Imm(1), lower, upper)
	}
	VPADDQ(upper, sum, sum)
	VPSHUFD(Imm(0x4e), sum, upper)
	VPADDQ(upper, sum, sum)
	VMOVQ(sum, word)
	ADDQ(word, to)
}
