// Package answer says of a problem what its result is, how much of it plain binary64 arithmetic gets right, and which
// method gets all of it. Nothing is timed.
package answer

import (
	"context"
	"errors"
	"math/big"
	"slices"
	"sync/atomic"

	"mpbench/internal/parallel"
	"mpbench/pkg/device"
	"mpbench/pkg/exact"
	"mpbench/pkg/measure"
	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
)

// Answer is what there is to say of a problem.
type Answer struct {
	Input     measure.Input
	Condition exact.Value // the largest of the components' condition numbers; NaN where a number is infinite or NaN
	Worst     int         // the component that has it
	Norm      *big.Rat    // the sum of the magnitudes of the components that are finite
	Special   int         // how many are not
	Float64   *Plain      // nil where no method of the catalog computes in binary64
	Use       *Choice     // nil where no method of the catalog proves 15 correct digits

	classes classes
}

// Plain is what a loop in binary64 computes.
type Plain struct {
	Method  string // its name
	Summary string
	measure.Judgment
	Rounded  bool     // every component is the exact one rounded to binary64
	Promised *big.Rat // a proved bound on the relative error of every component, in any order; nil where there is none
}

// Choice is a method whose bound proves that at least 15 digits of every component are correct.
type Choice struct {
	Method string
	Plain  bool // it is the plain loop
	Once   bool // it rounds once: every bit is correct, at any precision

	Promised *big.Rat // the proved bound on the relative error of every component; nil with Once
}

// limit is the relative error that a choice must stay within: 15 digits are what binary64 always holds.
var limit = big.NewRat(1, 1_000_000_000_000_000)

// Of answers, with methods of the catalog that may use so many bytes of memory.
func Of(ctx context.Context, in measure.Input, catalog method.Catalog, maxBytes int64) (*Answer, error) {
	a := &Answer{Input: in}
	a.findCondition()
	config := method.Config{Precision: 53, MaxBytes: maxBytes}
	for _, m := range candidates(in.Problem.Op, catalog) {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err := a.try(ctx, m, config); err != nil {
			return nil, err
		}
		if a.Use != nil && a.Float64 != nil {
			break
		}
	}
	return a, nil
}

// candidates returns the methods that may do, by what they cost: a loop in binary64, wider formats and sums rounded
// once. Those come before the formats where the result is one sum: exact ones of binary64 numbers are the fastest
// then.
func candidates(o *op.Operation, catalog method.Catalog) method.Catalog {
	list := slices.DeleteFunc(catalog.Of(o).Usual(), func(m method.Method) bool {
		return m.Accepts(53) != nil || !m.Runs(device.Set{}) || !m.RoundsOnce() && m.Bits < 53
	})
	if plain := slices.IndexFunc(list, isPlain); plain >= 0 {
		slices.SortStableFunc(list[plain+1:], func(a, b method.Method) int { return rank(a) - rank(b) })
	}
	return list
}

// isPlain tells whether a method computes in binary64; the first one of a catalog is the plain loop.
func isPlain(m method.Method) bool { return m.Bits == 53 }

func rank(m method.Method) int {
	if m.RoundsOnce() == (m.Operation.Split == op.ByTerm) {
		return 0
	}
	return 1
}

// Value returns a component of the result.
func (a *Answer) Value(i int) exact.Summary { return a.Input.Reference.Component(i) }

// Components returns how many numbers the result has.
func (a *Answer) Components() int { return a.Input.Reference.Shape.Components }

// ComponentName names component i of the result.
func (a *Answer) ComponentName(i int) string {
	return numbers.ComponentName(i, a.Input.Reference.Shape.K)
}

