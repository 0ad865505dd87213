package gemv

import (
	"context"

	"mpbench/internal/parallel"
	"mpbench/pkg/bound"
	"mpbench/pkg/device"
	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
	"mpbench/pkg/rns"
	"mpbench/pkg/rns/rnsop"
)

// basicMethod is the paper's basic implementation: one operation after another, each complete before the next. d =
// alpha*x first; for each component the products a_ij*d_j are formed and added from left to right, and then to
// beta*y_i: two products, n-1 additions that are not to zero, and that of beta*y.
func basicMethod() method.Method {
	return method.Method{
		Operation: op.Gemv, Name: "rns-basic", Summary: "row by row, one RNS operation after another", Format: "rns",
		Least: rns.MinPrecision, Most: rns.MaxPrecision, Options: rnsop.Options(), Threads: true,
		Bound: bound.New("g(n+2)*S, u = 2^(1-p)", sourcePaper2020+", section 6.2"),
		On: map[device.Kind]method.New{device.CPU: func(c method.Config) (method.Engine, error) {
			r, err := newResidues("rns-basic", 1, c)
			return &basic{residues: r}, err
		}},
	}
}

// sparseBasicMethod is the same for sparse matrices, whose stored elements alone are terms.
func sparseBasicMethod() method.Method {
	m := basicMethod()
	m.Operation = op.Spmv
	return m
}

type basic struct {
	residues
	scratch []basicWorker
}

// basicTile is the number of components a goroutine computes side by side: neighbours in a column of A.
const basicTile = 16

type basicWorker struct {
	sums    []*rns.Float
	product *rns.Float
	a, d    rns.Float // views
}

func (e *basic) Prepare(_ context.Context, p *op.Problem) error {
	if err := e.load(p); err != nil {
		return err
	}
	e.scratch = make([]basicWorker, e.Workers())
	for i := range e.scratch {
		b := e.context.Base()
		e.scratch[i] = basicWorker{sums: newFloats(b, basicTile), product: b.NewFloat()}
	}
	return nil
}

func (e *basic) Run(context.Context) error {
	e.ResetCounts()
	if e.copyY() {
		e.context.ScaleVector(e.result, e.Beta, e.Y)
	}
	if e.multiplies {
		e.context.ScaleVector(e.d, e.Alpha, e.X)
		if rows := e.Problem.Matrix().Pattern; rows != nil {
			starts := rows.Windows()
			parallel.Ranges(e.Workers(), len(starts)-1, 1, func(worker, i, _ int) {
				e.sparseRows(worker, rows, starts[i], starts[i+1])
			})
			return nil
		}
		parallel.Ranges(e.Workers(), e.result.Len(), basicTile, e.rows)
	}
	return nil
}

func (e *basic) rows(worker, from, to int) {
	w, c := &e.scratch[worker], e.Worker(worker)
	sums := w.sums[:to-from]
	for _, sum := range sums {
		sum.SetZero()
	}
	for j := range e.d.Len() {
		e.d.View(&w.d, j)
		for r, sum := range sums {
			e.A.View(&w.a, e.index(from+r, j))
			c.Mul(w.product, &w.a, &w.d)
			c.Add(sum, sum, w.product)
		}
	}
	for r, sum := range sums {
		e.result.View(&w.a, from+r)
		c.Add(&w.a, &w.a, sum)
		e.result.SetFields(from+r, &w.a)
	}
}

// sparseRows is rows for the stored elements, which lie row by row.
func (e *basic) sparseRows(worker int, rows *numbers.Pattern, from, to int) {
	w, c := &e.scratch[worker], e.Worker(worker)
	sum, k := w.sums[0], rows.Start[from]-rows.Start[0]
	for i := from; i < to; i++ {
		sum.SetZero()
		for _, j := range rows.Row(i) {
			e.A.View(&w.a, k)
			e.d.View(&w.d, int(j))
			c.Mul(w.product, &w.a, &w.d)
			c.Add(sum, sum, w.product)
			k++
		}
		e.result.View(&w.a, i)
		c.Add(&w.a, &w.a, sum)
		e.result.SetFields(i, &w.a)
	}
}

func (e *basic) Result() (numbers.Source, error) { return e.Operands.Result(e.result), nil }
func (e *basic) Info() method.Info               { return e.info(0) }
