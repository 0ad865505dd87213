package gemv

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"mpbench/pkg/exact"
	"mpbench/pkg/rns"
)

// random makes numbers of one kind for a problem.
type random struct {
	*rand.Rand
	kind int
	bits int // of wide numbers, 0 for float64
}

func (r random) number() *big.Float {
	x := new(big.Float).SetPrec(uint(max(r.bits, 53)))
	switch {
	case r.bits > 0 && r.kind != 2:
		n := new(big.Int)
		for range r.bits/64 + 1 {
			n.Lsh(n, 64).Add(n, new(big.Int).SetUint64(r.Uint64()))
		}
		x.SetInt(n)
		x.SetMantExp(x, -x.MantExp(nil))
	default:
		x.SetFloat64([]float64{1, 1, 0, 0.5, r.Float64(), r.Float64()}[r.IntN(6)])
	}
	if r.IntN(2) == 0 {
		x.Neg(x)
	}
	switch r.kind {
	case 1: // exponents far apart
		x.SetMantExp(x, r.IntN(600)-300)
	case 3:
		x.SetMantExp(x, r.IntN(20)-10)
	}
	return x
}

func (r random) numbers(n int) Numbers {
	if r.bits == 0 {
		x := make([]float64, n)
		for i := range x {
			x[i], _ = r.number().Float64()
		}
		return Numbers{Float64: x}
	}
	x := make([]*big.Float, n)
	for i := range x {
		x[i] = r.number()
	}
	return Numbers{Wide: x}
}

func (r random) scalar() Scalar {
	if k := r.IntN(5); k < 3 {
		return Number(float64(k - 1))
	}
	x := r.number()
	if r.bits > 0 && r.IntN(2) == 0 {
		return Scalar{Wide: x}
	}
	f, _ := x.Float64()
	return Number(f)
}

// problem makes a problem with shapes, strides, scalars and data that strain the methods. Numbers below the columns of A
// are NaN or missing.
func (r random) problem(largest int) Problem {
	size := func() int { return []int{0, 1, 2, 1 + r.IntN(largest), 1 + r.IntN(largest), largest}[r.IntN(6)] }
	inc := func() int { return []int{1, 1, 2, -1, -2, 3}[r.IntN(6)] }
	p := Problem{Op: Op(r.IntN(2)), M: size(), N: size(), IncX: inc(), IncY: inc(), Alpha: r.scalar(), Beta: r.scalar()}
	p.LDA = max(1, p.M) + r.IntN(2)*r.IntN(5)
	p.A, p.X, p.Y = r.numbers(p.LDA*p.N), r.numbers(strided(p.Terms(), p.IncX)), r.numbers(strided(p.Rows(), p.IncY))
	if p.N > 1 && r.kind == 3 && p.Op == NoTrans { // cancelling neighbours: the next column is nearly the negative one
		for i := range p.M {
			for j := 1; j < p.N; j += 2 {
				if p.A.Wide != nil {
					p.A.Wide[j*p.LDA+i] = new(big.Float).Neg(p.A.Wide[(j-1)*p.LDA+i])
				} else {
					p.A.Float64[j*p.LDA+i] = math.Nextafter(-p.A.Float64[(j-1)*p.LDA+i], 9)
				}
			}
		}
	}
	for j := range p.N {
		for i := p.M; i < p.LDA; i++ {
			if p.A.Wide == nil {
				p.A.Float64[j*p.LDA+i] = math.NaN()
			} else {
				p.A.Wide[j*p.LDA+i] = nil
			}
		}
	}
	if p.Beta.is(0) && p.M > 0 && p.N > 0 && p.Y.Wide == nil {
		for i := range p.Y.Float64 {
			p.Y.Float64[i] = math.NaN()
		}
	}
	return p
}

// strided returns the length of an array that holds n numbers inc apart.
func strided(n, inc int) int {
	if n == 0 {
		return 0
	}
	return (n-1)*max(inc, -inc) + 1
}

// naive is the definition in rationals.
func naive(p Problem) (y, abs []*big.Rat) {
	number := func(x Numbers, i int) *big.Rat {
		r, _ := x.float(new(big.Float), i).Rat(nil)
		return r
	}
	alpha, beta := number(p.Alpha.numbers(), 0), number(p.Beta.numbers(), 0)
	for i := range p.Rows() {
		sum, size := new(big.Rat), new(big.Rat)
		add := func(x ...*big.Rat) {
			term := big.NewRat(1, 1)
			for _, f := range x {
				term.Mul(term, f)
			}
			sum.Add(sum, term)
			size.Add(size, term.Abs(term))
		}
		switch {
		case p.M == 0 || p.N == 0:
			add(number(p.Y, p.yIndex(i)))
		default:
			if beta.Sign() != 0 {
				add(beta, number(p.Y, p.yIndex(i)))
			}
			for j := range p.Terms() {
				add(alpha, number(p.A, p.aIndex(i, j)), number(p.X, p.xIndex(j)))
			}
		}
		y, abs = append(y, sum), append(abs, size)
	}
	return y, abs
}

