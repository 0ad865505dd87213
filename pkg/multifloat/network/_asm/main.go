// Command asm generates the AVX2 and AVX-512 interpreters of package network, and the loops of some schemes; run it
// with go generate in this folder.
//
// An interpreter runs each step of a program for all chains of additions before the next step, so that chains hide
// each other's latency. It does what Program.runGeneric does.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

//go:generate go run -tags noasm . -out ../run_amd64.s -stubs ../run_stubs_amd64.go -pkg network

// blockBytes is the size of a register of 32 float64; one of float32 has half of it.
const blockBytes = 256

// Offsets in a step.
const (
	kindAt = 4 * iota
	xAt
	yAt
	zAt
	sAt
	eAt
	stepBytes
)

func main() {
	ConstraintExpr("amd64,!noasm")
	for _, wide := range []bool{false, true} {
		for _, single := range []bool{false, true} {
			interpreter{wide, single}.generate()
		}
	}
	generateFused("../fused_amd64.go")
	Generate()
}

// interpreter is a function under construction.
type interpreter struct {
	wide   bool // AVX-512
	single bool // float32
}

func (k interpreter) vector() reg.VecVirtual {
	if k.wide {
		return ZMM()
	}
	return YMM()
}

func (k interpreter) generate() {
	name, lanes := "run64", "float64"
	if k.single {
		name, lanes = "run32", "float32"
	}
	isa := "AVX2"
	if k.wide {
		isa = "AVX512"
	}
	TEXT(name+isa, NOSPLIT, fmt.Sprintf("func(steps *int32, count int, table **%s, chains int, stride int)", lanes))
	Doc(fmt.Sprintf("%s%s runs count > 0 steps for chains > 0 tables, stride bytes apart, of pointers to 32 %s.", name,
		isa, lanes))
	Pragma("noescape")
	steps, count := Load(Param("steps"), GP64()), Load(Param("count"), GP64())
	table, chains := Load(Param("table"), GP64()), Load(Param("chains"), GP64())
	stride := Load(Param("stride"), GP64())
	row, left, kind := GP64(), GP64(), GP64()
	Label("step")
	MOVQ(table, row)
	MOVQ(chains, left)
	MOVLQSX(Mem{Base: steps, Disp: kindAt}, kind)
	kinds := []struct {
		name     string
		operands []int
		results  []int
		compute  func(in, out []reg.VecVirtual)
	}{
		{"add", []int{xAt, yAt}, []int{sAt}, k.add},
		{"mul", []int{xAt, yAt}, []int{sAt}, k.mul},
		{"mulAdd", []int{xAt, yAt, zAt}, []int{sAt}, k.mulAdd},
		{"narrow", []int{xAt}, []int{sAt}, k.narrow},
		{"twoSum", []int{xAt, yAt}, []int{sAt, eAt}, k.twoSum},
		{"fastTwoSum", []int{xAt, yAt}, []int{sAt, eAt}, k.fastTwoSum},
		{"twoProduct", []int{xAt, yAt}, []int{sAt, eAt}, k.twoProduct},
	}
	for i, c := range kinds[:len(kinds)-1] {
		CMPQ(kind, Imm(uint64(i)))
		JEQ(LabelRef(c.name))
	}
	JMP(LabelRef(kinds[len(kinds)-1].name))
	for _, c := range kinds {
		Label(c.name)
		pointers := make(map[int]reg.GPVirtual)
		for _, at := range append(append([]int{}, c.operands...), c.results...) {
			p := GP64()
			MOVLQSX(Mem{Base: steps, Disp: at}, p)
			MOVQ(Mem{Base: row, Index: p, Scale: 1}, p)
			pointers[at] = p
		}
		size, bytes := blockBytes, 32
		if k.single {
			size /= 2
		}
		if k.wide {
			bytes = 64
		}
		for at := 0; at < size; at += bytes {
			var in, out []reg.VecVirtual
			for _, o := range c.operands {
				v := k.vector()
				k.move(Mem{Base: pointers[o], Disp: at}, v)
				in = append(in, v)
			}
			for range c.results {
				out = append(out, k.vector())
			}
			c.compute(in, out)
			for i, r := range c.results {
				k.move(out[i], Mem{Base: pointers[r], Disp: at})
			}
		}
		ADDQ(stride, row)
		DECQ(left)
		JNZ(LabelRef(c.name))
		JMP(LabelRef("next"))
	}
	Label("next")
	ADDQ(Imm(stepBytes), steps)
	DECQ(count)
	JNZ(LabelRef("step"))
	VZEROUPPER()
	RET()
}

// pick returns an instruction for the type of numbers.
func (k interpreter) pick(double, single func(...Op)) func(...Op) {
	if k.single {
		return single
	}
	return double
}

func (k interpreter) move(from, to Op)  { k.pick(VMOVUPD, VMOVUPS)(from, to) }
func (k interpreter) sum(x, y, to Op)   { k.pick(VADDPD, VADDPS)(y, x, to) }
func (k interpreter) less(x, y, to Op)  { k.pick(VSUBPD, VSUBPS)(y, x, to) } // x - y
func (k interpreter) times(x, y, to Op) { k.pick(VMULPD, VMULPS)(y, x, to) }
func (k interpreter) fma(x, y, xyz Op)  { k.pick(VFMADD231PD, VFMADD231PS)(y, x, xyz) }
func (k interpreter) fms(xyz, y, z Op)  { k.pick(VFMSUB213PD, VFMSUB213PS)(z, y, xyz) } // x*y - z

func (k interpreter) add(in, out []reg.VecVirtual) { k.sum(in[0], in[1], out[0]) }

func (k interpreter) mul(in, out []reg.VecVirtual) { k.times(in[0], in[1], out[0]) }

func (k interpreter) mulAdd(in, out []reg.VecVirtual) {
	k.fma(in[0], in[1], in[2])
	out[0] = in[2]
}

func (k interpreter) narrow(in, out []reg.VecVirtual) {
	switch {
	case k.single:
		k.move(in[0], out[0])
	case k.wide:
		half := YMM()
		VCVTPD2PS(in[0], half)
		VCVTPS2PD(half, out[0])
	default:
		half := XMM()
		VCVTPD2PSY(in[0], half)
		VCVTPS2PD(half, out[0])
	}
}

func (k interpreter) twoSum(in, out []reg.VecVirtual) {
	x, y, s, e := in[0], in[1], out[0], out[1]
	k.sum(x, y, s)
	k.less(s, x, e) // z
	k.less(y, e, y) // y - z
	k.less(s, e, e) // s - z
	k.less(x, e, e)
	k.sum(e, y, e)
}

func (k interpreter) fastTwoSum(in, out []reg.VecVirtual) {
	x, y, s, e := in[0], in[1], out[0], out[1]
	k.sum(x, y, s)
	k.less(s, x, e)
	k.less(y, e, e)
}

func (k interpreter) twoProduct(in, out []reg.VecVirtual) {
	x, y, p := in[0], in[1], out[0]
	k.times(x, y, p)
	k.fms(x, y, p)
	out[1] = x
}
