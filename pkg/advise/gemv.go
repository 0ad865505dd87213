package advise

import (
	"fmt"
	"math/big"

	"mpbench/pkg/bench"
	"mpbench/pkg/exact"
	"mpbench/pkg/gemv"
)

// sampleSide is the number of rows and columns of a part that costs are estimated on.
const sampleSide = 64

// Gemv is a matrix-vector product by the given methods. The wish is for every component.
func Gemv(in bench.GemvInput, methods []gemv.Method, maxBytes int64) Operation {
	return &product{in.Problem, in.Reference, methods, maxBytes}
}

type product struct {
	problem  gemv.Problem
	exact    *gemv.Reference
	all      []gemv.Method
	maxBytes int64
}

func (p *product) Name() string { return "gemv" }

func (p *product) Facts() Facts {
	f := Facts{Size: []string{fmt.Sprintf("m = %d", p.problem.M), fmt.Sprintf("n = %d", p.problem.N), "op(A) = " + p.problem.Op.String()}}
	f.Condition = exact.FromRat(big.NewRat(1, 1))
	for i := range p.exact.Y {
		if c := p.exact.Condition(i); larger(c, f.Condition) {
			f.Condition = c
		}
	}
	var e exponents
	for j := range p.problem.N {
		for i := range p.problem.M {
			at := j*p.problem.LDA + i
			if w := p.problem.A.Wide; w == nil {
				e.addFloat(p.problem.A.Float64[at])
			} else if w[at].Sign() != 0 {
				e.add(w[at].MantExp(nil) - 1)
			}
		}
	}
	return e.facts(f)
}

func (p *product) methods() []row {
	var list []row
	for _, m := range p.all {
		list = append(list, row{m.Name, m.Format, m.Devices, m.FixedBits, m.MinPrecision, m.MaxPrecision})
	}
	return list
}

// sample is the upper left part of the matrix.
func (p *product) sample() (Operation, float64) {
	whole := float64(p.problem.M) * float64(p.problem.N)
	s := *p
	s.problem.M, s.problem.N = min(p.problem.M, sampleSide), min(p.problem.N, sampleSide)
	scale := whole / (float64(s.problem.M) * float64(s.problem.N))
	if scale < 4 || p.problem.IncX < 0 || p.problem.IncY < 0 {
		return nil, 1
	}
	return &s, scale
}

func (p *product) prepare(name string, precision int, device string, threads int) (instance, error) {
	for _, m := range p.all {
		if m.Name == name {
			e, err := m.New(gemv.Options{Precision: precision, Device: device, Threads: threads, BlockSize: gemv.DefaultBlockSize, MaxBytes: p.maxBytes})
			return &productInstance{product: p, engine: e}, err
		}
	}
	return nil, unknownMethod(name)
}

type productInstance struct {
	*product
	engine gemv.Engine
	loaded bool
}

// bound before load loads one component: bounds depend on the length of the sums and on the kind of the numbers.
func (i *productInstance) bound() exact.Value {
	worst := exact.FromRat(new(big.Rat))
	one := i.problem
	if one.Op == gemv.Trans {
		one.N = min(1, one.N)
	} else {
		one.M = min(1, one.M)
	}
	if !i.loaded && i.engine.Load(one) != nil {
		return exact.Value{Class: exact.NaN}
	}
	for k, y := range i.exact.Y {
		b := exact.Value{Class: exact.NaN}
		if i.exact.Abs[k].IsFinite() {
			b = relativeBound(i.engine.ErrorBound(k, i.exact.Summary(k)), y)
		}
		if larger(b, worst) {
			worst = b
		}
	}
	return worst
}

func (i *productInstance) load() error {
	i.loaded = true
	return i.engine.Load(i.problem)
}

func (i *productInstance) run() error {
	i.engine.Run()
	return bench.DeviceError(i.engine)
}

func (i *productInstance) close() { _ = bench.CloseDevice(i.engine) }

func (i *productInstance) found() exact.Value {
	worst := exact.FromRat(new(big.Rat))
	for k, y := range i.engine.Result() {
		if e := exact.Measure(y, i.exact.Y[k]).Rel; larger(e, worst) {
			worst = e
		}
	}
	return worst
}
