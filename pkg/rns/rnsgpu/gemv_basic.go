package rnsgpu

import (
	"context"

	"mpbench/cuda"
	"mpbench/pkg/gpu"
	"mpbench/pkg/method"
	"mpbench/pkg/op"
)

// NewBasic is rns-basic on a GPU: one thread for each component, which does every operation whole.
func NewBasic(c method.Config) (method.Engine, error) {
	r, err := newProduct("rns-basic", c)
	if err != nil {
		return nil, err
	}
	return &basic{product: r}, nil
}

type basic struct {
	product
	products, sums *Vector // one of each a component
}

func (e *basic) Prepare(_ context.Context, p *op.Problem) error {
	if err := e.Close(); err != nil {
		return err
	}
	rows := int64(p.Matrix().Rows)
	return e.load(p, 2*rows*int64(e.context.Base().TermBytes()), func() (err error) {
		e.steps, err = e.makeSteps()
		return err
	})
}

// basicThreads is the number of threads of a block: few, so that the rows reach many multiprocessors.
const basicThreads = 32

// basicStage is the method's only stage.
const basicStage = "gemv"

func (e *basic) makeSteps() (steps []step, err error) {
	add := func(s step, failed error) {
		steps = append(steps, s)
		if err == nil {
			err = failed
		}
	}
	isFull := e.multiplies
	longest := max(e.Shape.Rows, e.Shape.Length)
	if err := e.ensureScratch(ceilDiv(max(longest, 1), basicThreads) * basicThreads); err != nil {
		return nil, err
	}
	if isFull {
		add(e.scaleStep("d", scaled(e.dD, e.factors[0], e.dX)))
	}
	if e.scaleY {
		add(e.scaleStep("y", scaled(e.dResult, e.factors[1], e.dY)))
	}
	if isFull {
		add(e.rowsStep())
	}
	return steps, err
}

func basicLaunch(n int) gpu.Launch {
	return gpu.Launch{Grid: gpu.Dim{X: ceilDiv(n, basicThreads)}, Block: gpu.Dim{X: basicThreads}}
}

func (e *basic) scaleStep(array string, p cuda.Products) (step, error) {
	bytes := 2 * productCount(p) * int64(e.context.Base().TermBytes())
	return newStep(&e.product, basicStage, "gemvBasicProducts", array, basicLaunch(int(p.Rows)),
		cuda.GemvBasicProductsArgs{Base: e.base.Parameter(), Memory: e.scratch.Parameter(), P: p}, bytes)
}

func (e *basic) rowsStep() (s step, err error) {
	rows := e.Shape.Rows
	for _, v := range []**Vector{&e.products, &e.sums} {
		if *v, err = e.base.NewInterleaved(rows); err != nil {
			return s, err
		}
		e.own.Keep(*v)
	}
	p := cuda.GemvBasicRowsArgs{Base: e.base.Parameter(), Memory: e.scratch.Parameter()}
	p.S.P = e.matrixProducts(e.products.Parameter())
	if e.Problem.Trans { // rows of op(A) are columns of A
		q := &p.S.P
		q.Rows, q.Columns = q.Columns, q.Rows
		q.LeftRow, q.LeftColumn = q.LeftColumn, q.LeftRow
		q.RightRow, q.RightColumn = q.RightColumn, q.RightRow
	}
	p.S.Sums, p.S.Y = e.sums.Parameter(), e.dResult.Parameter()
	if e.scaleY {
		p.S.Add = 1
	}
	numbers := productCount(p.S.P) + int64(e.Shape.Length) + int64(rows)*int64(1+p.S.Add)
	return newStep(&e.product, basicStage, "gemvBasicRows", "y", basicLaunch(rows), p,
		numbers*int64(e.context.Base().TermBytes()))
}

func (e *basic) Stages() []method.Stage {
	return []method.Stage{{Name: basicStage, Summary: "the whole operation", Time: e.times.Kernel}}
}
