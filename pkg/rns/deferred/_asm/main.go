// Command asm generates the AVX2 and AVX-512 kernels of package deferred; run it with go generate in ../.
//
// Residues are below 2^28, rows have multiples of 16 of them. Each kernel works like a plain Go function of
// kernels_generic.go, which its comment names.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

//go:generate go run . -out ../kernels_amd64.s -stubs ../kernels_stubs_amd64.go -pkg deferred

const residueBits = 28

// isa is an instruction set: the width of its registers and what fits them.
type isa struct {
	name  string
	words int // 64-bit lanes of a register
	rows  int // rows of one axpy
}

var sets = []isa{{"AVX2", 4, 4}, {"AVX512", 8, 8}}

func main() {
	ConstraintExpr("amd64,!noasm")
	for _, s := range sets {
		s.dot()
		s.axpy()
		s.axpyRows()
		s.reduce()
		s.convert(false)
		s.convert(true)
		s.sum()
		s.packedAdd()
		for n := 1; n <= mostLimbs; n++ {
			s.dotLimbs(n)
		}
	}
	Generate()
}

func (s isa) vector() reg.VecVirtual {
	if s.words == 8 {
		return ZMM()
	}
	return YMM()
}

func (s isa) zero() reg.VecVirtual {
	v := s.vector()
	if s.words == 8 {
		VPXORQ(v, v, v)
	} else {
		VPXOR(v, v, v)
	}
	return v
}

func (s isa) load(m Mem) reg.VecVirtual {
	v := s.vector()
	if s.words == 8 {
		VMOVDQU64(m, v)
	} else {
		VMOVDQU(m, v)
	}
	return v
}

func (s isa) store(v reg.VecVirtual, m Mem) {
	if s.words == 8 {
		VMOVDQU64(v, m)
	} else {
		VMOVDQU(v, m)
	}
}

func (s isa) and(x, y, z Op) {
	if s.words == 8 {
		VPANDQ(x, y, z)
	} else {
		VPAND(x, y, z)
	}
}

func (s isa) xor(x, y, z Op) {
	if s.words == 8 {
		VPXORQ(x, y, z)
	} else {
		VPXOR(x, y, z)
	}
}

// constant returns x in every 64-bit lane.
func (s isa) constant(x uint64) reg.VecVirtual {
	word := GP64()
	MOVQ(U64(x), word)
	return s.broadcast(word)
}

// broadcast returns the word in every 64-bit lane.
func (s isa) broadcast(word reg.GPVirtual) reg.VecVirtual {
	x, v := XMM(), s.vector()
	VMOVQ(word, x)
	VPBROADCASTQ(x, v)
	return v
}

// loop emits body for offset = 0, step, ... while offset < end, both in bytes.
func loop(label string, offset, end reg.GPVirtual, step int, body func()) {
	XORQ(offset, offset)
	JMP(LabelRef(label + "_test"))
	Label(label)
	body()
	ADDQ(I32(step), offset)
	Label(label + "_test")
	CMPQ(offset, end)
	JLT(LabelRef(label))
}

// ahead is how many bytes a kernel that streams through a matrix asks for in advance. One row after the other with
// this distance reads at the machine's full bandwidth; several rows at a time do not, as hardware prefetchers follow
// few streams.
const ahead = 4096

// dot multiplies a row by x. The even and the odd residues of a register are multiplied apart, each pair into 64-bit
// lanes that hold 256 products: n <= 256 * 2 * lanes. At the end the low and the high halves of the lanes are summed
// apart.
func (s isa) dot() {
	name := "dot" + s.name
	TEXT(name, NOSPLIT, "func(a *uint32, x *uint32, n int) (low uint64, high uint64)")
	Pragma("noescape")
	Doc(name + " returns low + 2^32*high = sum a[j]*x[j] for n <= 2048. It works like dotGeneric.")
	a := Load(Param("a"), GP64())
	x := Load(Param("x"), GP64())
	end := Load(Param("n"), GP64()).(reg.GPVirtual)
	SHLQ(Imm(2), end)
	even, odd := s.zero(), s.zero()
	offset := GP64()
	loop("columns", offset, end, 8*s.words, func() {
		PREFETCHT0(Mem{Base: a, Index: offset, Scale: 1, Disp: ahead})
		xe, xo := s.load(Mem{Base: x, Index: offset, Scale: 1}), s.vector()
		ae, product := s.load(Mem{Base: a, Index: offset, Scale: 1}), s.vector()
		VPSRLQ(Imm(32), xe, xo)
		VPMULUDQ(xe, ae, product)
		VPADDQ(product, even, even)
		VPSRLQ(Imm(32), ae, ae)
		VPMULUDQ(xo, ae, ae)
		VPADDQ(ae, odd, odd)
	})
	mask := s.constant(0xffffffff)
	low, upper := s.vector(), s.vector()
	s.and(mask, even, low)
	s.and(mask, odd, upper)
	VPADDQ(upper, low, low)
	VPSRLQ(Imm(32), even, even)
	VPSRLQ(Imm(32), odd, odd)
	VPADDQ(odd, even, even)
	result := GP64()
	VMOVQ(s.sumLanes(low), result)
	Store(result, Return("low"))
	VMOVQ(s.sumLanes(even), result)
	Store(result, Return("high"))
	VZEROUPPER()
	RET()
}

