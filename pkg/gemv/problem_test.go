package gemv

import (
	"errors"
	"math"
	"math/big"
	"testing"
)

// valid is a problem that Check accepts.
func valid() Problem {
	return Problem{
		M: 4, N: 3, Alpha: Number(1), A: Numbers{Float64: make([]float64, 5*2+4)}, LDA: 5,
		X: Numbers{Float64: make([]float64, 5)}, IncX: 2, Beta: Number(1), Y: Numbers{Float64: make([]float64, 10)}, IncY: -3,
	}
}

// TestCheck pins the messages and the order of the checks: each case is wrong in its own way and in every later way that can
// be combined with it.
func TestCheck(t *testing.T) {
	p := valid()
	if err := p.Check(); err != nil {
		t.Fatal(err)
	}
	short := func(p *Problem) { p.A, p.X, p.Y = Numbers{}, Numbers{}, Numbers{} }
	for _, c := range []struct {
		want  string
		kind  error
		spoil func(p *Problem)
	}{
		{"gemv: operation Op(7) is neither N nor T", ErrOp, func(p *Problem) { p.Op, p.M, p.N, p.LDA, p.IncX = 7, -1, -1, 0, 0 }},
		{"gemv: m = -1 < 0", ErrNegativeM, func(p *Problem) { p.M, p.N, p.LDA, p.IncX = -1, -2, 0, 0 }},
		{"gemv: n = -2 < 0", ErrNegativeN, func(p *Problem) { p.N, p.LDA, p.IncX = -2, 0, 0 }},
		{"gemv: lda 3 < max(1, m) = 4", ErrLDA, func(p *Problem) { p.LDA, p.IncX, p.IncY = 3, 0, 0 }},
		{"gemv: lda 0 < max(1, m) = 1", ErrLDA, func(p *Problem) { p.M, p.LDA, p.IncX = 0, 0, 0 }},
		{"gemv: incx = 0", ErrIncX, func(p *Problem) { p.IncX, p.IncY = 0, 0; short(p) }},
		{"gemv: incy = 0", ErrIncY, func(p *Problem) { p.IncY = 0; short(p) }},
		{"gemv: x has 0 numbers, fewer than 5", ErrShortX, func(p *Problem) { short(p) }},
		{"gemv: x has 4 numbers, fewer than 5", ErrShortX, func(p *Problem) { p.X.Float64 = p.X.Float64[:4] }},
		{"gemv: x has 5 numbers, fewer than 7", ErrShortX, func(p *Problem) { p.Op = Trans }},
		{"gemv: y has 9 numbers, fewer than 10", ErrShortY, func(p *Problem) { p.Y.Float64, p.A = p.Y.Float64[:9], Numbers{} }},
		{"gemv: y has 0 numbers, fewer than 10", ErrShortY, func(p *Problem) { short(p); p.N = 0 }},
		{"gemv: a has 13 numbers, fewer than 14", ErrShortA, func(p *Problem) { p.A.Float64 = p.A.Float64[:13] }},
		{"gemv: a has 0 numbers, fewer than 14", ErrShortA, func(p *Problem) { p.A, p.Alpha = Numbers{}, Number(0) }},
		{"gemv: number 2 of x is infinite or missing", ErrInfinite, func(p *Problem) {
			p.X = Numbers{Wide: []*big.Float{new(big.Float), nil, new(big.Float).SetInf(true), nil, nil}}
		}},
		{"gemv: number 4 of x is infinite or missing", ErrInfinite, func(p *Problem) {
			p.X = Numbers{Wide: []*big.Float{new(big.Float), nil, new(big.Float), nil, nil}}
		}},
	} {
		p := valid()
		c.spoil(&p)
		err := p.Check()
		if err == nil || err.Error() != c.want || !errors.Is(err, c.kind) || !errors.Is(err, ErrArgument) {
			t.Errorf("%v, want %q", err, c.want)
		}
		for _, m := range Methods() {
			e := newEngine(t, m, Options{Precision: 60, Threads: 1})
			if err := e.Load(p); err == nil || err.Error() != c.want {
				t.Errorf("%s: %v, want %q", m.Name, err, c.want)
			}
		}
		if _, err := Exact(p, 1); err == nil || err.Error() != c.want {
			t.Errorf("exact: %v, want %q", err, c.want)
		}
	}
	empty := valid()
	empty.M, empty.LDA, empty.A, empty.X, empty.Y = 0, 1, Numbers{}, Numbers{}, Numbers{}
	if err := empty.Check(); err != nil {
		t.Error(err)
	}
}

