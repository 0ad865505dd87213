package measure

import (
	"fmt"
	"math"
	"math/big"

	"mpbench/internal/parallel"
	"mpbench/pkg/bound"
	"mpbench/pkg/exact"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
	"mpbench/pkg/record"
)

// Component is one number of a result, compared with the exact one.
type Component struct {
	Value  exact.Value
	Exact  exact.Summary
	Errors exact.Errors
	Bound  *big.Rat // on the absolute error; nil where nothing is proved
}

// Judgment compares a result with the exact one, component by component. The result may be a method's or a file's.
type Judgment struct {
	Hash      string // see record.ResultHash
	Worst     int    // the component with the largest relative error, the first of equals; -1 if there is none
	Component        // that is the worst
	Outside   bool   // a component is worse than its bound allows
	NormError exact.Value
}

// Limit is a bound on the error of a component, nil where nothing is proved. What it is for smaller magnitudes of sum
// and terms is not larger, where it is something.
type Limit func(exact.Summary) *big.Rat

// Compare compares component i of a result with the exact one.
func (in Input) Compare(y numbers.Source, i int, limit Limit) Component {
	c := Component{Value: numbers.At(y, i), Exact: in.Reference.Component(i)}
	c.Errors = c.Exact.Errors(c.Value)
	if limit != nil {
		c.Bound = limit(c.Exact)
	}
	return c
}

// A quick look at a component: all that is needed of one whose relative error is below that of another.
type look struct {
	text    []byte  // of the value, for the hash
	skipped bool    // it is not compared
	above   float64 // an upper bound on the relative error
	outside bool    // of the limit
}

// observer looks at components, and adds up ||y - y*||_1 and ||y*||_1.
type observer struct {
	in    Input
	y     numbers.Source
	limit Limit
	norms

	short  op.Short
	gap    exact.Short
	number numbers.Number
	parts  []float64          // of a number of y
	least  map[[2]int]float64 // of limit, by the exponents of sum and magnitudes
}

func (o *observer) look(i int, l *look) {
	l.text = o.appendText(l.text[:0], i)
	if l.skipped = !o.in.Reference.Compares(i); l.skipped {
		return
	}
	if o.in.Reference.Short(i, &o.short) && o.lookShort(i, l) {
		return
	}
	s, value := o.in.Reference.Component(i), numbers.At(o.y, i)
	distance := s.Distance(value)
	l.above = exact.QuotientAbove(distance, s.Sum)
	o.add(value, s.Sum, distance)
	l.outside = o.limit != nil && !o.surelyInside(s, distance) && o.outside(s, distance)
}

func (o *observer) appendText(text []byte, i int) []byte {
	if x, ok := o.y.(numbers.Float64s); ok {
		return record.AppendHashedFloat64(text, x[i])
	}
	return record.AppendHashed(text, numbers.At(o.y, i))
}

func (o *observer) outside(s exact.Summary, distance exact.Value) bool {
	b := o.limit(s)
	return b != nil && (!distance.IsFinite() || distance.Number().Cmp(b) > 0)
}

// surelyInside tells whether a distance is within the limit of the powers of two below the sum and its magnitudes,
// which one evaluation tells of many components.
func (o *observer) surelyInside(s exact.Summary, distance exact.Value) bool {
	if !s.Sum.IsFinite() || !s.SumAbs.IsFinite() || s.Sum.Sign() == 0 || !distance.IsFinite() {
		return false
	}
	least := o.leastLimit(exact.Exponent(s.Sum.Number()), exact.Exponent(s.SumAbs.Number()))
	return exact.QuotientAbove(distance, unity) <= least
}

// leastLimit returns the limit of a sum of magnitude 2^sum at least, and of 2^magnitudes of those of its terms.
func (o *observer) leastLimit(sum, magnitudes int) float64 {
	key := [2]int{sum, magnitudes}
	least, known := o.least[key]
	if !known {
		sum, abs := exact.FromRat(exact.PowerOfTwo(sum)), exact.FromRat(exact.PowerOfTwo(magnitudes))
		s := exact.Summary{N: o.in.Reference.Shape.Length, Sum: sum, SumAbs: abs, Finite: abs}
		if b := o.limit(s); b != nil {
			least = exact.Below(exact.FromRat(b))
		}
		o.least[key] = least
	}
	return least
}

var unity = exact.FromFloat64(1)

