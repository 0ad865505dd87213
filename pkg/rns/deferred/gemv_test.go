package deferred

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"mpbench/pkg/numbers"
	"testing"
)

// exactProduct returns alpha * sum_j a_j x_j + beta*y rounded once to prec bits. Nothing is rounded before: products
// are made and added in a precision that holds every bit from the least to the greatest that can occur.
func exactProduct(a, x []*big.Float, alpha, beta, y *big.Float, prec uint) *big.Float {
	lo, hi := math.MaxInt, math.MinInt
	var terms []*big.Float
	add := func(factors ...*big.Float) {
		width := uint(0)
		for _, f := range factors {
			if f.Sign() == 0 {
				return
			}
			width += max(1, f.MinPrec())
		}
		product := new(big.Float).SetPrec(width).SetInt64(1)
		for _, f := range factors {
			product.Mul(product, f)
		}
		terms = append(terms, product)
		top := product.MantExp(nil)
		lo, hi = min(lo, top-int(product.MinPrec())), max(hi, top)
	}
	for j := range a {
		add(alpha, a[j], x[j])
	}
	add(beta, y)
	result := new(big.Float).SetPrec(prec)
	if len(terms) == 0 {
		return result
	}
	sum := new(big.Float).SetPrec(uint(hi - lo + 64))
	for _, t := range terms {
		sum.Add(sum, t)
	}
	if sum.Acc() != big.Exact {
		panic("the reference is not exact")
	}
	return result.Set(sum)
}

// generator makes numbers of prec bits with exponents up to spread away from zero.
type generator struct {
	*rand.Rand
	prec   uint
	spread int
}

func (g generator) number() *big.Float {
	x := new(big.Float).SetPrec(g.prec)
	kind := g.IntN(20)
	if kind == 0 {
		return x
	}
	n := new(big.Int)
	width := int(g.prec)
	if kind < 4 {
		width = 1 + g.IntN(width)
	}
	for range width/64 + 1 {
		n.Lsh(n, 64)
		switch kind {
		case 4: // all ones
			n.Or(n, new(big.Int).SetUint64(math.MaxUint64))
		case 5: // a power of two
		default:
			n.Or(n, new(big.Int).SetUint64(g.Uint64()))
		}
	}
	n.Rsh(n, uint(n.BitLen()-min(width, n.BitLen())))
	n.SetBit(n, width-1, 1)
	x.SetInt(n)
	x.SetMantExp(x, g.IntN(2*g.spread+1)-g.spread-width)
	if g.IntN(2) == 0 {
		x.Neg(x)
	}
	return x
}

func (g generator) numbers(n int) []*big.Float {
	x := make([]*big.Float, n)
	for i := range x {
		x[i] = g.number()
	}
	return x
}

// cancel makes the sum of a_j*x_j small by setting a pair's second half to the negative of the first.
func (g generator) cancel(a, x []*big.Float) {
	for j := 0; j+1 < len(a); j += 2 {
		if g.IntN(8) != 0 {
			a[j+1] = new(big.Float).Neg(a[j])
			x[j+1] = x[j]
		}
	}
}

func (g generator) scalar() *big.Float {
	switch g.IntN(5) {
	case 0:
		return big.NewFloat(0)
	case 1:
		return big.NewFloat(1)
	case 2:
		return big.NewFloat(-1)
	}
	return g.number()
}

type gemvCase struct {
	rows, cols int
	op         Op
	prec       uint
	spread     int
	opt        Options
	both       bool
}

func (c gemvCase) String() string {
	return fmt.Sprintf("%dx%d op %v precision %d spread %d %+v", c.rows, c.cols, c.op, c.prec, c.spread, c.opt)
}

