package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// weightedWords emits z_h = sum over i < rows of c_i * t[i*pitch+h] for h < n, n a multiple of 8. Sixteen words, then
// eight, stay in registers while the rows go by. The caller sees to it that the sums stay below 2^64.
func weightedWords(isa string) {
	TEXT("weightedWords"+isa, NOSPLIT, "func(z *uint64, c, t *uint32, rows, pitch, n int)")
	Pragma("noescape")
	Doc("weightedWords"+isa+" sets z_h to the sum of c_i * t[i*pitch+h] for n words, n a multiple of 8;",
		"it works like weightedWordsGeneric.")
	z, c, t := Load(Param("z"), GP64()), Load(Param("c"), GP64()), Load(Param("t"), GP64())
	rows, pitch, n := Load(Param("rows"), GP64()), Load(Param("pitch"), GP64()), Load(Param("n"), GP64())
	SHLQ(Imm(2), pitch)
	columns := func(label string, words int) {
		JMP(LabelRef(label + "_test"))
		Label(label)
		var sums []reg.VecVirtual
		lanes := 4
		if isa == "AVX512" {
			lanes = 8
		}
		vector := func() reg.VecVirtual {
			if lanes == 8 {
				return ZMM()
			}
			return YMM()
		}
		for range words / lanes {
			s := vector()
			if lanes == 8 {
				VPXORQ(s, s, s)
			} else {
				VPXOR(s, s, s)
			}
			sums = append(sums, s)
		}
		row, i, factor := GP64(), GP64(), vector()
		MOVQ(t, row)
		XORQ(i, i)
		Label(label + "_rows")
		VPBROADCASTD(Mem{Base: c, Index: i, Scale: 4}, factor)
		for k, s := range sums {
			p := vector()
			VPMOVZXDQ(Mem{Base: row, Disp: 4 * lanes * k}, p)
			VPMULUDQ(factor, p, p)
			VPADDQ(p, s, s)
		}
		ADDQ(pitch, row)
		INCQ(i)
		CMPQ(i, rows)
		JLT(LabelRef(label + "_rows"))
		for k, s := range sums {
			if lanes == 8 {
				VMOVDQU64(s, Mem{Base: z, Disp: 64 * k})
			} else {
				VMOVDQU(s, Mem{Base: z, Disp: 32 * k})
			}
		}
		ADDQ(U8(8*words), z)
		ADDQ(U8(4*words), t)
		SUBQ(U8(words), n)
		Label(label + "_test")
		CMPQ(n, U8(words))
		JGE(LabelRef(label))
	}
	columns("sixteen", 16)
	columns("eight", 8)
	VZEROUPPER()
	RET()
}

// wordsMod sums word_h * power_h without reductions in 64 bits, the even and the odd lanes apart, and reduces the sum
// high*2^32 + low once: high by multiplication with 2^32 mod m, low by its quotient.
func wordsMod(isa string) {
	signature := "z *uint32, words *uint64, powers *uint32, count int, w, ws, one, m *uint32"
	doc := "z = sum of words_h * powers[h*n+i] over count words mod m,\n" +
		"where w, ws are the constant 2^32 and one is floor(2^32/m)"
	generate(isa, "wordsMod", signature, doc, func(k *kernel) {
		count, bytes, row := Load(Param("count"), GP64()), Load(Param("n"), GP64()), GP64()
		SHLQ(Imm(2), bytes)
		even, odd := k.vector(), k.vector()
		for _, r := range []reg.VecVirtual{even, odd} {
			if k.lanes == 16 {
				VPXORD(r, r, r)
			} else {
				VPXOR(r, r, r)
			}
		}
		h := GP64()
		MOVQ(k.pointers["powers"], row)
		ADDQ(k.offset, row)
		XORQ(h, h)
		label := k.label("words")
		Label(label)
		word, power, p := k.vector(), k.vector(), k.vector()
		VPBROADCASTQ(Mem{Base: k.pointers["words"], Index: h, Scale: 8}, word)
		if k.lanes == 16 {
			VMOVDQU32(Mem{Base: row}, power)
		} else {
			VMOVDQU(Mem{Base: row}, power)
		}
		VPMULUDQ(word, power, p)
		VPADDQ(p, even, even)
		VPSRLQ(Imm(32), power, power)
		VPMULUDQ(word, power, power)
		VPADDQ(power, odd, odd)
		ADDQ(bytes, row)
		INCQ(h)
		CMPQ(h, count)
		JLT(LabelRef(label))

		high, low, shifted := k.vector(), k.vector(), k.vector()
		VPSRLQ(Imm(32), even, shifted)
		k.blendOdd(odd, shifted, high)
		VPSLLQ(Imm(32), odd, odd)
		k.blendOdd(odd, even, low)
		m := k.load("m")
		sum := k.timesConstant(high, m)
		q := k.quotient(low, "one")
		VPMULLD(m, q, q)
		VPSUBD(q, low, low)
		k.reduceOnce(low, m)
		VPADDD(low, sum, sum)
		k.reduceOnce(sum, m)
		k.store(sum)
	})
}

// label makes name unique among the widths of a function's loops.
func (k *kernel) label(name string) string {
	if k.lanes == 16 {
		return name + "16"
	}
	return name + "8"
}

// blendOdd sets z to the odd 32-bit lanes of odd and the even ones of even.
func (k *kernel) blendOdd(odd, even, z reg.VecVirtual) {
	if k.lanes == 16 {
		VPBLENDMD(odd, even, k.odd, z)
	} else {
		VPBLENDD(Imm(0xaa), odd, even, z)
	}
}
