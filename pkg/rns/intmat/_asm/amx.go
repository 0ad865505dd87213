package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// AMX instructions, which Go's assembler does not know, as bytes: VEX prefixes of three bytes, map 0F38, W = 0, L = 0
// (Intel SDM vol. 2, "Intel AMX instruction set reference"). Registers are those below 8, as the prefixes say.
// The test that interprets them has the encodings of clang.

// Prefixes that stand in for an opcode's.
const (
	noPrefix = 0
	prefixF3 = 2
	prefixF2 = 3
)

// vex emits an instruction that reads general registers: a prefix, the second source register, an opcode and what
// follows it.
func vex(text string, inputs []Op, prefix, second byte, bytes ...byte) {
	Comment(text)
	code := append([]byte{0xC4, 0xE2, ^second&15<<3 | prefix}, bytes...)
	for _, b := range code {
		Instruction(&ir.Instruction{Opcode: "BYTE", Operands: []Op{U8(b)}, Inputs: inputs})
	}
}

var tileNames = []string{"tmm0", "tmm1", "tmm2", "tmm3", "tmm4", "tmm5", "tmm6", "tmm7"}

// general registers by number
var (
	registers     = []reg.GPPhysical{reg.RAX, reg.RCX, reg.RDX, reg.RBX, nil, nil, reg.RSI, reg.RDI}
	registerNames = []string{"rax", "rcx", "rdx", "rbx", "", "", "rsi", "rdi"}
)

// ldtilecfg sets the shapes of tiles from the 64 bytes at a register.
func ldtilecfg(base byte) {
	vex("LDTILECFG ["+registerNames[base]+"]", []Op{registers[base]}, noPrefix, 0, 0x49, base)
}

// tilerelease brings all tiles to their initial state.
func tilerelease() { vex("TILERELEASE", nil, noPrefix, 0, 0x49, 0xC0) }

// tileload loads a tile of which the rows begin every index bytes from base on.
func tileload(tile, base, index byte) {
	text := "TILELOADD " + tileNames[tile] + ", " + sib(base, index)
	vex(text, at(base, index), prefixF2, 0, 0x4B, tile<<3|4, index<<3|base)
}

// tilestore stores a tile.
func tilestore(base, index, tile byte) {
	text := "TILESTORED " + sib(base, index) + ", " + tileNames[tile]
	vex(text, at(base, index), prefixF3, 0, 0x4B, tile<<3|4, index<<3|base)
}

func at(base, index byte) []Op { return []Op{registers[base], registers[index]} }

func sib(base, index byte) string {
	return "[" + registerNames[base] + "+" + registerNames[index] + "]"
}

// tdpbssd adds the products of the bytes of rows of a, four at a time, and of words of rows of b to a tile.
func tdpbssd(sum, a, b byte) {
	vex("TDPBSSD "+tileNames[sum]+", "+tileNames[a]+", "+tileNames[b], nil, prefixF2, b, 0x5E, 0xC0|sum<<3|a)
}

const (
	rax = iota
	rcx
	rdx
	rbx
	_
	_
	rsi
	rdi
)

// tileConfig is all tiles of 16 rows of 64 bytes.
func tileConfig() Mem {
	config := GLOBL("tiles", NOPTR|RODATA)
	DATA(0, U64(1)) // palette 1
	DATA(8, U64(0))
	for i := range 4 {
		DATA(16+8*i, U64(0x0040_0040_0040_0040*uint64(1-i/2))) // bytes of a row
	}
	DATA(48, U64(0x1010_1010_1010_1010)) // rows
	DATA(56, U64(0))
	return config
}

// bytes generates the product of bytes: panels of 32 rows and 32 columns, 32 terms a step, in four tiles of sums.
func bytes() {
	config := tileConfig()
	const tiles = "low *int32, high *int32, size int"
	TEXT("mulAMX", NOSPLIT, "func("+tiles+", a *uint32, stride int, b *uint32, blocks int, panels int)")
	Pragma("noescape")
	Doc("mulAMX adds the products of panels of rows, which begin every stride words, and one of columns to tiles, which",
		"begin every size numbers. It works like mulBytesGeneric.")
	const (
		block   = 16 * 32 * 4     // bytes of 32 terms of a panel of rows
		columns = 2 * 16 * 32 * 4 // of a panel of columns
	)
	LEAQ(config, reg.RAX)
	ldtilecfg(rax)
	low, high := Load(Param("low"), GP64()), Load(Param("high"), GP64())
	size, stride := Load(Param("size"), GP64()), Load(Param("stride"), GP64())
	SHLQ(Imm(2), size)
	SHLQ(Imm(2), stride)
	left, right := Load(Param("a"), GP64()), Load(Param("b"), GP64())
	panels, blocks := Load(Param("panels"), GP64()), GP64()
	Label("panels")
	for half := range 2 {
		sums := func(do func(tile, base, index byte)) {
			MOVQ(U32(4*32), registers[rcx])
			for tile, from := range []reg.Register{low, low, high, high} {
				LEAQ(Mem{Base: from, Disp: half*64 + tile%2*16*4*32}, registers[rax])
				do(byte(tile), rax, rcx)
			}
		}
		sums(tileload)
		MOVQ(left, registers[rdx])
		LEAQ(Mem{Base: right, Disp: 64 * half}, registers[rbx])
		MOVQ(U32(64), registers[rcx])
		MOVQ(U32(columns/16), registers[rsi])
		Load(Param("blocks"), blocks)
		label := []string{"left", "right"}[half]
		Label(label)
		tileload(4, rdx, rcx)
		tileload(6, rbx, rsi)
		tdpbssd(0, 4, 6)
		LEAQ(Mem{Base: registers[rdx], Disp: block / 2}, registers[rax])
		tileload(5, rax, rcx)
		tdpbssd(1, 5, 6)
		LEAQ(Mem{Base: registers[rbx], Disp: 4 * 32}, registers[rax])
		tileload(7, rax, rsi)
		tdpbssd(2, 4, 7)
		tdpbssd(3, 5, 7)
		ADDQ(U32(block), registers[rdx])
		ADDQ(U32(columns), registers[rbx])
		DECQ(blocks)
		JNZ(LabelRef(label))
		sums(func(tile, base, index byte) { tilestore(base, index, tile) })
	}
	ADDQ(size, low)
	ADDQ(size, high)
	ADDQ(stride, left)
	DECQ(panels)
	JNZ(LabelRef("panels"))
	tilerelease()
	RET()
}
