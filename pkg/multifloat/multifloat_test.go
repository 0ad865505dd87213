package multifloat

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"mpbench/pkg/exact"
	"mpbench/pkg/multifloat/network"
	"mpbench/pkg/numbers"
)

// vector returns n numbers of different magnitudes and signs.
func vector[T Float](r *rand.Rand, n, components int) Vector[T] {
	v := MakeVector[T](n, components)
	for i := range n {
		c := math.Ldexp(r.Float64()-0.5, r.IntN(8))
		for k := range components {
			v.Planes[k][i] = T(c)
			c *= (r.Float64() - 0.5) * math.Ldexp(1, -componentOf[T]().bits)
		}
	}
	return v
}

// naive is the order of additions as it is documented, number by number.
func naive[T Float](s network.Scheme, terms [][]T) []T {
	f := network.Float[T]{}
	none := make([]T, s.Components)
	var sums [][]T
	for from := 0; from < max(1, len(terms)); from += segment {
		in := slices.Clone(terms[from:min(len(terms), from+segment)])
		for len(in)%lanes != 0 {
			in = append(in, none)
		}
		lane := make([][]T, lanes)
		for l := range lane {
			lane[l] = none
		}
		for i, x := range in {
			lane[i%lanes] = network.Add(f, s, lane[i%lanes], x)
		}
		for half := lanes / 2; half > 0; half /= 2 {
			for l := range half {
				lane[l] = network.Add(f, s, lane[l], lane[l+half])
			}
		}
		sums = append(sums, lane[0])
	}
	for len(sums) > 1 {
		var next [][]T
		for i := 0; i < len(sums); i += 2 {
			if i+1 < len(sums) {
				next = append(next, network.Add(f, s, sums[i], sums[i+1]))
			} else {
				next = append(next, sums[i])
			}
		}
		sums = next
	}
	return sums[0]
}

// TestOrder: all loops have the bits of the documented order, at lengths around those of lanes, segments and pairs.
func TestOrder(t *testing.T) {
	for _, r := range Formats() {
		if r.Scheme.Components == 6 || r.Scheme.Components == 7 || r.Packing != nil {
			continue // nothing that others, or TestPacked, do not show
		}
		if r.Narrow {
			testOrder[float32](t, r)
		} else {
			testOrder[float64](t, r)
		}
	}
}

func testOrder[T Float](t *testing.T, r Format) {
	k, f := r.Scheme.Components, network.Float[T]{}
	a := newArithmetic[T](r.Scheme)
	random := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 2, 31, 32, 33, 100, segment - 1, segment, segment + 1, 3 * segment, 5*segment + 7} {
		x, y := vector[T](random, n, k), vector[T](random, n, k)
		var terms, products [][]T
		number := func(v Vector[T], i int) []T { z := v.Get(i); return z[:k] }
		for i := range n {
			terms = append(terms, number(x, i))
			products = append(products, network.Mul(f, r.Scheme, number(x, i), number(y, i)))
		}
		check := func(what string, got Number[T], want []T) {
			t.Helper()
			if !slices.Equal(got[:k], want) {
				t.Fatalf("%s, %s of %d: %v, want %v", r.Method, what, n, got[:k], want)
			}
		}
		check("sum", a.Sum(x), naive(r.Scheme, terms))
		check("dot", a.Dot(x, y), naive(r.Scheme, products))
		c, z := y, MakeVector[T](n, k)
		if n == 0 {
			continue
		}
		a.Axpy(z, c.Get(0), x, y)
		for i := range min(n, 200) {
			product := network.Mul(f, r.Scheme, number(c, 0), number(x, i))
			check("axpy", z.Get(i), network.Add(f, r.Scheme, product, number(y, i)))
		}
		a.Scal(z, c.Get(0), x)
		check("scal", z.Get(n-1), network.Mul(f, r.Scheme, number(c, 0), number(x, n-1)))
		check("one sum", a.Add(x.Get(0), y.Get(0)), network.Add(f, r.Scheme, number(x, 0), number(y, 0)))
		rows := n/7 + 1
		m, z := vector[T](random, rows*min(n, 7), k), MakeVector[T](rows, k)
		a.Dots(z, m, x.Slice(0, min(n, 7)), rows, 1, min(n, 7))
		for i := range rows {
			check("a row", z.Get(i), func() []T {
				d := a.Dot(m.Slice(i*min(n, 7), (i+1)*min(n, 7)), x.Slice(0, min(n, 7)))
				return d[:k]
			}())
		}
	}
}