// lookShort compares number i with the short sum. It reports false where only rationals can tell.
func (o *observer) lookShort(i int, l *look) (ok bool) {
	if o.parts, ok = numbers.AppendParts(o.parts[:0], o.y, i, &o.number); !ok {
		return false
	}
	o.gap.SetDifference(&o.short.Short, o.parts...)
	_, off := o.gap.Bounds()
	least, _ := o.short.Bounds()
	l.above, l.outside = 0, false
	if off > 0 {
		l.above = off / least * (1 + 0x1p-50)
	}
	_, ok = o.short.Sign()
	if _, known := o.gap.Sign(); !ok || !known || !o.gap.OK() || l.above > 1 {
		return false
	}
	if o.limit != nil && off > 0 && off > o.leastLimit(math.Ilogb(least), math.Ilogb(o.short.MagnitudesBelow())) {
		return false
	}
	o.short.AddTo(&o.shortExact)
	o.gap.AddTo(&o.shortDifference)
	return true
}

// run is how many components are compared at a time, grain how many a goroutine takes.
const (
	run   = 1 << 12
	grain = 1 << 5
)

// Judge compares a result with the exact one. The hash is of all components, also where not all are compared.
func (in Input) Judge(y numbers.Source, limit Limit) (Judgment, error) {
	n := in.Reference.Shape.Components
	if y.Len() != n {
		return Judgment{}, fmt.Errorf("the result of %s has %d numbers, not %d", in.Problem.Op.Name, n, y.Len())
	}
	j := Judgment{Worst: -1}
	hash := record.NewResultHash()
	observers := in.observers(y, limit)
	looks := make([]look, min(n, run))
	most := 0.0 // a lower bound on the worst relative error
	for from := 0; from < n; from += run {
		list := looks[:min(run, n-from)]
		parallel.Ranges(0, len(list), grain, func(worker, first, end int) {
			for k := first; k < end; k++ {
				observers[worker].look(from+k, &list[k])
			}
		})
		for k, l := range list {
			if hash.AddText(l.text); l.skipped {
				continue
			}
			j.Outside = j.Outside || l.outside
			if j.Worst >= 0 && (l.above < most || l.above == 0) {
				continue
			}
			if c := in.Compare(y, from+k, limit); j.Worst < 0 || Larger(c.Errors.Rel, j.Errors.Rel) {
				j.Worst, j.Component = from+k, c
				most = exact.Below(c.Errors.Rel)
			}
		}
	}
	j.Hash, j.NormError = hash.Text(), relative(observers)
	return j, nil
}

// observers returns one for each goroutine. Components that are not short are kept.
func (in Input) observers(y numbers.Source, limit Limit) []observer {
	if !in.Reference.HasShorts() {
		in.Reference.Keep()
	}
	list := make([]observer, parallel.Threads(0))
	for i := range list {
		list[i] = observer{in: in, y: y, limit: limit, least: map[[2]int]float64{}}
		list[i].norms = norms{difference: new(big.Rat), exact: new(big.Rat)}
	}
	return list
}

// norms add up ||y - y*||_1 and ||y*||_1, those of short sums times their divisor.
type norms struct {
	difference, exact           *big.Rat
	shortDifference, shortExact exact.Sum
	special                     bool
}

func (n *norms) add(value, want, distance exact.Value) {
	if n.special = n.special || !value.IsFinite() || !want.IsFinite(); !n.special {
		n.difference = exact.Add(n.difference, distance.Number())
		n.exact = exact.Add(n.exact, want.Abs().Number())
	}
}

// relative returns the quotient: 0/0 = 0, and NaN where a component is no number on either side.
func relative(observers []observer) exact.Value {
	difference, norm := new(big.Rat), new(big.Rat)
	for i := range observers {
		o := &observers[i]
		if o.special {
			return exact.Value{Class: exact.NaN}
		}
		divisor := o.in.Reference.Divisor()
		for _, part := range []*big.Rat{o.difference, new(big.Rat).Quo(o.shortDifference.Value().Number(), divisor)} {
			difference = exact.Add(difference, part)
		}
		for _, part := range []*big.Rat{o.exact, new(big.Rat).Quo(o.shortExact.Value().Number(), divisor)} {
			norm = exact.Add(norm, part)
		}
	}
	return quotient(difference, norm)
}

