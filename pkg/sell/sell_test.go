package sell

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"mpbench/pkg/numbers"
)

// pattern returns rows of different lengths, some long, some empty, and windows that end early.
func pattern(r *rand.Rand, rows, cols int) *numbers.Pattern {
	p := &numbers.Pattern{Start: make([]int, 1, rows+1)}
	for i := range rows {
		n := r.IntN(9)
		if i%701 == 5 {
			n = 2 * numbers.WindowElements / 3
		}
		for range n {
			p.Column = append(p.Column, int32(r.IntN(cols)))
		}
		p.Start = append(p.Start, len(p.Column))
	}
	return p
}

// words returns n double-double numbers of magnitudes far apart.
func words(r *rand.Rand, n int) (high, low []float64) {
	for range n {
		x := math.Ldexp(r.Float64()-0.5, r.IntN(60)-30)
		high, low = append(high, x), append(low, math.Ldexp(x, -54)*(r.Float64()-0.5))
	}
	return high, low
}

// TestRows: products have the bits of a plain loop over each row, with and without vector instructions, and of rows
// with an infinity those of IEEE 754.
func TestRows(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, rows := range []int{0, 1, 7, 8, 9, 100, 1024, 1025, 3000} {
		const cols = 500
		p := pattern(r, rows, cols)
		a, aLow := words(r, len(p.Column))
		x, low := words(r, cols)
		z, zLow := make([]float64, rows), make([]float64, rows)
		for _, parts := range [][][]float64{{a}, {a, aLow}} {
			m := New(p, parts...)
			windows(p, func(from, to int) { m.DoubleDouble(z, zLow, x, low, from, to) })
			for i := range rows {
				var want word
				for k := p.Start[i]; k < p.Start[i+1]; k++ {
					element := word{a[k], 0}
					if len(parts) == 2 {
						element[1] = aLow[k]
					}
					want = want.addProduct(element, word{x[p.Column[k]], low[p.Column[k]]})
				}
				if z[i] != want[0] || zLow[i] != want[1] {
					t.Fatalf("%d rows, %d parts: row %d is %v + %v, want %v", rows, len(parts), i, z[i], zLow[i], want)
				}
			}
		}
		x[3] = math.Inf(1)
		m := New(p, a)
		windows(p, func(from, to int) { m.Float64(z, x, from, to) })
		for i := range rows {
			want := 0.0
			for k := p.Start[i]; k < p.Start[i+1]; k++ {
				want += float64(a[k] * x[p.Column[k]])
			}
			if z[i] != want && (z[i] == z[i] || want == want) {
				t.Fatalf("%d rows: row %d is %v, want %v", rows, i, z[i], want)
			}
		}
	}
}

func windows(p *numbers.Pattern, do func(from, to int)) {
	starts := p.Windows()
	for k := range len(starts) - 1 {
		do(starts[k], starts[k+1])
	}
}

// TestKernels compares the vector loops with the plain ones.
func TestKernels(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	steps, total := []int32{3, 0, 1, 17}, 21
	x, low := words(r, 50)
	columns := make([]int32, rows*total)
	for k := range columns {
		columns[k] = int32(r.IntN(len(x)))
	}
	a, _ := words(r, 2*rows*total)
	for parts := range 3 {
		got, want := make([]float64, 2*rows*len(steps)), make([]float64, 2*rows*len(steps))
		if parts == 0 {
			float64s(steps, columns, a, x, got)
			float64sGeneric(steps, columns, a, x, want)
		} else {
			doubleDoubles(parts, steps, columns, a, x, low, got)
			doubleDoublesGeneric(parts, steps, columns, a, x, low, want)
		}
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("%d parts: sum %d is %v, want %v", parts, i, got[i], want[i])
			}
		}
	}
}

func BenchmarkRows(b *testing.B) {
	const n = 40000
	p := &numbers.Pattern{Start: make([]int, 1, n+1)}
	for i := range n {
		for _, j := range []int{-200, -1, 0, 1, 200} {
			if i+j >= 0 && i+j < n {
				p.Column = append(p.Column, int32(i+j))
			}
		}
		p.Start = append(p.Start, len(p.Column))
	}
	r := rand.New(rand.NewPCG(1, 2))
	a, aLow := words(r, len(p.Column))
	x, low := words(r, n)
	z, zLow := make([]float64, n), make([]float64, n)
	one, two := New(p, a), New(p, a, aLow)
	for i, run := range []func(from, to int){
		func(from, to int) { one.Float64(z, x, from, to) },
		func(from, to int) { one.DoubleDouble(z, zLow, x, low, from, to) },
		func(from, to int) { two.DoubleDouble(z, zLow, x, low, from, to) },
		func(from, to int) {
			for i := from; i < to; i++ {
				s := 0.0
				for k := p.Start[i]; k < p.Start[i+1]; k++ {
					s += float64(a[k] * x[p.Column[k]])
				}
				z[i] = s
			}
		},
	} {
		b.Run(fmt.Sprint([]string{"float64", "dd of float64", "dd", "plain"}[i]), func(b *testing.B) {
			for b.Loop() {
				windows(p, run)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(p.Column)), "ns/element")
		})
	}
}
