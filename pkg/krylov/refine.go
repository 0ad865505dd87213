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
	outer, err := newIteration(ctx, f, s, Options{Threads: o.Threads, Float64Matrix: o.Float64Matrix})
	if err != nil {
		return Result{}, err
	}
	inner, err := newIteration(ctx, format.Binary64, s, o)
	if err != nil {
		return Result{}, err
	}
	start := time.Now()
	result := &outer.result
	outer.normB = outer.norm(outer.b)
	limit := o.Tolerance * outer.normB
	o.Tolerance = max(math.Sqrt(o.Tolerance), 0x1p-26)
	for last := math.Inf(1); ; {
		var norm float64
		if norm, err = outer.residual(inner.b, s, exact); err != nil {
			return Result{}, err
		}
		if n := len(result.History); n > 0 && norm-norm == 0 { // the computed residual in place of the recurrence's
			result.Recurrence = norm / outer.normB
			result.History[n-1] = result.Recurrence
		}
		if result.Status = refined(norm, last, limit, result.Iterations >= o.Iterations); result.Status != "" {
			break
		}
		last = norm
		if result.Status = outer.correct(inner, norm, o); result.Status != Converged {
			break
		}
	}
	result.finish(start)
	result.X = f.Source(outer.x, outer.n)
	return *result, nil
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

// residual sets r to b - A*x, rounded, and returns its norm.
func (it *iteration[V, S]) residual(r []float64, s System, exact bool) (float64, error) {
	f := &it.format
	if exact {
		defer clock(&it.result.Shares.Product, time.Now())
		component, err := s.residual(f.Source(it.x, it.n))
		if err != nil {
			return 0, err
		}
		it.work(it.n, elementGrain, func(_, from, to int) {
			for i := from; i < to; i++ {
				r[i], _ = component(i).Float64()
			}
		})
		return norm2(r), nil
	}
	z := f.Make(it.n)
	it.product(z, it.x)
	it.axpy(z, it.minus, z, it.b)
	norm := it.norm(z)
	copy(r, it.floats)
	return norm, nil
}

// correct adds to x the solution of A*d = r in binary64, r scaled by a power of two to a norm about 1.
func (it *iteration[V, S]) correct(inner *iteration[[]float64, float64], norm float64, o Options) Status {
	_, e := math.Frexp(norm)
	inner.format.Scal(inner.b, math.Ldexp(1, -e), inner.b)
	clear(inner.x)
	inner.result, inner.most = Result{}, o.Iterations-it.result.Iterations
	inner.run(o)
	r, part := &it.result, &inner.result
	r.Iterations += part.Iterations
	for _, h := range part.History {
		r.History = append(r.History, h*norm/it.normB)
	}
	r.Shares.add(part.Shares)
	if part.Status != Converged {
		r.Recurrence = part.Recurrence * norm / it.normB
		return part.Status
	}
	inner.format.Scal(inner.x, math.Ldexp(1, e), inner.x)
	d, _ := it.format.Load(numbers.Vector(numbers.Float64s(inner.x)))
	it.axpy(it.x, it.number(1), d, it.x)
	return Converged
}

func (s *Shares) add(t Shares) {
	s.Product += t.Product
	s.Dot += t.Dot
	s.Norm += t.Norm
	s.Precondition += t.Precondition
}
