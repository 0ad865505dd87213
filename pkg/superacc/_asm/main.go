// Command asm generates the AVX2 and AVX-512 kernels of package superacc; run it with go generate in ../.
//
// A kernel is a loop over groups of chains*lanes terms or products. Every lane of every chain has its own biased sum
// at each level; several chains hide the latency of the additions. See ../doc.go for the algorithm and
// ../kernels_generic.go for the same in plain Go.
package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

//go:generate go run . -out ../kernels_amd64.s -stubs ../kernels_stubs_amd64.go -pkg superacc

const (
	maxLevels = 8
	maxLanes  = 8
)

// Offsets behind the counts in a blockSums and a columnSums.
const (
	maxOffset  = 0
	restOffset = maxOffset + 8
	tinyOffset = restOffset + 8
)

func main() {
	ConstraintExpr("amd64,!noasm")
	for _, wide := range []bool{false, true} {
		for _, c := range []struct{ levels, chains int }{{2, 4}, {3, 4}, {4, 4}, {8, 2}} {
			chains := c.chains
			if !wide {
				chains /= 2 // half as many registers
			}
			newKernel(wide, c.levels, chains).sum()
		}
		for _, c := range []struct{ levels, chains int }{{3, 2}, {4, 2}, {6, 2}, {8, 1}} {
			chains := c.chains
			if !wide {
				chains = 1
			}
			newKernel(wide, c.levels, chains).dot()
			newKernel(wide, c.levels, 1).columns()
		}
	}
	buckets()
	Generate()
}

// kernel is a function under construction.
type kernel struct {
	vectors
	levels, chains int

	biased    [][]reg.VecVirtual // [chain][level]
	max       reg.VecVirtual     // of the magnitudes
	rest      reg.VecVirtual     // what is left after the last level, ored
	tiny      reg.Register       // which products are not the sum of their halves: a vector, with AVX-512 a mask
	abs       Op                 // all bits but the sign
	threshold Op                 // tinyProduct
	zeros     Op
	one       Op
}

func newKernel(wide bool, levels, chains int) *kernel {
	return &kernel{vectors: vectors{wide}, levels: levels, chains: chains}
}

func (k *kernel) name(op string) string {
	if k.wide {
		return fmt.Sprintf("%s%dAVX512", op, k.levels)
	}
	return fmt.Sprintf("%s%dAVX2", op, k.levels)
}

// begin loads the constants and makes every biased sum equal to its level's anchor.
func (k *kernel) begin() {
	anchor := Load(Param("anchor"), GP64())
	for c := range k.chains {
		k.biased = append(k.biased, nil)
		for l := range k.levels {
			s := k.vector()
			VBROADCASTSD(Mem{Base: anchor, Disp: 8 * l}, s)
			k.biased[c] = append(k.biased[c], s)
		}
	}
	if k.wide {
		k.one = k.constant("one", 0x3ff0000000000000)
	}
	k.abs = k.constant("abs", 1<<63-1)
	k.max, k.rest = k.zero(), k.zero()
}

// sum generates a kernel for sums.
func (k *kernel) sum() {
	name := k.name("sum")
	TEXT(name, NOSPLIT, "func(x *float64, groups int, anchor *float64, out *int64)")
	Pragma("noescape")
	Doc(fmt.Sprintf("%s adds groups > 0 groups of %d terms; it works like sumGeneric with %d levels.", name,
		k.chains*k.lanes(), k.levels))
	k.begin()
	x, groups := Load(Param("x"), GP64()), Load(Param("groups"), GP64())
	Label("loop")
	var streams []stream
	for c := range k.chains {
		term, magnitude := k.vector(), k.vector()
		VMOVUPD(Mem{Base: x, Disp: 8 * k.lanes() * c}, term)
		k.and(k.abs, term, magnitude)
		k.maximum(magnitude, k.max)
		streams = append(streams, stream{k.biased[c], term})
	}
	k.extract(streams)
	ADDQ(U32(8*k.lanes()*k.chains), x)
	DECQ(groups)
	JNZ(LabelRef("loop"))
	k.end()
}

