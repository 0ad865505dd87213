// Command asm generates the AVX2 and AVX-512 loops of package lanes; run it with go generate in this folder.
//
// A register holds 4 or 8 lanes of one level. Loops with one register for each sum do what their namesakes in
// ../*_generic.go do.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

//go:generate go run . -out ../kernels_amd64.s -stubs ../kernels_stubs_amd64.go -pkg lanes

// count is the number of lanes.
const count = 16

func main() {
	ConstraintExpr("amd64,!noasm")
	leaves()
	for _, wide := range []bool{false, true} {
		for _, levels := range []int{2, 3} {
			cascade{vectors{wide}, levels}.generate(false)
			cascade{vectors{wide}, levels}.generate(true)
		}
		for _, levels := range []int{2, 3, 4} {
			bins{vectors{wide}, levels}.generate(false)
			bins{vectors{wide}, levels}.generate(true)
		}
	}
	Generate()
}

// vectors are registers of 8 lanes (AVX-512) or of 4 (AVX2).
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

func (v vectors) name(what string) string {
	if v.wide {
		return what + "AVX512"
	}
	return what + "AVX2"
}

// at returns the lanes from 4c or 8c on.
func (v vectors) at(base reg.Register, c int) Mem { return Mem{Base: base, Disp: 8 * v.lanes() * c} }

// leaves generates the sums of leaves. Eight partial sums are two registers of AVX2; wider ones gain nothing.
func leaves() {
	TEXT("leavesAVX2", NOSPLIT, "func(x *float64, groups *int, count int, sums *float64)")
	Doc("leavesAVX2 adds count > 0 leaves as leavesGeneric does.")
	Pragma("noescape")
	x, groups, sums := Load(Param("x"), GP64()), Load(Param("groups"), GP64()), Load(Param("sums"), GP64())
	left, n := Load(Param("count"), GP64()), GP64()
	a, b := YMM(), YMM()
	Label("leaf")
	MOVQ(Mem{Base: groups}, n)
	VMOVUPD(Mem{Base: x}, a)
	VMOVUPD(Mem{Base: x, Disp: 32}, b)
	JMP(LabelRef("next"))
	Label("group")
	VADDPD(Mem{Base: x}, a, a)
	VADDPD(Mem{Base: x, Disp: 32}, b, b)
	Label("next")
	ADDQ(Imm(64), x)
	DECQ(n)
	JNZ(LabelRef("group"))
	VHADDPD(b, a, a) // r0+r1, r4+r5, r2+r3, r6+r7
	VEXTRACTF128(U8(1), a, b.AsX())
	VADDPD(b.AsX(), a.AsX(), a.AsX())
	VHADDPD(a.AsX(), a.AsX(), a.AsX())
	VMOVSD(a.AsX(), Mem{Base: sums})
	ADDQ(Imm(8), groups)
	ADDQ(Imm(8), sums)
	DECQ(left)
	JNZ(LabelRef("leaf"))
	VZEROUPPER()
	RET()
}

// cascade is a loop of a Cascade under construction.
type cascade struct {
	vectors
	levels int
}

func (k cascade) generate(products bool) {
	what, signature := "sums", "func(x *float64, groups int, lanes *float64)"
	if products {
		what, signature = "products", "func(x, y *float64, groups int, lanes *float64)"
	}
	name := k.name(fmt.Sprintf("%s%d", what, k.levels))
	TEXT(name, NOSPLIT, signature)
	Doc(fmt.Sprintf("%s adds groups > 0 groups of %d to %d levels as %sGeneric does.", name, count, k.levels, what))
	Pragma("noescape")
	x, groups, lanes := Load(Param("x"), GP64()), Load(Param("groups"), GP64()), Load(Param("lanes"), GP64())
	var y reg.Register
	if products {
		y = Load(Param("y"), GP64())
	}
	chains := count / k.lanes()
	sums := make([][]reg.VecVirtual, chains)
	for c := range sums {
		for l := range k.levels {
			s := k.vector()
			VMOVUPD(k.at(lanes, l*chains+c), s)
			sums[c] = append(sums[c], s)
		}
	}
	Label("loop")
	for c, s := range sums {
		term := k.vector()
		VMOVUPD(k.at(x, c), term)
		if !products {
			k.deposit(s, term)
			continue
		}
		factor, product := k.vector(), k.vector()
		VMOVUPD(k.at(y, c), factor)
		VMULPD(term, factor, product)
		VFMSUB213PD(product, factor, term) // the product's error
		if k.levels == 2 {
			k.twoSum(s[0], product)
			VADDPD(product, term, term)
			VADDPD(term, s[1], s[1])
			continue
		}
		k.twoSum(s[0], product)
		k.deposit(s[1:], term)
		k.deposit(s[1:], product)
	}
	ADDQ(U32(8*count), x)
	if products {
		ADDQ(U32(8*count), y)
	}
	DECQ(groups)
	JNZ(LabelRef("loop"))
	for c := range sums {
		for l, s := range sums[c] {
			VMOVUPD(s, k.at(lanes, l*chains+c))
		}
	}
	VZEROUPPER()
	RET()
}

