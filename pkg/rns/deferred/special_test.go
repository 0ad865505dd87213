package deferred

import (
	"math"
	"math/big"
	"math/rand/v2"
	"mpbench/pkg/numbers"
	"testing"
)

// ieee computes alpha*sum a_j x_j + beta*y exactly rounded to binary64 where it is finite, and by binary64 arithmetic
// on infinities and NaN where not.
func ieee(a, x []float64, alpha, beta, y float64) float64 {
	isSpecial := func(v float64) bool { return v-v != 0 }
	sign := func(v float64) float64 { // a small number of the same sign and class
		if v == 0 || isSpecial(v) {
			return v
		}
		return math.Copysign(1, v)
	}
	sum, finite := 0.0, new(big.Float).SetPrec(9000)
	for j := range a {
		if isSpecial(a[j]) || isSpecial(x[j]) {
			sum += sign(a[j]) * sign(x[j])
			continue
		}
		p := new(big.Float).SetPrec(200).SetFloat64(a[j])
		finite.Add(finite, p.Mul(p, big.NewFloat(x[j])))
	}
	if !isSpecial(sum) {
		sum = float64(finite.Sign())
	}
	total := 0.0
	if alpha != 0 {
		if isSpecial(alpha) || isSpecial(sum) {
			total += sign(alpha) * sum
		} else {
			finite.Mul(finite, big.NewFloat(alpha))
		}
	} else {
		finite.SetInt64(0)
	}
	if beta != 0 {
		if isSpecial(beta) || isSpecial(y) {
			total += sign(beta) * sign(y)
		} else {
			p := new(big.Float).SetPrec(200).SetFloat64(beta)
			finite.Add(finite, p.Mul(p, big.NewFloat(y)))
		}
	}
	if isSpecial(total) {
		return total
	}
	return toFloat64(finite)
}

// TestSpecials multiplies binary64 matrices with infinities and NaN in any place, in exact and in truncated mode, with
// binary64 and big.Float results.
func TestSpecials(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	rounds := 4000
	if testing.Short() {
		rounds = 400
	}
	random := func(specials int) float64 {
		switch r := rng.IntN(100); {
		case r < specials:
			return []float64{math.Inf(1), math.Inf(-1), math.NaN()}[min(rng.IntN(5)/2, 2)]
		case r < 30:
			return 0
		case r < 40:
			return math.Float64frombits(rng.Uint64() & (1<<63 | 1<<52 - 1))
		case r < 50:
			return math.Ldexp(rng.Float64()-0.5, rng.IntN(2000)-1000)
		}
		return math.Ldexp(rng.Float64()-0.5, rng.IntN(60)-30)
	}
	for range rounds {
		specials := []int{0, 1, 10}[rng.IntN(3)]
		m, n := rng.IntN(6), rng.IntN(20)
		op := Op(rng.IntN(2))
		l := numbers.RowMajor(m, n, n)
		rows, terms := m, n
		if op == Trans {
			rows, terms = n, m
		}
		fill := func(n int) []float64 {
			v := make([]float64, n)
			for i := range v {
				v[i] = random(specials)
			}
			return v
		}
		a, x, y := fill(m*n), fill(terms), fill(rows)
		alpha, beta := random(2*specials), random(2*specials)
		if rng.IntN(3) == 0 {
			alpha, beta = 1, 0
		}
		opt := Options{}
		if rng.IntN(2) == 0 {
			opt.KeepBits = 60 + rng.IntN(100)
		}
		extent, err := Measure(numbers.Float64s(x), numbers.Strided(terms, 1))
		if err != nil {
			t.Fatal(err)
		}
		matrix, err := newMatrix(numbers.Float64s(a), l, op, extent, opt)
		if err != nil {
			t.Fatal(err)
		}
		vector, err := matrix.NewVector(numbers.Float64s(x), numbers.Strided(terms, 1))
		if err != nil {
			t.Fatal(err)
		}
		big64 := make([]*big.Float, rows)
		want := make([]float64, rows)
		row := make([]float64, terms)
		for i := range want {
			for j := range row {
				if op == Trans {
					row[j] = a[l.Index(j, i)]
				} else {
					row[j] = a[l.Index(i, j)]
				}
			}
			want[i] = ieee(row, x, alpha, beta, y[i])
			if y[i] == y[i] {
				big64[i] = big.NewFloat(y[i])
			}
		}
		s := matrix.NewAccumulator(op)
		s.GemvFloat64(y, alpha, matrix, vector, beta, 1+rng.IntN(2))
		for i := range want {
			if math.Float64bits(y[i]) != math.Float64bits(want[i]) && !(y[i] != y[i] && want[i] != want[i]) &&
				!(y[i] == 0 && want[i] == 0) {
				t.Fatalf("%v row %d of\n%v\n times %v, alpha %v beta %v: %v, want %v", op, i, a, x, alpha, beta, y[i], want[i])
			}
		}
		if alpha == alpha && beta == beta {
			s.Round(big64, big.NewFloat(alpha), big.NewFloat(beta), 2000, 1)
			for i := range want {
				got := math.NaN()
				if big64[i] != nil {
					got = toFloat64(big64[i])
				}
				if got != want[i] && !(got != got && want[i] != want[i]) && big64[i].Prec() == 2000 &&
					math.Abs(got-want[i]) > 5e-324 {
					t.Fatalf("big %v row %d: %v, want %v", op, i, got, want[i])
				}
			}
		}
	}
}

