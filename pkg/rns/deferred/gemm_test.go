package deferred

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"testing"

	"mpbench/pkg/numbers"
)

// gemmKinds are the kinds of elements that products are tested with.
var gemmKinds = []struct {
	name string
	make func(rng *rand.Rand, p int, i int) *big.Float
}{
	{"full", func(rng *rand.Rand, p, _ int) *big.Float { return significand(rng, p, 0) }},
	{"uniform", func(rng *rand.Rand, p, _ int) *big.Float { return significand(rng, p, -rng.IntN(20)) }},
	{"least", func(_ *rand.Rand, p, _ int) *big.Float { return new(big.Float).SetMantExp(big.NewFloat(-1), p) }},
	{"short", func(rng *rand.Rand, _, _ int) *big.Float { return significand(rng, 1+rng.IntN(8), rng.IntN(9)) }},
	{"sparse", func(rng *rand.Rand, p, _ int) *big.Float {
		if rng.IntN(3) > 0 {
			return new(big.Float)
		}
		return significand(rng, p, 0)
	}},
	{"spread", func(rng *rand.Rand, p, _ int) *big.Float { return significand(rng, p, rng.IntN(3000)-1500) }},
	{"wide", func(rng *rand.Rand, p, _ int) *big.Float { return significand(rng, p, rng.IntN(1<<20)-1<<19) }},
	{"cancelling", func(rng *rand.Rand, p, i int) *big.Float {
		x := significand(rand.New(rand.NewPCG(uint64(p), uint64(i/2))), p, 0)
		if i%2 == 1 {
			x.Neg(x)
		}
		return x
	}},
}

// significand returns a random number of p bits.
func significand(rng *rand.Rand, p, exp int) *big.Float {
	words := make([]big.Word, p/64+1)
	for i := range words {
		words[i] = big.Word(rng.Uint64())
	}
	x := new(big.Int).SetBits(words)
	x.Rsh(x, uint(max(0, x.BitLen()-p)))
	z := new(big.Float).SetInt(x)
	z.SetMantExp(z, exp)
	if rng.IntN(2) == 0 {
		z.Neg(z)
	}
	return z
}

// gemmArray returns a matrix of random numbers in a random layout, with space between its rows or columns.
func gemmArray(rng *rand.Rand, rows, cols, p, kind int) numbers.Array {
	l := numbers.RowMajor(rows, cols, cols+rng.IntN(3))
	if rng.IntN(2) == 0 {
		l = numbers.ColMajor(rows, cols, rows+rng.IntN(3))
	}
	x := make(numbers.Bigs, l.Size())
	for i := range rows {
		for j := range cols {
			x[l.Index(i, j)] = gemmKinds[kind].make(rng, p, i+j)
		}
	}
	return numbers.Array{Source: x, Layout: l}
}

// checkGemm compares C = alpha*A*B + beta*C with the sums of all products.
func checkGemm(t *testing.T, g *Gemm, c numbers.Array, alpha, beta *big.Float) {
	t.Helper()
	z := NewPacked(c.Rows*c.Cols, g.prec)
	g.Convert()
	g.Multiply(z, alpha, beta, c)
	left, right := valuesOf(g.a, alpha), valuesOf(g.b.Transposed(), big.NewFloat(1))
	addends := valuesOf(c, beta)
	var x numbers.Number
	for i := range c.Rows {
		for j := range c.Cols {
			want := sumOfProducts(left[i], right[j], addends[i][j], uint(g.prec))
			if z.Read(&x, i*c.Cols+j); x.Big().Cmp(want) != 0 {
				t.Fatalf("entry (%d, %d) is %v, want %v", i, j, x.Big(), want)
			}
		}
	}
}

// valuesOf returns the elements times a factor.
func valuesOf(a numbers.Array, factor *big.Float) [][]*big.Float {
	list := make([][]*big.Float, a.Rows)
	var x numbers.Number
	for i := range list {
		for j := range a.Cols {
			a.ReadAt(&x, i, j)
			v := x.Big()
			list[i] = append(list[i], new(big.Float).SetPrec(v.Prec()+factor.Prec()).Mul(v, factor))
		}
	}
	return list
}

// sumOfProducts returns the sum of products and an addend, rounded once: in a big.Float as long as no bit is lost,
// otherwise as a LimbSum.
func sumOfProducts(x, y []*big.Float, addend *big.Float, prec uint) *big.Float {
	const most = 10000
	sum, product := new(big.Float).SetPrec(most).Set(addend), new(big.Float).SetPrec(most)
	exact := addend.MinPrec() <= most
	for k := range x {
		product.Mul(x[k], y[k])
		exact = exact && product.Acc() == big.Exact
		sum.Add(sum, product)
		exact = exact && sum.Acc() == big.Exact
	}
	if exact {
		return sum.SetPrec(prec)
	}
	var u, v numbers.Number
	limbs := new(LimbSum)
	u.SetBig(addend)
	limbs.AddNumber(&u)
	for k := range x {
		u.SetBig(x[k])
		v.SetBig(y[k])
		limbs.AddProduct(&u, &v)
	}
	return limbs.Round(nil, prec)
}

