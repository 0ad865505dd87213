package ranks

import (
	"context"
	"fmt"
	"time"

	"mpbench/pkg/device"
	"mpbench/pkg/exact"
	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
	"mpbench/pkg/record"
)

// Supports tells whether ranks can share the problems of a method: rows of a result, or terms of a sum that is exact
// until it is rounded.
func Supports(m method.Method) bool { return m.Operation.Split == op.ByRow || m.Exact }

// Method returns a method of which the team's ranks share the problems. At the others id names the case; local makes
// the configuration that of a rank.
func (t *Team) Method(id string, m method.Method, local func(method.Config) method.Config) method.Method {
	shared := m
	shared.On = map[device.Kind]method.New{}
	for _, kind := range []device.Kind{device.CPU, device.CUDA, device.Hybrid} {
		shared.On[kind] = func(c method.Config) (method.Engine, error) {
			own, err := newOwn(m, local(c))
			return &engine{team: t, id: id, own: own}, err
		}
	}
	return shared
}

// own is what one rank does of a case: at the root and elsewhere the same.
type own struct {
	method.Engine
	operation *op.Operation
	byTerm    bool
}

func newOwn(m method.Method, c method.Config) (*own, error) {
	o := &own{operation: m.Operation, byTerm: m.Operation.Split == op.ByTerm}
	c.Merge = o.byTerm
	e, err := m.New(c)
	o.Engine = e
	return o, err
}

// ShareOf returns the rows or terms of a rank: as many for each, which have as many bytes.
func ShareOf(parts, rank, size int) (from, to int) {
	at := func(i int) int { return parts/size*i + parts%size*i/size }
	return at(rank), at(rank + 1)
}

// prepareShare prepares for the share of a rank.
func (o *own) prepareShare(ctx context.Context, p *op.Problem, rank, size int) (share, error) {
	shape, err := p.Op.Shape(p)
	if err != nil {
		return share{}, err
	}
	from, to := ShareOf(shape.Parts(p.Op), rank, size)
	if err := o.Prepare(ctx, p.Part(from, to)); err != nil {
		return share{}, err
	}
	i := o.Info()
	return share{Info: info{i.Device, i.Rounded, i.Moduli, i.ModuliBits}}, nil
}

// runShare returns what the rank has of the result. Rows are sent by way of values.
func (o *own) runShare(ctx context.Context) (s share, err error) {
	start := time.Now()
	if err = o.Run(ctx); err != nil {
		return s, err
	}
	s.Took = time.Since(start)
	return s, nil
}

// values returns what other ranks need of the last run: the exact sum, or the rows.
func (o *own) values() ([]exact.Value, error) {
	if o.byTerm {
		return []exact.Value{o.Engine.(method.Exact).Sum()}, nil
	}
	y, err := o.Result()
	if err != nil {
		return nil, err
	}
	list := make([]exact.Value, y.Len())
	for i := range list {
		list[i] = numbers.At(y, i)
	}
	return list, nil
}

// engine is the root's: it has all ranks do their share. Its time is that of the clock, from when all have come to
// when the root has everything.
type engine struct {
	team   *Team
	id     string
	own    *own
	info   method.Ranks
	others []info
	rows   []exact.Value // of all ranks, in their order
	times  method.Times
	stages []method.Stage
}

func (e *engine) Prepare(ctx context.Context, p *op.Problem) error {
	start := time.Now()
	if _, err := e.team.tell(ctx, order{prepare, e.id}); err != nil {
		return err
	}
	mine, failed := e.own.prepareShare(ctx, p, 0, e.team.Size())
	all, err := e.team.collect(ctx, mine, failed)
	if err != nil {
		return err
	}
	e.describe(p, all)
	e.times = method.Times{Convert: time.Since(start)}
	return nil
}

// describe notes how the problem is shared.
func (e *engine) describe(p *op.Problem, all []share) {
	e.info = method.Ranks{Library: e.team.Library(), Hosts: e.team.Hosts(), Divided: "rows"}
	if e.own.byTerm {
		e.info.Divided = "terms"
	}
	shape, _ := p.Op.Shape(p) // of a problem that was prepared
	e.others = nil
	for rank, s := range all {
		from, to := ShareOf(shape.Parts(p.Op), rank, len(all))
		e.info.Shares = append(e.info.Shares, to-from)
		if s.Info.Device == "" {
			s.Info.Device = string(device.CPU)
		}
		e.info.Devices = append(e.info.Devices, s.Info.Device)
		e.others = append(e.others, s.Info)
	}
}