// TestSumSpecials adds and multiplies vectors with infinities and NaN.
func TestSumSpecials(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		x, y     []float64
		sum, dot float64
	}{
		{nil, nil, 0, 0},
		{[]float64{1, inf}, []float64{1, 1}, inf, inf},
		{[]float64{1, -inf}, []float64{1, 2}, -inf, -inf},
		{[]float64{inf, -inf}, []float64{1, 1}, nan, nan},
		{[]float64{inf, -inf}, []float64{1, -1}, nan, inf},
		{[]float64{inf, 1}, []float64{0, 1}, inf, nan},
		{[]float64{nan, 1}, []float64{0, 1}, nan, nan},
		{[]float64{0, 1}, []float64{nan, 1}, 1, nan},
		{[]float64{math.MaxFloat64, math.MaxFloat64}, []float64{1, 1}, inf, inf},
		{[]float64{math.MaxFloat64, math.MaxFloat64, -math.MaxFloat64}, []float64{1, 1, 1}, math.MaxFloat64,
			math.MaxFloat64},
		{[]float64{0x1p1023, 0x1p1023, -0x1p1023, -0x1p1023, 0x1p-1074}, []float64{2, 2, 2, 2, 1}, 0x1p-1074, 0x1p-1074},
		{[]float64{0x1p-1074, 0x1p-1074}, []float64{0.5, 0.25}, 0x1p-1073, 0x1p-1074},
		{[]float64{0x1p-1074}, []float64{0.5}, 0x1p-1074, 0},
	} {
		l := numbers.Strided(len(c.x), 1)
		same := func(a, b float64) bool { return a == b || a != a && b != b }
		packed, err := Pack(numbers.Float64s(c.x), l, 0)
		if err != nil {
			t.Fatal(err)
		}
		if sum := packed.Sum(1); !same(sum.Float64(), c.sum) {
			t.Errorf("packed sum of %v = %v, want %v", c.x, sum.Float64(), c.sum)
		}
		dot, err := Dot(numbers.Float64s(c.x), l, numbers.Float64s(c.y), l, 1)
		if err != nil || !same(dot.Float64(), c.dot) {
			t.Errorf("dot of %v and %v = %v, want %v (%v)", c.x, c.y, dot.Float64(), c.dot, err)
		}
		if z := dot.Round(new(big.Float), 53); (z == nil) != (c.dot != c.dot) {
			t.Errorf("dot of %v and %v to big.Float: %v", c.x, c.y, z)
		}
		matrix, err := newMatrix(numbers.Float64s([]float64{1}), numbers.RowMajor(1, 1, 1), NoTrans,
			numbers.Extent{Low: 0, Top: 1}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		matrix.xBits, matrix.moduli = 2200, 80
		v, err := matrix.NewVector(numbers.Float64s(c.x), l)
		if err != nil {
			t.Fatal(err)
		}
		z := v.Sum(nil, 2200)
		if z == nil && c.sum == c.sum || z != nil && toFloat64(z) != c.sum {
			t.Errorf("Vector.Sum of %v = %v, want %v", c.x, z, c.sum)
		}
	}
}
