package deferredgpu

import (
	"context"
	"errors"

	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
)

// gemmColumns computes a product of matrices column by column, each as a product of a matrix and a vector:
// where there are few columns each with planes of its own; otherwise one after the other, converted anew in
// each run.
type gemmColumns struct {
	config   method.Config
	problems []*op.Problem
	engines  []method.Engine // one for each column, or one for all
	values   numbers.Values  // of the last run, row by row
	times    method.Times    // of the last run, of all columns together
}

func (g *gemmColumns) prepare(ctx context.Context, p *op.Problem) error {
	right := p.Right()
	n := right.Cols
	g.values = make(numbers.Values, p.Matrix().Rows*n)
	for j := range n {
		q := *p
		q.X, q.TransX, q.Y = right.Column(j), false, p.Y.Column(j)
		g.problems = append(g.problems, &q)
	}
	for j := range min(n, g.engineCount()) {
		e, err := NewGemv(g.config)
		if err != nil {
			return errors.Join(err, g.close())
		}
		g.engines = append(g.engines, e)
		if err := e.Prepare(ctx, g.problems[j]); err != nil {
			return errors.Join(err, g.close())
		}
	}
	return nil
}

func (g *gemmColumns) engineCount() int {
	if len(g.problems) <= gemmFewColumns {
		return gemmFewColumns
	}
	return 1
}

func (g *gemmColumns) run(ctx context.Context, timed bool) error {
	g.times = method.Times{}
	for j, q := range g.problems {
		e := g.engines[min(j, len(g.engines)-1)]
		if len(g.engines) < len(g.problems) {
			if err := e.Prepare(ctx, q); err != nil {
				return err
			}
		}
		if err := g.runColumn(ctx, e, j, timed); err != nil {
			return err
		}
	}
	return nil
}

// runColumn computes column j.
func (g *gemmColumns) runColumn(ctx context.Context, e method.Engine, j int, timed bool) error {
	run := e.Run
	if timed {
		run = e.(method.Timed).RunTimed
	}
	if err := run(ctx); err != nil {
		return err
	}
	z, err := e.Result()
	if err != nil {
		return err
	}
	for i := range z.Len() {
		g.values[i*len(g.problems)+j] = numbers.At(z, i)
	}
	g.add(e.(method.Timed).Times())
	return nil
}

// add adds the times of a column; kernels are those of the last one.
func (g *gemmColumns) add(t method.Times) {
	g.times.Convert += t.Convert
	g.times.CopyIn += t.CopyIn
	g.times.Kernel += t.Kernel
	g.times.CopyOut += t.CopyOut
	g.times.Host += t.Host
	g.times.Kernels = t.Kernels
}

func (g *gemmColumns) result() (numbers.Source, error) { return g.values, nil }

func (g *gemmColumns) describe(info *method.Info) {
	if len(g.engines) == 0 {
		return
	}
	device := info.Device
	*info = g.engines[0].Info()
	info.Device = device
	variant := "column by column"
	if len(g.engines) < len(g.problems) {
		variant += ", each converted anew"
	}
	if info.Variant != "" {
		variant += "; " + info.Variant
	}
	info.Variant = variant
}

func (g *gemmColumns) close() error {
	var errs []error
	for _, e := range g.engines {
		errs = append(errs, e.Close())
	}
	g.engines = nil
	return errors.Join(errs...)
}
