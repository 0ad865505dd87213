package gemv

import (
	"cmp"

	"mpbench/internal/parallel"
	"mpbench/pkg/method"
	"mpbench/pkg/op"
	"mpbench/pkg/rns"
	"mpbench/pkg/rns/rnsop"
)

// residues is the part that the RNS methods share: the numbers, the result.
type residues struct {
	name    string // of the method
	copies  int    // of the matrix that it holds
	config  method.Config
	context *rns.Context

	*rnsop.Operands             // nil before Prepare
	multiplies      bool        // alpha*op(A)*x is to be computed
	d, result       *rns.Vector // alpha*x; beta*y and in the end the result
}

func newResidues(name string, copies int, c method.Config) (residues, error) {
	context, err := rnsop.NewContext(c)
	return residues{name: name, copies: copies, config: c, context: context}, err
}

func (e *residues) load(p *op.Problem) error {
	err := e.CheckMemory(p)
	if err != nil {
		return err
	}
	if e.Operands, err = rnsop.Load(e.context, p, e.config.Threads, nil); err != nil {
		return err
	}
	e.multiplies, e.d = p.Multiplies(), nil
	e.result = e.context.Base().NewVector(e.Shape.Rows)
	if e.multiplies {
		e.d = e.context.Base().NewVector(e.X.Len())
	}
	return nil
}

// CheckMemory checks that the copies of the matrix fit, in residues.
func (e *residues) CheckMemory(p *op.Problem) error {
	shape, err := p.Op.Shape(p)
	need := int64(e.copies) * shape.Elements * int64(e.context.Base().TermBytes())
	return cmp.Or(err, e.config.CheckMemory(e.name, shape, need, ""))
}

// index returns where the factor of x_j in component i lies in A.
func (e *residues) index(i, j int) int {
	if e.Problem.Trans {
		return i*e.Shape.M + j
	}
	return j*e.Shape.M + i
}

// copyY makes the result y, where that is all there is to do, and otherwise 0 if y does not matter. It reports whether
// beta*y remains to be computed.
func (e *residues) copyY() bool {
	var f rns.Float
	switch {
	case e.Problem.Copies():
		for i := range e.result.Len() {
			e.Y.View(&f, i)
			e.result.Set(i, &f)
		}
		return false
	case e.Problem.Adds():
		return true
	}
	zero := e.context.Base().NewFloat()
	for i := range e.result.Len() {
		e.result.Set(i, zero)
	}
	return false
}

// info describes the numbers; extra is the workspace beside d, in numbers.
func (e *residues) info(extra int) method.Info {
	info := e.Operands.Info(e.context)
	if e.d != nil {
		extra += e.d.Len()
	}
	info.WorkspaceBytes = int64(extra) * int64(info.NumberBytes)
	info.Threads = parallel.Threads(e.config.Threads)
	return info
}

func (e *residues) Close() error { return nil }

func newFloats(b *rns.Base, n int) []*rns.Float {
	list := make([]*rns.Float, n)
	for i := range list {
		list[i] = b.NewFloat()
	}
	return list
}
