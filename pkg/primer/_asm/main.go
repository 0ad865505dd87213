// Command asm generates the AVX2 and AVX-512 loops of package primer; run it with go generate in this folder.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

//go:generate go run . -out ../kernels_amd64.s -stubs ../kernels_stubs_amd64.go -pkg primer

// vectors is how many registers integer loops take at a time.
const vectors = 4

func main() {
	ConstraintExpr("amd64,!noasm")
	for _, e := range []element{{"int32", 4}, {"int64", 8}} {
		e.sum()
		e.scan()
	}
	for _, f := range []float{{"float32", 4}, {"float64", 8}} {
		f.loadRows()
		f.storeRows(false)
		f.storeRows(true)
	}
	Generate()
}

// element is a type of integers.
type element struct {
	name  string
	bytes int
}

func (e element) add(x, y, z Op) {
	if e.bytes == 4 {
		VPADDD(x, y, z)
	} else {
		VPADDQ(x, y, z)
	}
}

// shiftUp sets z to the elements of v, by one or two later in each half, behind zeros.
func (e element) shiftUp(by int, v, z Op) { VPSLLDQ(U8(e.bytes*by), v, z) }

// last sets every element of both halves to the last one of its half.
func (e element) last(v, z Op) {
	if e.bytes == 4 {
		VPSHUFD(U8(0xff), v, z)
	} else {
		VPSHUFD(U8(0xee), v, z)
	}
}

// sum generates the sum of groups of vectors.
func (e element) sum() {
	name := "sum" + title(e.name) + "AVX2"
	TEXT(name, NOSPLIT, fmt.Sprintf("func(x *%s, groups int) %[1]s", e.name))
	Doc(fmt.Sprintf("%s returns the sum of groups > 0 groups of %d elements.", name, vectors*32/e.bytes))
	Pragma("noescape")
	x, groups := Load(Param("x"), GP64()), Load(Param("groups"), GP64())
	var sums [vectors]reg.VecVirtual
	for i := range sums {
		sums[i] = YMM()
		VPXOR(sums[i], sums[i], sums[i])
	}
	Label("loop")
	for i, s := range sums {
		e.add(Mem{Base: x, Disp: 32 * i}, s, s)
	}
	ADDQ(Imm(32*vectors), x)
	DECQ(groups)
	JNZ(LabelRef("loop"))
	e.add(sums[1], sums[0], sums[0])
	e.add(sums[3], sums[2], sums[2])
	e.add(sums[2], sums[0], sums[0])
	e.prefix(sums[0], sums[1])
	e.returnLast(sums[0])
}

// prefix makes the elements of v the sums of those up to them.
func (e element) prefix(v, t Op) {
	for by := 1; by < 16/e.bytes; by *= 2 {
		e.shiftUp(by, v, t)
		e.add(t, v, v)
	}
	VPERM2I128(U8(0x08), v, v, t) // zeros, the first half
	e.last(t, t)
	e.add(t, v, v)
}

// returnLast returns the last element.
func (e element) returnLast(v reg.VecVirtual) {
	VEXTRACTI128(U8(1), v, v.AsX())
	if e.bytes == 4 {
		result := GP32()
		VPEXTRD(U8(3), v.AsX(), result)
		VZEROUPPER()
		Store(result, ReturnIndex(0))
	} else {
		result := GP64()
		VPEXTRQ(U8(1), v.AsX(), result)
		VZEROUPPER()
		Store(result, ReturnIndex(0))
	}
	RET()
}

// scan generates the scan of groups of vectors: each vector's elements are added up in the register, and then to the
// sum before, whose chain is one addition a vector.
func (e element) scan() {
	name := "scan" + title(e.name) + "AVX2"
	TEXT(name, NOSPLIT, fmt.Sprintf("func(s %s, y, x *%[1]s, groups int) %[1]s", e.name))
	Doc(fmt.Sprintf("%s scans groups > 0 groups of %d elements from s on, and returns the last result.", name,
		vectors*32/e.bytes))
	Pragma("noescape")
	before := YMM()
	if e.bytes == 4 {
		VMOVD(Load(Param("s"), GP32()), before.AsX())
		VPBROADCASTD(before.AsX(), before)
	} else {
		VMOVQ(Load(Param("s"), GP64()), before.AsX())
		VPBROADCASTQ(before.AsX(), before)
	}
	y, x, groups := Load(Param("y"), GP64()), Load(Param("x"), GP64()), Load(Param("groups"), GP64())
	Label("loop")
	for i := range vectors {
		v, t := YMM(), YMM()
		VMOVDQU(Mem{Base: x, Disp: 32 * i}, v)
		e.prefix(v, t)
		VPERMQ(U8(0xff), v, t)
		e.last(t, t)
		e.add(v, before, v)
		VMOVDQU(v, Mem{Base: y, Disp: 32 * i})
		e.add(t, before, before)
	}
	ADDQ(Imm(32*vectors), x)
	ADDQ(Imm(32*vectors), y)
	DECQ(groups)
	JNZ(LabelRef("loop"))
	e.returnLast(before)
}

