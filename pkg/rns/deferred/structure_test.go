package deferred

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"mpbench/pkg/numbers"
)

// constant presents one number as many.
type constant struct {
	x float64
	n int
}

func (c constant) Len() int                      { return c.n }
func (c constant) Span(int) numbers.Span         { return numbers.Float64s{c.x}.Span(0) }
func (c constant) Read(z *numbers.Number, _ int) { numbers.Float64s{c.x}.Read(z, 0) }

// TestManyModuli: matrices, vectors and sums of more moduli than bases are kept for go together whatever was made in
// between.
func TestManyModuli(t *testing.T) {
	number := func(n int) *Matrix {
		m, err := newMatrix(numbers.Float64s([]float64{3}), numbers.RowMajor(1, 1, 1), NoTrans,
			numbers.Extent{Low: 0, Top: ModulusBits * n}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	matrix := number(keptModuli + 1)
	number(keptModuli + 2)
	x, err := matrix.NewVector(numbers.Float64s([]float64{5}), numbers.Strided(1, 1))
	if err != nil {
		t.Fatal(err)
	}
	number(keptModuli + 2)
	sum := matrix.NewAccumulator(NoTrans)
	sum.MulVec(matrix, x, 1)
	y := make([]float64, 1)
	if sum.RoundFloat64(y, 1, 0, 1); y[0] != 15 {
		t.Errorf("3 * 5 = %v", y[0])
	}
}

// TestWorstResidues multiplies matrices of -1: every residue is m-1, for sums of several lazy lengths in both
// directions.
func TestWorstResidues(t *testing.T) {
	for _, n := range []int{1, 255, 256, 257, 2047, 2048, 2049, 4096, 10_000} {
		for _, op := range []Op{NoTrans, Trans} {
			l := numbers.RowMajor(3, n, n)
			if op == Trans {
				l = numbers.RowMajor(n, 3, 3)
			}
			// More moduli than the sum needs, so that many sets of counters are exercised.
			matrix, err := newMatrix(constant{-1, 3 * n}, l, op, numbers.Extent{Low: 0, Top: 100}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			x, err := matrix.NewVector(constant{-1, n}, numbers.Strided(n, 1))
			if err != nil {
				t.Fatal(err)
			}
			for k := range matrix.base.n {
				if matrix.plane(k)[0] != matrix.base.modulus[k]-1 || x.plane(k)[n-1] != matrix.base.modulus[k]-1 {
					t.Fatal("residues of -1 are not m-1")
				}
			}
			s := matrix.NewAccumulator(op)
			y := []float64{5, 6, 7}
			s.GemvFloat64(y, 1, matrix, x, 0, 2)
			if want := float64(n); !slices.Equal(y, []float64{want, want, want}) {
				t.Fatalf("%d terms, %v: %v", n, op, y)
			}
			if sum := x.Sum(nil, 64); sum.Cmp(big.NewFloat(-float64(n))) != 0 {
				t.Fatalf("sum of %d: %v", n, sum)
			}
		}
	}
}

// TestThreads compares residues and results for several numbers of threads, on a matrix with several blocks in both
// directions.
func TestThreads(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 32))
	g := generator{rng, 106, 30}
	const m, n = 150, 2500
	a, x := repeated{numbers.Bigs(g.numbers(1999)), m * n}, repeated{numbers.Bigs(g.numbers(499)), max(m, n)}
	for _, op := range []Op{NoTrans, Trans} {
		extent, err := Measure(x, numbers.Strided(x.n, 1))
		if err != nil {
			t.Fatal(err)
		}
		var first []uint32
		var results []*big.Float
		for _, threads := range []int{1, 2, 3, 7, 0} {
			matrix, err := newMatrix(a, numbers.RowMajor(m, n, n), op, extent, Options{Threads: threads})
			if err != nil {
				t.Fatal(err)
			}
			rows, terms := matrix.shape(op)
			vector, err := matrix.NewVector(x, numbers.Strided(terms, 1))
			if err != nil {
				t.Fatal(err)
			}
			s := matrix.NewAccumulator(op)
			y := make([]*big.Float, rows)
			s.Gemv(y, big.NewFloat(3), matrix, vector, big.NewFloat(0), 106, threads)
			residues, _ := s.Residues()
			if first == nil {
				first, results = slices.Clone(residues), y
				continue
			}
			if !slices.Equal(residues, first) {
				t.Fatalf("%v: residues differ with %d threads", op, threads)
			}
			for i := range y {
				if y[i].Cmp(results[i]) != 0 {
					t.Fatalf("%v: row %d differs with %d threads", op, i, threads)
				}
			}
		}
	}
}

// TestParts adds products of slices of a matrix, in one accumulator and in several, and compares with the whole
// product.
func TestParts(t *testing.T) {
	rng := rand.New(rand.NewPCG(33, 34))
	for trial := range 200 {
		op := Op(trial % 2)
		g := generator{rng, 80, []int{2, 100}[trial/2%2]}
		m, n := 1+rng.IntN(20), 1+rng.IntN(60)
		opt := Options{Threads: 1}
		if trial%3 == 0 {
			opt.KeepBits = 100
		}
		a := numbers.Bigs(g.numbers(m * n))
		rows, terms := m, n
		if op == Trans {
			rows, terms = n, m
		}
		x := numbers.Bigs(g.numbers(terms))
		extent, err := Measure(x, numbers.Strided(terms, 1))
		if err != nil {
			t.Fatal(err)
		}
		plan, err := NewPlan(a, numbers.ColMajor(m, n, m), op, extent, opt)
		if err != nil {
			t.Fatal(err)
		}
		vector, err := plan.NewVector(x, numbers.Strided(terms, 1))
		if err != nil {
			t.Fatal(err)
		}
		whole := plan.Matrix()
		s, parts, other := whole.NewAccumulator(op), whole.NewAccumulator(op), whole.NewAccumulator(op)
		s.MulVec(whole, vector, 1)
		for at, turn := 0, 0; at < terms; turn++ {
			end := at + 1 + rng.IntN(terms-at)
			i0, i1, j0, j1 := 0, m, at, end
			if op == Trans {
				i0, i1, j0, j1 = at, end, 0, n
			}
			slice := plan.Slice(i0, i1, j0, j1)
			target := parts
			if turn%2 == 1 {
				target = other
			}
			target.MulVec(slice.Matrix(), vector.Slice(at, end), 2)
			at = end
		}
		if terms > 1 && len(other.parts) > 0 {
			parts.Add(other)
		}
		one, zero := big.NewFloat(1), new(big.Float)
		want, got := make([]*big.Float, rows), make([]*big.Float, rows)
		s.Round(want, one, zero, 80, 1)
		parts.Round(got, one, zero, 80, 1)
		for i := range want {
			if got[i].Cmp(want[i]) != 0 {
				t.Fatalf("%v, %+v, row %d: %v in parts, %v as a whole", op, opt, i, got[i], want[i])
			}
		}
	}
}

// TestAllocations checks that products allocate nothing that grows with the matrix, and sums nothing that grows with
// their length.
func TestAllocations(t *testing.T) {
	g := generator{rand.New(rand.NewPCG(37, 38)), 106, 0}
	some := g.numbers(1000)
	allocations := func(m, n int, op Op) float64 {
		matrix, err := newMatrix(repeated{numbers.Bigs(some), m * n}, numbers.RowMajor(m, n, n), op,
			numbers.Extent{Low: -106, Top: 0}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		rows, terms := matrix.shape(op)
		vector, err := matrix.NewVector(repeated{numbers.Bigs(some), terms}, numbers.Strided(terms, 1))
		if err != nil {
			t.Fatal(err)
		}
		s := matrix.NewAccumulator(op)
		y := make([]*big.Float, rows)
		alpha, beta := some[1], some[2]
		s.Gemv(y, alpha, matrix, vector, new(big.Float), 106, 1)
		return testing.AllocsPerRun(5, func() { s.Gemv(y, alpha, matrix, vector, beta, 106, 1) })
	}
	for _, op := range []Op{NoTrans, Trans} {
		small, large := allocations(10, 20, op), allocations(100, 200, op)
		if large > small || large > 40 {
			t.Errorf("%v: %v allocations for 10 x 20, %v for 100 x 200", op, small, large)
		}
	}
	allocations2 := func(n int) float64 {
		p, err := Pack(repeated{numbers.Bigs(some), n}, numbers.Strided(n, 1), 0)
		if err != nil {
			t.Fatal(err)
		}
		return testing.AllocsPerRun(5, func() { p.Sum(1) })
	}
	if small, large := allocations2(2000), allocations2(20_000); large > small {
		t.Errorf("sum: %v allocations for 2000 numbers, %v for 20000", small, large)
	}
}

// TestPlanBytes compares the announced size with the planes.
func TestPlanBytes(t *testing.T) {
	p, err := NewPlan(constant{1.5, 1000}, numbers.RowMajor(10, 100, 100), NoTrans, numbers.Extent{Low: 0, Top: 106},
		Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := int64(4*len(p.Matrix().planes)), p.Bytes(); got != want || p.Moduli() != ModuliFor(2+106+7) {
		t.Fatalf("%d bytes, announced %d, %d moduli", got, want, p.Moduli())
	}
}

// TestSpill forces the counters of a LimbSum to their limit.
func TestSpill(t *testing.T) {
	for _, bits := range []int{50, 106, 848} {
		g := generator{rand.New(rand.NewPCG(39, 40)), uint(bits), 2}
		x := g.numbers(64)
		p, err := Pack(numbers.Bigs(x), numbers.Strided(64, 1), 0)
		if err != nil {
			t.Fatal(err)
		}
		var s LimbSum
		s.Add(p, 0, 30)
		s.count = spillCount - 7
		s.Add(p, 30, 64)
		if len(s.spilled) == 0 || s.count >= spillCount {
			t.Fatal("no spill")
		}
		want := exactProduct(x, ones(64), big.NewFloat(1), new(big.Float), new(big.Float), 300)
		if got := s.Round(nil, 300); got.Cmp(want) != 0 {
			t.Fatalf("%v, want %v", got, want)
		}
	}
	// All lanes at the greatest value that spillCount additions can give.
	var s LimbSum
	s.addWords([]uint64{1, 0, 0}, 0)
	for way := range s.ways {
		for d := range s.lanes {
			s.acc[way*s.lanes+d] = spillCount / uint64(s.ways) * (1<<32 - 1)
		}
	}
	want := new(big.Int).Lsh(big.NewInt(1), 192)
	want.Sub(want, big.NewInt(1)).Mul(want, big.NewInt(spillCount))
	if got, _ := s.Round(nil, 400).Int(nil); got.Cmp(want) != 0 {
		t.Fatalf("full lanes: %v, want %v", got, want)
	}
}

func ExampleDot() {
	x := []float64{1e16, 1, -1e16}
	y := []float64{1, 1, 1}
	sum, err := Dot(numbers.Float64s(x), numbers.Strided(3, 1), numbers.Float64s(y), numbers.Strided(3, 1), 1)
	if err != nil {
		panic(err)
	}
	fmt.Println(sum.Float64())
	// Output: 1
}

func ExampleAccumulator_Gemv() {
	a := []float64{ // row by row
		1e100, 1, -1e100,
		3, 2, 1,
	}
	x := []float64{1, 0.5, 1}
	extent, err := Measure(numbers.Float64s(x), numbers.Strided(3, 1))
	if err != nil {
		panic(err)
	}
	matrix, err := newMatrix(numbers.Float64s(a), numbers.RowMajor(2, 3, 3), NoTrans, extent, Options{})
	if err != nil {
		panic(err)
	}
	vector, err := matrix.NewVector(numbers.Float64s(x), numbers.Strided(3, 1))
	if err != nil {
		panic(err)
	}
	y := make([]float64, 2)
	matrix.NewAccumulator(NoTrans).GemvFloat64(y, 1, matrix, vector, 0, 0)
	fmt.Println(y, matrix.Moduli(), "moduli")
	// Output: [0.5 5] 13 moduli
}
