// Command asm generates the vector kernels of package intmat; run it with go generate in ../.
//
// Each kernel computes what a plain Go function of kernels_generic.go does, which its comment names, bit for bit.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

//go:generate go run . -out ../kernels_amd64.s -stubs ../kernels_stubs_amd64.go -pkg intmat

func main() {
	ConstraintExpr("amd64,!noasm")
	product{name: "mulAVX2", rows: 6, vectors: 2, lanes: 8, step: pairsAVX2}.generate()
	product{name: "mulAVX512", rows: 12, vectors: 2, lanes: 16, step: pairsAVX512}.generate()
	product{name: "mulVNNI", rows: 12, vectors: 2, lanes: 16, step: pairsVNNI}.generate()
	bytes()
	reduce()
	fold()
	merge()
	split()
	interleave()
	carry()
	Generate()
}

// product is the product of a panel of rows and one of columns, in so many vectors of 32-bit lanes.
type product struct {
	name                 string
	rows, vectors, lanes int
	step                 func(p product, a, b Mem, sums []reg.VecVirtual)
}

func (p product) vector() reg.VecVirtual {
	if p.lanes == 16 {
		return ZMM()
	}
	return YMM()
}

func (p product) move(from, to Op) {
	if p.lanes == 16 {
		VMOVDQU32(from, to)
	} else {
		VMOVDQU(from, to)
	}
}

func (p product) generate() {
	TEXT(p.name, NOSPLIT, "func(tile *int32, a *uint32, b *uint32, pairs int)")
	Pragma("noescape")
	Doc(p.name + " adds the products of two panels to a tile. It works like mulGeneric.")
	tile := Load(Param("tile"), GP64())
	a, b := Load(Param("a"), GP64()), Load(Param("b"), GP64())
	pairs := Load(Param("pairs"), GP64())
	sums := make([]reg.VecVirtual, p.rows*p.vectors)
	for i := range sums {
		sums[i] = p.vector()
		p.move(Mem{Base: tile, Disp: 4 * p.lanes * i}, sums[i])
	}
	left, right := 4*p.rows, 4*p.lanes*p.vectors
	step := func(i int) { p.step(p, Mem{Base: a, Disp: left * i}, Mem{Base: b, Disp: right * i}, sums) }
	JMP(LabelRef("test"))
	Label("two")
	step(0)
	step(1)
	ADDQ(U32(2*left), a)
	ADDQ(U32(2*right), b)
	Label("test")
	SUBQ(Imm(2), pairs)
	JGE(LabelRef("two"))
	ADDQ(Imm(2), pairs)
	JZ(LabelRef("done"))
	step(0)
	Label("done")
	for i, sum := range sums {
		p.move(sum, Mem{Base: tile, Disp: 4 * p.lanes * i})
	}
	VZEROUPPER()
	RET()
}

// pairsAVX2 adds a pair of terms: rows are broadcast, two 16-bit products and their sum are one instruction.
func pairsAVX2(p product, a, b Mem, sums []reg.VecVirtual) {
	columns := []reg.VecVirtual{YMM(), YMM()}
	for v, column := range columns {
		VMOVDQU(b.Offset(32*v), column)
	}
	for i := range p.rows {
		row, terms := YMM(), YMM()
		VPBROADCASTD(a.Offset(4*i), row)
		VPMADDWD(columns[0], row, terms)
		VPADDD(terms, sums[2*i], sums[2*i])
		VPMADDWD(columns[1], row, row)
		VPADDD(row, sums[2*i+1], sums[2*i+1])
	}
}

// pairsAVX512 is pairsAVX2 in registers of 512 bits.
func pairsAVX512(p product, a, b Mem, sums []reg.VecVirtual) {
	columns := []reg.VecVirtual{ZMM(), ZMM()}
	for v, column := range columns {
		VMOVDQU32(b.Offset(64*v), column)
	}
	for i := range p.rows {
		row, terms := ZMM(), ZMM()
		VPBROADCASTD(a.Offset(4*i), row)
		VPMADDWD(columns[0], row, terms)
		VPADDD(terms, sums[2*i], sums[2*i])
		VPMADDWD(columns[1], row, row)
		VPADDD(row, sums[2*i+1], sums[2*i+1])
	}
}