// TestExact compares the reference with the definition.
func TestExact(t *testing.T) {
	for seed := range uint64(250) {
		r := random{rand.New(rand.NewPCG(seed, 5)), int(seed % 4), []int{0, 100, 0, 424}[seed/4%4]}
		p := r.problem(7)
		reference, err := Exact(p, 2)
		if err != nil {
			t.Fatal(err)
		}
		y, abs := naive(p)
		for i := range y {
			if !reference.Y[i].Equal(exact.FromRat(y[i])) || !reference.Abs[i].Equal(exact.FromRat(abs[i])) {
				t.Fatalf("seed %d, %v %d x %d, component %d: %v of %v, want %v of %v", seed, p.Op, p.M, p.N, i,
					reference.Y[i], reference.Abs[i], exact.FromRat(y[i]), exact.FromRat(abs[i]))
			}
		}
	}
}

// TestBounds runs every method on random and adversarial problems and checks each component against the method's bound and, where the
// inputs are kept as they are, against the paper's; and that the number of threads changes nothing.
func TestBounds(t *testing.T) {
	cases := 400
	if testing.Short() {
		cases = 60
	}
	for _, m := range Methods() {
		for _, precision := range []int{30, 53, 106, 240, 424} {
			if m.FixedBits != 0 && precision != 53 {
				continue
			}
			t.Run(fmt.Sprintf("%s/%d", m.Name, precision), func(t *testing.T) {
				t.Parallel()
				for seed := range uint64(cases) {
					rng := rand.New(rand.NewPCG(seed, uint64(precision)))
					r := random{rng, int(seed % 4), []int{0, precision}[seed/4%2]}
					o := Options{
						Precision: precision, BlockSize: 1 + rng.IntN(12), Threads: 1 + rng.IntN(3),
						Rounding: rns.Rounding(rng.IntN(2)), Alignment: rns.Alignment(rng.IntN(2)),
					}
					p := r.problem(40)
					checkProblem(t, m, o, p, fmt.Sprintf("seed %d", seed))
				}
			})
		}
	}
}

func checkProblem(t *testing.T, m Method, o Options, p Problem, what string) {
	t.Helper()
	reference, err := Exact(p, 1)
	if err != nil {
		t.Fatal(err)
	}
	e := newEngine(t, m, o)
	if err := e.Load(p); err != nil {
		t.Fatal(err)
	}
	e.Run()
	result := e.Result()
	if len(result) != p.Rows() {
		t.Fatalf("%s: %d components, want %d", what, len(result), p.Rows())
	}
	accuracy := Measure(result, reference)
	bounds := reference.Bounds(e.UnitRoundoff())
	for i, errs := range accuracy.Components {
		bound := e.ErrorBound(i, reference.Summary(i))
		if bound == nil && m.Name != "float64" || bound != nil && !errs.Within(bound) {
			t.Fatalf("%s: %v %d x %d, alpha %v, beta %v, %+v: component %d is %v, want %v: error %v above the bound", what, p.Op, p.M, p.N,
				p.Alpha, p.Beta, o, i, result[i], reference.Y[i], errs.Abs)
		}
		if m.Format == "rns" && bounds.Components[i] != nil && !errs.Within(bounds.Components[i]) && o.Precision >= 53 {
			t.Fatalf("%s: component %d: error %v above the paper's bound", what, i, errs.Abs)
		}
	}
	if m.Format == "rns" && o.Precision >= 53 && accuracy.Norm.IsFinite() && bounds.Norm != nil && rat(accuracy.Norm).Cmp(bounds.Norm) > 0 {
		t.Fatalf("%s: norm of the error %v above the paper's bound", what, accuracy.Norm)
	}
	o.Threads = o.Threads%3 + 1
	again := newEngine(t, m, o)
	if err := again.Load(p); err != nil {
		t.Fatal(err)
	}
	again.Run()
	again.Run()
	for i, v := range again.Result() {
		if !v.Equal(result[i]) {
			t.Fatalf("%s: component %d is %v with %d threads, was %v", what, i, v, o.Threads, result[i])
		}
	}
}

// TestSplitIsBasic: with one thread a block, both RNS methods do the same operations in the same order.
func TestSplitIsBasic(t *testing.T) {
	split, _ := Lookup("rns-split")
	basic, _ := Lookup("rns-basic")
	for seed := range uint64(100) {
		r := random{rand.New(rand.NewPCG(seed, 9)), int(seed % 4), []int{0, 120, 300}[seed%3]}
		p := r.problem(20)
		o := Options{Precision: 120, BlockSize: 1, Threads: 2, Rounding: rns.Rounding(seed & 1), Alignment: rns.Alignment(seed >> 1 & 1)}
		var results [2][]exact.Value
		for k, m := range []Method{split, basic} {
			e := newEngine(t, m, o)
			if err := e.Load(p); err != nil {
				t.Fatal(err)
			}
			e.Run()
			results[k] = e.Result()
		}
		for i := range results[0] {
			if !results[0][i].Equal(results[1][i]) {
				t.Fatalf("seed %d, component %d: %v and %v", seed, i, results[0][i], results[1][i])
			}
		}
	}
}