func title(name string) string { return string(name[0]-'a'+'A') + name[1:] }

// float is a type of floating-point numbers. A row of the fixed grouping is 32 packs of 16 bytes in order; elements k
// of each pack are in registers of their own, in the order of permuted: of 8 or 16 packs.
type float struct {
	name  string
	bytes int
}

const rowBytes = 512

func (f float) perRegister() int { return 64 / f.bytes }
func (f float) elements() int    { return 16 / f.bytes } // of a pack
func (f float) registers() int   { return 32 / f.perRegister() }

func (f float) add(x, y, z Op) {
	if f.bytes == 4 {
		VADDPS(x, y, z)
	} else {
		VADDPD(x, y, z)
	}
}

// permute sets z to the elements of x that indices name.
func (f float) permute(x, indices, z Op) {
	if f.bytes == 4 {
		VPERMPS(x, indices, z)
	} else {
		VPERMPD(x, indices, z)
	}
}

// shift sets z to the elements of high by d later, behind the last of low.
func (f float) shift(d int, low, high, z Op) {
	if f.bytes == 4 {
		VALIGND(U8(16-d), low, high, z)
	} else {
		VALIGNQ(U8(8-d), low, high, z)
	}
}

func (f float) broadcast(from, to Op) {
	if f.bytes == 4 {
		VBROADCASTSS(from, to)
	} else {
		VBROADCASTSD(from, to)
	}
}

// permuted is the order of packs after transpose, as 32-bit or 64-bit indices: pack 4i+j of 16, or 4i+j of 8, is at
// 4j+i, or 2j+i. inverse is what undoes it.
func (f float) permuted(name string, inverse bool) reg.VecVirtual {
	data := GLOBL(name+f.name, RODATA|NOPTR)
	n := f.perRegister()
	indices := make([]int, n)
	for pack := range n {
		at := n/4*(pack%4) + pack/4
		if inverse {
			indices[pack] = at
		} else {
			indices[at] = pack
		}
	}
	for i, from := range indices {
		if f.bytes == 4 {
			DATA(4*i, U32(from))
		} else {
			DATA(8*i, U64(from))
		}
	}
	r := ZMM()
	VMOVDQU64(data, r)
	return r
}

// transpose makes registers of packs registers of their elements 0, 1, ..., and back.
func (f float) transpose(x []reg.VecVirtual) []reg.VecVirtual {
	zmm := func(n int) (list []reg.VecVirtual) {
		for range n {
			list = append(list, ZMM())
		}
		return list
	}
	if f.bytes == 8 {
		y := zmm(2)
		VUNPCKLPD(x[1], x[0], y[0])
		VUNPCKHPD(x[1], x[0], y[1])
		return y
	}
	t, y := zmm(4), zmm(4)
	VUNPCKLPS(x[1], x[0], t[0])
	VUNPCKHPS(x[1], x[0], t[1])
	VUNPCKLPS(x[3], x[2], t[2])
	VUNPCKHPS(x[3], x[2], t[3])
	for i := range 2 {
		VUNPCKLPD(t[2+i], t[i], y[2*i])
		VUNPCKHPD(t[2+i], t[i], y[2*i+1])
	}
	return y
}

// at is register k of those whose packs are i.
func (f float) at(base reg.Register, i, k int) Mem {
	return Mem{Base: base, Disp: 64 * (f.elements()*i + k)}
}

func (f float) load(x reg.Register, i int) []reg.VecVirtual {
	var packs []reg.VecVirtual
	for k := range f.elements() {
		r := ZMM()
		VMOVUPS(f.at(x, i, k), r)
		packs = append(packs, r)
	}
	return f.transpose(packs)
}