// deposit adds v to the levels; v is lost.
func (k cascade) deposit(s []reg.VecVirtual, v reg.VecVirtual) {
	last := len(s) - 1
	for _, level := range s[:last] {
		k.twoSum(level, v)
	}
	VADDPD(v, s[last], s[last])
}

// twoSum sets x to x + y, rounded, and y to the error.
func (k cascade) twoSum(x, y reg.VecVirtual) {
	s, z := k.vector(), k.vector()
	VADDPD(y, x, s)
	VSUBPD(x, s, z) // z = s - x
	VSUBPD(z, y, y) // y - z
	VSUBPD(z, s, z) // s - z
	VSUBPD(z, x, z) // x - (s - z)
	VMOVAPD(s, x)
	VADDPD(y, z, y)
}

// bins is a loop of Bins under construction. Two registers for each level hide the latency of additions: with AVX2
// half of the lanes stay as they are.
type bins struct {
	vectors
	levels int
}

const binChains = 2

func (k bins) generate(products bool) {
	what, signature := "Sums", "func(x *float64, groups int, lanes *float64) float64"
	if products {
		what, signature = "Products", "func(x, y *float64, groups int, lanes *float64) float64"
	}
	name := k.name(fmt.Sprintf("bin%s%d", what, k.levels))
	TEXT(name, NOSPLIT, signature)
	Doc(fmt.Sprintf("%s adds groups > 0 groups of %d to %d levels of Bins and returns the largest magnitude.", name,
		count, k.levels))
	Pragma("noescape")
	x, groups, lanes := Load(Param("x"), GP64()), Load(Param("groups"), GP64()), Load(Param("lanes"), GP64())
	var y reg.Register
	if products {
		y = Load(Param("y"), GP64())
	}
	magnitude, lastBit, largest := k.constant(1<<63-1), k.constant(1), k.constant(0)
	sums := make([][]reg.VecVirtual, binChains)
	for c := range sums {
		for l := range k.levels {
			s := k.vector()
			VMOVUPD(Mem{Base: lanes, Disp: 8 * (count*l + k.lanes()*c)}, s)
			sums[c] = append(sums[c], s)
		}
	}
	Label("loop")
	for c := range count / k.lanes() {
		v := k.vector()
		VMOVUPD(k.at(x, c), v)
		if products {
			VMULPD(k.at(y, c), v, v)
		}
		k.deposit(sums[c%binChains], v, magnitude, lastBit, largest)
	}
	ADDQ(U32(8*count), x)
	if products {
		ADDQ(U32(8*count), y)
	}
	DECQ(groups)
	JNZ(LabelRef("loop"))
	for c := range sums {
		for l, s := range sums[c] {
			VMOVUPD(s, Mem{Base: lanes, Disp: 8 * (count*l + k.lanes()*c)})
		}
	}
	high := YMM()
	if k.wide {
		VEXTRACTF64X4(U8(1), largest, high)
		VMAXPD(high, largest.AsY(), largest.AsY())
	}
	VEXTRACTF128(U8(1), largest.AsY(), high.AsX())
	VMAXPD(high.AsX(), largest.AsX(), largest.AsX())
	VPERMILPD(U8(1), largest.AsX(), high.AsX())
	VMAXSD(high.AsX(), largest.AsX(), largest.AsX())
	VZEROUPPER()
	Store(largest.AsX(), ReturnIndex(0))
	RET()
}

// deposit adds v, which is lost, to the levels, and its magnitude to the largest: that of NaN does not count, as the
// second operand is kept.
func (k bins) deposit(s []reg.VecVirtual, v, magnitude, lastBit, largest reg.VecVirtual) {
	t, q := k.vector(), k.vector()
	k.bitwise(VANDPD, VPANDQ, v, magnitude, t)
	VMAXPD(largest, t, largest)
	last := len(s) - 1
	for _, level := range s[:last] {
		k.bitwise(VORPD, VPORQ, v, lastBit, t)
		VADDPD(t, level, t)
		VSUBPD(level, t, q) // q = t - level
		VMOVAPD(t, level)
		VSUBPD(q, v, v)
	}
	k.bitwise(VORPD, VPORQ, v, lastBit, v)
	VADDPD(v, s[last], s[last])
}

// bitwise applies one of two instructions: those for registers of AVX2 need AVX512DQ for wider ones.
func (v vectors) bitwise(narrow, wide func(...Op), x, y, to Op) {
	if v.wide {
		wide(x, y, to)
	} else {
		narrow(x, y, to)
	}
}

// constant returns a register with the same 64 bits in every lane.
func (v vectors) constant(bits uint64) reg.VecVirtual {
	word, r := GP64(), v.vector()
	MOVQ(U64(bits), word)
	if v.wide {
		VPBROADCASTQ(word, r)
		return r
	}
	VMOVQ(word, r.AsX())
	VPBROADCASTQ(r.AsX(), r)
	return r
}
