package reduce

import (
	"cmp"
	"context"

	"mpbench/pkg/device"
	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
	"mpbench/pkg/rns"
	"mpbench/pkg/rns/rnsop"
)

type order struct {
	add      func(*residues)                   // leaves in sum the sum of n >= 1 terms
	describe func(method.Config, *method.Info) // completes what is said of the format; nil if nothing is missing
}

// method completes a method that adds residue numbers in the order.
func (o order) method(m method.Method, bound string, options ...method.Option) method.Method {
	m = rnsop.Reduction(m, bound, options...)
	m.On = map[device.Kind]method.New{device.CPU: func(c method.Config) (method.Engine, error) {
		context, err := rnsop.NewContext(c)
		if err != nil {
			return nil, err
		}
		return &residues{name: m.Name, config: c, context: context, order: o, sum: context.Base().NewFloat()}, nil
	}}
	return m
}

type residues struct {
	name     string
	config   method.Config
	context  *rns.Context
	order    order
	operands *rnsop.Operands
	sum      *rns.Float
}

func (e *residues) Prepare(_ context.Context, p *op.Problem) (err error) {
	if err := e.CheckMemory(p); err != nil {
		return err
	}
	e.operands, err = rnsop.Load(e.context, p, e.config.Threads, nil)
	return err
}

func (e *residues) CheckMemory(p *op.Problem) error {
	shape, err := p.Op.Shape(p)
	need := shape.Elements * int64(shape.PerElement) * int64(e.context.Base().TermBytes())
	return cmp.Or(err, e.config.CheckMemory(e.name, shape, need, ""))
}

func (e *residues) n() int { return e.operands.Shape.Length }

func (e *residues) Run(context.Context) error {
	e.operands.ResetCounts()
	e.sum.SetZero()
	if e.operands.Special == nil && e.n() > 0 {
		e.order.add(e)
	}
	return nil
}

func (e *residues) Result() (numbers.Source, error) {
	v := e.context.Base().NewVector(1)
	v.Set(0, e.sum)
	return e.operands.Result(v), nil
}

func (e *residues) Info() method.Info {
	info := e.operands.Info(e.context)
	if e.order.describe != nil {
		e.order.describe(e.config, &info)
	}
	return info
}

func (e *residues) Close() error { return nil }

// slots is the adder of one goroutine: terms are numbers of x, or their products with those of y.
type slots struct {
	context *rns.Context
	x, y    *rns.Vector // y is nil for a sum
	slots   []*rns.Float

	left, right rns.Float // views of the current term's factors
	product     *rns.Float
}

// slots returns an adder with n slots, which are zero, for a goroutine.
func (e *residues) slots(worker, n int) *slots {
	s := &slots{context: e.operands.Worker(worker), x: e.operands.X, y: e.operands.Y}
	for range n {
		s.slots = append(s.slots, e.context.Base().NewFloat())
	}
	if s.y != nil {
		s.product = e.context.Base().NewFloat()
	}
	return s
}

func (s *slots) at(i int) *rns.Float {
	s.x.View(&s.left, i)
	if s.y == nil {
		return &s.left
	}
	s.y.View(&s.right, i)
	s.context.Mul(s.product, &s.left, &s.right)
	return s.product
}

func (s *slots) load(slot, i int)    { s.slots[slot].Set(s.at(i)) }
func (s *slots) addTerm(slot, i int) { s.context.Add(s.slots[slot], s.slots[slot], s.at(i)) }
func (s *slots) addSlot(slot, j int) { s.context.Add(s.slots[slot], s.slots[slot], s.slots[j]) }

func (s *slots) clear() {
	for _, x := range s.slots {
		x.SetZero()
	}
}
