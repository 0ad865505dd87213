// Package advise finds the cheapest method that gives a wanted accuracy on given data.
//
// A method qualifies in one of two ways. Its proved bound may promise the accuracy for the condition number and the
// length of the data: then it has it on any data like these. Or it has it on these very data, which is found by
// running it and comparing with the exact result: bounds are pessimistic, and a plain float64 sum often has more
// digits than anything promises. Every candidate is run in either case, its time is measured, and the recommendation
// is run once more at the end and must hold.
//
// The cost of a method is that of one operation together with its share of the conversion of the data to the method's
// format: conversion divided by how often the converted data will be used.
package advise

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"mpbench/pkg/device"
	"mpbench/pkg/exact"
	"mpbench/pkg/method"
)

// Options say what is looked for.
type Options struct {
	Wish       Wish
	Devices    []device.Set
	Threads    int
	Reuse      int  // how often converted data are used, at least 1
	Proved     bool // only methods whose bound promises the wish
	Exhaustive bool // also run every method at every precision, to see what the recommendation costs beside the cheapest

	Progress func(what string) // called before each candidate, if not nil

	effort effort // the zero value for normal; tests spend less
}

// A Candidate is a method at a precision on a device.
type Candidate struct {
	Method, Format, Device string
	Precision              int // that of the format if it is fixed
	Fixed                  bool

	Bound     exact.Value // proved bound on the relative error; NaN if nothing is proved
	Promised  bool        // the bound is within the wish
	Ran       bool        // false for one that was estimated to cost too much, or that cannot be run
	Found     exact.Value // relative error
	Meets     bool        // the error is within the wish
	ConvertNs float64
	RunNs     float64
	CostNs    float64 // ConvertNs/Reuse + RunNs; estimated where it was not run
	Problem   string  // why it cannot be run

	trial trial
}

// Choice returns the method and how it is configured.
func (c Candidate) Choice(o Options) (method.Method, method.Config) {
	return c.trial.Method, o.config(c.trial, c.Precision)
}

// A Result is the advice.
type Result struct {
	Operation  string
	Facts      Facts
	Options    Options
	Candidates []Candidate // those that meet the wish first, the cheapest first
	Best       *Candidate  // the recommendation; nil if nothing meets the wish
	Promised   *Candidate  // the cheapest that promises the wish, if it is another one
	Check      *Check      // of the recommendation
	Cheapest   *Candidate  // of all, with Exhaustive
	Ratio      float64     // what the recommendation costs, as a multiple of Cheapest
}

// A Check is the recommendation run once more from the start.
type Check struct {
	Found exact.Value
	Holds bool
}

// Constants of the search.
const (
	// tooCostly is how many times the cheapest cost an estimate may be before a candidate is not run. Estimates come from
	// a part of the data, where what does not grow with the data weighs more: they are too high, by up to 4 for the
	// methods there are.
	tooCostly = 8
	// promiseWorth is how many times the cost of the cheapest a method may have that promises what that happens to have.
	promiseWorth = 1.25
	// wordBits is the step in which costs grow with the precision.
	wordBits = 64
)

// Find looks for the cheapest method. Interrupted by ctx, it returns what was found until then, without an error.
func Find(ctx context.Context, p *Problem, o Options) (*Result, error) {
	if o.Reuse < 1 {
		return nil, fmt.Errorf("advise: converted data are used %d times; want at least 1", o.Reuse)
	}
	if o.effort.samples == 0 {
		o.effort = normal
	}
	s := &search{ctx: ctx, problem: p, Options: o, cheapest: math.Inf(1), facts: p.Facts()}
	s.part, s.scale = p.sample()
	s.all()
	r := &Result{Operation: p.input.Problem.Op.Name, Facts: s.facts, Options: o, Candidates: s.found}
	rank(r.Candidates)
	r.choose()
	if r.Best == nil || ctx.Err() != nil {
		return r, nil
	}
	r.Check = s.check(*r.Best)
	if o.Exhaustive {
		s.compareWithAll(r)
	}
	return r, nil
}

type search struct {
	ctx     context.Context
	problem *Problem
	Options
	facts    Facts
	part     *Problem // nil for data that are small
	scale    float64
	found    []Candidate
	cheapest float64 // of those that meet the wish
	every    bool    // run everything
}

// trial is a method on devices before its precision is chosen.
type trial struct {
	method.Method
	devices  device.Set
	least    int     // precision to begin with
	estimate float64 // cost there, 0 if it was not estimated
}

func (o Options) config(t trial, precision int) method.Config {
	c := method.Config{Precision: precision, Devices: t.devices, Threads: o.Threads}
	return c.For(o.Reuse)
}