// gemmScalars returns alpha and beta: 1 and 0, random numbers, or one that is 0 or a power of two.
func gemmScalars(rng *rand.Rand, p int) (alpha, beta *big.Float) {
	alpha, beta = big.NewFloat(1), new(big.Float)
	switch rng.IntN(8) {
	case 0, 1, 2:
		alpha, beta = significand(rng, p, -3), significand(rng, p, 2)
	case 3:
		alpha, beta = new(big.Float), significand(rng, p, 2)
	case 4:
		alpha, beta = big.NewFloat(-4), big.NewFloat(1)
	}
	return alpha, beta
}

// gemmShape returns rows, terms and columns: mostly few, sometimes up to 300 of some, or as many terms as are added
// between reductions of residues, and one fewer and more.
func gemmShape(rng *rand.Rand) (rows, terms, cols int) {
	rows, terms, cols = 1+rng.IntN(14), rng.IntN(40), 1+rng.IntN(40)
	switch rng.IntN(40) {
	case 0, 1:
		rows, terms, cols = 1+rng.IntN(110), 200+rng.IntN(100), 1+rng.IntN(30)
	case 2:
		rows = 1 + rng.IntN(300)
	case 3:
		cols = 1 + rng.IntN(300)
	case 4, 5:
		terms = 256*(1+rng.IntN(4)) + rng.IntN(3) - 1
	}
	return rows, terms, cols
}

// TestGemm multiplies random matrices; MPBENCH_FULL_TESTS=1 makes that 10,000 products.
func TestGemm(t *testing.T) {
	count := 400
	if testing.Short() {
		count = 80
	}
	if os.Getenv("MPBENCH_FULL_TESTS") != "" {
		count = 10_000
	}
	truncated, recomputed := 0, 0
	for seed := range count {
		rng := rand.New(rand.NewPCG(uint64(seed), 17))
		kind := seed % len(gemmKinds)
		p := []int{2, 24, 53, 106, 113, 212, 424}[rng.IntN(7)]
		rows, terms, cols := gemmShape(rng)
		if rows*terms*cols > 100_000 { // exact sums of numbers that are far apart take long
			kind = []int{0, 1, 2, 7}[rng.IntN(4)]
		}
		other := kind
		if rng.IntN(3) == 0 {
			other = rng.IntN(len(gemmKinds))
		}
		prec := max(2, p-rng.IntN(3))
		t.Run(fmt.Sprintf("%d %s %s %d bits %d x %d x %d", seed, gemmKinds[kind].name, gemmKinds[other].name, p, rows,
			terms, cols), func(t *testing.T) {
			a, b := gemmArray(rng, rows, terms, p, kind), gemmArray(rng, terms, cols, p, other)
			c := gemmArray(rng, rows, cols, p, kind)
			alpha, beta := gemmScalars(rng, p)
			g := NewGemm(a, b, prec, 1+rng.IntN(2))
			if g == nil {
				t.Fatal("no plan")
			}
			checkGemm(t, g, c, alpha, beta)
			if g.Truncated() {
				truncated++
			}
			recomputed += g.Recomputed()
			if e := g.Exact(); e != nil {
				checkGemm(t, e, c, alpha, beta)
			}
		})
	}
	if truncated == 0 || recomputed == 0 {
		t.Errorf("%d products truncated, %d entries computed again: want some of both", truncated, recomputed)
	}
}

// TestGemmPanels converts matrices in panels that fit a certain memory.
func TestGemmPanels(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	for _, shape := range [][2]int{{100, 200}, {200, 100}, {200, 200}} {
		a, b := gemmArray(rng, shape[0], 2, 106, 0), gemmArray(rng, 2, shape[1], 106, 1)
		g := NewGemm(a, b, 106, 2)
		panel := (g.LeastBytes() - g.WorkspaceBytes()) / 2
		for _, c := range []struct {
			bytes int64
			fits  bool
			least int
		}{{0, true, 1}, {1 << 40, true, 1}, {g.LeastBytes(), true, 4}, {g.LeastBytes() + panel, true, 2},
			{g.LeastBytes() - 1, false, 0}, {1, false, 0}} {
			if fits := g.Fit(c.bytes); fits != c.fits {
				t.Errorf("%v: %d bytes fit: %v", shape, c.bytes, fits)
			} else if fits {
				if need := g.Bytes() + g.WorkspaceBytes(); c.bytes > 0 && need > c.bytes || g.Panels() < c.least {
					t.Errorf("%v: %d panels take %d bytes of %d", shape, g.Panels(), need, c.bytes)
				}
				checkGemm(t, g, gemmArray(rng, shape[0], shape[1], 106, 0), big.NewFloat(-1), big.NewFloat(2))
			}
		}
	}
}

// TestGemmFloat64 multiplies binary64 numbers of all exponents, whose exact products need nearly all moduli.
func TestGemmFloat64(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	x := make(numbers.Float64s, 20*20)
	for i := range x {
		for x[i] = math.NaN(); x[i]-x[i] != 0; {
			x[i] = math.Float64frombits(rng.Uint64())
		}
	}
	a := numbers.Array{Source: x, Layout: numbers.RowMajor(20, 20, 20)}
	g := NewGemm(a, a.Transposed(), 53, 2)
	if g == nil {
		t.Fatal("no plan")
	}
	if g = g.Exact(); g == nil || g.Truncated() {
		t.Fatal("no exact plan")
	}
	checkGemm(t, g, a, big.NewFloat(1), big.NewFloat(1))
}
