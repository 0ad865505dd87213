// Package krylov solves systems of linear equations with a sparse matrix by Krylov subspace methods in any number
// format.
//
// The decisions that measurements led to are in docs/design/krylov.md.
//
// The programs of all formats are the same and differ in their arithmetic alone: vectors and scalars are numbers of
// the format, as are the elements of the matrix. Only the 2-norm of the stopping criterion is computed in binary64
// for all, of numbers rounded to that. So a number of iterations shows what rounding does to the method.
//
// Vectors, and the matrix, lie where a [Space] has them, in the memory of this computer or of a device; scalars are
// computed here. Sums are added in an order that does not depend on that, nor on the number of threads.
//
// A method keeps a residual by a recurrence, and stops as soon as its 2-norm is below the tolerance times that of
// b. That residual may lie. Afterwards the true residual b - A*x is computed without rounding, and only if it is
// below the limit, too, the system counts as solved.
package krylov

import (
	"context"
	"fmt"
	"maps"
	"time"

	"mpbench/pkg/device"
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
	Devices       device.Set // the zero Set is the CPU
	Threads       int        // of the CPU, 0: GOMAXPROCS; the results do not depend on them
	Float64Matrix bool       // the matrix is rounded to binary64, which takes fewer bytes; the rest is in the format
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

// Result is what an iteration gave.
type Result struct {
	Status     Status
	Iterations int
	Products   int // of the matrix and vectors that Shares have the time of
	X          numbers.Source
	History    []float64 // ||r||_2 / ||b||_2 of the recurrence after each iteration, all finite
	Time       time.Duration
	Shares     Shares
	Rounded    bool   // the matrix, or b, has been rounded to the format
	Device     string // as records have it, "" for the CPU

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
	// Parallel is the name of the solver in the same format whose dot products are added in an order for many threads,
	// where those of this one are added from the first term to the last; "" otherwise.
	Parallel string
	on       map[device.Kind]Solve
}

// Solve solves a system, with so many bits where the precision is chosen.
type Solve func(ctx context.Context, bits int, s System, o Options) (Result, error)

// Of returns the solver of a format on the CPU.
func Of[V, S any](name string, bits, least, most int, f func(method.Config) format.Format[V, S]) Solver {
	in := f(method.Config{Precision: max(bits, least)})
	run := func(ctx context.Context, p int, s System, o Options) (Result, error) {
		return solve(ctx, f(method.Config{Precision: p}), s, o)
	}
	return Solver{Name: name, Format: in.Name, Bits: bits, Least: least, Most: most}.With(device.CPU, run)
}

// Refined returns a solver by iterative refinement: systems with the matrix in binary64 give corrections of a solution
// in another format.
func Refined[V, S any](name string, f format.Format[V, S], exact bool) Solver {
	run := func(ctx context.Context, _ int, s System, o Options) (Result, error) {
		return refine(ctx, f, s, o, exact)
	}
	return Solver{Name: name, Format: "binary64, refined in " + f.Name, Bits: f.Bits}.With(device.CPU, run)
}

// With returns the solver with what solves systems on a kind of devices, too.
func (s Solver) With(kind device.Kind, f Solve) Solver {
	s.on = maps.Clone(s.on)
	if s.on == nil {
		s.on = map[device.Kind]Solve{}
	}
	s.on[kind] = f
	return s
}

// On tells whether there is a version for a kind of devices.
func (s Solver) On(kind device.Kind) bool { return s.on[kind] != nil }

// Solve solves a system. An error is one of the system, of the preconditioner, or of the device.
func (s Solver) Solve(ctx context.Context, bits int, system System, o Options) (Result, error) {
	if err := system.Check(); err != nil {
		return Result{}, err
	}
	f := s.on[o.Devices.Kind()]
	if f == nil {
		return Result{}, fmt.Errorf("krylov: %s does not run on %s", s.Name, o.Devices)
	}
	r, err := f(ctx, bits, system, o)
	if err != nil {
		return r, err
	}
	return r, r.judge(system, o)
}

func solve[V, S any](ctx context.Context, f format.Format[V, S], s System, o Options) (Result, error) {
	p, err := Prepare(f, s, o)
	if err != nil {
		return Result{}, err
	}
	r, err := Run(ctx, f, Space[V, S](newHost(f, p, o)), o)
	r.Rounded = p.Rounded
	return r, err
}