// quotient returns x/y for y >= 0: 0/0 = 0, otherwise +Inf for y = 0.
func quotient(x, y *big.Rat) exact.Value {
	switch {
	case x.Sign() == 0:
		return exact.Value{}
	case y.Sign() == 0:
		return exact.Value{Class: exact.PosInf}
	}
	return exact.FromRat(new(big.Rat).Quo(x, y))
}

const (
	errorDigits = 3  // of an error in a record
	exactDigits = 40 // of the exact result, at least
)

// Fill fills a record's fields of accuracy: of the only component of a scalar, of the worst of a vector.
func (j Judgment) Fill(r *record.Record, in Input) {
	r.ResultHash = j.Hash
	scalar := in.Problem.Op.Scalar
	if !scalar {
		r.NormError = j.NormError.Text(errorDigits)
	}
	if j.Worst < 0 { // as the exact sum of nothing
		r.Value, r.Exact = "0", "0"
		setErrors(r, exact.Measure(exact.Value{}, exact.Value{}))
		return
	}
	if !scalar {
		r.Row = &j.Worst
	}
	digits := 1 + int(math.Ceil(float64(r.ActualBits)*math.Log10(2)))
	r.Value, r.Exact = j.Value.Text(digits), j.Exact.Text(max(digits, exactDigits))
	r.Condition = in.Reference.Condition(j.Worst).Text(errorDigits)
	setErrors(r, j.Errors)
	j.setBound(r)
}

func setErrors(r *record.Record, e exact.Errors) {
	r.RelError, r.AbsError = e.Rel.Text(errorDigits), e.Abs.Text(errorDigits)
	r.ULPError = e.ULP(r.ActualBits).Text(errorDigits)
	r.ExactResult = e.Exact()
	if !r.ExactResult { // otherwise there is no end of them
		bits := e.CorrectBits()
		r.CorrectBits = &bits
	}
}

// setBound stores the bound on the absolute error of the component, also relative to the exact value, and whether all
// components are within theirs.
func (j Judgment) setBound(r *record.Record) {
	within := !j.Outside
	want := j.Exact.Sum
	if j.Bound != nil || j.Outside {
		r.WithinBound = &within
	}
	switch {
	case j.Bound == nil:
		r.Warnings = append(r.Warnings, record.Warning{
			Code: record.WarnNoBound, Text: "no bound: sums may exceed the format's range", Advice: "use a wider format",
		})
		return
	case !want.IsFinite():
		return
	}
	r.AbsBound = exact.FormatRat(j.Bound, errorDigits)
	if want.Sign() != 0 {
		relative := new(big.Rat).Quo(j.Bound, want.Number())
		r.Bound = exact.FormatRat(relative.Abs(relative), errorDigits)
	}
}

// normBound returns the operation's bound on the norm of the error for a unit roundoff, relative to that of the exact
// result; false where there is none.
func (in Input) normBound(unit *big.Rat) (exact.Value, bool) {
	b := in.Problem.Op.Recursive
	if in.Problem.Op.Scalar || !b.Proved() || unit == nil {
		return exact.Value{}, false
	}
	norm, total, finite := in.Reference.Norms()
	if !finite {
		return exact.Value{}, false
	}
	limit := b.Eval(bound.Vars{N: in.Reference.Shape.Length, S: total, More: map[string]*big.Rat{"u": unit}})
	if limit == nil {
		return exact.Value{}, false
	}
	return quotient(limit, norm), true
}

// NormLimit returns the operation's bound on the error of a component, for methods that round every operation with
// this unit roundoff; nil where there is none.
func (in Input) NormLimit(unit *big.Rat) Limit {
	return func(s exact.Summary) *big.Rat {
		if unit == nil || !s.SumAbs.IsFinite() {
			return nil
		}
		return in.Problem.Op.Recursive.Eval(bound.Vars{N: s.N, S: s.SumAbs.Number(), More: map[string]*big.Rat{"u": unit}})
	}
}

// Larger orders errors: numbers, then +Inf, then NaN.
func Larger(x, y exact.Value) bool {
	if x.Class != y.Class {
		rank := [...]int{exact.Finite: 0, exact.PosInf: 1, exact.NegInf: 1, exact.NaN: 2}
		return rank[x.Class] > rank[y.Class]
	}
	return x.IsFinite() && x.Number().Cmp(y.Number()) > 0
}
