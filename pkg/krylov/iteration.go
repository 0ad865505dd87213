package krylov

import (
	"context"
	"math"
	"time"

	"mpbench/pkg/format"
	"mpbench/pkg/numbers"
)

// iteration is a method under way.
type iteration[V, S any] struct {
	scalars[S]
	ctx   context.Context
	space Space[V, S]
	b, x  V
	limit float64
	normB float64
	most  int
	turn  int // iterations that a step counts as

	preconditioned bool
	result         Result
}

// scalars is the arithmetic of single numbers.
type scalars[S any] struct {
	add, mul, div func(x, y S) S
	number        func(float64) S // exact for small integers
	sign          func(S) float64 // NaN for NaN
	minus         S               // -1
}

func scalarsOf[V, S any](f format.Format[V, S]) scalars[S] {
	s := scalars[S]{add: f.Add, mul: f.Mul, div: f.Div}
	s.number = func(x float64) S {
		v, _ := f.Load(numbers.Scalar(x))
		return f.Get(v, 0)
	}
	one := f.Make(1)
	s.sign = func(x S) float64 {
		var z [1]float64
		f.Set(one, 0, x)
		if f.Float64s(z[:], one); z[0] == 0 {
			z[0] = float64(f.Value(x).Number().Sign()) // below the range of binary64
		}
		return z[0]
	}
	s.minus = s.number(-1)
	return s
}

// negative returns -x.
func (s *scalars[S]) negative(x S) S { return s.mul(s.minus, x) }

// Run solves the system of a space, whose numbers are those of a format in the memory of this computer.
func Run[W, V, S any](ctx context.Context, f format.Format[W, S], space Space[V, S], o Options) (Result, error) {
	it := newIteration(ctx, f, space, o)
	it.run(o)
	return it.end()
}

// newIteration returns an iteration with x = 0.
func newIteration[W, V, S any](
	ctx context.Context, f format.Format[W, S], space Space[V, S], o Options,
) *iteration[V, S] {
	return &iteration[V, S]{
		scalars: scalarsOf(f), ctx: ctx, space: space, b: space.Right(), x: space.Vector(), most: o.Iterations, turn: 1,
		preconditioned: o.Precondition != None && o.Precondition != "",
	}
}

// end returns the result.
func (it *iteration[V, S]) end() (Result, error) {
	var err error
	it.result.X, err = it.space.Solution(it.x)
	return it.result, err
}

// run solves the system, for which x is 0.
func (it *iteration[V, S]) run(o Options) {
	it.normB = it.norm(it.b)
	it.limit = o.Tolerance * it.normB
	it.space.Shares(0)
	start := time.Now()
	switch {
	case it.normB == 0: // x = 0 solves A*x = 0
		it.result.Status = Converged
	case o.Algorithm == CG:
		it.result.Status = it.cg()
	case o.Algorithm == BiCGStab2:
		it.result.Status = it.bicgstab2()
	default:
		it.result.Status = it.bicgstab()
	}
	it.result.Time = time.Since(start)
	it.result.Shares = it.space.Shares(it.result.Time)
}

// vectors returns so many vectors of zeros.
func (it *iteration[V, S]) vectors(n int) (list []V) {
	for range n {
		list = append(list, it.space.Vector())
	}
	return list
}

// copy sets z = x.
func (it *iteration[V, S]) copy(z, x V) { it.space.Scal(z, it.number(1), x) }

// product sets z = A*x.
func (it *iteration[V, S]) product(z, x V) {
	it.space.Enter(Product)
	it.space.Product(z, x)
	it.result.Products++
	it.space.Enter(Rest)
}

// axpy sets z = a*x + y.
func (it *iteration[V, S]) axpy(z V, a S, x, y V) { it.space.Axpy(z, a, x, y) }

// precondition returns x, or z with M*z = x.
func (it *iteration[V, S]) precondition(z, x V) V {
	if !it.preconditioned {
		return x
	}
	it.space.Enter(Preconditioning)
	defer it.space.Enter(Rest)
	it.space.Precondition(z, x)
	return z
}

func (it *iteration[V, S]) dot(x, y V) S {
	it.space.Enter(Dot)
	defer it.space.Enter(Rest)
	return it.space.Dot(x, y)
}

// norm returns the 2-norm in binary64.
func (it *iteration[V, S]) norm(x V) float64 {
	it.space.Enter(Norm)
	defer it.space.Enter(Rest)
	return norm(it.space.Squares(x), func() []float64 { return it.space.Float64s(x) })
}

// step ends an iteration with residual r, and tells whether it is the last one.
func (it *iteration[V, S]) step(r V) (Status, bool) {
	res := &it.result
	norm := it.norm(r)
	res.Iterations += it.turn
	res.Recurrence = norm / it.normB
	if norm-norm != 0 {
		return Overflow, true
	}
	for range it.turn {
		res.History = append(res.History, res.Recurrence)
	}
	switch {
	case norm < it.limit:
		return Converged, true
	case it.ctx.Err() != nil:
		return Interrupt, true
	case res.Iterations+it.turn > it.most:
		return exhausted(res.History), true
	}
	return "", false
}

// exhausted tells stagnation, where the last half of the iterations has not halved the least residual of those before.
func exhausted(history []float64) Status {
	half := len(history) / 2
	least := func(list []float64) float64 {
		m := math.Inf(1)
		for _, v := range list {
			m = min(m, v)
		}
		return m
	}
	if least(history[half:]) > least(history[:half])/2 {
		return Stagnated
	}
	return Limit
}
