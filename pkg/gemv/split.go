package gemv

import (
	"context"
	"time"

	"mpbench/internal/parallel"
	"mpbench/pkg/bound"
	"mpbench/pkg/device"
	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
	"mpbench/pkg/rns"
	"mpbench/pkg/rns/rnsop"
)

// split is algorithm 1 of the 2020 paper. Operations on arrays run in three passes, which are kernels on a GPU: signs,
// exponents and interval evaluations; residues; rounding.
//
//	1  d = alpha*x
//	2  y = beta*y
//	3  B = A*diag(d) (N) or diag(d)*A (T)
//	4  y_i += the sum of row i (N) or of column i (T) of B, in the order of blockSums
//
// B is the workspace: M*N numbers of NumberBytes each, made once by Load. Here beta*y goes to the result, not over y,
// so that a run can be repeated.
type split struct {
	residues
	blockSize int

	b       *rns.Vector // element (i, j) is number j*M + i
	adders  []*splitAdder
	views   []splitViews
	elapsed [stages]time.Duration
}

// splitViews is the scratch memory of a goroutine in the passes over products.
type splitViews struct{ product, left, right rns.Float }

// splitTile is the number of components that a goroutine sums side by side.
const splitTile = 8

// stages is how many stages of the paper's Table 3 a run has, see rnsop.SplitStages.
const stages = len(rnsop.SplitStages)

// splitMethod: a term passes through two products, the additions of its block and that of beta*y. B = 1 gives the
// paper's g(n+2)*S.
func splitMethod() method.Method {
	return method.Method{
		Operation: op.Gemv, Name: "rns-split", Format: "rns",
		Summary: "operations on arrays in parts: signs, exponents, intervals; residues; rounding; then sums",
		Least:   rns.MinPrecision, Most: rns.MaxPrecision, Threads: true,
		Options: append(rnsop.Options(), method.Option{
			Name: "block-size", Default: "64", Least: 1, Most: 1024,
			Usage: "rns-split: numbers of a row that are added side by side",
		}, rnsop.TuneOption),
		Bound: bound.New("g(ceil(n/B)+ceil(log2 min(B,n))+2)*S, u = 2^(1-p), B numbers side by side",
			sourcePaper2020+", algorithm 1"),
		On: map[device.Kind]method.New{device.CPU: func(c method.Config) (method.Engine, error) {
			r, err := newResidues("rns-split", 2, c)
			return &split{residues: r, blockSize: c.Int("block-size")}, err
		}},
	}
}

func (e *split) Prepare(_ context.Context, p *op.Problem) error {
	if err := e.load(p); err != nil {
		return err
	}
	e.b, e.adders, e.views = nil, nil, make([]splitViews, e.Workers())
	if !e.multiplies {
		return nil
	}
	base := e.context.Base()
	e.b = base.NewVector(e.A.Len())
	e.adders = make([]*splitAdder, e.Workers())
	for i := range e.adders {
		slots := newFloats(base, min(splitTile, e.Shape.Rows)*e.used())
		e.adders[i] = &splitAdder{split: e, context: e.Worker(i), slots: slots}
	}
	return nil
}

// used is the number of slots of a component.
func (e *split) used() int { return min(e.blockSize, e.Shape.Length) }

func (e *split) Run(context.Context) error {
	e.ResetCounts()
	clear(e.elapsed[:])
	scaleY := e.copyY()
	scale := func(do part) {
		if scaleY {
			e.scaleVector(do, e.result, e.Beta, e.Y)
		}
		if e.multiplies {
			e.scaleVector(do, e.d, e.Alpha, e.X)
		}
	}
	e.pass(rnsop.VectorFields, func() { scale((*rns.Context).MulFields) })
	e.pass(rnsop.VectorResidues, func() { scale((*rns.Context).MulResidues) })
	e.pass(rnsop.Rounding, func() { scale((*rns.Context).MulRound) })
	if !e.multiplies {
		return nil
	}
	e.pass(rnsop.MatrixFields, func() { e.scaleMatrix((*rns.Context).MulFields) })
	e.pass(rnsop.MatrixResidues, func() { e.scaleMatrix((*rns.Context).MulResidues) })
	e.pass(rnsop.Rounding, func() { e.scaleMatrix((*rns.Context).MulRound) })
	e.pass(rnsop.Sums, func() { parallel.Ranges(e.Workers(), e.Shape.Rows, splitTile, e.sum) })
	return nil
}

func (e *split) pass(stage int, run func()) {
	start := time.Now()
	run()
	e.elapsed[stage] += time.Since(start)
}

type part func(c *rns.Context, z, x, y *rns.Float)

// scaleVector does one part of z = f*x.
func (e *split) scaleVector(do part, z *rns.Vector, f *rns.Float, x *rns.Vector) {
	v := &e.views[0]
	for i := range z.Len() {
		z.View(&v.product, i)
		x.View(&v.right, i)
		do(e.context, &v.product, f, &v.right)
		z.SetFields(i, &v.product)
	}
}

// scaleMatrix does one part of B = A*diag(d), or of diag(d)*A, column by column.
func (e *split) scaleMatrix(do part) {
	m, trans := e.Shape.M, e.Problem.Trans
	parallel.Ranges(e.Workers(), e.Shape.N, 1, func(worker, j, _ int) {
		v, c := &e.views[worker], e.Worker(worker)
		if !trans {
			e.d.View(&v.right, j)
		}
		for i := range m {
			if trans {
				e.d.View(&v.right, i)
			}
			e.b.View(&v.product, j*m+i)
			e.A.View(&v.left, j*m+i)
			do(c, &v.product, &v.left, &v.right)
			e.b.SetFields(j*m+i, &v.product)
		}
	})
}

// sum adds the sums of components from to to-1 to the result.
func (e *split) sum(worker, from, to int) {
	a := e.adders[worker]
	a.first = from
	blockSums(a, to-from, e.Shape.Length, e.blockSize)
	for r := range to - from {
		e.result.View(&a.term, from+r)
		a.context.Add(&a.term, &a.term, a.slots[r*e.used()])
		e.result.SetFields(from+r, &a.term)
	}
}

// splitAdder adds numbers of B: the adder of a goroutine.
type splitAdder struct {
	split   *split
	context *rns.Context
	slots   []*rns.Float
	term    rns.Float // a view
	first   int       // the component that is number 0 here
}

// view makes term j of component r the current term.
func (a *splitAdder) view(r, j int) { a.split.b.View(&a.term, a.split.index(a.first+r, j)) }

func (a *splitAdder) load(slot, r, j int) {
	a.view(r, j)
	a.slots[slot].Set(&a.term)
}

func (a *splitAdder) addTerm(slot, r, j int) {
	a.view(r, j)
	a.context.Add(a.slots[slot], a.slots[slot], &a.term)
}

func (a *splitAdder) addSlot(slot, other int) {
	a.context.Add(a.slots[slot], a.slots[slot], a.slots[other])
}

func (e *split) Stages() []method.Stage {
	list := rnsop.SplitStages
	for i := range list {
		list[i].Time = e.elapsed[i]
	}
	return list[:]
}

func (e *split) Result() (numbers.Source, error) { return e.Operands.Result(e.result), nil }

func (e *split) Info() method.Info {
	extra := 0
	if e.b != nil {
		extra = e.b.Len()
	}
	info := e.info(extra)
	info.Bound = map[string]int{"B": e.blockSize}
	return info
}