// TestErrors: the networks prove the errors that bounds are made of, and not much less. One component's are those of
// one rounding.
func TestErrors(t *testing.T) {
	for _, f := range Formats() {
		if f.Scheme.Components == 1 {
			continue
		}
		bits := componentOf[float64]().bits
		if f.Narrow {
			bits = componentOf[float32]().bits
		}
		b := f.Scheme.Bounds(exact.PowerOfTwo(-bits))
		unit := exact.PowerOfTwo(-f.Scheme.Bits(bits) - 4)
		for what, c := range map[string]struct {
			proved *big.Rat
			stated int
		}{"sum": {b.Add, f.errors.sum}, "product": {b.Mul, f.errors.product}} {
			got, _ := new(big.Rat).Quo(c.proved, unit).Float64()
			if got > float64(c.stated) || got < float64(c.stated-1) {
				t.Errorf("%s: the error of a %s is %.9g u^K/16, %d is stated", f.Method, what, got, c.stated)
			}
		}
	}
}

// Instructions of a number's sum, product, and product and sum; bytes that are read for the latter in a product of a
// matrix and a vector, and bytes an instruction.
func ExampleFormats() {
	fmt.Println("format         bytes   sum  product   both  bytes/instruction")
	for _, f := range Formats() {
		loops, bytes := network.NewLoops[float64](f.Scheme), 8*f.Scheme.Components
		if f.Narrow {
			bytes /= 2
		}
		if f.Packing != nil {
			bytes = 12
		}
		both := loops.AddProduct.Instructions()
		fmt.Printf("%-14s %5d %5d %8d %6d %8.3f\n", f.Method, bytes,
			loops.Add.Instructions(), loops.Mul.Instructions(), both, float64(bytes)/float64(both))
	}
	// Output:
	// format         bytes   sum  product   both  bytes/instruction
	// float32-lanes      4     1        1      2    2.000
	// float64-lanes      8     1        1      2    4.000
	// dd                16    20        8     28    0.571
	// ds                12    20        8     28    0.429
	// di                12    20        8     28    0.429
	// ds-native         12    19       25     44    0.273
	// dd-sloppy         16    14       11     25    0.640
	// td                24    68      101    169    0.142
	// qd                32   117      213    330    0.097
	// expansion:2       16    31       35     66    0.242
	// expansion:3       24    68      101    169    0.142
	// expansion:4       32   117      213    330    0.097
	// expansion:5       40   178      383    561    0.071
	// expansion:6       48   251      623    874    0.055
	// expansion:7       56   336      945   1281    0.044
	// expansion:8       64   433     1361   1794    0.036
	// expansion32:2      8    31       35     66    0.121
	// expansion32:3     12    68      101    169    0.071
	// expansion32:4     16   117      213    330    0.048
	// expansion32:5     20   178      383    561    0.036
	// expansion32:6     24   251      623    874    0.027
	// expansion32:7     28   336      945   1281    0.022
	// expansion32:8     32   433     1361   1794    0.018
}

// TestDepth compares the depth of sums with the number of additions that the farthest term goes through.
func TestDepth(t *testing.T) {
	for n, want := range map[int]int{
		0: 0, 1: 0, 2: 1, 3: 2, 32: 5, 33: 6, 64: 6, 65: 7, 2048: 63 + 5, 2049: 63 + 5 + 1, 3 * 2048: 63 + 5 + 2,
	} {
		if got := depth(n); got != want {
			t.Errorf("depth(%d) = %d, want %d", n, got, want)
		}
	}
}

// TestSplit: numbers are rounded to nearest component by component; what is lost below the normal range is said.
func TestSplit(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for range 3000 {
		bits := uint(1 + r.IntN(500))
		n := new(big.Int)
		for range bits {
			n.Lsh(n, 1).SetBit(n, 0, uint(r.IntN(2)))
		}
		x := new(big.Float).SetPrec(600).SetInt(n)
		x.SetMantExp(x, r.IntN(2200)-1150-int(bits))
		testSplit[float64](t, x, 53, -1022)
		testSplit[float32](t, x, 24, -126)
	}
	for _, v := range []float64{math.Inf(1), math.Inf(-1), math.NaN(), 0} {
		var z numbers.Number
		numbers.Float64s{v}.Read(&z, 0)
		x, rounded, lost := split[float64](&z, 4)
		if got := x.Value(); rounded || lost || !got.Equal(exact.FromFloat64(v)) {
			t.Errorf("%v becomes %v, %v, %v", v, got, rounded, lost)
		}
	}
}

