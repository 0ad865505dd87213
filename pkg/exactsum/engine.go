// Package exactsum is the method deferred for sums, dot products and norms: everything is added exactly and rounded
// once, to nearest even at p bits, whatever the order of the terms and the devices that share them.
//
// What adds is a [Way]: on one kind of device, for numbers of one kind, in memory or not. Those of the CPU are here;
// packages superaccgpu and deferredgpu have those of GPUs. An [Engine] takes the first that fits the numbers at hand.
package exactsum

import (
	"cmp"
	"context"
	"fmt"
	"math/big"
	"time"

	"mpbench/pkg/exact"
	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
	"mpbench/pkg/rns/deferred"
	"mpbench/pkg/superacc"
)

// Way is one way of adding the terms of a problem exactly.
type Way interface {
	// Add adds the terms to a sum.
	Add(context.Context, *Sum) error
	// Describe completes what is said of the format.
	Describe(*method.Info)
	// Close gives memory of devices back.
	Close() error
}

// DeviceWay is a Way of numbers in a device's memory. The time of other ways is that of the clock, rounding included.
type DeviceWay interface {
	Way
	// AddTimed is Add with cold caches and with times by the device's events.
	AddTimed(context.Context, *Sum) (method.Times, error)
	// Cool empties the device's caches.
	Cool() error
}

// NewWay makes a Way for a problem, a sum or a dot product: nil if it is none for such numbers, or if memory does not
// suffice and a later one takes less. Times are those of preparing.
type NewWay func(context.Context, method.Config, *op.Problem) (Way, method.Times, error)

// New returns the constructor of engines on the CPU.
func New() method.New {
	return func(c method.Config) (method.Engine, error) {
		return &engine{config: c, ways: []NewWay{newFloats, newChunked, newPacked, newProducts}}, nil
	}
}

// NewOn returns the constructor of engines on a device, by the first way that fits; name is the device's in records.
func NewOn(name func(method.Config) (string, error), ways ...NewWay) method.New {
	return func(c method.Config) (method.Engine, error) {
		device, err := name(c)
		if err != nil {
			return nil, err
		}
		return &deviceEngine{engine: engine{config: c, ways: ways, device: device}}, nil
	}
}

// engine adds on the CPU, or on a device by the clock.
type engine struct {
	config      method.Config
	ways        []NewWay
	device      string // "" for the CPU
	way         Way    // nil before Prepare
	sum         Sum
	denominator *big.Int
	root        bool       // the result is the square root of the sum
	result      *big.Float // nil for NaN
	times       method.Times
}

func (e *engine) Prepare(ctx context.Context, p *op.Problem) error {
	if err := e.Close(); err != nil {
		return err
	}
	if err := e.CheckMemory(p); err != nil {
		return err
	}
	p = e.terms(p)
	e.denominator = product(p.X.Denominator(), p.Y.Denominator())
	for _, make := range e.ways {
		way, times, err := make(ctx, e.config, p)
		if err != nil {
			return err
		}
		if way != nil {
			e.way, e.times = way, times
			return nil
		}
	}
	return &op.Error{Operation: p.Op.Name, Text: fmt.Sprintf("no way of adding these numbers on %s", e.config.Devices)}
}

// CheckMemory checks that copies of binary64 numbers fit: of magnitudes and, on the CPU, of those that are no
// neighbours.
func (e *engine) CheckMemory(p *op.Problem) error {
	shape, err := p.Op.Shape(p)
	need := int64(0)
	for _, a := range []numbers.Array{p.X, p.Y} {
		if a.Binary64() && (p.Op.Norm == 1 || e.device == "" && !a.Adjacent()) {
			need += 8 * int64(a.Len())
		}
	}
	return cmp.Or(err, e.config.CheckMemory("deferred", shape, need, ""))
}

// terms returns the sum or dot product that has to be computed: the sum of the magnitudes of x, or the product of x
// and x.
func (e *engine) terms(p *op.Problem) *op.Problem {
	sum := *p
	e.root = p.Op.Norm == 2
	switch p.Op.Norm {
	case 1:
		sum.X = p.X.Magnitudes()
	case 2:
		sum.Y = p.X
	}
	return &sum
}

// product returns x*y, nil standing for 1.
func product(x, y *big.Int) *big.Int {
	switch {
	case x == nil:
		return y
	case y == nil:
		return x
	}
	return new(big.Int).Mul(x, y)
}