// pairsVNNI adds a pair of terms with one instruction for the products and both additions.
func pairsVNNI(p product, a, b Mem, sums []reg.VecVirtual) {
	columns := []reg.VecVirtual{ZMM(), ZMM()}
	for v, column := range columns {
		VMOVDQU32(b.Offset(64*v), column)
	}
	for i := range p.rows {
		row := ZMM()
		VPBROADCASTD(a.Offset(4*i), row)
		VPDPWSSD(columns[0], row, sums[2*i])
		VPDPWSSD(columns[1], row, sums[2*i+1])
	}
}

// loop emits body for offset = 0, 32, ... while offset < end, both in bytes.
func loop(label string, offset, end reg.Register, body func()) {
	XORQ(offset, offset)
	Label(label)
	body()
	ADDQ(Imm(32), offset)
	CMPQ(offset, end)
	JLT(LabelRef(label))
}

func reduce() {
	TEXT("reduceAVX2", NOSPLIT, "func(tile *int32, cols int, moduli *int32, rows int)")
	Pragma("noescape")
	Doc("reduceAVX2 reduces the rows of a tile, of 8 n > 0 columns, modulo their moduli. It works like reduceGeneric.")
	rowwise(nil)
}

func fold() {
	TEXT("foldAVX2", NOSPLIT, "func(tile *int32, high *int32, cols int, moduli *int32, rows int)")
	Pragma("noescape")
	Doc("foldAVX2 adds 256 times another tile to one before it reduces it. It works like foldGeneric.")
	rowwise(Load(Param("high"), GP64()))
}

// rowwise reduces rows, to which it adds 256 times those of high, if any.
func rowwise(high reg.Register) {
	tile := Load(Param("tile"), GP64())
	end := Load(Param("cols"), GP64())
	SHLQ(Imm(2), end)
	moduli := Load(Param("moduli"), GP64())
	rows := Load(Param("rows"), GP64())
	offset := GP64()
	Label("rows")
	m, inverse := YMM(), YMM()
	VPBROADCASTD(Mem{Base: moduli}, m)
	VBROADCASTSS(Mem{Base: moduli, Disp: 4}, inverse)
	loop("columns", offset, end, func() {
		at := Mem{Base: tile, Index: offset, Scale: 1}
		v, quotient := YMM(), YMM()
		VMOVDQU(at, v)
		if high != nil {
			VMOVDQU(Mem{Base: high, Index: offset, Scale: 1}, quotient)
			VPSLLD(Imm(8), quotient, quotient)
			VPADDD(quotient, v, v)
		}
		VCVTDQ2PS(v, quotient)
		VMULPS(inverse, quotient, quotient)
		VCVTPS2DQ(quotient, quotient)
		VPMULLD(m, quotient, quotient)
		VPSUBD(quotient, v, v)
		VMOVDQU(v, at)
	})
	ADDQ(end, tile)
	if high != nil {
		ADDQ(end, high)
	}
	ADDQ(Imm(8), moduli)
	DECQ(rows)
	JNZ(LabelRef("rows"))
	VZEROUPPER()
	RET()
}

func merge() {
	TEXT("pairAVX2", NOSPLIT, "func(words *uint32, stride int, even *int32, odd *int32, cols int, rows int)")
	Pragma("noescape")
	Doc("pairAVX2 merges two tiles of 8 n > 0 columns. It works like pairGeneric.")
	words := Load(Param("words"), GP64())
	stride := Load(Param("stride"), GP64())
	SHLQ(Imm(2), stride)
	even, odd := Load(Param("even"), GP64()), Load(Param("odd"), GP64())
	end := Load(Param("cols"), GP64())
	SHLQ(Imm(2), end)
	rows := Load(Param("rows"), GP64())
	offset := GP64()
	Label("rows")
	loop("columns", offset, end, func() {
		high, v := YMM(), YMM()
		VMOVDQU(Mem{Base: odd, Index: offset, Scale: 1}, high)
		VPSLLD(Imm(16), high, high)
		VPBLENDW(Imm(0x55), Mem{Base: even, Index: offset, Scale: 1}, high, v)
		VMOVDQU(v, Mem{Base: words, Index: offset, Scale: 1})
	})
	ADDQ(stride, words)
	ADDQ(end, even)
	ADDQ(end, odd)
	DECQ(rows)
	JNZ(LabelRef("rows"))
	VZEROUPPER()
	RET()
}

