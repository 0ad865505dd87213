// Command asm generates the AVX2 loops of package sell; run it with go generate in this folder.
//
// A slice has 8 rows: two registers of 4 lanes, whose additions hide each other's latency.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

//go:generate go run . -out ../kernels_amd64.s -stubs ../kernels_stubs_amd64.go -pkg sell

const (
	rows  = 8
	lanes = 4
)

func main() {
	ConstraintExpr("amd64,!noasm")
	kernel{"float64s", 1, 1}.generate()
	kernel{"doubleDoubles", 2, 2}.generate()
	kernel{"doubleDoublesOf64", 1, 2}.generate()
	Generate()
}

// kernel is a loop over elements of so many parts, times numbers of so many.
type kernel struct {
	name            string
	elements, parts int
}

func (k kernel) generate() {
	name := k.name + "AVX2"
	TEXT(name, NOSPLIT, "func(steps *int32, count int, columns *int32, a *float64, x *float64, low *float64, z *float64)")
	Doc(fmt.Sprintf("%s computes count > 0 slices as package sell describes; x and low are the parts of the vector.",
		name))
	Pragma("noescape")
	steps, count := Load(Param("steps"), GP64()), Load(Param("count"), GP64())
	columns, a := Load(Param("columns"), GP64()), Load(Param("a"), GP64())
	x := []reg.Register{Load(Param("x"), GP64()), Load(Param("low"), GP64())}
	z, left := Load(Param("z"), GP64()), GP64()
	var sums [rows / lanes][]reg.VecVirtual
	for c := range sums {
		for range k.parts {
			sums[c] = append(sums[c], YMM())
		}
	}
	Label("slice")
	for _, s := range sums {
		for _, part := range s {
			VXORPD(part, part, part)
		}
	}
	MOVLQSX(Mem{Base: steps}, left)
	TESTQ(left, left)
	JZ(LabelRef("store"))
	Label("step")
	for c, sum := range sums {
		column := XMM()
		VMOVDQU(Mem{Base: columns, Disp: 4 * lanes * c}, column)
		var number []reg.VecVirtual
		for _, base := range x[:k.parts] {
			v, mask := YMM(), YMM()
			VPCMPEQD(mask, mask, mask)
			VGATHERDPD(mask, Mem{Base: base, Index: column, Scale: 8}, v)
			number = append(number, v)
		}
		var element []reg.VecVirtual
		for part := range k.elements {
			v := YMM()
			VMOVUPD(Mem{Base: a, Disp: 8 * (rows*part + lanes*c)}, v)
			element = append(element, v)
		}
		if k.parts == 1 {
			product := YMM()
			VMULPD(number[0], element[0], product)
			VADDPD(product, sum[0], sum[0])
			continue
		}
		addWords(sum, multiplyWords(element, number))
	}
	ADDQ(Imm(4*rows), columns)
	ADDQ(Imm(uint64(8*rows*k.elements)), a)
	DECQ(left)
	JNZ(LabelRef("step"))
	Label("store")
	for c, sum := range sums {
		for part, v := range sum {
			VMOVUPD(v, Mem{Base: z, Disp: 8 * (rows*part + lanes*c)})
		}
	}
	ADDQ(Imm(uint64(8*rows*k.parts)), z)
	ADDQ(Imm(4), steps)
	DECQ(count)
	JNZ(LabelRef("slice"))
	VZEROUPPER()
	RET()
}

// multiplyWords is network.MulDoubleWord; a missing low part is 0.
func multiplyWords(a, x []reg.VecVirtual) []reg.VecVirtual {
	p, e, cross := YMM(), YMM(), YMM()
	VMULPD(x[0], a[0], p)
	VMOVAPD(a[0], e)
	VFMSUB213PD(p, x[0], e) // a x - p
	if len(a) == 2 {
		VMULPD(x[0], a[1], cross)
		VFMADD231PD(x[1], a[0], cross)
	} else {
		VMULPD(x[1], a[0], cross)
	}
	VADDPD(cross, e, e)
	return fastTwoSum(p, e)
}

// addWords sets x to network.AddDoubleWord.
func addWords(x, y []reg.VecVirtual) {
	s, e := twoSum(x[0], y[0])
	t, g := twoSum(x[1], y[1])
	VADDPD(t, e, e)
	v := fastTwoSum(s, e)
	VADDPD(v[1], g, g)
	v = fastTwoSum(v[0], g)
	VMOVAPD(v[0], x[0])
	VMOVAPD(v[1], x[1])
}

func twoSum(x, y reg.VecVirtual) (s, e reg.VecVirtual) {
	s, e = YMM(), YMM()
	z := YMM()
	VADDPD(y, x, s)
	VSUBPD(x, s, z)
	VSUBPD(z, s, e)
	VSUBPD(e, x, e)
	VSUBPD(z, y, z)
	VADDPD(z, e, e)
	return s, e
}

func fastTwoSum(x, y reg.VecVirtual) []reg.VecVirtual {
	s, e := YMM(), YMM()
	VADDPD(y, x, s)
	VSUBPD(x, s, e)
	VSUBPD(e, y, e)
	return []reg.VecVirtual{s, e}
}
