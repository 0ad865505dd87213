package peer

import (
	"unsafe"

	"mpbench/pkg/exact"
	"mpbench/pkg/format"
	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
)

var gmp = &library{
	name: "GMP", files: fileNames("gmp", "10"), symbol: "__gmpf_add", install: "Debian: apt-get install libgmp10",
	version: func(l *library) string { return l.textBehind("__gmp_version") }, methods: []string{"gmp"},
}

// gmpNumber is mpf_t: the words, as an integer, times 2^(64*(exponent - number of words)). There are precision + 1
// words, beyond which functions write nothing.
type gmpNumber struct {
	precision int32
	size      int32 // words in use, negated for negative numbers
	exponent  int64
	words     unsafe.Pointer
}

// gmpWords returns what mpf_init2 makes of a precision, __GMPF_BITS_TO_PREC.
func gmpWords(bits int) int { return (max(53, bits) + 127) / 64 }

// gmpBits returns mpf_get_prec of numbers that were made for so many bits: one word fewer, as the highest word may
// have but one bit.
func gmpBits(bits int) int { return 64 * (gmpWords(bits) - 1) }

func makeGMP(n, bits int) []gmpNumber {
	list, k := make([]gmpNumber, n), gmpWords(bits)
	words := make([]uint64, n*(k+1))
	for i := range list {
		list[i] = gmpNumber{precision: int32(k), words: unsafe.Pointer(&words[i*(k+1)])}
	}
	return list
}

// slice returns all words.
func (x *gmpNumber) slice() []uint64 { return unsafe.Slice((*uint64)(x.words), x.precision+1) }

func (x *gmpNumber) value() exact.Value {
	size := int(max(x.size, -x.size))
	if size == 0 {
		return exact.Value{}
	}
	return unpack(x.slice()[:size], x.size < 0, 64*int(x.exponent))
}

// set makes x equal to z, of at most gmpBits bits.
func (x *gmpNumber) set(z *numbers.Number) {
	x.size, x.exponent = 0, 0
	if z.Class != numbers.Finite {
		return
	}
	words := x.slice()[:x.precision]
	words[0] = 0
	exponent := pack(words[1:], z)
	x.exponent = int64(exponent+63) >> 6
	shift := 64*int(x.exponent) - exponent // below 64
	for i := range words {
		words[i] >>= shift
		if i+1 < len(words) {
			words[i] |= words[i+1] << (64 - shift)
		}
	}
	x.size = x.precision
	if z.Neg {
		x.size = -x.size
	}
}

// copy makes x equal to y, of the same precision.
func (x *gmpNumber) copy(y *gmpNumber) {
	x.size, x.exponent = y.size, y.exponent
	copy(x.slice(), y.slice())
}

// gmpLoops are loops over mpf_add and mpf_mul. These cut off the operands, or the result, after gmpWords words, the
// highest of which has one bit or more: each loses less than one part in 2^p, p = 64*(gmpWords-1), and no more than
// two of them do in one operation.
func gmpLoops() []method.Method {
	f := &loopFormat[gmpNumber]{
		library: gmp, prefix: "mpf", functions: []string{"__gmpf_add", "__gmpf_sub", "__gmpf_mul"},
		of: func(c method.Config) format.Format[[]gmpNumber, *gmpNumber] {
			p := gmpBits(c.Precision)
			return format.Format[[]gmpNumber, *gmpNumber]{
				Name: "mpf", Bits: p, Bytes: int(unsafe.Sizeof(gmpNumber{})) + 8*(gmpWords(c.Precision)+1),
				Range: method.Range{Unit: exact.PowerOfTwo(-p)},
				Make:  func(n int) []gmpNumber { return makeGMP(n, c.Precision) },
				Set:   func(v []gmpNumber, i int, x *gmpNumber) { v[i].copy(x) },
				Value: (*gmpNumber).value,
				Load: func(a numbers.Array) ([]gmpNumber, method.Rounded) {
					list, i := makeGMP(a.Len(), c.Precision), 0
					rounded := each(a, p, func(z *numbers.Number) {
						list[i].set(z)
						i++
					})
					return list, rounded
				},
			}
		},
	}
	return f.methods(method.Method{
		Name: "gmp", Summary: "with mpf_add and mpf_mul, which cut off", Least: 2, Most: 1 << 16,
	}, "u = 2^(1-p)", "GMP 6 manual, section 7: results are truncated to mpf_get_prec bits at least",
		op.Sum, op.Asum, op.Dot, op.Axpy, op.Gemv, op.Symv, op.Trmv, op.Gemm)
}
