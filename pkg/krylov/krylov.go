// Package krylov solves systems of linear equations with a sparse matrix by Krylov subspace methods in any number
// format.
//
// The decisions that measurements led to are in docs/design/krylov.md.
//
// The programs of all formats are the same and differ in their arithmetic alone: vectors and scalars are numbers of
// the format, as are the elements of the matrix. Only the 2-norm of the stopping criterion is computed in binary64
// for all, of numbers rounded to that. So a number of iterations shows what rounding does to the method.
//
// A method keeps a residual by a recurrence, and stops as soon as its 2-norm is below the tolerance times that of
// b. That residual may lie. Afterwards the true residual b - A*x is computed without rounding, and only if it is
// below the limit, too, the system counts as solved.
package krylov

import (
	"context"
	"math"
	"time"

	"mpbench/internal/parallel"
	"mpbench/pkg/format"
	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
)

// Options say how a system is solved.
type Options struct {
	Tolerance  float64 // of the 2-norm of the residual, relative to that of b
	Iterations int     // at most
	Algorithm  Algorithm
	Precondition
	Threads       int  // 0: GOMAXPROCS; the results do not depend on them
	Float64Matrix bool // the matrix is rounded to binary64, which takes fewer bytes; the rest is in the format
}

// Status says how an iteration ended.
type Status string

// The ways to end.
const (
	Converged  Status = "converged"           // both residuals are below the limit
	Deceived   Status = "true residual above" // the recurrence's is, the true one is not
	Stagnated  Status = "stagnated"           // at the limit of iterations, the last half of which brought nothing
	Limit      Status = "iteration limit"     // at the limit of iterations, still on the way
	BreakRho   Status = "breakdown, rho = 0"  // the residual is orthogonal to the shadow residual
	BreakAlpha Status = "breakdown, (r,v) = 0"
	BreakOmega Status = "breakdown, omega = 0" // t is 0, or orthogonal to s
	Indefinite Status = "breakdown, p'Ap <= 0" // of CG: the matrix is not positive definite
	Overflow   Status = "overflow"             // a number leaves the range of the format
	Interrupt  Status = "interrupted"
)

// Shares are the times that parts of the iteration take.
type Shares struct{ Product, Dot, Norm, Precondition, Rest time.Duration }

// Result is what an iteration gave.
type Result struct {
	Status     Status
	Iterations int
	X          numbers.Source
	History    []float64 // ||r||_2 / ||b||_2 of the recurrence after each iteration, all finite
	Time       time.Duration
	Shares     Shares
	Rounded    bool // the matrix, or b, has been rounded to the format

	Recurrence float64 // the last of History, 0 without any
	True       float64 // ||b - A*x||_2 / ||b||_2, of the exact residual
	// Backward is ||b - A*x||_inf / (||A||_inf ||x||_inf + ||b||_inf): Rigal, Gaches 1967, DOI 10.1145/321406.321416.
	Backward float64
}

// Solver solves systems in a number format.
type Solver struct {
	Name        string // as users type it
	Format      string // in records
	Bits        int    // 0 where the precision is chosen
	Least, Most int
	solve       func(context.Context, int, System, Options) (Result, error)
}

// Of returns the solver of a format.
func Of[V, S any](name string, bits, least, most int, f func(method.Config) format.Format[V, S]) Solver {
	in := f(method.Config{Precision: max(bits, least)})
	run := func(ctx context.Context, p int, s System, o Options) (Result, error) {
		return solve(ctx, f(method.Config{Precision: p}), s, o)
	}
	return Solver{name, in.Name, bits, least, most, run}
}

// Refined returns a solver by iterative refinement: systems with the matrix in binary64 give corrections of a solution
// in another format.
func Refined[V, S any](name string, f format.Format[V, S], exact bool) Solver {
	run := func(ctx context.Context, _ int, s System, o Options) (Result, error) {
		return refine(ctx, f, s, o, exact)
	}
	return Solver{name, "binary64, refined in " + f.Name, f.Bits, 0, 0, run}
}

// Solve solves a system, with so many bits where the precision is chosen. An error is one of the system, or of the
// preconditioner.
func (s Solver) Solve(ctx context.Context, bits int, system System, o Options) (Result, error) {
	if err := system.Check(); err != nil {
		return Result{}, err
	}
	r, err := s.solve(ctx, bits, system, o)
	if err != nil {
		return r, err
	}
	return r, r.judge(system, o)
}

// iteration is a method under way.
type iteration[V, S any] struct {
	ctx    context.Context
	format format.Format[V, S]
	n      int
	rows   func(z, x V, from, to int)
	starts []int        // of windows of rows
	solve  func(z, x V) // the preconditioner; nil for none
	b, x   V
	floats []float64 // scratch of norms
	parts  V         // scratch of dot products
	scalar V         // scratch of signs
	minus  S         // -1
	limit  float64
	normB  float64
	most   int
	turn   int                                               // iterations that a step counts as
	work   func(n, grain int, do func(worker, from, to int)) // parallel.Ranges
	result Result
}

