package reduce

import (
	"math"
	"math/big"

	"mpbench/pkg/exact"
)

// Dotter is a method for dot products made ready for one precision, as Summer is for sums.
type Dotter interface {
	// Load converts two vectors of the same length to the method's own number format. They must stay unchanged while the
	// Dotter is in use.
	Load(x, y Terms) error
	// Dot computes sum x_i*y_i. It is what is timed.
	Dot()
	// Value is the result of the last Dot, exactly.
	Value() exact.Value
	// ErrorBound returns a proved bound on |computed - exact|, where s is the exact summary of the products x_i*y_i, with a
	// finite sum; nil where the proof's conditions do not hold (overflow).
	ErrorBound(s exact.Summary) *big.Rat
	// Format describes the number format in use.
	Format() Format
}

// dotPair is a pair of vectors in float64.
type dotPair struct {
	x, y    []float64
	rounded int  // how many of x and y were wider and have been rounded
	coarse  bool // a rounded number lies outside the normal range, so that the rounding lost more than a relative u
	result  float64
}

func (d *dotPair) Load(x, y Terms) error {
	d.rounded, d.coarse = 0, false
	d.x, d.y = d.float64s(x), d.float64s(y)
	return nil
}

func (d *dotPair) float64s(t Terms) []float64 {
	if t.Wide == nil {
		return t.Float64
	}
	d.rounded++
	b := binary64{}
	_ = b.Load(t)
	for i, x := range b.terms {
		a := math.Abs(x)
		d.coarse = d.coarse || a < 0x1p-1022 && t.Wide[i].Sign() != 0 || a > math.MaxFloat64
	}
	return b.terms
}

func (d *dotPair) Value() exact.Value { return exact.FromFloat64(d.result) }

func (d *dotPair) Format() Format {
	return Format{Name: "binary64", Actual: 53, TermBytes: 16, Threads: 1}
}

// underflowLoss bounds what n products lose below the normal range: half a unit of 2^-1074 each.
func underflowLoss(n int) *big.Rat {
	return new(big.Rat).Mul(new(big.Rat).SetInt64(int64(n)), exact.PowerOfTwo(-1075))
}

// plainDot is the recursive dot product in IEEE arithmetic, which treats infinities as it asks.
func plainDot(x, y []float64) float64 {
	sum := 0.0
	for i, xi := range x {
		sum += float64(xi * y[i])
	}
	return sum
}

// within adds what products lose below the normal range, twice for the additions that follow, and returns nil where sums may
// overflow, or where rounded vectors may have lost relative accuracy below it.
func (d *dotPair) within(s exact.Summary, bound *big.Rat) *big.Rat {
	if bound == nil || d.coarse {
		return nil
	}
	lost := underflowLoss(2 * s.N)
	if new(big.Rat).Add(sumAbs(s), new(big.Rat).Add(bound, lost)).Cmp(overflow64) >= 0 {
		return nil
	}
	return bound.Add(bound, lost)
}

// specialDot returns the IEEE 754 dot product if there is an infinity or NaN among the numbers, otherwise nil. In place of finite
// numbers it takes their signs, so that an infinity or NaN comes from one that is there.
func specialDot(x, y Terms) *exact.Value {
	if !hasSpecial(x.Float64) && !hasSpecial(y.Float64) {
		return nil
	}
	sum := 0.0
	for i := range x.Len() {
		if p := float64(x.class(i) * y.class(i)); p-p != 0 { // as it is, or NaN, for an infinity or NaN times any number
			sum += p
		}
	}
	v := exact.FromFloat64(sum)
	return &v
}

func hasSpecial(terms []float64) bool {
	for _, x := range terms {
		if x-x != 0 {
			return true
		}
	}
	return false
}

// class returns term i if it is infinite or NaN, otherwise its sign.
func (t Terms) class(i int) float64 {
	if t.Wide != nil {
		return float64(t.Wide[i].Sign())
	}
	switch x := t.Float64[i]; {
	case x-x != 0:
		return x
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return 0
}

// count returns 1 for true.
func count(b bool) int {
	if b {
		return 1
	}
	return 0
}
