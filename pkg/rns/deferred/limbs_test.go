package deferred

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"mpbench/pkg/numbers"
)

// TestDotLimbs: the kernels in use have the sums of plain Go, at the greatest limbs among others, and lengths about
// those at which lanes are flushed.
func TestDotLimbs(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for n := 1; n <= mostLimbs; n++ {
		for trial := range 120 {
			columns := laneMultiple * (1 + rng.IntN(80))
			a, x := alignedUint32(n*columns), alignedUint32(n*columns)
			for i := range a {
				a[i], x[i] = limbMask, limbMask
				if trial%4 >= 2 {
					a[i] = -a[i]
				}
				if trial%4 == 3 {
					a[i], x[i] = uint32(rng.Int32N(1<<29)-1<<28+1), uint32(rng.Int32N(1<<29)-1<<28+1)
				}
			}
			got, want := make([]int64, 2*wordsOf(n)), make([]int64, 2*wordsOf(n))
			dotLimbs(got, a, columns, x, columns, columns)
			dotLimbsGeneric(want, a, columns, x, columns, columns)
			for q := range wordsOf(n) {
				word := func(s []int64) *big.Int {
					z := big.NewInt(s[2*q+1])
					return z.Add(z.Lsh(z, 32), big.NewInt(s[2*q]))
				}
				if got[2*q] < 0 || word(got).Cmp(word(want)) != 0 {
					t.Fatalf("%d limbs, %d columns, word %d: %v, want %v", n, columns, q, word(got), word(want))
				}
			}
		}
	}
}

// TestLimbMatrix: products of limbs are the exact sums, for all numbers of limbs, signs, zeros and subnormal numbers,
// any number of goroutines.
func TestLimbMatrix(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for trial := range 60 {
		rows, cols, bits := 1+rng.IntN(20), rng.IntN(70), uint(1+rng.IntN(mostLimbs*limbBits))
		list := func(n int) numbers.Bigs {
			x := fullNumbers(rng, n, bits)
			for i := range x {
				if rng.IntN(8) == 0 {
					x[i] = new(big.Float)
				}
			}
			return x
		}
		a, x := list(rows*cols), list(cols)
		extent, err := Measure(x, numbers.Strided(cols, 1))
		if err != nil {
			t.Fatal(err)
		}
		l, direction := numbers.RowMajor(rows, cols, cols), NoTrans
		if trial%2 == 1 {
			l, direction = numbers.Layout{Rows: cols, Cols: rows, RowStride: 1, ColStride: cols}, Trans
		}
		p, err := NewPlan(a, l, direction, extent, Options{})
		if err != nil {
			t.Fatal(err)
		}
		matrix := p.LimbMatrix()
		vector, err := matrix.NewVector(x, numbers.Strided(cols, 1))
		if err != nil {
			t.Fatal(err)
		}
		got := make([]*big.Rat, rows)
		matrix.MulVec(vector, 1+trial%3, func(i int, z *numbers.Number) {
			got[i] = new(big.Rat).Set(z.Value().Number())
		})
		for i := range rows {
			want := new(big.Rat)
			for j := range cols {
				left, _ := a[i*cols+j].Rat(nil)
				right, _ := x[j].Rat(nil)
				want.Add(want, left.Mul(left, right))
			}
			if got[i].Cmp(want) != 0 {
				t.Fatalf("%d x %d of %d bits, row %d: %v, want %v", rows, cols, bits, i, got[i], want)
			}
		}
	}
}

// TestLimbsFor: limbs are chosen for matrices of short factors, as they are, that take more memory than caches have.
func TestLimbsFor(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for _, c := range []struct {
		n    int
		bits uint
		op   Op
		want int
	}{{1000, 106, NoTrans, 4}, {1000, 53, NoTrans, 2}, {1000, 140, NoTrans, 5}, {1000, 141, NoTrans, 0},
		{1000, 106, Trans, 4}, {1000, 106, Both, 0}, {100, 106, NoTrans, 0}} {
		a := repeated{numbers.Bigs(fullNumbers(rng, 1009, c.bits)), c.n * c.n}
		x, err := Measure(numbers.Bigs(fullNumbers(rng, c.n, c.bits)), numbers.Strided(c.n, 1))
		if err != nil {
			t.Fatal(err)
		}
		p, err := NewPlan(a, numbers.RowMajor(c.n, c.n, c.n), c.op, x, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Limbs(); got != c.want {
			t.Errorf("%+v: %d limbs", c, got)
		}
	}
}

// BenchmarkLimbs times products of limbs and of residues in turns: sums and rounding, of n x n full significands.
func BenchmarkLimbs(b *testing.B) {
	for _, n := range []int{250, 500, 1000, 2000, 4000} {
		for _, prec := range []uint{24, 53, 80, 106, 126} {
			rng := rand.New(rand.NewPCG(1, 2))
			a := repeated{numbers.Bigs(fullNumbers(rng, 9973, prec)), n * n}
			x, l := numbers.Bigs(fullNumbers(rng, n, prec)), numbers.Strided(n, 1)
			extent, err := Measure(x, l)
			if err != nil {
				b.Fatal(err)
			}
			p, err := NewPlan(a, numbers.RowMajor(n, n, n), NoTrans, extent, Options{})
			if err != nil {
				b.Fatal(err)
			}
			y, one, zero := make([]*big.Float, n), big.NewFloat(1), big.NewFloat(0)
			report := func(b *testing.B) {
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n*n), "ns/elem")
			}
			b.Run(fmt.Sprintf("limbs/n=%d/bits=%d", n, prec), func(b *testing.B) {
				matrix := p.LimbMatrix()
				vector, _ := matrix.NewVector(x, l)
				r := NewRounder(one, zero, prec)
				for b.Loop() {
					matrix.MulVec(vector, 1, func(i int, z *numbers.Number) { y[i] = r.Round(y[i], z) })
				}
				report(b)
			})
			want := slices.Clone(y)
			clear(y)
			b.Run(fmt.Sprintf("residues/n=%d/bits=%d", n, prec), func(b *testing.B) {
				matrix := p.Matrix()
				vector, _ := matrix.NewVector(x, l)
				s := matrix.NewAccumulator(NoTrans)
				for b.Loop() {
					s.Gemv(y, one, matrix, vector, zero, prec, 1)
				}
				report(b)
			})
			for i := range y {
				if want[i] != nil && y[i] != nil && want[i].Cmp(y[i]) != 0 {
					b.Fatalf("row %d: %v and %v", i, want[i], y[i])
				}
			}
		}
	}
}