// newIteration returns an iteration with x = 0.
func newIteration[V, S any](
	ctx context.Context, f format.Format[V, S], s System, o Options,
) (*iteration[V, S], error) {
	a, rounded := s.A.Compressed(), false
	if o.Float64Matrix {
		list, r := format.Binary64.Load(a.Elements())
		a = numbers.Sparse(numbers.Float64s(list), a.Cols, a.Pattern)
		rounded = r.Factors > 0
	}
	elements, first := f.Load(a.Elements())
	b, second := f.Load(s.B)
	n := a.Rows
	it := &iteration[V, S]{
		ctx: ctx, format: f, n: n, rows: f.RowsOf(a.Pattern, elements), b: b, x: f.Make(n), floats: make([]float64, n),
		starts: a.Pattern.Windows(), most: o.Iterations, turn: 1,
	}
	it.work = func(n, grain int, do func(worker, from, to int)) { parallel.Ranges(o.Threads, n, grain, do) }
	if f.DotGrain > 0 {
		it.parts = f.Make((n + f.DotGrain - 1) / f.DotGrain)
	}
	it.result.Rounded = rounded || first.Factors+second.Factors > 0
	var err error
	if it.solve, err = preconditioner(&it.format, a, o.Precondition); err != nil {
		return nil, err
	}
	it.scalar, it.minus = f.Make(1), it.number(-1)
	return it, nil
}

// run solves the system, for which x is 0.
func (it *iteration[V, S]) run(o Options) {
	it.normB = it.norm(it.b)
	it.limit = o.Tolerance * it.normB
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
	it.result.finish(start)
}

// finish sets the time since start, and what is left of it beside the shares.
func (r *Result) finish(start time.Time) {
	r.Time = time.Since(start)
	r.Shares.Rest = r.Time - r.Shares.Product - r.Shares.Dot - r.Shares.Norm - r.Shares.Precondition
}

func solve[V, S any](ctx context.Context, f format.Format[V, S], s System, o Options) (Result, error) {
	it, err := newIteration(ctx, f, s, o)
	if err != nil {
		return Result{}, err
	}
	it.run(o)
	it.result.X = f.Source(it.x, it.n)
	return it.result, nil
}

// clock adds the time since start to a share.
func clock(share *time.Duration, start time.Time) { *share += time.Since(start) }

// product sets z = A*x.
func (it *iteration[V, S]) product(z, x V) {
	defer clock(&it.result.Shares.Product, time.Now())
	it.work(len(it.starts)-1, 1, func(_, i, _ int) { it.rows(z, x, it.starts[i], it.starts[i+1]) })
}

// elementGrain is how many elements of a vector a goroutine computes at a time.
const elementGrain = 1 << 13

// axpy sets z = a*x + y.
func (it *iteration[V, S]) axpy(z V, a S, x, y V) {
	f := &it.format
	it.work(it.n, elementGrain, func(_, from, to int) {
		f.Axpy(f.Slice(z, from, to), a, f.Slice(x, from, to), f.Slice(y, from, to))
	})
}

// precondition returns x, or z with M*z = x.
func (it *iteration[V, S]) precondition(z, x V) V {
	if it.solve == nil {
		return x
	}
	defer clock(&it.result.Shares.Precondition, time.Now())
	it.solve(z, x)
	return z
}

func (it *iteration[V, S]) dot(x, y V) S {
	defer clock(&it.result.Shares.Dot, time.Now())
	f := &it.format
	if f.DotGrain == 0 || it.n <= f.DotGrain {
		return f.Dot(x, y)
	}
	it.work(it.n, f.DotGrain, func(_, from, to int) {
		f.Set(it.parts, from/f.DotGrain, f.Dot(f.Slice(x, from, to), f.Slice(y, from, to)))
	})
	for n := (it.n + f.DotGrain - 1) / f.DotGrain; n > 1; n = (n + 1) / 2 {
		for i := range n / 2 {
			f.Set(it.parts, i, f.Add(f.Get(it.parts, 2*i), f.Get(it.parts, 2*i+1)))
		}
		if n%2 == 1 {
			f.Set(it.parts, n/2, f.Get(it.parts, n-1))
		}
	}
	return f.Get(it.parts, 0)
}

// norm returns the 2-norm in binary64, scaled where squares leave its range.
func (it *iteration[V, S]) norm(x V) float64 {
	defer clock(&it.result.Shares.Norm, time.Now())
	it.work(it.n, elementGrain, func(_, from, to int) {
		it.format.Float64s(it.floats[from:to], it.format.Slice(x, from, to))
	})
	return norm2(it.floats)
}

func norm2(x []float64) float64 {
	sum := squares(x, 1)
	if sum >= 0x1p-900 && sum <= 0x1p900 || sum != sum {
		return math.Sqrt(sum)
	}
	largest := 0.0
	for _, v := range x {
		largest = max(largest, math.Abs(v))
	}
	if largest == 0 || math.IsInf(largest, 0) {
		return largest
	}
	_, e := math.Frexp(largest)
	e = max(e, -1000)
	return math.Ldexp(math.Sqrt(squares(x, math.Ldexp(1, -e))), e)
}

func squares(x []float64, scale float64) (sum float64) {
	for _, v := range x {
		v *= scale
		sum += float64(v * v)
	}
	return sum
}

// number returns a scalar of the format, exactly for small integers.
func (it *iteration[V, S]) number(x float64) S {
	v, _ := it.format.Load(numbers.Scalar(x))
	return it.format.Get(v, 0)
}

// sign returns that of a scalar, NaN for NaN.
func (it *iteration[V, S]) sign(x S) float64 {
	var z [1]float64
	it.format.Set(it.scalar, 0, x)
	if it.format.Float64s(z[:], it.scalar); z[0] == 0 {
		z[0] = float64(it.format.Value(x).Number().Sign()) // below the range of binary64
	}
	return z[0]
}

// negative returns -x.
func (it *iteration[V, S]) negative(x S) S { return it.format.Mul(it.minus, x) }

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
