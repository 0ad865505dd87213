// Package scatter tells which methods give the same bits for every order of the terms and every way of dividing them
// into blocks, and how far the results of the others scatter: the protocol of the tests of ReproBLAS.
//
// Blocks are neighbouring terms. Sums that can be merged ([method.Merger]) are; of other methods the results of the
// blocks are terms of one more sum by the same method, as a program for several threads or machines would do.
//
// Source: J. Demmel, P. Ahrens, H. D. Nguyen, "Efficient reproducible floating point summation and BLAS",
// UCB/EECS-2016-121 (2016).
package scatter

import (
	"cmp"
	"context"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"

	"mpbench/pkg/exact"
	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
)

// Names are the orders of the protocol: as given, the reverse, sorted by the terms and by their magnitudes, upwards
// and downwards, and random ones.
var Names = []string{
	"given", "reversed", "ascending", "descending", "magnitude ascending", "magnitude descending",
	"random 1", "random 2", "random 3",
}

// MostBlocks is the largest number of blocks, each of which is a power of two.
const MostBlocks = 1024

// Applies tells whether an operation is a sum of terms that can be put in any order and divided.
func Applies(o *op.Operation) bool { return o.Scalar && o.Split == op.ByTerm && o.Norm == 0 }

// Spread is what a method gives for all orders and numbers of blocks.
type Spread struct {
	Runs, Results int           // how many there are, and how many of them differ
	Orders        int           // different results of orders that are not divided
	Blocks        int           // different results of the order as given, divided
	Low, High     exact.Value   // the least and the largest finite result
	Worst         *big.Rat      // largest error of a finite result
	Exact         exact.Summary // of the problem
}

// Same tells whether all results have the same bits.
func (s Spread) Same() bool { return s.Results == 1 }

// Scatter returns the difference of the largest and the least result, relative to the exact one: infinite if that is
// 0, and NaN if no result is finite or the exact one is not.
func (s Spread) Scatter() float64 {
	if !s.Low.IsFinite() || !s.Exact.Sum.IsFinite() {
		return math.NaN()
	}
	return relative(new(big.Rat).Sub(s.High.Number(), s.Low.Number()), s.Exact)
}

// WorstError returns the largest error relative to the exact result, as Scatter.
func (s Spread) WorstError() float64 {
	if s.Worst == nil || !s.Exact.Sum.IsFinite() {
		return math.NaN()
	}
	return relative(s.Worst, s.Exact)
}

func relative(x *big.Rat, s exact.Summary) float64 {
	sum := new(big.Rat).Abs(s.Sum.Number())
	switch {
	case x.Sign() == 0:
		return 0
	case sum.Sign() == 0:
		return math.Inf(1)
	}
	f, _ := sum.Quo(x, sum).Float64()
	return f
}

// Measure computes a problem in all orders and divisions by one method, with a complete configuration.
func Measure(ctx context.Context, m method.Method, c method.Config, p *op.Problem) (Spread, error) {
	r, err := op.Exact(p)
	if err != nil {
		return Spread{}, err
	}
	s := Spread{Exact: r.Component(0), Low: exact.FromFloat64(math.NaN()), High: exact.FromFloat64(math.NaN())}
	c.Merge = m.Merges
	d := divider{config: c, method: m}
	defer d.close()
	all, undivided, given := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for i, name := range Names {
		q := Arrange(p, name)
		for blocks := 1; blocks <= MostBlocks && blocks <= max(1, p.X.Rows); blocks *= 2 {
			if err := ctx.Err(); err != nil {
				return Spread{}, err
			}
			y, err := d.compute(ctx, q, blocks)
			if err != nil {
				return Spread{}, err
			}
			key := y.String()
			if y.IsFinite() {
				key = y.Number().RatString()
			}
			all[key] = true
			if blocks == 1 {
				undivided[key] = true
			}
			if i == 0 {
				given[key] = true
			}
			s.note(y)
		}
	}
	s.Results, s.Orders, s.Blocks = len(all), len(undivided), len(given)
	return s, nil
}

// note takes a result in.
func (s *Spread) note(y exact.Value) {
	s.Runs++
	if !y.IsFinite() {
		return
	}
	if !s.Low.IsFinite() || y.Number().Cmp(s.Low.Number()) < 0 {
		s.Low = y
	}
	if !s.High.IsFinite() || y.Number().Cmp(s.High.Number()) > 0 {
		s.High = y
	}
	if !s.Exact.Sum.IsFinite() {
		return
	}
	failure := new(big.Rat).Sub(y.Number(), s.Exact.Sum.Number())
	if failure.Abs(failure); s.Worst == nil || failure.Cmp(s.Worst) > 0 {
		s.Worst = failure
	}
}

