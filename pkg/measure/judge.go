package measure

import (
	"fmt"
	"math"
	"math/big"

	"mpbench/internal/parallel"
	"mpbench/pkg/bound"
	"mpbench/pkg/exact"
	"mpbench/pkg/numbers"
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

// Limit is a bound on the error of a component, nil where nothing is proved.
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
	value, exact exact.Value
	distance     exact.Value // of both
	above        float64     // an upper bound on the relative error
	outside      bool        // of the limit
}

func (in Input) look(y numbers.Source, i int, limit Limit) look {
	s := in.Reference.Component(i)
	l := look{value: numbers.At(y, i), exact: s.Sum}
	l.distance = s.Distance(l.value)
	l.above = exact.QuotientAbove(l.distance, s.Sum)
	if limit != nil {
		b := limit(s)
		l.outside = b != nil && (!l.distance.IsFinite() || l.distance.Number().Cmp(b) > 0)
	}
	return l
}

// run is how many components are compared at a time, grain how many a goroutine takes.
const (
	run   = 1 << 12
	grain = 1 << 5
)

// Judge compares a result with the exact one.
func (in Input) Judge(y numbers.Source, limit Limit) (Judgment, error) {
	n := in.Reference.Shape.Components
	if y.Len() != n {
		return Judgment{}, fmt.Errorf("the result of %s has %d numbers, not %d", in.Problem.Op.Name, n, y.Len())
	}
	j := Judgment{Worst: -1}
	hash := record.NewResultHash()
	norm := norms{difference: new(big.Rat), exact: new(big.Rat)}
	looks := make([]look, min(n, run))
	most := 0.0 // a lower bound on the worst relative error
	for from := 0; from < n; from += run {
		list := looks[:min(run, n-from)]
		parallel.Ranges(0, len(list), grain, func(_, first, end int) {
			for k := first; k < end; k++ {
				list[k] = in.look(y, from+k, limit)
			}
		})
		for k, l := range list {
			hash.Add(l.value)
			norm.add(l)
			j.Outside = j.Outside || l.outside
			if j.Worst >= 0 && l.above < most {
				continue
			}
			if c := in.Compare(y, from+k, limit); j.Worst < 0 || Larger(c.Errors.Rel, j.Errors.Rel) {
				j.Worst, j.Component = from+k, c
				most = exact.Below(c.Errors.Rel)
			}
		}
	}
	j.Hash, j.NormError = hash.Text(), norm.relative()
	return j, nil
}

// norms adds up ||y - y*||_1 and ||y*||_1.
type norms struct {
	difference, exact *big.Rat
	special           bool
}

func (n *norms) add(l look) {
	if n.special = n.special || !l.value.IsFinite() || !l.exact.IsFinite(); !n.special {
		n.difference = exact.Add(n.difference, l.distance.Number())
		n.exact = exact.Add(n.exact, l.exact.Abs().Number())
	}
}

// relative returns the quotient: 0/0 = 0, and NaN where a component is no number on either side.
func (n *norms) relative() exact.Value {
	if n.special {
		return exact.Value{Class: exact.NaN}
	}
	return quotient(n.difference, n.exact)
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
	var total, norm big.Rat
	for i := range in.Reference.Shape.Components {
		s := in.Reference.Component(i)
		if !s.SumAbs.IsFinite() || !s.Sum.IsFinite() {
			return exact.Value{}, false
		}
		total.Add(&total, s.SumAbs.Number())
		norm.Add(&norm, s.Sum.Abs().Number())
	}
	limit := b.Eval(bound.Vars{N: in.Reference.Shape.Length, S: &total, More: map[string]*big.Rat{"u": unit}})
	if limit == nil {
		return exact.Value{}, false
	}
	return quotient(limit, &norm), true
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
