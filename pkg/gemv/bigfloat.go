package gemv

import (
	"math/big"
	"time"
	"unsafe"

	"mpbench/pkg/exact"
)

// bigFloat is the classical algorithm with math/big.Float: binary, round to nearest even, p bits. d = alpha*x first, then for each
// component the products a_ij*d_j are added from left to right, and beta*y_i is added at the end.
type bigFloat struct {
	precision, threads int
	maxBytes           int64

	problem     Problem
	alpha, beta big.Float
	a, x, y     []big.Float // of x and y the elements only, in order
	d, result   []big.Float
	special     []float64
	converted   bool
	workers     []bigWorker
	elapsed     time.Duration
}

// bigTile is the number of components a goroutine computes side by side: neighbours in a column of A.
const bigTile = 16

// bigWorker is the scratch memory of a goroutine. A sum alternates between two numbers, as an addition in place allocates.
type bigWorker struct {
	sums    [2][bigTile]big.Float
	product big.Float
}

func newBigFloat(o Options) (Engine, error) {
	return &bigFloat{precision: o.Precision, threads: threadsOf(o.Threads), maxBytes: o.MaxBytes}, nil
}

func (e *bigFloat) Load(p Problem) error {
	if err := p.Check(); err != nil {
		return err
	}
	if err := p.checkBytes("bigfloat", int64(p.M)*int64(p.N)*int64(e.Format().NumberBytes), e.maxBytes, ""); err != nil {
		return err
	}
	*e = bigFloat{precision: e.precision, threads: e.threads, maxBytes: e.maxBytes, problem: p, special: p.specials()}
	e.alpha = e.number(p.Alpha.numbers(), 0)
	e.beta = e.number(p.Beta.numbers(), 0)
	e.result = make([]big.Float, p.Rows())
	if p.readsY() {
		e.y = e.array(p.Rows(), p.Y, p.yIndex)
	}
	if p.work() == full {
		e.x = e.array(p.Terms(), p.X, p.xIndex)
		e.d = make([]big.Float, p.Terms())
		e.a = make([]big.Float, p.LDA*(p.N-1)+p.M)
		for j := range p.N {
			for i := range p.M {
				e.a[j*p.LDA+i] = e.number(p.A, j*p.LDA+i)
			}
		}
	}
	e.workers = make([]bigWorker, e.threads)
	for i := range e.workers {
		e.workers[i].product.SetPrec(uint(e.precision))
		for r := range bigTile {
			e.workers[i].sums[0][r].SetPrec(uint(e.precision))
			e.workers[i].sums[1][r].SetPrec(uint(e.precision))
		}
	}
	return nil
}

// number returns number i of x rounded to the precision; infinities and NaN, whose components are known beforehand, count as 0.
func (e *bigFloat) number(x Numbers, i int) (z big.Float) {
	var exact big.Float
	z.SetPrec(uint(e.precision)).Set(x.float(&exact, i))
	e.converted = e.converted || z.Acc() != big.Exact
	return z
}

func (e *bigFloat) array(n int, x Numbers, index func(int) int) []big.Float {
	result := make([]big.Float, n)
	for i := range result {
		result[i] = e.number(x, index(i))
	}
	return result
}

func (e *bigFloat) Run() {
	start := time.Now()
	p := &e.problem
	for i := range e.result {
		e.result[i].SetPrec(uint(e.precision)).SetInt64(0)
	}
	switch {
	case p.work() == unchanged:
		for i := range e.result {
			e.result[i].Set(&e.y[i])
		}
	case p.readsY():
		for i := range e.result {
			e.result[i].Mul(&e.beta, &e.y[i])
		}
	}
	if p.work() == full {
		for j := range e.d {
			e.d[j].SetPrec(uint(e.precision)).Mul(&e.alpha, &e.x[j])
		}
		parallel(e.threads, p.Rows(), bigTile, e.rows)
	}
	e.elapsed = time.Since(start)
}

// rows computes components first to last-1.
func (e *bigFloat) rows(worker, first, last int) {
	p, w := &e.problem, &e.workers[worker]
	sum, next := &w.sums[0], &w.sums[1]
	for r := range last - first {
		sum[r].SetInt64(0)
	}
	for j := range e.d {
		for r := range last - first {
			w.product.Mul(&e.a[p.aIndex(first+r, j)], &e.d[j])
			next[r].Add(&sum[r], &w.product)
		}
		sum, next = next, sum
	}
	for r := range last - first {
		next[r].Add(&e.result[first+r], &sum[r])
		e.result[first+r].Set(&next[r])
	}
}

func (e *bigFloat) Result() []exact.Value {
	result := make([]exact.Value, len(e.result))
	for i := range result {
		if e.special != nil && e.special[i] != 0 {
			result[i] = exact.FromFloat64(e.special[i])
		} else {
			result[i] = exact.FromBig(&e.result[i])
		}
	}
	return result
}

func (e *bigFloat) Phases() []Phase {
	return []Phase{{"gemv", "the whole operation", e.elapsed}}
}

func (e *bigFloat) UnitRoundoff() *big.Rat { return exact.PowerOfTwo(-e.precision) }

// ErrorBound is gamma(n+2) * S with u = 2^-p: two products, n-1 additions that are not to zero, and that of beta*y.
// The exponents of big.Float do not overflow here.
func (e *bigFloat) ErrorBound(_ int, s exact.Summary) *big.Rat {
	p := &e.problem
	return exact.GammaTimes(depth(p.work(), p.Terms(), e.converted), e.UnitRoundoff(), rat(s.SumAbs))
}

func (e *bigFloat) Format() Format {
	number := int(unsafe.Sizeof(big.Float{})) + 8*((e.precision+63)/64)
	return Format{Name: "big.Float", Actual: e.precision, NumberBytes: number, WorkspaceBytes: len(e.d) * number, Threads: e.threads}
}