// sumLanes returns the sum of the lanes in the low word of a register.
func (s isa) sumLanes(v reg.VecVirtual) reg.VecVirtual {
	if s.words == 8 {
		h := YMM()
		VEXTRACTI64X4(Imm(1), v, h)
		VPADDQ(v.(reg.Vec).AsY(), h, h)
		v = h
	}
	x, y := XMM(), XMM()
	VEXTRACTI128(Imm(1), v, x)
	VPADDQ(v.(reg.Vec).AsX(), x, x)
	VPSRLDQ(Imm(8), x, y)
	VPADDQ(x, y, y)
	return y
}

// axpy adds a multiple of one row of a matrix that is streamed through.
func (s isa) axpy() {
	name := "axpy" + s.name
	TEXT(name, NOSPLIT, "func(sums *uint64, a *uint32, next *uint32, c uint32, n int)")
	Pragma("noescape")
	Doc(name+" adds c times a row to n sums and asks for the row at next meanwhile.",
		"It works like axpyBlockGeneric with one coefficient.")
	row := []reg.GPVirtual{Load(Param("a"), GP64()).(reg.GPVirtual)}
	factor := s.vector()
	c, word := Load(Param("c"), GP32()), XMM()
	VMOVD(c, word)
	VPBROADCASTD(word, factor)
	next := Load(Param("next"), GP64()).(reg.GPVirtual)
	s.addRows(row, []reg.VecVirtual{factor}, next)
}

// axpyRows adds multiples of several rows of a table that stays in the caches.
func (s isa) axpyRows() {
	name := fmt.Sprint("axpy", s.rows, s.name)
	TEXT(name, NOSPLIT, "func(sums *uint64, a *uint32, ld int, c *uint32, n int)")
	Pragma("noescape")
	Doc(fmt.Sprintf("%s adds to n sums the products of %d rows with their coefficients c.", name, s.rows),
		"It works like axpyBlockGeneric.")
	row := []reg.GPVirtual{Load(Param("a"), GP64()).(reg.GPVirtual)}
	ld := Load(Param("ld"), GP64())
	for r := 1; r < s.rows; r++ {
		next := GP64()
		LEAQ(Mem{Base: row[r-1], Index: ld, Scale: 4}, next)
		row = append(row, next)
	}
	c := Load(Param("c"), GP64())
	factor := make([]reg.VecVirtual, s.rows)
	for r := range factor {
		factor[r] = s.vector()
		VPBROADCASTD(Mem{Base: c, Disp: 4 * r}, factor[r])
	}
	s.addRows(row, factor, nil)
}

// addRows emits the rest of an axpy, which widens residues to 64-bit lanes.
func (s isa) addRows(row []reg.GPVirtual, factor []reg.VecVirtual, next reg.Register) {
	sums := Load(Param("sums"), GP64())
	end := Load(Param("n"), GP64()).(reg.GPVirtual)
	SHLQ(Imm(2), end)
	offset := GP64()
	loop("columns", offset, end, 8*s.words, func() {
		if next != nil {
			PREFETCHT0(Mem{Base: next, Index: offset, Scale: 1})
		}
		for half := range 2 {
			m := Mem{Base: sums, Index: offset, Scale: 2, Disp: 8 * s.words * half}
			sum := s.load(m)
			for r, p := range row {
				product := s.vector()
				VPMOVZXDQ(Mem{Base: p, Index: offset, Scale: 1, Disp: 4 * s.words * half}, product)
				VPMULUDQ(factor[r], product, product)
				VPADDQ(product, sum, sum)
			}
			s.store(sum, m)
		}
	})
	VZEROUPPER()
	RET()
}

// folder reduces 64-bit lanes as the function fold does.
type folder struct {
	s              isa
	mask32, mask28 reg.VecVirtual
}

func (s isa) folder() folder {
	return folder{s, s.constant(0xffffffff), s.constant(1<<residueBits - 1)}
}

// fold reduces v modulo m = 2^28 - delta; delta16 is 16*delta.
func (f folder) fold(v, delta, delta16, m reg.VecVirtual) {
	low := f.s.vector()
	for range 2 {
		f.s.and(f.mask32, v, low)
		VPSRLQ(Imm(32), v, v)
		VPMULUDQ(delta16, v, v)
		VPADDQ(low, v, v)
	}
	f.s.and(f.mask28, v, low)
	VPSRLQ(Imm(residueBits), v, v)
	VPMULUDQ(delta, v, v)
	VPADDQ(low, v, v)
	f.reduceOnce(v, m)
}

