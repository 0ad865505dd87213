package advise

import (
	"fmt"
	"math/big"

	"mpbench/pkg/bench"
	"mpbench/pkg/exact"
	"mpbench/pkg/reduce"
)

// sampleTerms is the length of a part that costs are estimated on.
const sampleTerms = 4096

// Sum is the sum of a data set by the given methods.
func Sum(in bench.SumInput, methods []reduce.Method) Operation {
	return &reduction{
		name: "sum", all: methods, x: reduce.Terms{Float64: in.Data.Float64, Wide: in.Data.Wide}, summary: in.Summary,
	}
}

// Dot is the dot product of a pair of vectors by the given methods.
func Dot(in bench.DotInput, methods []reduce.Method) Operation {
	return &reduction{name: "dot", all: methods, x: in.X, y: &in.Y, summary: in.Summary}
}

// reduction is a sum of x, or a dot product of x and y.
type reduction struct {
	name    string
	all     []reduce.Method
	x       reduce.Terms
	y       *reduce.Terms // nil for a sum
	summary exact.Summary
}

func (r *reduction) Name() string { return r.name }

func (r *reduction) Facts() Facts {
	f := Facts{Size: []string{fmt.Sprintf("n = %d", r.x.Len())}, Condition: r.summary.Condition()}
	var e exponents
	for i := range r.x.Len() {
		if r.y == nil {
			if r.x.Wide == nil {
				e.addFloat(r.x.Float64[i])
			} else {
				e.addRat(r.x.Wide[i])
			}
			continue
		}
		var a, b exponents
		addTerm(&a, r.x, i)
		addTerm(&b, *r.y, i)
		if a.any && b.any {
			e.add(a.least + b.least) // of the product, or one less
		}
	}
	if r.y != nil && f.Condition.IsFinite() {
		f.Condition = exact.FromRat(new(big.Rat).Add(f.Condition.Rat, f.Condition.Rat)) // 2 sum|x_i y_i| / |sum x_i y_i|
	}
	return e.facts(f)
}

func addTerm(e *exponents, t reduce.Terms, i int) {
	if t.Wide != nil {
		e.addRat(t.Wide[i])
	} else {
		e.addFloat(t.Float64[i])
	}
}

func (r *reduction) methods() []row {
	var list []row
	for _, m := range r.all {
		list = append(list, row{m.Name, m.Format, m.Devices, m.FixedBits, m.MinPrecision, m.MaxPrecision})
	}
	return list
}

func (r *reduction) sample() (Operation, float64) {
	n := r.x.Len()
	if n <= 2*sampleTerms {
		return nil, 1
	}
	s := *r
	s.x = part(r.x, sampleTerms)
	if r.y != nil {
		y := part(*r.y, sampleTerms)
		s.y = &y
	}
	return &s, float64(n) / sampleTerms
}

func part(t reduce.Terms, n int) reduce.Terms {
	if t.Wide != nil {
		return reduce.Terms{Wide: t.Wide[:n]}
	}
	return reduce.Terms{Float64: t.Float64[:n]}
}

func (r *reduction) prepare(name string, precision int, device string, threads int) (instance, error) {
	o := reduce.Options{Precision: precision, Device: device, Threads: threads, Blocks: reduce.DefaultBlocks, BlockSize: reduce.DefaultBlockSize}
	for _, m := range r.all {
		if m.Name != name {
			continue
		}
		if r.y == nil {
			s, err := m.New(o)
			return &sumInstance{reduction: r, s: s}, err
		}
		d, err := m.NewDot(o)
		return &dotInstance{reduction: r, d: d}, err
	}
	return nil, unknownMethod(name)
}

type sumInstance struct {
	*reduction
	s      reduce.Summer
	loaded bool
}

// bound depends on the kind of the terms, wide or not, and on their summary.
func (i *sumInstance) bound() exact.Value {
	if !i.summary.SumAbs.IsFinite() || !i.loaded && i.s.Load(part(i.x, min(1, i.x.Len()))) != nil {
		return exact.Value{Class: exact.NaN}
	}
	return relativeBound(i.s.ErrorBound(i.summary), i.summary.Sum)
}

func (i *sumInstance) load() error {
	i.loaded = true
	return i.s.Load(i.x)
}

func (i *sumInstance) run() error {
	i.s.Sum()
	return bench.DeviceError(i.s)
}

func (i *sumInstance) close() { _ = bench.CloseDevice(i.s) }

func (i *sumInstance) found() exact.Value {
	return exact.Measure(i.s.Value(), i.summary.Sum).Rel
}

type dotInstance struct {
	*reduction
	d      reduce.Dotter
	loaded bool
}

// bound before load leaves out what rounding numbers near the ends of the range costs.
func (i *dotInstance) bound() exact.Value {
	one := min(1, i.x.Len())
	if !i.summary.SumAbs.IsFinite() || !i.loaded && i.d.Load(part(i.x, one), part(*i.y, one)) != nil {
		return exact.Value{Class: exact.NaN}
	}
	return relativeBound(i.d.ErrorBound(i.summary), i.summary.Sum)
}

func (i *dotInstance) load() error {
	i.loaded = true
	return i.d.Load(i.x, *i.y)
}

func (i *dotInstance) run() error {
	i.d.Dot()
	return bench.DeviceError(i.d)
}

func (i *dotInstance) close() { _ = bench.CloseDevice(i.d) }

func (i *dotInstance) found() exact.Value {
	return exact.Measure(i.d.Value(), i.summary.Sum).Rel
}
