package reduce

import (
	"math/big"

	"mpbench/pkg/exact"
)

// binary64 is the part that all methods over float64 share: the terms and the result.
type binary64 struct {
	terms   []float64
	rounded bool // the terms were wider and have been rounded
	result  float64
}

// Load keeps the terms themselves, or rounds wide ones to nearest.
func (b *binary64) Load(t Terms) error {
	b.terms, b.rounded = t.Float64, false
	if t.Wide != nil {
		b.rounded = true
		b.terms = make([]float64, len(t.Wide))
		for i, x := range t.Wide {
			b.terms[i], _ = x.Float64()
		}
	}
	return nil
}

func (b *binary64) Value() exact.Value { return exact.FromFloat64(b.result) }

func (b *binary64) Format() Format {
	return Format{Name: "binary64", Actual: 53, TermBytes: 8, Threads: 1}
}

// unit64 is the unit roundoff of binary64; overflow64 the least magnitude that rounds to infinity.
var (
	unit64     = exact.PowerOfTwo(-53)
	overflow64 = new(big.Rat).Sub(exact.PowerOfTwo(1024), exact.PowerOfTwo(970))
)

// withConversion adds to a bound on a sum of rounded terms what the rounding of n terms costs: u*S + n*2^-1075, S being the sum
// of their magnitudes. The bound for the rounded terms, whose magnitudes sum to at most S' = (1 + u)*S + n*2^-1075, is
// bound(S'). Without rounded terms it is bound(S).
//
// The result is nil if S', and with it a partial sum, may reach the overflow threshold.
func (b *binary64) withConversion(s exact.Summary, bound func(abs *big.Rat) *big.Rat) *big.Rat {
	lost := new(big.Rat)
	if b.rounded {
		lost = conversionLoss(s.N, sumAbs(s), unit64, -1075)
	}
	return boundBelow(overflow64, new(big.Rat).Add(sumAbs(s), lost), lost, bound)
}

// conversionLoss bounds the sum of the errors of rounding n terms of total magnitude s: u*s + n*2^tiny, the second
// part for results below the normal range.
func conversionLoss(n int, s, u *big.Rat, tiny int) *big.Rat {
	underflow := new(big.Rat).Mul(new(big.Rat).SetInt64(int64(n)), exact.PowerOfTwo(tiny))
	return underflow.Add(underflow, new(big.Rat).Mul(u, s))
}

// boundBelow returns bound(s) + lost, or nil if partial sums may overflow: |partial sum| <= s + bound(s) must be below
// the limit.
func boundBelow(limit, s, lost *big.Rat, bound func(s *big.Rat) *big.Rat) *big.Rat {
	b := bound(s)
	if b == nil || new(big.Rat).Add(s, b).Cmp(limit) >= 0 {
		return nil
	}
	return new(big.Rat).Add(b, lost)
}

// recursive64 is recursive summation in float64.
type recursive64 struct{ binary64 }

func (r *recursive64) Sum() {
	sum := 0.0
	for _, x := range r.terms {
		sum += x
	}
	r.result = sum
}

// ErrorBound is gamma(n-1) * sumAbs with u = 2^-53; additions are exact below the normal range.
func (r *recursive64) ErrorBound(s exact.Summary) *big.Rat {
	return r.withConversion(s, func(abs *big.Rat) *big.Rat { return exact.GammaTimes(recursiveDepth(s.N), unit64, abs) })
}

// recursive32 is recursive summation in float32 of the terms rounded to float32.
type recursive32 struct {
	terms  []float32
	result float32
}

func (r *recursive32) Load(t Terms) error {
	r.terms = make([]float32, t.Len())
	for i, x := range t.Float64 {
		r.terms[i] = float32(x)
	}
	for i, x := range t.Wide {
		r.terms[i], _ = x.Float32()
	}
	return nil
}

func (r *recursive32) Sum() {
	var sum float32
	for _, x := range r.terms {
		sum += x
	}
	r.result = sum
}

func (r *recursive32) Value() exact.Value { return exact.FromFloat64(float64(r.result)) }

func (r *recursive32) Format() Format {
	return Format{Name: "binary32", Actual: 24, TermBytes: 4, Threads: 1}
}

var (
	unit32     = exact.PowerOfTwo(-24)
	overflow32 = new(big.Rat).Sub(exact.PowerOfTwo(128), exact.PowerOfTwo(103))
)

// ErrorBound is gamma(n-1) * s' + (s' - sumAbs) with u = 2^-24, where s' = (1 + u)*sumAbs + n*2^-150 bounds the
// magnitudes of the terms rounded to float32.
func (r *recursive32) ErrorBound(s exact.Summary) *big.Rat {
	lost := conversionLoss(s.N, sumAbs(s), unit32, -150)
	return boundBelow(overflow32, new(big.Rat).Add(sumAbs(s), lost), lost, func(abs *big.Rat) *big.Rat {
		return exact.GammaTimes(recursiveDepth(s.N), unit32, abs)
	})
}