// TestPlace checks that negative increments start from the end.
func TestPlace(t *testing.T) {
	for _, c := range []struct{ i, n, inc, want int }{
		{0, 3, 1, 0}, {2, 3, 1, 2}, {0, 3, -1, 2}, {2, 3, -1, 0}, {1, 3, 2, 2}, {0, 3, -2, 4}, {1, 3, -2, 2}, {2, 3, -2, 0}, {0, 1, -5, 0},
	} {
		if got := place(c.i, c.n, c.inc); got != c.want {
			t.Errorf("element %d of %d, increment %d: %d, want %d", c.i, c.n, c.inc, got, c.want)
		}
	}
}

func newEngine(t testing.TB, m Method, o Options) Engine {
	t.Helper()
	e, err := m.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestOptions checks errors of options and the registry's fields.
func TestOptions(t *testing.T) {
	for _, m := range Methods() {
		if got, ok := Lookup(m.Name); !ok || got.Summary != m.Summary || m.Bound == "" || m.Source == "" || m.Format == "" {
			t.Errorf("%s: incomplete", m.Name)
		}
		if err := m.Accepts(1); (err == nil) != (m.FixedBits != 0) || err != nil && !errors.Is(err, ErrOption) {
			t.Errorf("%s accepts 1 bit: %v", m.Name, err)
		}
	}
	if _, ok := Lookup("rns"); ok {
		t.Error("rns is no method")
	}
	m, _ := Lookup("rns-split")
	for _, size := range []int{-1, MaxBlockSize + 1} {
		if _, err := m.New(Options{Precision: 60, BlockSize: size}); !errors.Is(err, ErrOption) {
			t.Errorf("block size %d: %v", size, err)
		}
	}
	if _, err := m.New(Options{Precision: 10}); err == nil {
		t.Error("10 bits accepted")
	}
}

// TestSpecials checks the components with infinities and NaN against IEEE 754 arithmetic in every method.
func TestSpecials(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	base := func() Problem {
		return Problem{
			M: 2, N: 2, Alpha: Number(2), A: Numbers{Float64: []float64{1, 2, 3, 4}}, LDA: 2,
			X: Numbers{Float64: []float64{1, 0}}, IncX: 1, Beta: Number(1), Y: Numbers{Float64: []float64{5, 6}}, IncY: 1,
		}
	}
	for _, c := range []struct {
		name   string
		change func(p *Problem)
		want   []float64
	}{
		{"none", func(*Problem) {}, []float64{7, 10}},
		{"infinite element", func(p *Problem) { p.A.Float64[0] = -inf }, []float64{-inf, 10}},
		{"infinite element times zero", func(p *Problem) { p.A.Float64[3] = inf }, []float64{7, nan}},
		{"nan element times zero", func(p *Problem) { p.A.Float64[2] = nan }, []float64{nan, 10}},
		{"transposed", func(p *Problem) { p.Op = Trans; p.A.Float64[0] = inf }, []float64{inf, 12}},
		{"infinite x", func(p *Problem) { p.X.Float64[1] = inf }, []float64{inf, inf}},
		{"opposite infinities", func(p *Problem) { p.A.Float64[0] = inf; p.Y.Float64[0] = -inf }, []float64{nan, 10}},
		{"nan in y", func(p *Problem) { p.Y.Float64[1] = nan }, []float64{7, nan}},
		{"nan in y, beta 0", func(p *Problem) { p.Y.Float64[1] = nan; p.Beta = Number(0) }, []float64{2, 4}},
		{"nan in a and x, alpha 0", func(p *Problem) {
			p.A.Float64[1], p.X.Float64[0], p.Alpha, p.Beta = nan, nan, Number(0), Number(-1)
		}, []float64{-5, -6}},
		{"nan in a, alpha 0, beta 1", func(p *Problem) { p.A.Float64[1], p.Alpha = nan, Number(0) }, []float64{5, 6}},
		{"nothing but zeros", func(p *Problem) { p.Y.Float64[0], p.Alpha, p.Beta = nan, Number(0), Number(0) }, []float64{0, 0}},
		{"infinite beta", func(p *Problem) { p.Beta = Number(-inf) }, []float64{-inf, -inf}},
		{"infinite beta times zero", func(p *Problem) { p.Beta = Number(inf); p.Y.Float64[0] = 0 }, []float64{nan, inf}},
	} {
		p := base()
		c.change(&p)
		reference, err := Exact(p, 2)
		if err != nil {
			t.Fatal(err)
		}
		check := func(who string, i int, got float64) {
			if got != c.want[i] && !(math.IsNaN(got) && math.IsNaN(c.want[i])) {
				t.Errorf("%s, %s: component %d is %v, want %v", c.name, who, i, got, c.want[i])
			}
		}
		for i, v := range reference.Y {
			check("exact", i, v.Float64())
		}
		for _, m := range Methods() {
			e := newEngine(t, m, Options{Precision: 60, Threads: 2})
			if err := e.Load(p); err != nil {
				t.Fatal(err)
			}
			for range 2 { // a second run starts from the same y
				e.Run()
				for i, v := range e.Result() {
					check(m.Name, i, v.Float64())
				}
			}
		}
	}
}
