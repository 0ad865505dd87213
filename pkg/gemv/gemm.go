package gemv

import (
	"cmp"
	"context"
	"runtime"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"

	"mpbench/pkg/device"
	"mpbench/pkg/exact"
	"mpbench/pkg/format"
	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
)

// gemmMethods are the loops of binary64 and big.Float for all products but gemv, and gonum's Dgemm.
func gemmMethods() []method.Method {
	loops := format.Recursive(method.Method{Name: "float64", Summary: "in binary64", Bits: 53}, "u = 2^-53",
		func(method.Config) format.Format[[]float64, float64] { return format.Binary64 }, op.Gemm, op.Symv, op.Trmv)
	gonum := loops[0]
	gonum.Name, gonum.Summary, gonum.Threads = "gonum", "gonum's Dgemm in binary64, alpha*B before", false
	gonum.Bound.Source += ", in any order; gonum.org/v1/gonum/blas/blas64"
	gonum.On = map[device.Kind]method.New{device.CPU: func(c method.Config) (method.Engine, error) {
		return &gonumEngine{config: c}, nil
	}}
	return slices.Concat(loops, []method.Method{gonum}, format.Recursive(method.Method{
		Name: "bigfloat", Summary: "with math/big.Float", Least: 2, Most: 1 << 16,
	}, "u = 2^-p", format.BigFloat, op.Gemm, op.Symv, op.Trmv))
}

// gonumEngine calls gonum's Dgemm for d = alpha*B and C = A*d + beta*C. A term passes through two products and at most
// n additions in any order, beta*C through one and n: g(n+2) bounds both. Products lose what they lose in the loops of
// binary64. gonum leaves out products with 0, whatever the other factor is: infinities and NaN are found before.
type gonumEngine struct {
	config    method.Config
	problem   *op.Problem
	shape     op.Shape
	alpha     []float64 // one number or none
	beta      float64
	a, b      general
	c, result blas64.General // c as it was
	scaled    []float64      // alpha*B
	rounded   method.Rounded
	special   []exact.Value
}

func (e *gonumEngine) Prepare(_ context.Context, p *op.Problem) error {
	shape, err := p.Op.Shape(p)
	if err := cmp.Or(err, e.CheckMemory(p)); err != nil {
		return err
	}
	*e = gonumEngine{config: e.config, problem: p, shape: shape, special: op.Specials(p, shape.Components)}
	if shape.Components == 0 {
		return nil
	}
	left, right := method.Rounded{}, method.Rounded{}
	if p.Multiplies() {
		e.a, e.b = loadGeneral(p.Matrix(), &left), loadGeneral(p.Right(), &left)
		if !p.Alpha.Absent() {
			e.alpha = vector(p.Alpha, &left).Data[:1]
			e.scaled = make([]float64, len(e.b.Data))
		}
	}
	columns := p.Right().Cols
	e.result = blas64.General{Rows: shape.Rows, Cols: columns, Stride: max(1, columns)}
	e.result.Data = make([]float64, shape.Components)
	e.c = e.result
	if p.Adds() {
		e.beta = 1
		if !p.Beta.Absent() {
			e.beta = vector(p.Beta, &right).Data[0]
		}
		c, r := format.Binary64.Load(p.Y)
		e.c.Data = c
		right.Add(r)
	}
	e.rounded = method.Rounded{Factors: max(left.Factors, right.Factors), Lost: left.Lost || right.Lost}
	return nil
}

// CheckMemory checks that copies of the matrices fit, if they have to be made.
func (e *gonumEngine) CheckMemory(p *op.Problem) error {
	return checkCopies("gonum", e.config, p, p.Matrix(), p.Right())
}

func (e *gonumEngine) Run(context.Context) error {
	copy(e.result.Data, e.c.Data)
	switch {
	case e.shape.Components == 0 || e.problem.Copies():
		return nil
	case !e.problem.Multiplies():
		blas64.Scal(e.beta, blas64.Vector{N: len(e.result.Data), Inc: 1, Data: e.result.Data})
		return nil
	}
	b := e.b.General
	if e.alpha != nil {
		for i, x := range b.Data {
			e.scaled[i] = e.alpha[0] * x
		}
		b.Data = e.scaled
	}
	blas64.Gemm(e.a.trans, e.b.trans, 1, e.a.General, b, e.beta, e.result)
	return nil
}

func (e *gonumEngine) Result() (numbers.Source, error) {
	values := make(numbers.Values, len(e.result.Data))
	for i, x := range e.result.Data {
		if values[i] = exact.FromFloat64(x); e.special != nil && !e.special[i].IsFinite() {
			values[i] = e.special[i]
		}
	}
	return values, nil
}

func (e *gonumEngine) Info() method.Info {
	return method.Info{
		Format: "binary64", Bits: 53, NumberBytes: 8, WorkspaceBytes: 8 * int64(len(e.scaled)),
		Threads: runtime.GOMAXPROCS(0), Rounded: e.rounded, Range: method.Binary64,
	}
}

func (e *gonumEngine) Close() error { return nil }
