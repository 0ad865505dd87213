// Package multifloat has number formats that are unevaluated sums of floating-point numbers: double-double, triple-
// and quad-double, and expansions of up to eight components, of float64 or float32; and triple precision, a float64
// with 32 bits beside, as a way to store double-double (ds, di) and with an arithmetic of its own (ds-native).
// Arithmetic is that of package network, in an order of additions of its own.
//
// Loops on a CPU are bound by additions: a product and its addition are 24 of them in double-double, and 4
// multiplications, which have a unit of their own. Those of up to four components keep a number's whole computation in
// registers; of others, each step of a program reads its operands from the first-level cache and writes its results
// there, which takes a store for every second instruction.
package multifloat

import (
	"fmt"
	"regexp"

	"mpbench/pkg/bound"
	"mpbench/pkg/exact"
	"mpbench/pkg/format"
	"mpbench/pkg/method"
	"mpbench/pkg/multifloat/network"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
)

// Format is a number format.
type Format struct {
	Method  string // as users type it
	Name    string // in records
	summary string // goes on after what a loop is called
	Scheme  network.Scheme
	Narrow  bool // components are float32
	extra   bool
	errors  errors
	Packing *Packing // how numbers are stored; nil for all components
}

// errors bounds those of a sum x + y and of a product x * y of numbers with K components, relative to |x| + |y| and
// |x*y|, in 2^-bits/16 for the bits of all components: what network.Scheme.Bounds proves.
type errors struct{ sum, product int }

// The errors of plain numbers, of double words, and of schemes with a guard level.
var (
	rounding   = errors{16, 16}
	doubleWord = errors{49, 80}
	guarded    = errors{33, 49}
	mixed      = errors{65, 161}
)

// Formats returns all formats.
func Formats() []Format {
	one, twoWords := network.Scheme{Components: 1}, network.Scheme{Components: 2, DoubleWord: true}
	list := []Format{
		{"float32-lanes", "binary32", "in binary32", one, true, true, rounding, nil},
		{"float64-lanes", "binary64", "in binary64", one, false, true, rounding, nil},
		{"dd", "double-double", "in double-double", twoWords, false, false, doubleWord, nil},
		{"ds", "double-single", "in double-double, with numbers stored as binary64 + binary32", twoWords, false, true,
			doubleWord, packedSingle},
		{"di", "double-half", "in double-double, with numbers stored as binary64 + the upper half of one", twoWords,
			false, true, doubleWord, packedHalf},
		{"ds-native", "double-single", "in sums of binary64 and binary32, each part in its own precision",
			network.Scheme{Components: 2, Mixed: 24}, false, true, mixed, packedNative},
		{"dd-sloppy", "double-double", "in double-double, with an addition that loses digits where much cancels",
			network.Scheme{Components: 2, Carries: 1}, false, true, doubleWord, nil},
		{"td", "triple-double", "in triple-double", network.Guarded(3), false, false, guarded, nil},
		{"qd", "quad-double", "in quad-double", network.Guarded(4), false, false, guarded, nil},
	}
	for _, narrow := range []bool{false, true} {
		for k := 2; k <= Most; k++ {
			name, component := "expansion:", "binary64"
			if narrow {
				name, component = "expansion32:", "binary32"
			}
			sum := fmt.Sprintf("%d x %s", k, component)
			list = append(list, Format{
				fmt.Sprint(name, k), sum, "in sums of " + sum, network.Guarded(k), narrow, true, guarded, nil,
			})
		}
	}
	return list
}

// Methods are the methods of all formats.
func Methods() (list []method.Method) {
	for _, f := range Formats() {
		list = append(list, f.Methods()...)
	}
	return list
}

// Methods are those of the format.
func (f Format) Methods() []method.Method {
	if f.Narrow {
		return methods[float32](f)
	}
	return methods[float64](f)
}

// In returns the format in the memory of this computer, with components of the type T that the format has.
func In[T Float](f Format) format.Format[Vector[T], Number[T]] {
	a := newArithmetic[T](f.Scheme)
	k := f.Scheme.Components
	return Of(f, format.Format[Vector[T], Number[T]]{
		Make:  func(n int) Vector[T] { return MakePacked[T](n, k, f.Packing) },
		Slice: Vector[T].Slice, Get: Vector[T].Get, Set: Vector[T].Set, DotGrain: 4 * segment,
		Load: func(v numbers.Array) (Vector[T], method.Rounded) { return Load[T](v, k, f.Packing) },
		Float64s: func(z []float64, x Vector[T]) {
			for i, v := range x.Planes[0][:x.Len] {
				z[i] = float64(v)
			}
		},
		Loops: format.Loops[Vector[T], Number[T]]{
			Sum: a.Sum, Asum: a.Asum, Dot: a.Dot, Dots: a.Dots, Rows: a.Rows, Triangle: a.Triangle, Axpy: a.Axpy,
			Scal: a.Scal, Products: a.Products,
		},
	})
}