// foldShort reduces v, less than 2^60, to less than 2m for small delta.
func (f folder) foldShort(v, delta reg.VecVirtual) {
	low := f.s.vector()
	for range 2 {
		f.s.and(f.mask28, v, low)
		VPSRLQ(Imm(residueBits), v, v)
		VPMULUDQ(delta, v, v)
		VPADDQ(low, v, v)
	}
}

// reduceOnce sets v = v mod m for v < 2m, by the low 32 bits of each lane; the high ones are zero.
func (f folder) reduceOnce(v, m reg.VecVirtual) {
	less := f.s.vector()
	VPSUBD(m, v, less)
	VPMINUD(less, v, v)
}

func (s isa) reduce() {
	name := "reduceSums" + s.name
	TEXT(name, NOSPLIT, "func(sums *uint64, delta uint32, n int)")
	Pragma("noescape")
	Doc(name + " reduces n sums modulo 2^28 - delta. It works like reduceSumsGeneric.")
	sums := Load(Param("sums"), GP64())
	d := GP64()
	Load(Param("delta"), d.As32())
	delta, delta16 := s.broadcast(d), s.vector()
	VPSLLQ(Imm(4), delta, delta16)
	m := s.constant(1 << residueBits)
	VPSUBQ(delta, m, m)
	f := s.folder()
	end := Load(Param("n"), GP64()).(reg.GPVirtual)
	SHLQ(Imm(3), end)
	offset := GP64()
	loop("columns", offset, end, 8*s.words, func() {
		at := Mem{Base: sums, Index: offset, Scale: 1}
		v := s.load(at)
		f.fold(v, delta, delta16, m)
		s.store(v, at)
	})
	VZEROUPPER()
	RET()
}

// narrow stores the low halves of the 64-bit lanes.
func (s isa) narrow(v reg.VecVirtual, m Mem) {
	if s.words == 8 {
		h := YMM()
		VPMOVQD(v, h)
		VMOVDQU(h, m)
		return
	}
	x, pairs := XMM(), XMM()
	VEXTRACTI128(Imm(1), v, x)
	VSHUFPS(Imm(0x88), x, v.(reg.Vec).AsX(), pairs)
	VMOVDQU(pairs, m)
}

// convert takes 16 numbers at a time, each in a 64-bit lane, and modulus after modulus: the sum of their limbs times
// the residues of powers of 2^28.
func (s isa) convert(short bool) {
	name := "convert" + s.name
	if short {
		name = "convertShort" + s.name
	}
	TEXT(name, NOSPLIT, "func(z *uint32, stride int, limbs *uint64, count int, powers *uint32, lanes int, "+
		"delta *uint32, neg *uint64, n int)")
	Pragma("noescape")
	Doc(name + " adds the residues of 16 numbers modulo n moduli. It works like convertGeneric.")
	z, stride := Load(Param("z"), GP64()), Load(Param("stride"), GP64())
	SHLQ(Imm(2), stride)
	limbs, end := Load(Param("limbs"), GP64()), Load(Param("count"), GP64())
	SHLQ(Imm(7), end)
	powers, lanes := Load(Param("powers"), GP64()), Load(Param("lanes"), GP64())
	SHLQ(Imm(2), lanes)
	deltas, neg := Load(Param("delta"), GP64()), Load(Param("neg"), GP64())
	n := Load(Param("n"), GP64())
	f := s.folder()
	base := s.constant(1 << residueBits)
	Label("moduli")
	sums := make([]reg.VecVirtual, 16/s.words)
	for i := range sums {
		sums[i] = s.vector()
		VPMOVZXDQ(Mem{Base: z, Disp: 4 * s.words * i}, sums[i])
	}
	power, offset := GP64(), GP64()
	MOVQ(powers, power)
	XORQ(offset, offset)
	Label("limbs")
	c := s.vector()
	VPBROADCASTD(Mem{Base: power}, c)
	for i := range sums {
		product := s.vector()
		VPMULUDQ(Mem{Base: limbs, Index: offset, Scale: 1, Disp: 8 * s.words * i}, c, product)
		VPADDQ(product, sums[i], sums[i])
	}
	ADDQ(lanes, power)
	ADDQ(U32(128), offset)
	CMPQ(offset, end)
	JLT(LabelRef("limbs"))
	word := GP64()
	MOVL(Mem{Base: deltas}, word.As32())
	delta, m, twice := s.broadcast(word), s.vector(), s.vector()
	VPSUBQ(delta, base, m)
	if short {
		VPADDQ(m, m, twice)
	}
	for i, v := range sums {
		other := s.vector()
		if short {
			f.foldShort(v, delta)
			VPSUBQ(v, twice, other) // below 2m, as v is 0 for 0 alone
		} else {
			delta16 := s.vector()
			VPSLLQ(Imm(4), delta, delta16)
			f.fold(v, delta, delta16, m)
			VPSUBQ(v, m, other)
		}
		s.xor(v, other, other)
		s.and(s.load(Mem{Base: neg, Disp: 8 * s.words * i}), other, other)
		s.xor(v, other, v)
		f.reduceOnce(v, m)
		s.narrow(v, Mem{Base: z, Disp: 4 * s.words * i})
	}
	ADDQ(stride, z)
	ADDQ(Imm(4), powers)
	ADDQ(Imm(4), deltas)
	DECQ(n)
	JNZ(LabelRef("moduli"))
	VZEROUPPER()
	RET()
}

