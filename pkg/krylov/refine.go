package krylov

import (
	"context"
	"math"
	"time"

	"mpbench/pkg/format"
	"mpbench/pkg/numbers"
)

// refine solves a system by iterative refinement, with x = 0 to begin with:
//
//	r = b - A x, A d = r to the square root of the tolerance, or 2^-26, in binary64, x = x + d
//
// until ||r||_2 is below the limit: J. H. Wilkinson, Rounding Errors in Algebraic Processes (1963); E. Carson,
// N. J. Higham, SIAM J. Sci. Comput. 40 (2018) A817-A847, DOI 10.1137/17M1140819. The residual is computed in the
// format of x, or without rounding, and rounded to binary64. The iterations are those of all corrections.
func refine[V, S any](ctx context.Context, f format.Format[V, S], s System, o Options, exact bool) (Result, error) {
	r, err := newRefinement(ctx, f, s, o)
	if err != nil {
		return Result{}, err
	}
	start := time.Now()
	result := &r.outer.result
	r.outer.normB = r.outer.norm(r.outer.b)
	r.space.Shares(0)
	limit := o.Tolerance * r.outer.normB
	o.Tolerance = max(math.Sqrt(o.Tolerance), 0x1p-26)
	for last := math.Inf(1); ; {
		var norm float64
		if norm, err = r.residual(s, exact); err != nil {
			return Result{}, err
		}
		if n := len(result.History); n > 0 && norm-norm == 0 { // the computed residual in place of the recurrence's
			result.Recurrence = norm / r.outer.normB
			result.History[n-1] = result.Recurrence
		}
		if result.Status = refined(norm, last, limit, result.Iterations >= o.Iterations); result.Status != "" {
			break
		}
		last = norm
		if result.Status = r.correct(norm, o); result.Status != Converged {
			break
		}
	}
	result.Time = time.Since(start)
	r.shares.add(r.space.shares)
	r.shares.complete(result.Time)
	result.Shares = r.shares
	return r.outer.end()
}

// refinement is an iterative refinement under way: a solution in a format, and corrections in binary64.
type refinement[V, S any] struct {
	outer  *iteration[V, S]
	space  *host[V, S] // of outer
	inner  *iteration[[]float64, float64]
	shares Shares // of the corrections
}

func newRefinement[V, S any](
	ctx context.Context, f format.Format[V, S], s System, o Options,
) (*refinement[V, S], error) {
	wide, err := Prepare(f, s, Options{Float64Matrix: o.Float64Matrix})
	if err != nil {
		return nil, err
	}
	narrow, err := Prepare(format.Binary64, s, o)
	if err != nil {
		return nil, err
	}
	narrow.B = make([]float64, narrow.N) // of corrections
	space := newHost(f, wide, o)
	r := &refinement[V, S]{
		outer: newIteration(ctx, f, Space[V, S](space), o), space: space,
		inner: newIteration(ctx, format.Binary64, Space[[]float64, float64](newHost(format.Binary64, narrow, o)), o),
	}
	r.outer.result.Rounded = wide.Rounded
	return r, nil
}

// refined tells how refinement ends with a residual of such a norm, after the last one: "" if it goes on.
func refined(norm, last, limit float64, exhausted bool) Status {
	switch {
	case norm-norm != 0:
		return Overflow
	case norm < limit || norm == 0:
		return Converged
	case norm > last/2:
		return Stagnated
	case exhausted:
		return Limit
	}
	return ""
}

// residual sets the right-hand side of corrections to b - A*x, rounded, and returns its norm.
func (r *refinement[V, S]) residual(s System, exact bool) (float64, error) {
	it, b := r.outer, r.inner.b
	if !exact {
		z := it.space.Vector()
		it.product(z, it.x)
		it.axpy(z, it.minus, z, it.b)
		norm := it.norm(z)
		copy(b, it.space.Float64s(z))
		return norm, nil
	}
	it.space.Enter(Product)
	it.result.Products++
	defer it.space.Enter(Rest)
	component, err := s.residual(r.space.format.Source(it.x, len(b)))
	if err != nil {
		return 0, err
	}
	r.space.work(elementGrain, func(from, to int) {
		for i := from; i < to; i++ {
			b[i], _ = component(i).Float64()
		}
	})
	return norm(Squares(b, 1, r.space.threads), func() []float64 { return b }), nil
}

// correct adds to x the solution of A*d = r in binary64, r scaled by a power of two to a norm about 1.
func (r *refinement[V, S]) correct(norm float64, o Options) Status {
	it, inner := r.outer, r.inner
	_, e := math.Frexp(norm)
	inner.space.Scal(inner.b, math.Ldexp(1, -e), inner.b)
	clear(inner.x)
	inner.result, inner.most = Result{}, o.Iterations-it.result.Iterations
	inner.run(o)
	result, part := &it.result, &inner.result
	result.Iterations += part.Iterations
	result.Products += part.Products
	for _, h := range part.History {
		result.History = append(result.History, h*norm/it.normB)
	}
	r.shares.add(part.Shares)
	if part.Status != Converged {
		result.Recurrence = part.Recurrence * norm / it.normB
		return part.Status
	}
	inner.space.Scal(inner.x, math.Ldexp(1, e), inner.x)
	d, _ := r.space.format.Load(numbers.Vector(numbers.Float64s(inner.x)))
	it.axpy(it.x, it.number(1), d, it.x)
	return Converged
}