func split() {
	TEXT("splitAVX2", NOSPLIT, "func(words *uint32, n int)")
	Pragma("noescape")
	Doc("splitAVX2 makes bytes of the halves of 8 n > 0 words. It works like splitGeneric.")
	words, end := Load(Param("words"), GP64()), Load(Param("n"), GP64())
	SHLQ(Imm(2), end)
	middle := constant(0x0080_0080)
	offset := GP64()
	loop("words", offset, end, func() {
		at := Mem{Base: words, Index: offset, Scale: 1}
		v := YMM()
		VPADDW(at, middle, v)
		VPXOR(middle, v, v)
		VMOVDQU(v, at)
	})
	VZEROUPPER()
	RET()
}

func interleave() {
	TEXT("interleaveAVX2", NOSPLIT, "func(low *uint32, high *uint32, words *uint32, turned *uint32, n int)")
	Pragma("noescape")
	Doc("interleaveAVX2 exchanges bytes of 8 n > 0 words. It works like interleaveGeneric.")
	low, high := Load(Param("low"), GP64()), Load(Param("high"), GP64())
	words, turned := Load(Param("words"), GP64()), Load(Param("turned"), GP64())
	end := Load(Param("n"), GP64())
	SHLQ(Imm(2), end)
	even := constant(0x00FF_00FF)
	offset := GP64()
	loop("words", offset, end, func() {
		x, y, v, u := YMM(), YMM(), YMM(), YMM()
		VMOVDQU(Mem{Base: words, Index: offset, Scale: 1}, x)
		VMOVDQU(Mem{Base: turned, Index: offset, Scale: 1}, y)
		VPSLLW(Imm(8), y, v)
		VPAND(even, x, u)
		VPOR(u, v, v)
		VMOVDQU(v, Mem{Base: low, Index: offset, Scale: 1})
		VPSRLW(Imm(8), x, x)
		VPANDN(y, even, y)
		VPOR(x, y, y)
		VMOVDQU(y, Mem{Base: high, Index: offset, Scale: 1})
	})
	VZEROUPPER()
	RET()
}

const (
	digitBits    = 12
	fractionBits = 22
)

// constant returns x in all lanes.
func constant(x uint32) reg.VecVirtual {
	word, low, v := GP32(), XMM(), YMM()
	MOVL(U32(x), word)
	VMOVD(word, low)
	VPBROADCASTD(low, v)
	return v
}

func carry() {
	TEXT("carryAVX2", NOSPLIT, "func(tile *int32, cols int, product *int32, n int)")
	Pragma("noescape")
	Doc("carryAVX2 brings 8 n > 0 columns of sums to digits. It works like carryGeneric.")
	tile := Load(Param("tile"), GP64())
	width := Load(Param("cols"), GP64())
	SHLQ(Imm(2), width) // bytes of a row
	product := Load(Param("product"), GP64())
	n := Load(Param("n"), GP64())
	last := GP64()
	MOVQ(n, last)
	IMULQ(width, last)
	mask, half := constant(1<<digitBits-1), constant(1<<(fractionBits-1))
	offset, row, d := GP64(), GP64(), GP64()
	loop("columns", offset, width, func() {
		rank, c := YMM(), YMM()
		LEAQ(Mem{Base: tile, Index: offset, Scale: 1}, row)
		VPADDD(Mem{Base: row, Index: last, Scale: 1}, half, rank)
		VPSRAD(Imm(fractionBits), rank, rank)
		VPXOR(c, c, c)
		XORQ(d, d)
		Label("digits")
		v := YMM()
		VPBROADCASTD(Mem{Base: product, Index: d, Scale: 4}, v)
		VPMULLD(rank, v, v)
		VPSUBD(v, c, c)
		VPADDD(Mem{Base: row}, c, c)
		VPAND(mask, c, v)
		VMOVDQU(v, Mem{Base: row})
		VPSRAD(Imm(digitBits), c, c)
		ADDQ(width, row)
		INCQ(d)
		CMPQ(d, n)
		JLT(LabelRef("digits"))
	})
	VZEROUPPER()
	RET()
}