// dot generates a kernel for dot products.
func (k *kernel) dot() {
	name := k.name("dot")
	TEXT(name, NOSPLIT, "func(x, y *float64, groups int, anchor *float64, out *int64)")
	Pragma("noescape")
	Doc(fmt.Sprintf("%s adds groups > 0 groups of %d products; it works like dotGeneric with %d levels.", name,
		k.chains*k.lanes(), k.levels))
	k.beginProducts()
	x, y, groups := Load(Param("x"), GP64()), Load(Param("y"), GP64()), Load(Param("groups"), GP64())
	Label("loop")
	k.products(func(c int, a, b reg.VecVirtual) {
		VMOVUPD(Mem{Base: x, Disp: 8 * k.lanes() * c}, a)
		VMOVUPD(Mem{Base: y, Disp: 8 * k.lanes() * c}, b)
	})
	ADDQ(U32(8*k.lanes()*k.chains), x)
	ADDQ(U32(8*k.lanes()*k.chains), y)
	DECQ(groups)
	JNZ(LabelRef("loop"))
	k.end()
}

// ahead is how many columns before it is needed an element is asked for: hardware does not follow large strides.
const ahead = 32

// columns generates a kernel for the dot products of as many rows as a register has lanes with one vector, of a matrix
// stored by columns.
func (k *kernel) columns() {
	name := k.name("columns")
	TEXT(name, NOSPLIT, "func(a *float64, stride int, x *float64, n int, anchor *float64, out *int64)")
	Pragma("noescape")
	Doc(fmt.Sprintf("%s adds the products of n > 0 columns of %d rows, stride bytes apart, with n elements of x.", name,
		k.lanes()), fmt.Sprintf("It works like dotGeneric with %d levels, in each lane.", k.levels))
	k.beginProducts()
	column, stride, x := Load(Param("a"), GP64()), Load(Param("stride"), GP64()), Load(Param("x"), GP64())
	n, next := Load(Param("n"), GP64()), GP64()
	IMUL3Q(U32(ahead), stride, next)
	Label("loop")
	PREFETCHT0(Mem{Base: column, Index: next, Scale: 1})
	k.products(func(_ int, a, b reg.VecVirtual) {
		VMOVUPD(Mem{Base: column}, a)
		VBROADCASTSD(Mem{Base: x}, b)
	})
	ADDQ(stride, column)
	ADDQ(U32(8), x)
	DECQ(n)
	JNZ(LabelRef("loop"))
	k.endLanes()
}

// beginProducts loads the constants of products.
func (k *kernel) beginProducts() {
	k.begin()
	k.threshold = k.constant("threshold", (1023-968)<<52)
	k.zeros = k.constant("zeros", 0)
	if k.wide {
		none := K()
		KXORB(none, none, none)
		k.tiny = none
	} else {
		k.tiny = k.zero()
	}
}

// products adds a product to each chain, of factors that load puts into registers.
func (k *kernel) products(load func(chain int, a, b reg.VecVirtual)) {
	var streams []stream
	for c := range k.chains {
		a, b, product, magnitude := k.vector(), k.vector(), k.vector(), k.vector()
		load(c, a, b)
		VMULPD(a, b, product)
		k.and(k.abs, product, magnitude)
		k.maximum(magnitude, k.max)
		k.noteTiny(magnitude, a, b)
		VFMSUB213PD(product, b, a) // a = a*b - product
		streams = append(streams, stream{k.biased[c], product}, stream{k.biased[c][1:], a})
	}
	k.extract(streams)
}

// stream is a number on its way through the levels.
type stream struct {
	biased []reg.VecVirtual
	x      reg.VecVirtual
}