func testSplit[T Float](t *testing.T, v *big.Float, p, least int) {
	var z numbers.Number
	z.SetBig(v)
	want := exact.FromBig(v)
	for _, k := range []int{2, 3, 4, 8} {
		x, rounded, lost := split[T](&z, k)
		if x[0]-x[0] != 0 {
			if math.Abs(want.Float64()) < math.Ldexp(1, -least+1) || !lost {
				t.Fatalf("%v became infinite", v)
			}
			continue
		}
		failure := exact.Measure(x.Value(), want)
		if rounded == (failure.Abs.Number().Sign() == 0) {
			t.Fatalf("%v in %d components: rounded %v, error %v", v, k, rounded, failure.Abs)
		}
		limit := new(big.Rat).Mul(exact.PowerOfTwo(-k*p), new(big.Rat).Abs(want.Number()))
		if rounded && !lost && failure.Abs.Number().Cmp(limit) > 0 {
			t.Fatalf("%v in %d components of %d bits: error %v", v, k, p, failure.Abs)
		}
		for i := 1; i < k; i++ {
			if math.Abs(float64(x[i])) > math.Abs(float64(x[i-1]))*math.Ldexp(1, -p) {
				t.Fatalf("%v becomes %v", v, x[:k])
			}
		}
	}
}

// TestInterleaved: interleaved storage holds the same numbers.
func TestInterleaved(t *testing.T) {
	v := vector[float64](rand.New(rand.NewPCG(3, 3)), 100, 3)
	list := v.Interleaved(3)
	w := Deinterleave(list, 3)
	for i := range v.Len {
		if v.Get(i) != w.Get(i) || list[3*i+2] != v.Planes[2][i] {
			t.Fatalf("number %d is %v, and was %v", i, w.Get(i), v.Get(i))
		}
	}
}

func BenchmarkSum(b *testing.B) {
	benchmark(b, func(a *arithmetic[float64], x, _ Vector[float64]) { a.Sum(x) })
}

func BenchmarkDot(b *testing.B) {
	benchmark(b, func(a *arithmetic[float64], x, y Vector[float64]) { a.Dot(x, y) })
}

func BenchmarkAxpy(b *testing.B) {
	benchmark(b, func(a *arithmetic[float64], x, y Vector[float64]) { a.Axpy(y, x.Get(0), x, y) })
}

// BenchmarkProduct multiplies matrices of 512 x 512 numbers.
func BenchmarkProduct(b *testing.B) {
	const n = 512
	for _, f := range Formats() {
		if f.Narrow {
			continue
		}
		b.Run(f.Method, func(b *testing.B) {
			random, k := rand.New(rand.NewPCG(1, 2)), f.Scheme.Components
			a := newArithmetic[float64](f.Scheme)
			x, y, z := vector[float64](random, n*n, k), vector[float64](random, n*n, k), MakeVector[float64](n*n, k)
			for b.Loop() {
				a.Dots(z, x, y, n, n, n)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(n*n*n), "ns/multiply-add")
		})
	}
}

// BenchmarkLoad converts 10^6 binary64 numbers, and copies as many bytes as that reads and writes, 24 each, to new
// memory: conversion is to take at most 1.2 times as long.
func BenchmarkLoad(b *testing.B) {
	const n = 1_000_000
	x := make([]float64, n*3/2)
	for i := range x {
		x[i] = float64(i)
	}
	run := func(name string, f func()) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				f()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/number")
		})
	}
	run("copy", func() { copied = slices.Clone(x) })
	for _, f := range Formats() {
		if f.Method == "dd" || f.Method == "di" {
			run(f.Method, func() { Load[float64](numbers.Vector(numbers.Float64s(x[:n])), 2, f.Packing) })
		}
	}
}

var copied []float64 // keeps the compiler from leaving out a copy

// benchmark times a loop over numbers in the cache and in memory.
func benchmark(b *testing.B, f func(a *arithmetic[float64], x, y Vector[float64])) {
	for _, r := range Formats() {
		if r.Narrow {
			continue
		}
		for _, n := range []int{1_000, 1_000_000} {
			b.Run(fmt.Sprint(r.Method, "/", n), func(b *testing.B) {
				random := rand.New(rand.NewPCG(1, 2))
				a := newArithmetic[float64](r.Scheme)
				x, y := vector[float64](random, n, r.Scheme.Components), vector[float64](random, n, r.Scheme.Components)
				for b.Loop() {
					f(a, x, y)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/number")
			})
		}
	}
}

// TestQuotient: quotients have errors of at most u^K, relative to them; by 0 they are infinite.
func TestQuotient(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for k := 1; k <= Most; k++ {
		for range 200 {
			var x, y Number[float64]
			for i := range k {
				x[i] = math.Ldexp(r.Float64()-0.5, -54*i)
				y[i] = math.Ldexp(r.Float64()-0.5, -54*i)
			}
			want := new(big.Rat).Quo(x.Value().Number(), y.Value().Number())
			e := new(big.Rat).Sub(quotient(x, y, k).Value().Number(), want)
			if e.Abs(e).Cmp(want.Mul(want.Abs(want), exact.PowerOfTwo(-53*k))) > 0 {
				t.Fatalf("%d components: %v / %v", k, x, y)
			}
		}
	}
	if q := quotient(Number[float64]{1}, Number[float64]{}, 2); !math.IsInf(q[0], 1) {
		t.Errorf("1/0 = %v", q)
	}
}
