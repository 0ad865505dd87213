package gemv

import (
	"fmt"
	"math/big"
	"time"

	"mpbench/pkg/exact"
	"mpbench/pkg/rns"
)

// split is algorithm 1 of the 2020 paper. Operations on arrays run in three passes, which are kernels on a GPU: signs,
// exponents and interval evaluations; residues; rounding.
//
//	1  d = alpha*x
//	2  y = beta*y
//	3  B = A*diag(d) (N) or diag(d)*A (T)
//	4  y_i += the sum of row i (N) or of column i (T) of B, in the order of blockSums
//
// B is the workspace: M*N numbers of NumberBytes each, made once by Load. Here beta*y goes to the result, not over y, so
// that a run can be repeated.
type split struct {
	residues
	blockSize int

	b       *rns.Vector // element (i, j) is number j*M + i
	adders  []*splitAdder
	views   []splitViews
	elapsed [len(splitPhases)]time.Duration
}

// splitViews is the scratch memory of a goroutine in the passes over products.
type splitViews struct{ product, left, right rns.Float }

// Limits of a block of rns-split: those of a CUDA launch.
const (
	DefaultBlockSize = 64
	MaxBlockSize     = 1024
)

// splitTile is the number of components that a goroutine sums side by side.
const splitTile = 8

// The phases, in the order in which they first run: those of the paper's Table 3.
const (
	vectorFields = iota
	vectorResidues
	matrixFields
	matrixResidues
	rounding
	sums
)

var splitPhases = [...]Phase{
	vectorFields:   {Name: "vector-fields", Summary: "x by alpha and y by beta: signs, exponents, interval evaluations"},
	vectorResidues: {Name: "vector-residues", Summary: "x by alpha and y by beta: residues"},
	matrixFields:   {Name: "matrix-fields", Summary: "the matrix B: signs, exponents, interval evaluations"},
	matrixResidues: {Name: "matrix-residues", Summary: "the matrix B: residues"},
	rounding:       {Name: "rounding", Summary: "rounding of the vectors and of B"},
	sums:           {Name: "sums", Summary: "sums of the rows or columns of B, added to beta*y"},
}

func newSplit(o Options) (Engine, error) {
	size := o.BlockSize
	if size == 0 {
		size = DefaultBlockSize
	}
	if size < 1 || size > MaxBlockSize {
		return nil, fmt.Errorf("%w: block size %d; want 1 to %d", ErrOption, size, MaxBlockSize)
	}
	if isGPU(o.Device) {
		return newDeviceSplit(o, size)
	}
	r, err := newResidues(o)
	if err != nil {
		return nil, err
	}
	return &split{residues: r, blockSize: size}, nil
}

func (e *split) Load(p Problem) error {
	if err := e.load(p, "rns-split", 2); err != nil {
		return err
	}
	e.b, e.adders, e.views = nil, nil, make([]splitViews, e.threads)
	if p.work() != full {
		return nil
	}
	base := e.context.Base()
	e.b = base.NewVector(p.M * p.N)
	e.adders = make([]*splitAdder, e.threads)
	for i := range e.adders {
		e.adders[i] = &splitAdder{split: e, context: e.workers[i], slots: newFloats(base, min(splitTile, p.Rows())*e.used())}
	}
	return nil
}

// used is the number of slots of a component.
func (e *split) used() int { return min(e.blockSize, e.problem.Terms()) }

func (e *split) Run() {
	clear(e.elapsed[:])
	scaleY, multiply := e.copyY(), e.problem.work() == full
	e.pass(vectorFields, func() {
		if scaleY {
			e.scaleVector((*rns.Context).MulFields, e.result, e.beta, e.y)
		}
		if multiply {
			e.scaleVector((*rns.Context).MulFields, e.d, e.alpha, e.x)
		}
	})
	e.pass(vectorResidues, func() {
		if scaleY {
			e.scaleVector((*rns.Context).MulResidues, e.result, e.beta, e.y)
		}
		if multiply {
			e.scaleVector((*rns.Context).MulResidues, e.d, e.alpha, e.x)
		}
	})
	e.pass(rounding, func() {
		if scaleY {
			e.scaleVector((*rns.Context).MulRound, e.result, e.beta, e.y)
		}
		if multiply {
			e.scaleVector((*rns.Context).MulRound, e.d, e.alpha, e.x)
		}
	})
	if !multiply {
		return
	}
	e.pass(matrixFields, func() { e.scaleMatrix((*rns.Context).MulFields) })
	e.pass(matrixResidues, func() { e.scaleMatrix((*rns.Context).MulResidues) })
	e.pass(rounding, func() { e.scaleMatrix((*rns.Context).MulRound) })
	e.pass(sums, func() { parallel(e.threads, e.problem.Rows(), splitTile, e.sum) })
}

// pass times one pass.
func (e *split) pass(phase int, run func()) {
	start := time.Now()
	run()
	e.elapsed[phase] += time.Since(start)
}

// part is one of the three parts of a product.
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
	p := &e.problem
	parallel(e.threads, p.N, 1, func(worker, j, _ int) {
		v, c := &e.views[worker], e.workers[worker]
		if p.Op == NoTrans {
			e.d.View(&v.right, j)
		}
		for i := range p.M {
			if p.Op == Trans {
				e.d.View(&v.right, i)
			}
			e.b.View(&v.product, j*p.M+i)
			e.a.View(&v.left, j*p.LDA+i)
			do(c, &v.product, &v.left, &v.right)
			e.b.SetFields(j*p.M+i, &v.product)
		}
	})
}

// sum adds the sums of components first to last-1 to the result.
func (e *split) sum(worker, first, last int) {
	a := e.adders[worker]
	a.first = first
	blockSums(a, last-first, e.problem.Terms(), e.blockSize)
	for r := range last - first {
		e.result.View(&a.term, first+r)
		a.context.Add(&a.term, &a.term, a.slots[r*e.used()])
		e.result.SetFields(first+r, &a.term)
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
func (a *splitAdder) view(r, j int) {
	e := a.split
	if e.problem.Op == Trans {
		e.b.View(&a.term, (a.first+r)*e.problem.M+j)
	} else {
		e.b.View(&a.term, j*e.problem.M+a.first+r)
	}
}

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

func (e *split) Phases() []Phase {
	phases := splitPhases
	for i := range phases {
		phases[i].Time = e.elapsed[i]
	}
	return phases[:]
}

// ErrorBound is gamma(k) * S with k = 2 + sumDepth + 1: two products, the additions of the block, that of beta*y. With
// B = 1 it is the paper's gamma(n+2).
func (e *split) ErrorBound(_ int, s exact.Summary) *big.Rat {
	return e.bound(sumDepth(e.problem.Terms(), e.blockSize)+1, s)
}

func (e *split) Format() Format {
	if e.b == nil {
		return e.format(0)
	}
	return e.format(e.b.Len())
}
