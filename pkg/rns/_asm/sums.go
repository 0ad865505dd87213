package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// sum is a running sum of lanes: its accumulator is as wide as the kernel's registers at the time.
type sum struct{ full reg.VecVirtual }

func newSum(isa string) *sum {
	if isa == "AVX512" {
		s := &sum{ZMM()}
		VPXORD(s.full, s.full, s.full)
		return s
	}
	s := &sum{YMM()}
	VPXOR(s.full, s.full, s.full)
	return s
}

// at returns the accumulator for the kernel's present width.
func (s *sum) at(k *kernel) reg.Register {
	if k.lanes == 16 {
		return s.full
	}
	return s.full.(reg.Vec).AsY()
}

// narrow adds the upper half of 512 bits to the lower one.
func (s *sum) narrow(add func(...Op)) {
	upper := YMM()
	VEXTRACTI64X4(Imm(1), s.full, upper)
	add(upper, s.full.(reg.Vec).AsY(), s.full.(reg.Vec).AsY())
}

// total adds the lanes of 256 bits, each of 64/parts bits, and returns a register with the sum in its lowest lane.
func (s *sum) total(add func(...Op), parts int) reg.Register {
	upper, low := XMM(), s.full.(reg.Vec).AsX()
	VEXTRACTI128(Imm(1), s.full.(reg.Vec).AsY(), upper)
	add(upper, low, low)
	VPSRLDQ(Imm(8), low, upper)
	add(upper, low, low)
	if parts == 2 {
		VPSRLQ(Imm(32), low, upper)
		add(upper, low, low)
	}
	return low
}

// The additions that sums are made of.
func addDoubles(ops ...Op)   { VADDPD(ops[0], ops[1], ops[2]) }
func addWords(ops ...Op)     { VPADDQ(ops[0], ops[1], ops[2]) }
func addHalfWords(ops ...Op) { VPADDD(ops[0], ops[1], ops[2]) }

// reduction emits a function of n residues that returns one number: body adds k.lanes of them to sums, finish makes
// the result of the sums.
func reduction(
	isa, name, signature, doc string, adds []func(...Op), body func(k *kernel, sums []*sum), finish func(sums []*sum),
) {
	k, bytes := newKernel(name+isa, signature, name+isa+" returns "+doc+"; it works like "+name+"Generic.")
	var sums []*sum
	for range adds {
		sums = append(sums, newSum(isa))
	}
	if isa == "AVX512" {
		wide := GP64()
		MOVQ(bytes, wide)
		ANDQ(I8(-64), wide)
		k.lanes = 16
		k.loop("wide", wide, func(k *kernel) { body(k, sums) })
		for i, s := range sums {
			s.narrow(adds[i])
		}
	}
	k.lanes = 8
	k.loop("lanes8", bytes, func(k *kernel) { body(k, sums) })
	finish(sums)
	VZEROUPPER()
	RET()
}

// quotientSum sums in another order than the plain Go version; what is made of it does not depend on that.
func quotientSum(isa string) {
	adds := []func(...Op){addDoubles, addDoubles}
	reduction(isa, "quotientSum", "c *uint32, quotient *float64, n int) float64", "the sum of c_i * quotient_i", adds,
		func(k *kernel, sums []*sum) {
			for half := range 2 {
				p := k.vector()
				VCVTDQ2PD(k.mem("c").Offset(2*k.lanes*half), p)
				VMULPD(k.doubles("quotient", half), p, p)
				VADDPD(p, sums[half].at(k), sums[half].at(k))
			}
		}, func(sums []*sum) {
			VADDPD(sums[1].full.(reg.Vec).AsY(), sums[0].full.(reg.Vec).AsY(), sums[0].full.(reg.Vec).AsY())
			Store(sums[0].total(addDoubles, 1), ReturnIndex(0))
		})
}

// fractionSum multiplies by 96-bit constants in three parts: the even and the odd lanes of the low and the middle part
// by widening products, all lanes of the high part at once, of which only the low half matters.
func fractionSum(isa string) {
	adds := []func(...Op){addWords, addHalfWords}
	doc := "the sum of floor(c_i * (high_i*2^64 + mid_i*2^32 + low_i) / 2^32)\nmodulo 2^64"
	reduction(isa, "fractionSum", "c, high, mid, low *uint32, n int) uint64", doc, adds,
		func(k *kernel, sums []*sum) {
			words, upper := sums[0].at(k), sums[1].at(k)
			c, mid, low, p := k.load("c"), k.load("mid"), k.load("low"), k.vector()
			VPMULLD(k.mem("high"), c, p)
			VPADDD(p, upper, upper)
			for odd := range 2 {
				if odd == 1 {
					for _, r := range []reg.VecVirtual{c, mid, low} {
						VPSRLQ(Imm(32), r, r)
					}
				}
				p, q := k.vector(), k.vector()
				VPMULUDQ(c, mid, p)
				VPADDQ(p, words, words)
				VPMULUDQ(c, low, q)
				VPSRLQ(Imm(32), q, q)
				VPADDQ(q, words, words)
			}
		}, func(sums []*sum) {
			words, upper := GP64(), GP64()
			VMOVQ(sums[0].total(addWords, 1), words)
			VMOVQ(sums[1].total(addHalfWords, 2), upper)
			SHLQ(Imm(32), upper)
			ADDQ(upper, words)
			Store(words, ReturnIndex(0))
		})
}

func lowWord(isa string) {
	adds := []func(...Op){addHalfWords}
	reduction(isa, "lowWord", "c, w *uint32, n int) uint32", "the sum of c_i * w_i modulo 2^32", adds,
		func(k *kernel, sums []*sum) {
			p := k.load("c")
			VPMULLD(k.mem("w"), p, p)
			VPADDD(p, sums[0].at(k), sums[0].at(k))
		}, func(sums []*sum) {
			word := GP32()
			VMOVD(sums[0].total(addHalfWords, 2), word)
			Store(word, ReturnIndex(0))
		})
}
