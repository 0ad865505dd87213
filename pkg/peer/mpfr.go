package peer

import (
	"math"
	"slices"
	"unsafe"

	"github.com/ebitengine/purego"

	"mpbench/pkg/bound"
	"mpbench/pkg/exact"
	"mpbench/pkg/format"
	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
)

var mpfr = &library{
	name: "MPFR", files: fileNames("mpfr", "6"), symbol: "mpfr_add", install: "Debian: apt-get install libmpfr6",
	since:   map[string]string{"mpfr_dot": "4.1.0 or newer", "mpfr_fma": "4.0.0 or newer"},
	version: func(l *library) string { return l.textOf("mpfr_get_version") }, methods: []string{"mpfr", "mpfr-loop"},
}

// mpfrNumber is mpfr_t: 0.w * 2^exponent, w the words with the highest bit set, of which the lowest bits beyond the
// precision are 0. What functions write stays in the words that there are, so that they can be Go's.
type mpfrNumber struct {
	precision int64
	sign      int32
	_         int32
	exponent  int64
	words     unsafe.Pointer
}

// mpfrZero is the exponent of zeros.
const mpfrZero = -math.MaxInt64

// makeMPFR returns n zeros of so many bits.
func makeMPFR(n, bits int) []mpfrNumber {
	list, k := make([]mpfrNumber, n), wordsOf(bits)
	if n == 0 {
		return list
	}
	words := make([]uint64, n*k)
	for i := range list {
		list[i] = mpfrNumber{precision: int64(bits), sign: 1, exponent: mpfrZero, words: unsafe.Pointer(&words[i*k])}
	}
	return list
}

func (x *mpfrNumber) slice() []uint64 {
	return unsafe.Slice((*uint64)(x.words), wordsOf(int(x.precision)))
}

func (x *mpfrNumber) value() exact.Value {
	if x.exponent == mpfrZero {
		return exact.Value{}
	}
	return unpack(x.slice(), x.sign < 0, int(x.exponent))
}

// set makes x equal to z, which is not longer.
func (x *mpfrNumber) set(z *numbers.Number) {
	x.sign, x.exponent = 1, mpfrZero
	if z.Class == numbers.Finite {
		x.exponent = int64(pack(x.slice(), z))
	}
	if z.Neg {
		x.sign = -1
	}
}

// loadMPFR returns the elements of an array as numbers of so many bits.
func loadMPFR(a numbers.Array, bits int) ([]mpfrNumber, method.Rounded) {
	if a.Absent() {
		return nil, method.Rounded{}
	}
	list, i := makeMPFR(a.Len(), bits), 0
	rounded := each(a, bits, func(z *numbers.Number) {
		list[i].set(z)
		i++
	})
	return list, rounded
}

// mpfrLoops are loops over mpfr_add and mpfr_fma: all numbers have the precision that is asked for.
func mpfrLoops() []method.Method {
	f := &loopFormat[mpfrNumber]{
		library: mpfr, prefix: "mpfr",
		functions: []string{"mpfr_add", "mpfr_sub", "mpfr_mul", "mpfr_fma", "mpfr_set_zero"},
		of: func(c method.Config) format.Format[[]mpfrNumber, *mpfrNumber] {
			return format.Format[[]mpfrNumber, *mpfrNumber]{
				Name: "MPFR", Bits: c.Precision, Bytes: mpfrBytes(c.Precision),
				Range: method.Range{Unit: exact.PowerOfTwo(-c.Precision)},
				Make:  func(n int) []mpfrNumber { return makeMPFR(n, c.Precision) },
				Set:   func(v []mpfrNumber, i int, x *mpfrNumber) { v[i].copy(x) },
				Value: (*mpfrNumber).value,
				Load: func(a numbers.Array) ([]mpfrNumber, method.Rounded) {
					return loadMPFR(a, c.Precision)
				},
			}
		},
	}
	return f.methods(method.Method{
		Name: "mpfr-loop", Summary: "with mpfr_add and mpfr_fma", Least: 2, Most: 1 << 16,
	}, "u = 2^-p", "MPFR 4 manual, section 4.4: correct rounding", looped...)
}

func mpfrBytes(bits int) int { return int(unsafe.Sizeof(mpfrNumber{})) + 8*wordsOf(bits) }