func (e *engine) Run(ctx context.Context) error {
	e.sum.Reset()
	err := e.way.Add(ctx, &e.sum)
	if !e.config.Merge {
		e.round()
	}
	return err
}

func (e *engine) round() {
	prec := uint(e.config.Precision)
	if e.root {
		e.result = exact.RoundRoot(e.sum.value(e.denominator), prec)
	} else {
		e.result = e.sum.Round(prec, e.denominator)
	}
}

func (e *engine) Merge(other method.Engine) error {
	switch o := other.(type) {
	case *engine:
		e.sum.Merge(&o.sum)
	case *deviceEngine:
		e.sum.Merge(&o.sum)
	default:
		return fmt.Errorf("exactsum: a sum of %T cannot be merged", other)
	}
	return nil
}

// Sum returns the sum before it is divided by the denominator of decimals.
func (e *engine) Sum() exact.Value { return e.sum.total().Value() }

func (e *engine) AddSum(x exact.Value) {
	var z numbers.Number
	numbers.Values{x}.Read(&z, 0)
	e.sum.wide().AddNumber(&z)
}

func (e *engine) Result() (numbers.Source, error) {
	if e.config.Merge {
		e.round()
	}
	return numbers.Values{exact.FromBig(e.result)}, nil
}

func (e *engine) Info() method.Info {
	info := method.Info{Format: "exact", Bits: e.config.Precision, Device: e.device, Threads: 1}
	if e.way != nil {
		e.way.Describe(&info)
	}
	return info
}

func (e *engine) Close() error {
	if e.way == nil {
		return nil
	}
	err := e.way.Close()
	e.way = nil
	return err
}

type deviceEngine struct{ engine }

func (e *deviceEngine) RunTimed(ctx context.Context) error {
	way, ok := e.way.(DeviceWay)
	if !ok {
		start := time.Now()
		err := e.Run(ctx)
		e.times.Kernel = time.Since(start)
		return err
	}
	e.sum.Reset()
	times, err := way.AddTimed(ctx, &e.sum)
	if err != nil {
		return err
	}
	start := time.Now()
	e.round()
	times.Host += time.Since(start)
	times.Convert, times.CopyIn = e.times.Convert, e.times.CopyIn
	e.times = times
	return nil
}

func (e *deviceEngine) Times() method.Times { return e.times }

func (e *deviceEngine) Cool() error {
	if way, ok := e.way.(DeviceWay); ok {
		return way.Cool()
	}
	return nil // the numbers come from the bus
}

func (e *deviceEngine) Merge(other method.Engine) error { return e.engine.Merge(other) }

// Sum is an exact sum that has not been rounded. The zero value is empty. Sums are integers times a power of two, so
// they can be merged in any order.
type Sum struct {
	Floats superacc.Accumulator // of binary64 numbers and their products
	Wide   *deferred.LimbSum    // of other numbers; nil for none
}

// Reset makes the sum empty.
func (s *Sum) Reset() {
	s.Floats.Reset()
	s.Wide = nil
}

// Merge adds t, which stays as it is.
func (s *Sum) Merge(t *Sum) {
	s.Floats.Merge(&t.Floats)
	if t.Wide != nil {
		s.wide().Merge(t.Wide)
	}
}

func (s *Sum) wide() *deferred.LimbSum {
	if s.Wide == nil {
		s.Wide = new(deferred.LimbSum)
	}
	return s.Wide
}

// Round returns the sum divided by an odd integer, nil for 1, rounded once to prec bits, to nearest even; nil for NaN.
func (s *Sum) Round(prec uint, denominator *big.Int) *big.Float {
	if s.Wide == nil && denominator == nil {
		return s.Floats.Round(prec)
	}
	total := s.total()
	if denominator == nil {
		return total.Round(new(big.Float), prec)
	}
	return total.RoundQuotient(new(big.Float), denominator, prec)
}

// value returns the exact sum divided by an odd integer, nil for 1.
func (s *Sum) value(denominator *big.Int) exact.Value {
	v := s.total().Value()
	if denominator == nil || !v.IsFinite() {
		return v
	}
	return exact.FromRat(new(big.Rat).Quo(v.Number(), new(big.Rat).SetInt(denominator)))
}

// total returns everything in one sum.
func (s *Sum) total() *deferred.LimbSum {
	var total deferred.LimbSum
	if s.Wide != nil {
		total.Merge(s.Wide)
	}
	var z numbers.Number
	numbers.Values{s.Floats.Value()}.Read(&z, 0)
	total.AddNumber(&z)
	return &total
}