func (s *search) prepare(t trial, precision int) (*instance, error) {
	return s.problem.prepare(s.ctx, t.Method, s.config(t, precision))
}

// all runs every method on every device, those first that are estimated to be cheap.
func (s *search) all() {
	var trials []trial
	for _, m := range s.problem.catalog.Candidates() {
		for _, set := range s.Devices {
			if !m.Runs(set) {
				continue
			}
			t := trial{Method: m, devices: set, least: m.Bits}
			if m.Bits == 0 {
				t.least = max(m.Least, s.Wish.Bits())
			}
			if m.RoundsOnce() {
				t.least = max(t.least, 53) // which cost nothing
			}
			trials = append(trials, s.estimated(t))
		}
	}
	sort.SliceStable(trials, func(a, b int) bool { return trials[a].estimate < trials[b].estimate })
	for _, t := range trials {
		if s.ctx.Err() != nil {
			return
		}
		s.try(t)
	}
	s.findPromise(trials)
}

// findPromise runs the cheapest method that promises the wish, if none has been run as it was thought too costly.
func (s *search) findPromise(trials []trial) {
	if slices.ContainsFunc(s.found, func(c Candidate) bool { return c.Meets && c.Promised }) {
		return
	}
	for _, t := range trials {
		i := slices.IndexFunc(s.found, func(c Candidate) bool { return c.of(t) && !c.Ran && c.Problem == "" })
		if i < 0 || s.ctx.Err() != nil {
			continue
		}
		c := s.found[i]
		if c.Fixed && !s.Wish.Met(s.bound(t, t.Bits)) {
			continue
		}
		if !c.Fixed {
			if c.Precision = s.promising(t); c.Precision == 0 {
				continue
			}
		}
		s.found = slices.Delete(s.found, i, i+1)
		s.run(c)
		return
	}
}

// estimated measures a trial on a part of the data.
func (s *search) estimated(t trial) trial {
	if s.part == nil || t.Bits == 0 && t.least > t.Most {
		return t
	}
	in, err := s.part.prepare(s.ctx, t.Method, s.config(t, t.least))
	if err != nil {
		return t
	}
	defer in.close()
	convert, run, err := times(in, quick)
	if err == nil {
		t.estimate = s.scale * s.cost(convert, run)
	}
	return t
}

func (s *search) cost(convert, run float64) float64 { return convert/float64(s.Reuse) + run }

// try runs a method at its precision, or at those from the least that could do up to the one that promises the wish.
func (s *search) try(t trial) {
	c := Candidate{
		Method: t.Name, Format: t.Format, Device: t.devices.String(), Precision: t.least, Fixed: t.Bits != 0, trial: t,
	}
	switch {
	case !c.Fixed && t.least > t.Most:
		c.Problem = fmt.Sprintf("goes up to %d bits", t.Most)
		s.found = append(s.found, c)
		return
	case !s.every && t.estimate > tooCostly*s.cheapest:
		c.CostNs, c.Bound = t.estimate, exact.Value{Class: exact.NaN}
		s.found = append(s.found, c)
		return
	case c.Fixed:
		s.run(c)
		return
	}
	promise := s.promising(t)
	for _, p := range precisions(t, promise) {
		c.Precision = p
		if met := s.run(c); met && !s.every {
			break
		}
	}
	if promise != 0 && !s.has(t, promise) {
		c.Precision = promise
		s.run(c)
	}
}

func (c Candidate) of(t trial) bool {
	return c.Method == t.Name && c.trial.devices.String() == t.devices.String()
}

// has reports whether a candidate that promises the wish is there already, or the given precision has been run.
func (s *search) has(t trial, precision int) bool {
	return slices.ContainsFunc(s.found, func(c Candidate) bool {
		return c.of(t) && (c.Promised || c.Precision == precision)
	})
}

// promising returns the least precision whose bound promises the wish; 0 if there is none in the method's range.
func (s *search) promising(t trial) int {
	condition := log2(s.facts.Condition)
	if !s.facts.Condition.IsFinite() { // an exact sum of 0, or none: a bound helps that is 0
		if s.Wish.Met(s.bound(t, t.least)) {
			return t.least
		}
		return 0
	}
	p := int(min(float64(t.Most), float64(t.least)+condition+wordBits))
	b := s.bound(t, p)
	if !b.IsFinite() {
		return 0
	}
	if b.Rat != nil && b.Rat.Sign() != 0 {
		limit := exact.FromRat(s.Wish.limit)
		p = max(t.least, p+int(math.Ceil(log2(b)-log2(limit)))) // the bound halves with each bit
	} else {
		p = t.least
	}
	for last := min(p+2, t.Most); p <= last; p++ {
		if s.Wish.Met(s.bound(t, p)) {
			return p
		}
	}
	return 0
}

