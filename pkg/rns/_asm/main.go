// Command asm generates the AVX2 and AVX-512 residue operations of package rns; run it with go generate in ../.
//
// Every kernel processes n residues, n a multiple of 8, each below its modulus 17 <= m < 2^31; so are the
// results. Each works like the plain Go function of the same name with the ending Generic.
package main

import (
	"strings"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

//go:generate go run . -out ../residues_amd64.s -stubs ../residues_stubs_amd64.go -pkg rns

func main() {
	ConstraintExpr("amd64,!noasm")
	for _, isa := range []string{"AVX2", "AVX512"} {
		subMod(isa)
		mulConst(isa)
		mulConstAdd(isa)
		mulConstSub(isa)
		mulMod(isa)
		floatMod(isa)
		subMulConst(isa)
		quotientSum(isa)
		fractionSum(isa)
		lowWord(isa)
		weightedWords(isa)
		wordsMod(isa)
	}
	Generate()
}

// kernel is a function under construction: its pointer arguments and the lanes of one step.
type kernel struct {
	pointers map[string]reg.GPVirtual
	offset   reg.GPVirtual // bytes of 32-bit residues done
	odd      reg.OpmaskVirtual
	lanes    int
}

// newKernel begins a function of n residues whose pointer parameters it loads, and returns the bytes of all residues.
func newKernel(name, signature, doc string) (k *kernel, bytes reg.Register) {
	TEXT(name, NOSPLIT, "func("+signature)
	Pragma("noescape")
	Doc(strings.Split(doc, "\n")...)
	k = &kernel{pointers: map[string]reg.GPVirtual{}, offset: GP64()}
	var names []string // of parameters whose type is still to come
	for _, p := range strings.Split(signature, ",") {
		name, kind, _ := strings.Cut(strings.TrimSpace(p), " ")
		if names = append(names, name); kind == "" {
			continue
		}
		for _, name := range names {
			if kind[0] == '*' {
				k.pointers[name] = Load(Param(name), GP64()).(reg.GPVirtual)
			}
		}
		names = nil
	}
	bytes = Load(Param("n"), GP64())
	SHLQ(Imm(2), bytes)
	XORQ(k.offset, k.offset)
	return k, bytes
}

// generate emits a function over all n residues whose body handles k.lanes of them.
func generate(isa, name, signature, doc string, body func(k *kernel)) {
	k, bytes := newKernel(name+isa, signature+", n int)", name+isa+" sets "+doc+"; it works like "+name+"Generic.")
	if isa == "AVX512" {
		wide := GP64()
		k.odd = K()
		mask := GP32()
		MOVL(U32(0xaaaa), mask)
		KMOVW(mask, k.odd)
		MOVQ(bytes, wide)
		ANDQ(I8(-64), wide)
		k.lanes = 16
		k.loop("wide", wide, body)
	}
	k.lanes = 8
	k.loop("lanes8", bytes, body)
	VZEROUPPER()
	RET()
}

// loop emits body until offset reaches end.
func (k *kernel) loop(label string, end reg.Register, body func(k *kernel)) {
	JMP(LabelRef(label + "_test"))
	Label(label)
	body(k)
	ADDQ(U8(4*k.lanes), k.offset)
	Label(label + "_test")
	CMPQ(k.offset, end)
	JLT(LabelRef(label))
}

// vector returns a new register of all lanes, half one of as many bits for half the lanes.
func (k *kernel) vector() reg.VecVirtual {
	if k.lanes == 16 {
		return ZMM()
	}
	return YMM()
}

func (k *kernel) mem(p string) Mem { return Mem{Base: k.pointers[p], Index: k.offset, Scale: 1} }

func (k *kernel) load(p string) reg.VecVirtual {
	r := k.vector()
	if k.lanes == 16 {
		VMOVDQU32(k.mem(p), r)
	} else {
		VMOVDQU(k.mem(p), r)
	}
	return r
}

func (k *kernel) store(r reg.VecVirtual) {
	if k.lanes == 16 {
		VMOVDQU32(r, k.mem("z"))
	} else {
		VMOVDQU(r, k.mem("z"))
	}
}

// reduceOnce sets x = x mod m for x < 2m: the lesser of x and x - m as unsigned numbers.
func (k *kernel) reduceOnce(x, m reg.VecVirtual) {
	less := k.vector()
	VPSUBD(m, x, less)
	VPMINUD(less, x, x)
}

// wrapOnce sets x = x mod m for a difference x > -m: the lesser of x and x + m as unsigned numbers.
func (k *kernel) wrapOnce(x, m reg.VecVirtual) {
	more := k.vector()
	VPADDD(m, x, more)
	VPMINUD(more, x, x)
}

// timesConstant returns x*w mod m for the constant with value w and scaled value ws = floor(w*2^32/m):
// the quotient is the high half of x*ws, taken from the even and the odd lanes apart.
func (k *kernel) timesConstant(x, m reg.VecVirtual) reg.VecVirtual {
	q, product := k.quotient(x, "ws"), k.vector()
	VPMULLD(k.mem("w"), x, product)
	VPMULLD(m, q, q)
	VPSUBD(q, product, product)
	k.reduceOnce(product, m)
	return product
}

// quotient returns the high half of x*ws in every lane.
func (k *kernel) quotient(x reg.VecVirtual, scaled string) reg.VecVirtual {
	ws, even, xOdd, wsOdd, q := k.load(scaled), k.vector(), k.vector(), k.vector(), k.vector()
	VPMULUDQ(ws, x, even)
	VPSRLQ(Imm(32), x, xOdd)
	VPSRLQ(Imm(32), ws, wsOdd)
	VPMULUDQ(wsOdd, xOdd, xOdd)
	VPSRLQ(Imm(32), even, even)
	k.blendOdd(xOdd, even, q)
	return q
}

func subMod(isa string) {
	generate(isa, "subMod", "z, x, y, m *uint32", "z = x - y mod m", func(k *kernel) {
		difference := k.load("x")
		VPSUBD(k.mem("y"), difference, difference)
		k.wrapOnce(difference, k.load("m"))
		k.store(difference)
	})
}

func mulConst(isa string) {
	generate(isa, "mulConst", "z, x, w, ws, m *uint32", "z = x*w mod m", func(k *kernel) {
		k.store(k.timesConstant(k.load("x"), k.load("m")))
	})
}

func mulConstAdd(isa string) {
	generate(isa, "mulConstAdd", "z, x, w, ws, y, m *uint32", "z = x*w + y mod m", func(k *kernel) {
		m := k.load("m")
		sum := k.timesConstant(k.load("x"), m)
		VPADDD(k.mem("y"), sum, sum)
		k.reduceOnce(sum, m)
		k.store(sum)
	})
}

func mulConstSub(isa string) {
	generate(isa, "mulConstSub", "z, x, w, ws, y, m *uint32", "z = x*w - y mod m", func(k *kernel) {
		m := k.load("m")
		difference := k.timesConstant(k.load("x"), m)
		VPSUBD(k.mem("y"), difference, difference)
		k.wrapOnce(difference, m)
		k.store(difference)
	})
}

func subMulConst(isa string) {
	generate(isa, "subMulConst", "z, x, y, w, ws, m *uint32", "z = (x - y)*w mod m", func(k *kernel) {
		m, difference := k.load("m"), k.load("x")
		VPADDD(m, difference, difference) // x - y + m < 2m, which timesConstant takes
		VPSUBD(k.mem("y"), difference, difference)
		k.store(k.timesConstant(difference, m))
	})
}

// mulMod estimates the quotient of x*y by m in binary64: reciprocal is so far below 1/m that
// trunc(x*y*reciprocal) is floor(x*y/m) or one less; arithmetic modulo 2^32 does the rest.
func mulMod(isa string) {
	signature := "z, x, y *uint32, reciprocal *float64, m *uint32"
	generate(isa, "mulMod", signature, "z = x*y mod m, with the reciprocals of a Base", func(k *kernel) {
		quotient := k.joinHalves(func(half int, q reg.VecVirtual) {
			p, y := k.vector(), k.vector()
			VCVTDQ2PD(k.mem("x").Offset(2*k.lanes*half), p)
			VCVTDQ2PD(k.mem("y").Offset(2*k.lanes*half), y)
			VMULPD(y, p, p)
			VMULPD(k.doubles("reciprocal", half), p, p)
			if k.lanes == 16 {
				VCVTTPD2DQ(p, q.(reg.Vec).AsY())
			} else {
				VCVTTPD2DQY(p, q.(reg.Vec).AsX())
			}
		})
		m, product := k.load("m"), k.load("x")
		VPMULLD(k.mem("y"), product, product)
		VPMULLD(m, quotient, quotient)
		VPSUBD(quotient, product, product)
		k.reduceOnce(product, m)
		k.store(product)
	})
}

// doubles addresses the half of the lanes' binary64 constants.
func (k *kernel) doubles(p string, half int) Mem {
	m := k.mem(p).Offset(4 * k.lanes * half)
	m.Scale = 2
	return m
}

// joinHalves returns the 32-bit results that make leaves in the low half of its register for each half of the lanes.
func (k *kernel) joinHalves(make func(half int, q reg.VecVirtual)) reg.VecVirtual {
	low, high, all := k.vector(), k.vector(), k.vector()
	make(0, low)
	make(1, high)
	if k.lanes == 16 {
		VINSERTI64X4(Imm(1), high.(reg.Vec).AsY(), low, all)
	} else {
		VINSERTI128(Imm(1), high.(reg.Vec).AsX(), low, all)
	}
	return all
}

// floatMod reduces one integer x < 2^53 by all moduli: floor(x*reciprocal) is floor(x/m) or one less. Its low 32 bits
// come from a conversion (AVX-512) or from the significand after adding 2^52 (AVX2).
func floatMod(isa string) {
	signature := "z *uint32, x float64, reciprocal *float64, m *uint32"
	generate(isa, "floatMod", signature, "z = x mod m for an integer 0 <= x < 2^53", func(k *kernel) {
		x, word := k.vector(), k.vector()
		scalar, bits := XMM(), GP64()
		Load(Param("x"), scalar)
		VBROADCASTSD(scalar, x)
		CVTTSD2SQ(scalar, bits)
		VMOVD(bits.As32(), scalar)
		VPBROADCASTD(scalar, word)
		quotient := k.quotients(x)
		m := k.load("m")
		VPMULLD(m, quotient, quotient)
		VPSUBD(quotient, word, word)
		k.reduceOnce(word, m)
		k.store(word)
	})
}

// quotients returns the low 32 bits of floor(x*reciprocal) in every lane.
func (k *kernel) quotients(x reg.VecVirtual) reg.VecVirtual {
	if k.lanes == 16 {
		return k.joinHalves(func(half int, q reg.VecVirtual) {
			p := ZMM()
			VMULPD(k.doubles("reciprocal", half), x, p)
			VCVTTPD2UQQ(p, p)
			VPMOVQD(p, q.(reg.Vec).AsY())
		})
	}
	magic, word := YMM(), GP64()
	MOVQ(U64(0x4330000000000000), word) // 2^52
	VMOVQ(word, magic.AsX())
	VBROADCASTSD(magic.AsX(), magic)
	low, high, all := YMM(), YMM(), YMM()
	for half, p := range []reg.VecVirtual{low, high} {
		VMULPD(k.doubles("reciprocal", half), x, p)
		VROUNDPD(Imm(1), p, p)
		VADDPD(magic, p, p)
	}
	VSHUFPS(Imm(0x88), high, low, all) // the low words of low and high, in pairs
	VPERMQ(Imm(0xd8), all, all)
	return all
}