func (e *engine) Run(ctx context.Context) error { return e.RunTimed(ctx) }

func (e *engine) RunTimed(ctx context.Context) error {
	if _, err := e.team.tell(ctx, order{run, e.id}); err != nil {
		return err
	}
	if err := e.team.together(ctx, e.team.Barrier); err != nil {
		return err
	}
	start := time.Now()
	mine, failed := e.own.runShare(ctx)
	if failed == nil && !e.own.byTerm {
		mine.Values, failed = e.own.values()
	}
	all, err := e.team.collect(ctx, mine, failed)
	if err != nil {
		return err
	}
	e.rows = nil
	slowest := time.Duration(0)
	for rank, s := range all {
		slowest = max(slowest, s.Took)
		switch {
		case !e.own.byTerm:
			e.rows = append(e.rows, s.Values...)
		case rank > 0:
			e.own.Engine.(method.Exact).AddSum(s.Values[0])
		}
	}
	e.times.Kernel = time.Since(start)
	e.stages = []method.Stage{
		{Name: record.PhaseCompute, Summary: "the slowest rank's share", Time: slowest},
		{Name: record.PhaseCommunicate, Summary: "results sent and merged", Time: max(0, e.times.Kernel-slowest)},
	}
	return nil
}

func (e *engine) Times() method.Times    { return e.times }
func (e *engine) Stages() []method.Stage { return e.stages }
func (e *engine) Close() error           { return e.own.Close() }

func (e *engine) Result() (numbers.Source, error) {
	if e.own.byTerm {
		return e.own.Result()
	}
	return numbers.Values(e.rows), nil
}

func (e *engine) Info() method.Info {
	i := e.own.Info()
	for _, other := range e.others {
		i.Rounded.Factors = max(i.Rounded.Factors, other.Rounded.Factors)
		i.Rounded.Lost = i.Rounded.Lost || other.Rounded.Lost
		i.Moduli, i.ModuliBits = max(i.Moduli, other.Moduli), max(i.ModuliBits, other.ModuliBits)
	}
	if len(e.info.Shares) > 0 {
		i.Ranks = &e.info
	}
	return i
}

// Case is what a rank does where the root measures a case.
type Case struct {
	Method  method.Method
	Config  method.Config // of this rank
	Problem func(context.Context) (*op.Problem, error)
}

// Serve does the root's orders until it ends. find returns the case of an id.
func (t *Team) Serve(ctx context.Context, find func(id string) (Case, error)) error {
	var o *own
	for !t.over {
		next, err := t.tell(ctx, order{})
		if err != nil {
			return err
		}
		var mine share
		var failed error
		switch next.Do {
		case end:
			t.over = true
			if o != nil {
				_ = o.Close() // of which the root has all it needs
			}
			return nil
		case prepare:
			if o != nil {
				failed = o.Close()
			}
			if failed == nil {
				o, mine, failed = t.prepare(ctx, next.Case, find)
			}
		case run:
			if err := t.together(ctx, t.Barrier); err != nil {
				return err
			}
			if mine, failed = o.runShare(ctx); failed == nil {
				mine.Values, failed = o.values()
			}
		default:
			failed = fmt.Errorf("ranks: an unknown order %q", next.Do)
		}
		if failed == nil {
			failed = ctx.Err()
		}
		if _, err := t.collect(ctx, mine, failed); err != nil && t.lost != nil {
			return err
		}
	}
	return nil
}

func (t *Team) prepare(ctx context.Context, id string, find func(string) (Case, error)) (*own, share, error) {
	c, err := find(id)
	if err != nil {
		return nil, share{}, err
	}
	p, err := c.Problem(ctx)
	if err != nil {
		return nil, share{}, err
	}
	o, err := newOwn(c.Method, c.Config)
	if err != nil {
		return nil, share{}, err
	}
	s, err := o.prepareShare(ctx, p, t.Rank(), t.Size())
	return o, s, err
}