func methods[T Float](f Format) []method.Method {
	loops := In[T](f)
	m := method.Method{Name: f.Method, Summary: f.summary, Bits: loops.Bits, Extra: f.extra, Advised: f.advised()}
	of := func(method.Config) format.Format[Vector[T], Number[T]] { return loops }
	bits := f.Scheme.Bits(componentOf[T]().bits)
	var list []method.Method
	for _, o := range op.All() {
		if o.Norm == 2 && !format.HasNorms(loops.Range, loops.Bits) {
			continue
		}
		most := f.errors.sum
		if o.Multiplications == 0 && o.Products != "" { // errors of products and of roots
			most = max(most, f.errors.product)
		}
		for _, row := range format.Recursive(m, unit(most, bits), of, o) {
			row.Bound = withProducts(row.Bound, o.Multiplications*(ceilDiv(f.errors.product, most)-1))
			row.Bound.Source += "; " + f.source()
			list = append(list, row)
		}
	}
	return list
}

// gammas are the k in g(k) of bounds.
var gammas = regexp.MustCompile(`g\(([^()]*)\)`)

// withProducts returns a bound with so many additions more, for products whose errors are larger than those of sums:
// 1 + ku <= (1+u)^k.
func withProducts(b bound.Bound, more int) bound.Bound {
	if more == 0 {
		return b
	}
	return bound.New(gammas.ReplaceAllString(b.Formula, fmt.Sprintf("g($1+%d)", more)), b.Source)
}

// advised tells whether it is triple precision without a narrower range of exponents.
func (f Format) advised() bool { return f.Packing != nil && !f.Packing.single }

// source says where the errors of single operations are proved.
func (f Format) source() string {
	switch {
	case f.Scheme.DoubleWord:
		return "Joldes, Muller, Popescu 2017, DOI 10.1145/3121432"
	case f.Scheme.Components == 1:
		return "IEEE 754"
	}
	return "package network, Scheme.Bounds"
}

// Of completes a format whose vectors lie wherever they do: what its numbers are, and operations on one of them.
func Of[V any, T Float](f Format, v format.Format[V, Number[T]]) format.Format[V, Number[T]] {
	a := newArithmetic[T](f.Scheme)
	k, c := f.Scheme.Components, componentOf[T]()
	v.Name, v.Bits, v.Bytes, v.Depth, v.Value = f.Name, k*c.bits, k*(c.bits+11)/8, depth, Number[T].Value
	if k > 1 {
		v.Parts = fmt.Sprintf("%d x %d bytes", k, (c.bits+11)/8)
	}
	v.Range = method.Range{
		Unit: exact.PowerOfTwo(-k * c.bits), Overflow: exact.PowerOfTwo(c.most),
		Tiny: exact.PowerOfTwo(log2(f.Scheme.Products()) - c.least - 1),
	}
	if p := f.Packing; p != nil {
		v.Bits, v.Bytes, v.Stored, v.Check, v.Parts = p.bits, 12, p.stored(), p.check, "8 + 4 bytes"
		v.Range = method.Range{Unit: p.error(), Overflow: exact.PowerOfTwo(p.most), Tiny: exact.PowerOfTwo(-p.least)}
	}
	v.Add, v.Mul, v.Sqrt = a.Add, a.Mul, func(x Number[T]) Number[T] { return sqrt(x, k) }
	v.Div = func(x, y Number[T]) Number[T] { return quotient(x, y, k) }
	if f.Scheme.Mixed > 0 {
		v.Stored, v.Range.Tiny, v.LosesSums = "", exact.PowerOfTwo(-f.Packing.lost), true
		v.Sqrt = func(x Number[T]) Number[T] { return packed(f.Packing, sqrt(x, k)) }
		v.Div = func(x, y Number[T]) Number[T] { return packed(f.Packing, quotient(x, y, k)) }
	}
	return v
}

// unit writes n/16 * 2^-bits as a definition of u.
func unit(n, bits int) string {
	for bits += 4; n%2 == 0; bits-- {
		n /= 2
	}
	if n == 1 {
		return fmt.Sprintf("u = 2^-%d", bits)
	}
	return fmt.Sprintf("u = %d*2^-%d", n, bits)
}

// Load copies numbers row by row, rounded to so many components, and packed if a packing is given.
func Load[T Float](a numbers.Array, components int, packing *Packing) (Vector[T], method.Rounded) {
	v := MakePacked[T](a.Len(), components, packing)
	if to, ok := any(v.Planes[0]).([]float64); ok && a.Binary64() {
		copyFloats(to, a)
		return v, method.Rounded{}
	}
	var lack method.Rounded
	i := 0
	a.Each(format.ReadBits(components*componentOf[T]().bits), func(z *numbers.Number) {
		x, rounded, lost := split[T](z, components)
		v.Set(i, x)
		if packing != nil {
			kept := v.Get(i)
			rounded = rounded || kept[0] != x[0] || kept[1] != x[1]
			lost = lost || rounded && packing.loses(float64(x[1]))
		}
		i++
		if rounded {
			lack = method.Rounded{Factors: 1, Lost: lack.Lost || lost}
		}
	})
	return v, lack
}

// copyFloats copies binary64 numbers row by row; a vector, which is a column, as if it were a row.
func copyFloats(to []float64, a numbers.Array) {
	if a.Cols == 1 {
		a.Rows, a.Cols, a.RowStride, a.ColStride = 1, a.Rows, 0, a.RowStride
	}
	x := a.Source.(numbers.Float64s)
	for i := range a.Rows {
		row := to[i*a.Cols : (i+1)*a.Cols]
		if a.ColStride == 1 {
			copy(row, x[a.Index(i, 0):])
			continue
		}
		for j, at := 0, a.Index(i, 0); j < a.Cols; j, at = j+1, at+a.ColStride {
			row[j] = x[at]
		}
	}
}