func (f float) loadRows() {
	name := "loadRows" + title(f.name) + "AVX512"
	TEXT(name, NOSPLIT, fmt.Sprintf("func(left, sums, x *%s, rows int)", f.name))
	Doc(name + " loads rows > 0 rows as tile.loadRow does, without the signs of zeros.")
	Pragma("noescape")
	left, sums := Load(Param("left"), GP64()), Load(Param("sums"), GP64())
	x, rows := Load(Param("x"), GP64()), Load(Param("rows"), GP64())
	inOrder := f.permuted("inOrder", true)
	zero := ZMM()
	VPXORQ(zero, zero, zero)
	a := make([]reg.VecVirtual, f.registers())
	previous := func(i int) Op {
		if i == 0 {
			return zero
		}
		return a[i-1]
	}
	for i := range a {
		a[i] = ZMM()
	}
	Label("row")
	for i := range a {
		elements := f.load(x, i)
		for _, e := range elements[1:] {
			f.add(e, elements[0], elements[0])
		}
		f.permute(elements[0], inOrder, a[i])
	}
	for d := 1; d < f.perRegister(); d *= 2 {
		for i := len(a) - 1; i >= 0; i-- {
			t := ZMM()
			f.shift(d, previous(i), a[i], t)
			f.add(t, a[i], a[i])
		}
	}
	for d := 1; d < len(a); d *= 2 {
		for i := len(a) - 1; i >= d; i-- {
			f.add(a[i-d], a[i], a[i])
		}
	}
	for i := range a {
		t := ZMM()
		f.shift(1, previous(i), a[i], t)
		VMOVUPS(t, Mem{Base: left, Disp: 64 * i})
	}
	t, last := ZMM(), a[len(a)-1]
	f.shift(1, last, last, t)
	if f.bytes == 4 {
		VMOVSS(t.AsX(), Mem{Base: sums})
	} else {
		VMOVSD(t.AsX(), Mem{Base: sums})
	}
	ADDQ(U32(rowBytes), x)
	ADDQ(U32(32*f.bytes), left)
	ADDQ(Imm(uint64(f.bytes)), sums)
	DECQ(rows)
	JNZ(LabelRef("row"))
	VZEROUPPER()
	RET()
}

func (f float) storeRows(exclusive bool) {
	name := "storeRows" + title(f.name) + "AVX512"
	if exclusive {
		name = "storeRowsExclusive" + title(f.name) + "AVX512"
	}
	TEXT(name, NOSPLIT, fmt.Sprintf("func(y, x, left, above *%s, rows int, warps, tiles %[1]s)", f.name))
	Doc(name + " stores rows > 0 rows as tile.storeRow does.")
	Pragma("noescape")
	y, x := Load(Param("y"), GP64()), Load(Param("x"), GP64())
	left, above := Load(Param("left"), GP64()), Load(Param("above"), GP64())
	rows := Load(Param("rows"), GP64())
	warps, tiles := ZMM(), ZMM()
	f.broadcast(NewParamAddr("warps", 40), warps)
	f.broadcast(NewParamAddr("tiles", 40+f.bytes), tiles)
	permuted := f.permuted("permuted"+name, false)
	Label("row")
	rowsBefore := ZMM()
	f.broadcast(Mem{Base: above}, rowsBefore)
	for i := range f.registers() {
		v := ZMM()
		f.add(Mem{Base: left, Disp: 64 * i}, rowsBefore, v)
		f.add(v, warps, v)
		f.add(v, tiles, v)
		f.permute(v, permuted, v)
		var results []reg.VecVirtual
		for _, e := range f.load(x, i) {
			if exclusive {
				results = append(results, v)
			}
			next := ZMM()
			f.add(e, v, next)
			if v = next; !exclusive {
				results = append(results, v)
			}
		}
		for k, r := range f.transpose(results) {
			VMOVUPS(r, f.at(y, i, k))
		}
	}
	ADDQ(U32(rowBytes), x)
	ADDQ(U32(rowBytes), y)
	ADDQ(U32(32*f.bytes), left)
	ADDQ(Imm(uint64(f.bytes)), above)
	DECQ(rows)
	JNZ(LabelRef("row"))
	VZEROUPPER()
	RET()
}