// copy makes x equal to y, of the same precision.
func (x *mpfrNumber) copy(y *mpfrNumber) {
	x.sign, x.exponent = y.sign, y.exponent
	copy(x.slice(), y.slice())
}

// mpfrWhole are the functions for whole arrays. Numbers keep all of their bits, as each of MPFR's has a precision.
func mpfrWhole() []method.Method {
	m := method.Method{
		Name: "mpfr", Format: "MPFR", Least: 2, Most: 1 << 16,
		Bound: bound.New("u*|s|, u = 2^-p", "MPFR 4 manual, section 5.5: mpfr_sum and mpfr_dot are correctly rounded"),
	}
	m.Summary = "mpfr_sum, of numbers with all of their bits"
	sums := source{mpfr, "mpfr_sum", "", newMPFRSum}.methods(m, op.Sum, op.Asum)
	m.Summary = "mpfr_dot, of numbers with all of their bits"
	rows := source{mpfr, "mpfr_dot", "mpfr_rows", newMPFRRows}
	return slices.Concat(sums, rows.methods(m, op.Dot, op.Gemv, op.Symv, op.Trmv, op.Gemm))
}

// mpfrSum is a sum by mpfr_sum.
type mpfrSum struct {
	function uintptr
	z, x     []mpfrNumber
	pointers []unsafe.Pointer // to x
}

func newMPFRSum(f functions, bits int, o operands) (whole, error) {
	x, _ := loadMPFR(o.left, o.leftBits)
	s := &mpfrSum{function: f.function, z: makeMPFR(1, bits), x: x, pointers: make([]unsafe.Pointer, 0, len(x))}
	for i := range x {
		s.pointers = append(s.pointers, unsafe.Pointer(&x[i]))
	}
	return s, nil
}

func (s *mpfrSum) run(int) {
	purego.SyscallN(s.function, at(s.z), at(s.pointers), uintptr(len(s.pointers)), 0)
}

func (s *mpfrSum) value(int) exact.Value { return s.z[0].value() }
func (s *mpfrSum) close()                {}

// mpfrRows are products of rows by mpfr_dot. What is added to a component is one more product, with 1.
type mpfrRows struct {
	functions
	operands
	z, a, x, y []mpfrNumber
	one        []mpfrNumber
	left       []unsafe.Pointer   // to the numbers of each row, and to 1 if there is a y
	right      [][]unsafe.Pointer // to those of each column, and a place for a number of y: for each thread
}

func newMPFRRows(f functions, bits int, o operands) (whole, error) {
	r := &mpfrRows{functions: f, operands: o, z: makeMPFR(o.rows*o.columns, bits), one: makeMPFR(1, 2)}
	one := numbers.Number{Class: numbers.Finite, Words: []uint64{1}}
	r.one[0].set(&one)
	r.a, _ = loadMPFR(o.left, o.leftBits)
	r.x, _ = loadMPFR(o.right, o.rightBits)
	r.y, _ = loadMPFR(o.added, o.addedBits)
	r.left = r.pointers(r.a, o.rows, unsafe.Pointer(&r.one[0]))
	return r, nil
}

// pointers returns those to the numbers of rows, and one more behind each row if there is a y.
func (r *mpfrRows) pointers(x []mpfrNumber, rows int, more unsafe.Pointer) (list []unsafe.Pointer) {
	for i := range rows {
		for k := range r.n {
			list = append(list, unsafe.Pointer(&x[i*r.n+k]))
		}
		if r.y != nil {
			list = append(list, more)
		}
	}
	return list
}

func (r *mpfrRows) run(threads int) {
	for len(r.right) < threads {
		r.right = append(r.right, r.pointers(r.x, r.columns, nil))
	}
	added := 0
	if r.y != nil {
		added = 1
	}
	share(threads, r.rows, func(worker, from, to int) {
		y := r.y
		if y != nil {
			y = y[from*r.columns:]
		}
		purego.SyscallN(r.loop, r.function, at(r.z[from*r.columns:]), at(r.left[from*(r.n+added):]), at(r.right[worker]),
			at(y), uintptr(to-from), uintptr(r.columns), uintptr(r.n), uintptr(added))
	})
}

func (r *mpfrRows) value(k int) exact.Value { return r.z[k].value() }
func (r *mpfrRows) close()                  {}
