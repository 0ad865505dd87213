package gemv

import (
	"math/big"

	"mpbench/pkg/exact"
	"mpbench/pkg/rns"
)

// residues is the part that the RNS methods share: the base, the numbers, the result.
type residues struct {
	context  *rns.Context
	threads  int
	maxBytes int64

	problem     Problem
	alpha, beta *rns.Float
	a           *rns.Vector // as the problem's: element (i, j) is number j*LDA + i
	x, y        *rns.Vector // the elements only, in order
	d, result   *rns.Vector // alpha*x; beta*y and in the end the result
	special     []float64
	converted   bool
	workers     []*rns.Context
}

func newResidues(o Options) (residues, error) {
	base, err := rns.NewBaseForPrecision(o.Precision, o.ModuliBits)
	if err != nil {
		return residues{}, err
	}
	return residues{context: rns.NewContext(base, o.Rounding, o.Alignment), threads: threadsOf(o.Threads), maxBytes: o.MaxBytes}, nil
}

// load checks and converts a problem of which copies matrices are to be held: float64 exactly; wider numbers are rounded only if a significand of F - 4 bits, about
// twice the precision, does not hold them.
func (e *residues) load(p Problem, method string, copies int) error {
	if err := p.Check(); err != nil {
		return err
	}
	base := e.context.Base()
	need := int64(copies) * int64(p.M) * int64(p.N) * int64(base.TermBytes())
	if err := p.checkBytes(method, need, e.maxBytes, ""); err != nil {
		return err
	}
	*e = residues{context: e.context, threads: e.threads, maxBytes: e.maxBytes, problem: p, special: p.specials()}
	e.workers = make([]*rns.Context, e.threads)
	for i := range e.workers {
		e.workers[i] = e.context.Clone()
	}
	e.converted = e.roundsAny(p.Alpha.numbers()) || e.roundsAny(p.Beta.numbers()) || e.roundsAny(p.A) || e.roundsAny(p.X) || e.roundsAny(p.Y)
	e.alpha, e.beta = base.NewFloat(), base.NewFloat()
	convert(e.context, e.alpha, p.Alpha.numbers(), 0)
	convert(e.context, e.beta, p.Beta.numbers(), 0)
	e.result = base.NewVector(p.Rows())
	if p.readsY() {
		e.y = e.vector(p.Rows(), p.Y, p.yIndex)
	}
	if p.work() != full {
		return nil
	}
	e.x = e.vector(p.Terms(), p.X, p.xIndex)
	e.d = base.NewVector(p.Terms())
	e.a = base.NewVector(p.LDA*(p.N-1) + p.M)
	parallel(e.threads, p.N, 1, func(worker, j, _ int) {
		column := e.a.Slice(j*p.LDA, j*p.LDA+p.M)
		fill(e.workers[worker], column, p.A, func(i int) int { return j*p.LDA + i })
	})
	return nil
}

// roundsAny reports whether the conversion of one of the numbers rounds.
func (e *residues) roundsAny(x Numbers) bool {
	most := uint(e.context.Base().ExactBits())
	for _, w := range x.Wide {
		if w != nil && w.MinPrec() > most {
			return true
		}
	}
	return false
}

func (e *residues) vector(n int, x Numbers, index func(int) int) *rns.Vector {
	v := e.context.Base().NewVector(n)
	fill(e.context, v, x, index)
	return v
}

// fill sets number i of v to number index(i) of x.
func fill(c *rns.Context, v *rns.Vector, x Numbers, index func(int) int) {
	var f rns.Float
	for i := range v.Len() {
		v.View(&f, i)
		convert(c, &f, x, index(i))
		v.SetFields(i, &f)
	}
}

// convert sets z to number i of x; infinities and NaN, whose components are known beforehand, count as 0.
func convert(c *rns.Context, z *rns.Float, x Numbers, i int) {
	if x.Wide != nil {
		c.SetBig(z, x.Wide[i])
		return
	}
	c.SetFloat64(z, finite(x.Float64[i]))
}

// copyY makes the result y, where that is all there is to do, and otherwise 0 if y does not matter. It reports whether
// beta*y remains to be computed.
func (e *residues) copyY() bool {
	var f rns.Float
	switch {
	case e.problem.work() == unchanged:
		for i := range e.result.Len() {
			e.y.View(&f, i)
			e.result.Set(i, &f)
		}
		return false
	case e.problem.readsY():
		return true
	}
	zero := e.context.Base().NewFloat()
	for i := range e.result.Len() {
		e.result.Set(i, zero)
	}
	return false
}

func (e *residues) Result() []exact.Value {
	result := make([]exact.Value, e.result.Len())
	var f rns.Float
	for i := range result {
		if e.special != nil && e.special[i] != 0 {
			result[i] = exact.FromFloat64(e.special[i])
			continue
		}
		e.result.View(&f, i)
		result[i] = exact.FromBig(e.context.Big(&f))
	}
	return result
}

func (e *residues) UnitRoundoff() *big.Rat { return e.context.UnitRoundoff() }

func (e *residues) bound(additions int, s exact.Summary) *big.Rat {
	return exact.GammaTimes(depth(e.problem.work(), additions, e.converted), e.UnitRoundoff(), rat(s.SumAbs))
}

// format describes the numbers; extra is the workspace beside d, in numbers.
func (e *residues) format(extra int) Format {
	b := e.context.Base()
	if e.d != nil {
		extra += e.d.Len()
	}
	return Format{
		Name: "rns", Actual: b.Precision(), Moduli: b.Len(), ModuliBits: b.ModuliBits(),
		NumberBytes: b.TermBytes(), WorkspaceBytes: extra * b.TermBytes(), Threads: e.threads,
	}
}

// newFloats returns n zeros.
func newFloats(b *rns.Base, n int) []*rns.Float {
	list := make([]*rns.Float, n)
	for i := range list {
		list[i] = b.NewFloat()
	}
	return list
}