func (s *search) bound(t trial, p int) exact.Value {
	in, err := s.prepare(t, p)
	if err != nil {
		return exact.Value{Class: exact.NaN}
	}
	defer in.close()
	return in.bound()
}

// precisions are those that a method is tried at: the least, then word by word up to the one that promises the wish.
func precisions(t trial, promise int) []int {
	list := []int{t.least}
	for p := (t.least/wordBits + 1) * wordBits; p < promise; p += wordBits {
		list = append(list, p)
	}
	return list
}

// run measures a candidate on the whole data and reports whether it meets the wish.
func (s *search) run(c Candidate) bool {
	if s.ctx.Err() != nil {
		return true
	}
	if s.Progress != nil {
		s.Progress(fmt.Sprintf("%s %s %d bits on %s", s.problem.input.Problem.Op.Name, c.Method, c.Precision, c.Device))
	}
	in, err := s.prepare(c.trial, c.Precision)
	if err == nil {
		defer in.close()
		c.ConvertNs, c.RunNs, err = times(in, s.Options.effort)
	}
	if err != nil {
		c.Problem = strings.Join(strings.Fields(err.Error()), " ")
		s.found = append(s.found, c)
		return false
	}
	c.Ran, c.CostNs = true, s.cost(c.ConvertNs, c.RunNs)
	c.Found = in.found()
	c.Meets = s.Wish.Met(c.Found)
	c.Bound = in.bound()
	c.Promised = s.Wish.Met(c.Bound)
	s.found = append(s.found, c)
	if s.accepts(c) {
		s.cheapest = min(s.cheapest, c.CostNs)
	}
	return c.Meets
}

// accepts tells whether a candidate can be recommended.
func (o Options) accepts(c Candidate) bool { return c.Meets && (c.Promised || !o.Proved) }

// rank sorts: what meets the wish, what does not, what was not run, each by cost.
func rank(list []Candidate) {
	class := func(c Candidate) int {
		switch {
		case c.Problem != "":
			return 3
		case !c.Ran:
			return 2
		case !c.Meets:
			return 1
		}
		return 0
	}
	slices.SortStableFunc(list, func(a, b Candidate) int {
		return cmp.Or(cmp.Compare(class(a), class(b)), cmp.Compare(a.CostNs, b.CostNs))
	})
}

func (r *Result) choose() {
	r.Best = first(r.Candidates, func(c Candidate) bool { return c.Meets })
	promised := first(r.Candidates, func(c Candidate) bool { return c.Meets && c.Promised })
	if r.Options.Proved || promised != nil && promised.CostNs <= promiseWorth*r.Best.CostNs {
		r.Best = promised
	}
	if promised != r.Best {
		r.Promised = promised
	}
}

// first returns the first of such candidates, nil if there is none.
func first(list []Candidate, such func(Candidate) bool) *Candidate {
	if i := slices.IndexFunc(list, such); i >= 0 {
		return &list[i]
	}
	return nil
}

// check runs the recommendation once more, from the start.
func (s *search) check(c Candidate) *Check {
	in, err := s.prepare(c.trial, c.Precision)
	if err == nil {
		defer in.close()
		err = in.load()
	}
	if err == nil {
		err = in.run()
	}
	if err != nil {
		return &Check{Found: exact.Value{Class: exact.NaN}}
	}
	found := in.found()
	return &Check{Found: found, Holds: s.Wish.Met(found)}
}

// compareWithAll runs everything and measures the recommendation and the cheapest once more, in turns.
func (s *search) compareWithAll(r *Result) {
	s.every, s.found = true, nil
	s.all()
	rank(s.found)
	found := first(s.found, s.accepts)
	if found == nil || s.ctx.Err() != nil {
		return
	}
	best, cheapest := *r.Best, *found
	r.Candidates, r.Cheapest = s.found, found
	for range 5 {
		best.CostNs = min(best.CostNs, s.again(best))
		cheapest.CostNs = min(cheapest.CostNs, s.again(cheapest))
	}
	r.Ratio = max(1, best.CostNs/cheapest.CostNs)
}

// again returns the cost of a candidate, measured once more.
func (s *search) again(c Candidate) float64 {
	in, err := s.prepare(c.trial, c.Precision)
	if err != nil {
		return math.Inf(1)
	}
	defer in.close()
	convert, run, err := times(in, s.Options.effort)
	if err != nil {
		return math.Inf(1)
	}
	return s.cost(convert, run)
}