// check compares one product with the exact one, and returns how many results it compared and recomputed.
func (c gemvCase) check(t *testing.T, rng *rand.Rand) (compared, recomputed int) {
	t.Helper()
	g := generator{rng, c.prec, c.spread}
	ld := c.cols + rng.IntN(3)
	layout := numbers.RowMajor(c.rows, c.cols, ld)
	size := c.rows * ld
	if rng.IntN(2) == 0 {
		ld = c.rows + rng.IntN(3)
		layout = numbers.ColMajor(c.rows, c.cols, ld)
		size = c.cols * ld
	}
	m, n := c.rows, c.cols
	if c.op == Trans {
		m, n = n, m
	}
	a := g.numbers(size)
	inc := []int{1, 2, -1, -3}[rng.IntN(4)]
	xl := numbers.Strided(n, inc)
	xs := g.numbers(1 + n*max(inc, -inc))
	row := func(i int) []*big.Float {
		r := make([]*big.Float, n)
		for j := range r {
			if c.op == Trans {
				r[j] = a[layout.Index(j, i)]
			} else {
				r[j] = a[layout.Index(i, j)]
			}
		}
		return r
	}
	x := make([]*big.Float, n)
	if rng.IntN(2) == 0 { // cancelling rows: equal neighbours in x, opposite ones in A
		for j := 0; j+1 < n; j += 2 {
			xs[xl.Index(j+1, 0)] = xs[xl.Index(j, 0)]
			for i := range m {
				if rng.IntN(8) == 0 {
					continue
				}
				p, q := layout.Index(i, min(j, n-1)), 0
				if c.op == Trans {
					p, q = layout.Index(j, i), layout.Index(j+1, i)
				} else {
					q = layout.Index(i, j+1)
				}
				a[q] = new(big.Float).Neg(a[p])
			}
		}
	}
	for j := range x {
		x[j] = xs[xl.Index(j, 0)]
	}
	op := c.op
	if c.both {
		op = Both
	}
	extent, err := Measure(numbers.Bigs(xs), xl)
	if err != nil {
		t.Fatal(err)
	}
	matrix, err := newMatrix(numbers.Bigs(a), layout, op, extent, c.opt)
	if err != nil {
		t.Fatal(c, err)
	}
	vector, err := matrix.NewVector(numbers.Bigs(xs), xl)
	if err != nil {
		t.Fatal(c, err)
	}
	alpha, beta := g.scalar(), g.scalar()
	y := g.numbers(m)
	want := make([]*big.Float, m)
	for i := range want {
		want[i] = exactProduct(row(i), x, alpha, beta, y[i], c.prec)
	}
	s := matrix.NewAccumulator(c.op)
	s.Gemv(y, alpha, matrix, vector, beta, c.prec, 1+rng.IntN(3))
	for i := range want {
		if y[i].Cmp(want[i]) != 0 || y[i].Prec() != c.prec || y[i].Signbit() != want[i].Signbit() {
			t.Fatalf("%v, row %d, alpha %v beta %v:\n got %v\nwant %v", c, i, alpha, beta, y[i].Text('p', 0),
				want[i].Text('p', 0))
		}
	}
	return m, s.Recomputed()
}

func TestGemvSmall(t *testing.T) {
	t.Logf("instruction set: %s", SIMD())
	rng := rand.New(rand.NewPCG(1, 2))
	total := 100_000
	if testing.Short() {
		total = 10_000
	}
	compared, recomputed := 0, 0
	for compared < total {
		c := gemvCase{
			rows: rng.IntN(12), cols: rng.IntN(20), op: Op(rng.IntN(2)), both: rng.IntN(4) == 0,
			prec: uint([]int{1, 2, 24, 53, 64, 106, 212, 424}[rng.IntN(8)]), spread: []int{0, 1, 10, 300}[rng.IntN(4)],
		}
		switch rng.IntN(4) {
		case 0:
			c.opt.KeepBits = int(c.prec) + rng.IntN(80)
		case 1:
			c.opt.MaxModuli = 4 + rng.IntN(40)
		}
		m, r := c.check(t, rng)
		compared += m
		recomputed += r
	}
	t.Logf("%d results, %d of them computed again", compared, recomputed)
}

func TestGemvSizes(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	sizes := []int{0, 1, 2, 3, 4, 5, 7, 15, 16, 17, 31, 33, 63, 64, 65, 100, 255, 256, 257, 300}
	for _, n := range sizes {
		for _, op := range []Op{NoTrans, Trans} {
			m := sizes[rng.IntN(len(sizes))]
			if testing.Short() {
				m = min(m, 20)
			}
			c := gemvCase{rows: m, cols: n, op: op, prec: 106, spread: []int{0, 20, 300}[rng.IntN(3)]}
			c.check(t, rng)
		}
	}
	for _, prec := range []uint{848, 1696, 4096} {
		gemvCase{rows: 9, cols: 40, op: NoTrans, prec: prec, spread: 300}.check(t, rng)
		gemvCase{rows: 40, cols: 9, op: Trans, prec: prec, spread: 300}.check(t, rng)
	}
}

// newMatrix converts a matrix as a plan of its own wants it.
func newMatrix(a numbers.Source, l numbers.Layout, op Op, x numbers.Extent, opt Options) (*Matrix, error) {
	opt.Pack = l.Cols%2 == 0
	p, err := NewPlan(a, l, op, x, opt)
	if err != nil {
		return nil, err
	}
	return p.Matrix(), nil
}