// extract adds every x to its biased sums level by level, each time as far as it is a multiple of the level's unit.
// What is left after the last level goes to rest: as x xor q, which is 0 up to the sign of a zero if nothing is left,
// or as x-q. The streams take turns, so that the processor's queues do not fill up with instructions that wait for the
// one before.
func (k *kernel) extract(streams []stream) {
	for l := range k.levels {
		for _, s := range streams {
			if l >= len(s.biased) {
				continue
			}
			t, q := k.vector(), k.vector()
			VADDPD(s.x, s.biased[l], t)
			VSUBPD(s.biased[l], t, q)
			VMOVAPD(t, s.biased[l])
			switch {
			case l < len(s.biased)-1:
				k.subtract(q, s.x)
			case k.wide:
				VPTERNLOGQ(U8(0xf6), s.x, q, k.rest) // rest | (q ^ x)
			default:
				VSUBPD(q, s.x, s.x)
				VORPD(s.x, k.rest, k.rest)
			}
		}
	}
}

// subtract sets x = x - q, exactly. AVX-512 kernels have a register for 1 and multiply by it, as the adders are busier
// than the multipliers.
func (k *kernel) subtract(q, x reg.VecVirtual) {
	if k.wide {
		VFNMADD231PD(k.one, q, x)
	} else {
		VSUBPD(q, x, x)
	}
}

// noteTiny sets tiny where |product| < tinyProduct although neither factor is 0. It may change magnitude.
func (k *kernel) noteTiny(magnitude, x, y reg.VecVirtual) {
	const less, notEqual = 0x11, 0x0c // quiet
	if k.wide {
		m := K()
		VCMPPD(U8(less), k.threshold, magnitude, m)
		VCMPPD(U8(notEqual), k.zeros, x, m, m)
		VCMPPD(U8(notEqual), k.zeros, y, m, m)
		KORB(m, k.tiny, k.tiny)
		return
	}
	is, factor := magnitude, k.vector()
	VCMPPD(U8(less), k.threshold, magnitude, is)
	VCMPPD(U8(notEqual), k.zeros, x, factor)
	VANDPD(factor, is, is)
	VCMPPD(U8(notEqual), k.zeros, y, factor)
	VANDPD(factor, is, is)
	VORPD(is, k.tiny, k.tiny)
}

// end stores the results: a biased sum counts the level's units, as the difference of its bits to the anchor's.
func (k *kernel) end() {
	anchor, out := Load(Param("anchor"), GP64()), Load(Param("out"), GP64())
	for l := range k.levels {
		bias, total := k.vector(), k.zero()
		VBROADCASTSD(Mem{Base: anchor, Disp: 8 * l}, bias)
		for c := range k.chains {
			VPSUBQ(bias, k.biased[c][l], k.biased[c][l])
			VPADDQ(k.biased[c][l], total, total)
		}
		k.reduce(total, func(a, b reg.Register) { VPADDQ(a, b, b) }, Mem{Base: out, Disp: 8 * l})
	}
	k.endBlock(out, 8*maxLevels)
}

// endLanes is end for a sum in each lane.
func (k *kernel) endLanes() {
	anchor, out := Load(Param("anchor"), GP64()), Load(Param("out"), GP64())
	for l := range k.levels {
		bias := k.vector()
		VBROADCASTSD(Mem{Base: anchor, Disp: 8 * l}, bias)
		VPSUBQ(bias, k.biased[0][l], bias)
		k.store(bias, Mem{Base: out, Disp: 8 * maxLanes * l})
	}
	k.endBlock(out, 8*maxLanes*maxLevels)
}

// endBlock stores what tells whether a block is accepted.
func (k *kernel) endBlock(out reg.Register, at int) {
	k.reduce(k.max, k.maximum, Mem{Base: out, Disp: at + maxOffset})
	k.reduce(k.rest, func(a, b reg.Register) { k.or(a, b) }, Mem{Base: out, Disp: at + restOffset})
	switch {
	case k.tiny == nil:
	case k.wide:
		bits := GP32()
		KMOVB(k.tiny, bits)
		MOVQ(bits.As64(), Mem{Base: out, Disp: at + tinyOffset})
	default:
		k.reduce(k.tiny.(reg.VecVirtual), func(a, b reg.Register) { k.or(a, b) }, Mem{Base: out, Disp: at + tinyOffset})
	}
	VZEROUPPER()
	RET()
}
