package krylov

import (
	"time"

	"mpbench/pkg/format"
	"mpbench/pkg/numbers"
)

// Space is vectors of numbers S, one for each unknown of a system, and what the algorithms do with them, wherever they
// lie. It is called by one goroutine. After a failure dot products and sums of squares are 0 or NaN, which ends an
// iteration, and Solution returns the error.
type Space[V, S any] interface {
	Vector() V             // of zeros
	Right() V              // b
	Scal(z V, a S, x V)    // z = a*x
	Axpy(z V, a S, x, y V) // z = a*x + y
	Product(z, x V)        // z = A*x
	Precondition(z, x V)   // M*z = x, where there is a preconditioner
	Dot(x, y V) S
	Squares(x V) float64    // the sum of the squares of Float64s, as [Squares] adds them
	Float64s(x V) []float64 // x rounded to binary64, until the next call
	Solution(x V) (numbers.Source, error)

	Enter(p Phase)                     // what follows belongs to it
	Shares(total time.Duration) Shares // of the time since the last call
}

// Prepared is a system in a number format, in the memory of this computer.
type Prepared[V any] struct {
	N        int
	Pattern  *numbers.Pattern // of the matrix
	Elements V                // of the matrix
	B        V
	Inverse  V           // of the diagonal for Jacobi, of the factors' for ILU(0)
	Factors  *Factors[V] // of ILU(0), nil without
	Rounded  bool        // the matrix, or b, has been rounded to the format
}

// Prepare converts a system to a number format.
func Prepare[V, S any](f format.Format[V, S], s System, o Options) (p Prepared[V], err error) {
	a := s.A.Compressed()
	if o.Float64Matrix {
		list, r := format.Binary64.Load(a.Elements())
		a = numbers.Sparse(numbers.Float64s(list), a.Cols, a.Pattern)
		p.Rounded = r.Factors > 0
	}
	p.N, p.Pattern = a.Rows, a.Pattern
	p.Elements, p.B = load(&p, f, a.Elements()), load(&p, f, s.B)
	switch o.Precondition {
	case Jacobi:
		p.Inverse, err = jacobi(&f, a.Pattern, p.Elements)
	case ILU0:
		p.Factors, p.Inverse, err = ilu0(&f, a)
	}
	return p, err
}

// load returns numbers of a format, where they are if they are that.
func load[V, S any](p *Prepared[V], f format.Format[V, S], a numbers.Array) V {
	if f.Same != nil {
		if v, ok := f.Same(a); ok {
			return v
		}
	}
	v, r := f.Load(a)
	p.Rounded = p.Rounded || r.Factors > 0
	return v
}

// Phase is a part of an iteration.
type Phase int

// The phases.
const (
	Rest Phase = iota
	Product
	Dot
	Norm
	Preconditioning
	phases
)

func (p Phase) String() string {
	return [phases]string{"rest", "spmv", "dot", "norm", "precondition"}[p]
}

// Phases lists them, what is left as the last one.
func Phases() []Phase { return []Phase{Product, Dot, Norm, Preconditioning, Rest} }

// Shares are the times that the phases take.
type Shares [phases]time.Duration

func (s *Shares) add(t Shares) {
	for p, d := range t {
		s[p] += d
	}
}

// complete sets what is left of a time.
func (s *Shares) complete(total time.Duration) {
	s[Rest] = total
	for _, d := range s[Rest+1:] {
		s[Rest] -= d
	}
}

// stopwatch takes the times of phases by the clock.
type stopwatch struct {
	shares Shares
	phase  Phase
	since  time.Time
}

func (w *stopwatch) Enter(p Phase) {
	now := time.Now()
	w.shares[w.phase] += now.Sub(w.since)
	w.phase, w.since = p, now
}

// Shares returns the times since it was called last.
func (w *stopwatch) Shares(total time.Duration) Shares {
	shares := w.shares
	w.shares = Shares{}
	shares.complete(total)
	return shares
}