// divider computes sums in blocks, by engines that are used again.
type divider struct {
	method      method.Method
	config      method.Config
	first, next method.Engine // of the first block, or of all; of the others
}

func (d *divider) close() {
	for _, e := range []method.Engine{d.first, d.next} {
		if e != nil {
			_ = e.Close() // everything has been computed
		}
	}
}

// run computes a problem by an engine, which is made if it is nil.
func (d *divider) run(ctx context.Context, e *method.Engine, p *op.Problem) (err error) {
	if *e == nil {
		if *e, err = d.method.New(d.config); err != nil {
			return err
		}
	}
	return method.Run(ctx, *e, p)
}

// result returns what the first engine has computed.
func (d *divider) result() (exact.Value, error) {
	y, err := d.first.Result()
	if err != nil {
		return exact.Value{}, err
	}
	return numbers.At(y, 0), nil
}

func (d *divider) compute(ctx context.Context, p *op.Problem, blocks int) (exact.Value, error) {
	n := p.X.Rows
	partial := make(numbers.Values, 0, blocks)
	for b := range blocks {
		e := &d.first
		if d.method.Merges && b > 0 {
			e = &d.next
		}
		if err := d.run(ctx, e, part(p, b*n/blocks, (b+1)*n/blocks)); err != nil {
			return exact.Value{}, err
		}
		if d.method.Merges {
			if b > 0 {
				if err := d.first.(method.Merger).Merge(d.next); err != nil {
					return exact.Value{}, err
				}
			}
			continue
		}
		y, err := d.result()
		if err != nil {
			return exact.Value{}, err
		}
		partial = append(partial, y)
	}
	if len(partial) > 1 {
		if err := d.run(ctx, &d.first, terms(p, partial)); err != nil {
			return exact.Value{}, err
		}
	}
	return d.result()
}

// part returns the problem of the terms from to to-1.
func part(p *op.Problem, from, to int) *op.Problem {
	q := *p
	q.X = p.X.Part(from, to)
	if !p.Y.Absent() {
		q.Y = p.Y.Part(from, to)
	}
	return &q
}

// terms returns a problem with other terms: if they are products, the second factors are 1.
func terms(p *op.Problem, values numbers.Values) *op.Problem {
	q := *p
	q.X = numbers.Vector(plain(values))
	if !p.Y.Absent() {
		ones := make(numbers.Float64s, len(values))
		for i := range ones {
			ones[i] = 1
		}
		q.Y = numbers.Vector(ones)
	}
	return &q
}

// plain returns values as binary64 numbers, which methods use as they are, if all are such numbers.
func plain(values numbers.Values) numbers.Source {
	floats := make(numbers.Float64s, len(values))
	for i, v := range values {
		if floats[i] = v.Float64(); v.IsFinite() && !exact.FromFloat64(floats[i]).Equal(v) {
			return values
		}
	}
	return floats
}

// Arrange returns the problem with its terms in an order of Names.
func Arrange(p *op.Problem, name string) *op.Problem {
	q := *p
	order := permutation(p, name)
	q.X = arranged(p.X, order)
	if !p.Y.Absent() {
		q.Y = arranged(p.Y, order)
	}
	return &q
}

func arranged(a numbers.Array, order []int) numbers.Array {
	if x, ok := a.Source.(numbers.Float64s); ok {
		y := make(numbers.Float64s, len(order))
		for i, j := range order {
			y[i] = x[a.Index(j, 0)]
		}
		return numbers.Vector(y)
	}
	y := make(numbers.Values, len(order))
	for i, j := range order {
		y[i] = numbers.At(a.Source, a.Index(j, 0))
	}
	return numbers.Vector(y)
}

// permutation returns the places of the terms in an order. Terms are compared by their binary64 values.
func permutation(p *op.Problem, name string) []int {
	order := make([]int, p.X.Rows)
	keys := make([]float64, len(order))
	for i := range order {
		order[i], keys[i] = i, numbers.At(p.X.Source, p.X.Index(i, 0)).Float64()
		if !p.Y.Absent() {
			keys[i] *= numbers.At(p.Y.Source, p.Y.Index(i, 0)).Float64()
		}
	}
	sort := func(sign int, key func(float64) float64) {
		slices.SortStableFunc(order, func(i, j int) int { return sign * cmp.Compare(key(keys[i]), key(keys[j])) })
	}
	value := func(x float64) float64 { return x }
	switch name {
	case "reversed":
		slices.Reverse(order)
	case "ascending":
		sort(1, value)
	case "descending":
		sort(-1, value)
	case "magnitude ascending":
		sort(1, math.Abs)
	case "magnitude descending":
		sort(-1, math.Abs)
	case "random 1", "random 2", "random 3":
		r := rand.New(rand.NewPCG(uint64(name[len(name)-1]), 1))
		r.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	}
	return order
}
