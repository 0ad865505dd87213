package peer

import (
	"slices"
	"unsafe"

	"github.com/ebitengine/purego"

	"mpbench/internal/dynamic"
	"mpbench/pkg/bound"
	"mpbench/pkg/exact"
	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
)

// flint is FLINT 3, or arb, which was a library of its own before, with FLINT 2.
var flint = &library{
	name: "FLINT",
	files: slices.Concat(fileNames("flint", "22", "21", "20", "19", "18"), fileNames("flint-arb", "2"),
		fileNames("arb", "2")),
	symbol:  "arb_dot",
	install: "Debian: apt-get install libflint-dev, up to Debian 12 libflint-arb2",
	since:   map[string]string{"arb_dot": "FLINT 3, or arb 2.16", "arf_sum": "FLINT 3, or arb 2.19"},
	methods: []string{"flint"},
	version: func(l *library) string {
		text := ""
		if address, err := dynamic.Symbol(l.handle, "flint_version"); err == nil {
			text = textAt(address)
		}
		if arb := l.textBehind("arb_version"); arb != "" {
			text += ", arb " + arb
		}
		return text
	},
}

// Words of arf_t: the exponent, the number of words with the sign below, and two words of the significand or, where it
// has more, how many there is room for, and their address. arb_t is that and the exponent and the words of a radius.
const (
	arfExponent = iota
	arfSize
	arfWords
	arfAddress
	arfLength
	arbLength = 6
)

// arfVector are numbers of so many words each; what is longer than two words of a significand lies in slab, or, of
// results, in memory of the library.
type arfVector struct {
	data   []uint64
	length int
	slab   []uint64
}

func makeARF(n, length int) arfVector {
	return arfVector{data: make([]uint64, n*length), length: length}
}

// number returns the words of number i, from on the numbers from i.
func (v arfVector) number(i int) []uint64 { return v.data[i*v.length:] }

// loadARF returns the elements of an array, of at most so many bits.
func loadARF(a numbers.Array, bits, length int) arfVector {
	if a.Absent() {
		return arfVector{}
	}
	v, k := makeARF(a.Len(), length), wordsOf(bits)
	if k > 2 {
		v.slab = make([]uint64, k*a.Len())
	}
	words, i := make([]uint64, k), 0
	each(a, bits, func(z *numbers.Number) {
		x := v.number(i)
		if v.slab != nil {
			words = v.slab[i*k : (i+1)*k]
		}
		if i++; z.Class != numbers.Finite {
			return
		}
		x[arfExponent] = uint64(pack(words, z))
		used := words
		for used[0] == 0 {
			used = used[1:]
		}
		x[arfSize] = uint64(len(used)) << 1
		if z.Neg {
			x[arfSize] |= 1
		}
		if len(used) <= 2 {
			copy(x[arfWords:arfWords+2], used)
			return
		}
		x[arfWords], x[arfAddress] = uint64(len(used)), uint64(at(used))
	})
	return v
}

// value returns number i.
func (v arfVector) value(i int) exact.Value {
	x := v.number(i)
	size := int(x[arfSize] >> 1)
	if size == 0 {
		return exact.Value{}
	}
	words := x[arfWords : arfWords+min(size, 2)]
	if size > 2 {
		words = unsafe.Slice((*uint64)(pointer(uintptr(x[arfAddress]))), size)
	}
	return unpack(words, x[arfSize]&1 != 0, int(int64(x[arfExponent])))
}

// clear gives the memory of results back.
func (v arfVector) clear(function uintptr) {
	for i := range len(v.data) / max(v.length, 1) {
		purego.SyscallN(function, at(v.number(i)))
	}
	clear(v.data)
}

// toNearest is ARF_RND_NEAR.
const toNearest = 4

// flintMethods are the functions of FLINT for whole arrays.
//
// arb_dot adds the products in fixed point and cuts off the sum. Its last place is at most 2^(e-p-4)/2^b, where all
// products are below 2^e, the greatest is 2^(e-2) or more, and n < 2^b; each of n products is off by at most 3 of
// these (arb/dot.c), all together by less than 2^(-p) S.
func flintMethods() []method.Method {
	m := method.Method{Format: "arf", Name: "flint", Least: 2, Most: 1 << 16}
	m.Summary = "arf_sum, of numbers with all of their bits"
	m.Bound = bound.New("u*|s|, u = 2^-p", "FLINT documentation, arf_sum: one rounding of the exact sum")
	sums := source{flint, "arf_sum", "", newARFSum}.methods(m, op.Sum, op.Asum)
	m.Summary = "arb_dot, of numbers with all of their bits; the midpoint is the result"
	m.Bound = bound.New("u*|s| + u(1+u)*S/2, u = 2^(1-p)", "Johansson 2019, arXiv:1901.04289, section 3, and arb/dot.c")
	rows := source{flint, "arb_dot", "arb_rows", newARBRows}
	return slices.Concat(sums, rows.methods(m, op.Dot, op.Gemv, op.Symv, op.Trmv, op.Gemm))
}

// arfSum is a sum by arf_sum.
type arfSum struct {
	function, free uintptr
	z, x           arfVector
	n, bits        int
}

func newARFSum(f functions, bits int, o operands) (whole, error) {
	free, err := flint.functions("arf_clear")
	if err != nil {
		return nil, err
	}
	return &arfSum{
		function: f.function, free: free[0], z: makeARF(1, arfLength), x: loadARF(o.left, o.leftBits, arfLength),
		n: o.n, bits: bits,
	}, nil
}

func (s *arfSum) run(int) {
	purego.SyscallN(s.function, at(s.z.data), at(s.x.data), uintptr(s.n), uintptr(s.bits), toNearest)
}

func (s *arfSum) value(int) exact.Value { return s.z.value(0) }
func (s *arfSum) close()                { s.z.clear(s.free) }

// arbRows are products of rows by arb_dot.
type arbRows struct {
	functions
	operands
	free       uintptr
	z, a, x, y arfVector
	bits       int
}

func newARBRows(f functions, bits int, o operands) (whole, error) {
	free, err := flint.functions("arb_clear")
	if err != nil {
		return nil, err
	}
	return &arbRows{
		functions: f, operands: o, free: free[0], bits: bits, z: makeARF(o.rows*o.columns, arbLength),
		a: loadARF(o.left, o.leftBits, arbLength), x: loadARF(o.right, o.rightBits, arbLength),
		y: loadARF(o.added, o.addedBits, arbLength),
	}, nil
}

func (r *arbRows) run(threads int) {
	share(threads, r.rows, func(_, from, to int) {
		y := uintptr(0)
		if r.y.data != nil {
			y = at(r.y.number(from * r.columns))
		}
		purego.SyscallN(r.loop, r.function, at(r.z.number(from*r.columns)), at(r.a.data[from*r.n*r.a.length:]),
			at(r.x.data), y, uintptr(to-from), uintptr(r.columns), uintptr(r.n), uintptr(r.bits))
	})
}

func (r *arbRows) value(k int) exact.Value { return r.z.value(k) }
func (r *arbRows) close()                  { r.z.clear(r.free) }
