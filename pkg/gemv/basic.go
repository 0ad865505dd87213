package gemv

import (
	"math/big"
	"time"

	"mpbench/pkg/exact"
	"mpbench/pkg/rns"
)

// basic is the paper's basic implementation: one operation after another, each complete before the next. d = alpha*x first; for
// each component the products a_ij*d_j are formed and added from left to right, and then to beta*y_i.
type basic struct {
	residues
	scratch []basicWorker
	elapsed time.Duration
}

// basicTile is the number of components a goroutine computes side by side: neighbours in a column of A.
const basicTile = 16

// basicWorker is the scratch memory of a goroutine.
type basicWorker struct {
	sums    []*rns.Float
	product *rns.Float
	a, d    rns.Float // views
}

func newBasic(o Options) (Engine, error) {
	if isGPU(o.Device) {
		return newDeviceBasic(o)
	}
	r, err := newResidues(o)
	return &basic{residues: r}, err
}

func (e *basic) Load(p Problem) error {
	if err := e.load(p, "rns-basic", 1); err != nil {
		return err
	}
	e.scratch = make([]basicWorker, e.threads)
	for i := range e.scratch {
		b := e.context.Base()
		e.scratch[i] = basicWorker{sums: newFloats(b, basicTile), product: b.NewFloat()}
	}
	return nil
}

func (e *basic) Run() {
	start := time.Now()
	if e.copyY() {
		e.context.ScaleVector(e.result, e.beta, e.y)
	}
	if e.problem.work() == full {
		e.context.ScaleVector(e.d, e.alpha, e.x)
		parallel(e.threads, e.problem.Rows(), basicTile, e.rows)
	}
	e.elapsed = time.Since(start)
}

// rows computes components first to last-1.
func (e *basic) rows(worker, first, last int) {
	p, w, c := &e.problem, &e.scratch[worker], e.workers[worker]
	sums := w.sums[:last-first]
	for _, sum := range sums {
		sum.SetZero()
	}
	for j := range e.d.Len() {
		e.d.View(&w.d, j)
		for r, sum := range sums {
			e.a.View(&w.a, p.aIndex(first+r, j))
			c.Mul(w.product, &w.a, &w.d)
			c.Add(sum, sum, w.product)
		}
	}
	for r, sum := range sums {
		e.result.View(&w.a, first+r)
		c.Add(&w.a, &w.a, sum)
		e.result.SetFields(first+r, &w.a)
	}
}

func (e *basic) Phases() []Phase { return []Phase{{"gemv", "the whole operation", e.elapsed}} }

// ErrorBound is gamma(n+2) * S: two products, n-1 additions that are not to zero, and that of beta*y.
func (e *basic) ErrorBound(_ int, s exact.Summary) *big.Rat {
	return e.bound(e.problem.Terms(), s)
}

func (e *basic) Format() Format { return e.format(0) }