func (s isa) sum() {
	name := "sumBlock" + s.name
	TEXT(name, NOSPLIT, "func(x *uint32, n int) uint64")
	Pragma("noescape")
	Doc(name + " returns the sum of n residues. It works like sumBlockGeneric.")
	x := Load(Param("x"), GP64())
	end := Load(Param("n"), GP64()).(reg.GPVirtual)
	SHLQ(Imm(2), end)
	sums := []reg.VecVirtual{s.zero(), s.zero()}
	offset := GP64()
	loop("columns", offset, end, 8*s.words, func() {
		for half, sum := range sums {
			v := s.vector()
			VPMOVZXDQ(Mem{Base: x, Index: offset, Scale: 1, Disp: 4 * s.words * half}, v)
			VPADDQ(v, sum, sum)
		}
	})
	VPADDQ(sums[0], sums[1], sums[0])
	result := GP64()
	VMOVQ(s.sumLanes(sums[0]), result)
	Store(result, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// packedAdd adds numbers in packed words to the buckets of their exponents. Reading 32-bit lanes into 64-bit ones
// takes 4 words (AVX2: 2) at a time, so lanes behind the last word receive words of the next number; nothing reads
// them.
func (s isa) packedAdd() {
	name := "packedAdd" + s.name
	TEXT(name, NOSPLIT,
		"func(acc *uint64, window *int32, base int64, size int, exponents *int64, words *uint64, n int, width int, lanes "+
			"int, ways int) int")
	Pragma("noescape")
	Doc(name + " adds up to n numbers and returns how many it added. It works like packedAddGeneric.")
	acc, window := Load(Param("acc"), GP64()), Load(Param("window"), GP64())
	base, size := Load(Param("base"), GP64()), Load(Param("size"), GP64())
	exponents, words := Load(Param("exponents"), GP64()), Load(Param("words"), GP64())
	n := Load(Param("n"), GP64())
	width := Load(Param("width"), GP64())
	SHLQ(Imm(3), width) // bytes
	half := Load(Param("lanes"), GP64()).(reg.GPVirtual)
	SHLQ(Imm(2), half) // half the bytes of a number's lanes: the bytes read
	i, way := GP64(), GP64()
	XORQ(i, i)
	JMP(LabelRef("numbers_test"))
	Label("numbers")
	exponent, place := GP64(), GP64()
	MOVQ(Mem{Base: exponents, Index: i, Scale: 8}, exponent)
	SUBQ(base, exponent)
	CMPQ(exponent, size)
	JAE(LabelRef("done"))
	MOVLQSX(Mem{Base: window, Index: exponent, Scale: 4}, place)
	TESTQ(place, place)
	JLT(LabelRef("done"))
	LEAQ(Mem{Base: acc, Index: place, Scale: 8}, place)
	ways := Load(Param("ways"), GP64())
	DECQ(ways)
	MOVQ(i, way)
	ANDQ(ways, way) // the number of ways is a power of two
	IMULQ(half, way)
	LEAQ(Mem{Base: place, Index: way, Scale: 2}, place)
	offset := GP64()
	XORQ(offset, offset)
	Label("lanes")
	v := s.vector()
	VPMOVZXDQ(Mem{Base: words, Index: offset, Scale: 1}, v)
	at := Mem{Base: place, Index: offset, Scale: 2}
	VPADDQ(at, v, v)
	s.store(v, at)
	PREFETCHT0(Mem{Base: words, Index: offset, Scale: 1, Disp: ahead})
	ADDQ(I32(4*s.words), offset)
	CMPQ(offset, half)
	JLT(LabelRef("lanes"))
	ADDQ(width, words)
	INCQ(i)
	Label("numbers_test")
	CMPQ(i, n)
	JLT(LabelRef("numbers"))
	Label("done")
	Store(i, ReturnIndex(0))
	VZEROUPPER()
	RET()
}
