package answer

import (
	"math"
	"math/big"

	"mpbench/internal/parallel"
	"mpbench/pkg/exact"
	"mpbench/pkg/measure"
	"mpbench/pkg/op"
)

// chunk is how many components are looked at at a time, grain how many a goroutine takes.
const (
	chunk = 1 << 12
	grain = 1 << 5
)

// look is what is seen of a component at once.
type look struct {
	above    float64 // an upper bound on S/|s|, without the operation's factor; +Inf where there is none
	exponent int     // floor(log2 |s|), of finite numbers that are not 0
	one      bool    // S = |s|
	zero     bool    // S = 0
	apart    bool    // s is 0, infinite or NaN
	same     bool    // S and s are those of the component with the largest condition number, at the start of its chunk
}

// observer looks at components, and adds up their magnitudes.
type observer struct {
	a     *Answer
	short op.Short

	norm      *big.Rat
	shortNorm exact.Sum // times the divisor
	special   int
}

// look looks at component i; worst is the one with the largest condition number so far, if it is short.
func (o *observer) look(i int, worst *op.Short) look {
	if o.a.Input.Reference.Short(i, &o.short) {
		if l, ok := o.lookShort(i); ok {
			l.same = o.short.Equal(&worst.Short)
			return l
		}
	}
	s := o.a.Value(i)
	if v := s.Sum.Abs(); v.IsFinite() {
		o.norm = exact.Add(o.norm, v.Number())
	} else {
		o.special++
	}
	return lookAt(s)
}

func lookAt(s exact.Summary) look {
	l := look{above: exact.QuotientAbove(s.SumAbs, s.Sum)}
	l.zero = s.SumAbs.IsFinite() && s.SumAbs.Sign() == 0
	l.one = l.zero
	if l.apart = math.IsInf(l.above, 1) || !s.Sum.IsFinite() || s.Sum.Sign() == 0; !l.apart {
		l.exponent = exact.Exponent(s.Sum.Number())
	}
	return l
}

// lookShort looks at the short sum of component i. It is not ok where only rationals can tell.
func (o *observer) lookShort(i int) (l look, ok bool) {
	low, high := o.short.Bounds()
	l = look{one: o.short.OneSign()}
	switch _, known := o.short.Sign(); {
	case high == 0 && l.one:
		l.zero, l.apart = true, true
		return l, true
	case low == 0 || !known || math.Ilogb(low) != math.Ilogb(high):
		return l, false
	case l.one:
		l.above = oneAbove
	default:
		l.above = o.short.MagnitudesAbove() / low * (1 + 0x1p-50)
	}
	l.exponent = math.Ilogb(low)
	if !l.one && l.above > o.a.classes.ratio[l.exponent] {
		s := o.a.Value(i)
		l.above = exact.QuotientAbove(s.SumAbs, s.Sum)
	}
	o.short.AddTo(&o.shortNorm)
	return l, true
}

// oneAbove is the upper bound on |x/x|.
var oneAbove = exact.QuotientAbove(exact.FromFloat64(1), exact.FromFloat64(1))

// findCondition finds the largest condition number, the classes of the components, and the sum of their magnitudes.
func (a *Answer) findCondition() {
	n := a.Components()
	a.classes = newClasses(n)
	observers := make([]observer, parallel.Threads(0))
	for i := range observers {
		observers[i] = observer{a: a, norm: new(big.Rat)}
	}
	looks := make([]look, min(n, chunk))
	a.Condition = exact.FromRat(big.NewRat(1, 1))
	if n > 0 {
		a.Condition = a.Input.Reference.Condition(0)
	}
	worst := new(op.Short)
	largest := 0.0 // a lower bound on the largest, without the operation's factor
	for from := 0; from < n; from += chunk {
		list := looks[:min(chunk, n-from)]
		if !a.Input.Reference.Short(a.Worst, worst) {
			worst = new(op.Short)
		}
		parallel.Ranges(0, len(list), grain, func(worker, first, end int) {
			for k := first; k < end; k++ {
				list[k] = observers[worker].look(from+k, worst)
			}
		})
		for k, l := range list {
			a.classes.add(from+k, l)
			if from+k > 0 && (l.one || l.same || l.above < largest) {
				continue
			}
			if c := a.Input.Reference.Condition(from + k); measure.Larger(c, a.Condition) || from+k == 0 {
				a.Condition, a.Worst = c, from+k
				largest = exact.Below(a.Value(from + k).Condition())
			}
		}
	}
	a.addNorms(observers)
}

func (a *Answer) addNorms(observers []observer) {
	a.Norm = new(big.Rat)
	for i := range observers {
		o := &observers[i]
		short := new(big.Rat).Quo(o.shortNorm.Value().Number(), a.Input.Reference.Divisor())
		a.Norm = exact.Add(a.Norm, exact.Add(o.norm, short))
		a.Special += o.special
	}
}