// try runs the first method of binary64, and chooses the first one that proves enough.
func (a *Answer) try(ctx context.Context, m method.Method, c method.Config) (err error) {
	if m.RoundsOnce() {
		if a.Use == nil {
			a.Use = &Choice{Method: m.Name, Once: true}
		}
		return nil
	}
	engine, err := m.New(c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, engine.Close()) }()
	plain := a.Float64 == nil && isPlain(m)
	if plain {
		err = method.Run(ctx, engine, a.Input.Problem)
	} else if a.Use == nil {
		err = engine.Prepare(ctx, a.Input.Problem)
	}
	var memory *method.MemoryError
	if errors.As(err, &memory) {
		return nil
	}
	if err != nil {
		return err
	}
	bounds := m.ErrorBound(engine.Info(), a.Input.Problem)
	promised := a.promised(bounds)
	if plain {
		y, err := engine.Result()
		if err != nil {
			return err
		}
		if a.Float64, err = a.judge(m, y, promised); err != nil {
			return err
		}
	}
	if a.Use == nil && promised != nil && promised.Cmp(limit) <= 0 {
		a.Use = &Choice{Method: m.Name, Plain: plain, Promised: promised}
	}
	return nil
}

// Big returns a component of the result exactly where that costs little, nil for others.
func (a *Answer) Big(i int) *big.Float {
	var s op.Short
	if !a.Input.Reference.Short(i, &s) {
		return nil
	}
	return s.Big()
}

// Float64s returns the result, each component rounded once.
func (a *Answer) Float64s() numbers.Float64s {
	y := make(numbers.Float64s, a.Components())
	parallel.Ranges(0, len(y), chunk, func(_, first, end int) {
		var s op.Short
		var gap exact.Short
		for i := first; i < end; i++ {
			if a.Input.Reference.Short(i, &s) {
				if x, known := s.Float64(&gap); known {
					y[i] = x
					continue
				}
			}
			y[i] = a.Value(i).Sum.Float64() // of a root that is cut off too: it is nearer to no tie than its last bit
		}
	})
	return y
}

func (a *Answer) judge(m method.Method, y numbers.Source, promised *big.Rat) (*Plain, error) {
	j, err := a.Input.Judge(y, nil)
	p := &Plain{Method: m.Name, Summary: m.Summary, Judgment: j, Promised: promised}
	p.Rounded = err == nil && a.rounded(y)
	return p, err
}

// rounded tells whether every component of y is the exact one rounded to binary64.
func (a *Answer) rounded(y numbers.Source) bool {
	var different atomic.Bool
	floats, _ := y.(numbers.Float64s)
	shorts, gaps := make([]op.Short, parallel.Threads(0)), make([]exact.Short, parallel.Threads(0))
	parallel.Ranges(0, a.Components(), grain, func(worker, first, end int) {
		for i := first; i < end && !different.Load(); i++ {
			if s := &shorts[worker]; floats != nil && a.Input.Reference.Short(i, s) {
				if rounded, known := s.RoundsTo(floats[i], &gaps[worker]); known {
					if !rounded {
						different.Store(true)
					}
					continue
				}
			}
			have, want := numbers.At(y, i), a.Value(i)
			if have.Class != want.Sum.Class || have.IsFinite() && want.Sum.Float64() != have.Float64() {
				different.Store(true)
			}
		}
	})
	return !different.Load()
}

// promised returns a bound on the errors of all components, relative to the exact ones; nil where one proves nothing.
// It is the largest of the components' or, where there are many, of their classes.
func (a *Answer) promised(bounds *method.ErrorBound) *big.Rat {
	if a.Components() > chunk {
		return a.classes.promised(a, bounds)
	}
	worst := new(big.Rat)
	for i := range a.Components() {
		if worst = larger(worst, relative(bounds, a.Value(i))); worst == nil {
			return nil
		}
	}
	return worst
}

// larger returns the larger one; nil is larger than all.
func larger(x, y *big.Rat) *big.Rat {
	if x == nil || y == nil {
		return nil
	}
	if x.Cmp(y) >= 0 {
		return x
	}
	return y
}

// relative returns the bound on a component's error, relative to the exact one; nil where nothing is proved.
func relative(bounds *method.ErrorBound, s exact.Summary) *big.Rat {
	b := bounds.Of(s)
	switch {
	case b == nil || b.Sign() != 0 && s.Sum.Sign() == 0:
		return nil
	case b.Sign() == 0:
		return b
	}
	b = new(big.Rat).Quo(b, s.Sum.Number())
	return b.Abs(b)
}
