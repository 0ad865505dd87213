package reduce

import (
	"math"
	"math/big"

	"mpbench/pkg/exact"
	"mpbench/pkg/expansion"
	"mpbench/pkg/rns"
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
	rounded int // how many of x and y were wider and have been rounded
	result  float64
}

func (d *dotPair) Load(x, y Terms) error {
	d.rounded = 0
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

// dot64 is the recursive dot product in float64.
type dot64 struct{ dotPair }

func (d *dot64) Dot() { d.result = plainDot(d.x, d.y) }

// ErrorBound is gamma(n + r) * sumAbs + n*2^-1074 with u = 2^-53, r of the vectors having been rounded to float64; nil with
// rounded vectors that come near the ends of the range.
func (d *dot64) ErrorBound(s exact.Summary) *big.Rat {
	return d.within(s, exact.GammaTimes(s.N+d.rounded, unit64, sumAbs(s)))
}

// within adds what products lose below the normal range, twice for the additions that follow, and returns nil where sums may
// overflow, or where rounded vectors may have lost relative accuracy below it.
func (d *dotPair) within(s exact.Summary, bound *big.Rat) *big.Rat {
	if bound == nil || d.rounded > 0 && !d.normal() {
		return nil
	}
	lost := underflowLoss(2 * s.N)
	if new(big.Rat).Add(sumAbs(s), new(big.Rat).Add(bound, lost)).Cmp(overflow64) >= 0 {
		return nil
	}
	return bound.Add(bound, lost)
}

// normal reports whether all numbers are zero or in the normal range.
func (d *dotPair) normal() bool {
	for _, v := range [][]float64{d.x, d.y} {
		for _, x := range v {
			if a := math.Abs(x); a != 0 && a < 0x1p-1022 || a > math.MaxFloat64 {
				return false
			}
		}
	}
	return true
}

// dot2 is the compensated dot product Dot2 of Ogita, Rump and Oishi: as if computed in twice the precision.
type dot2 struct{ dotPair }

func (d *dot2) Dot() {
	var sum, correction float64
	for i, x := range d.x {
		p, pe := expansion.TwoProduct(x, d.y[i])
		s, se := expansion.TwoSum(sum, p)
		sum = s
		correction += pe + se
	}
	d.result = sum + correction
	if d.result-d.result != 0 {
		d.result = plainDot(d.x, d.y)
	}
}

// ErrorBound is u*|sum| + gamma(n)^2 * sumAbs + 5n*2^-1074, for vectors that are float64 (rounding r of them adds
// 2.1 r u * sumAbs).
//
// Source: T. Ogita, S. M. Rump, S. Oishi, SIAM J. Sci. Comput. 26 (2005) 1955-1988, proposition 5.5 and, with underflow,
// theorem 5.6.
func (d *dot2) ErrorBound(s exact.Summary) *big.Rat {
	gamma := exact.GammaTimes(s.N, unit64, big.NewRat(1, 1))
	if gamma == nil {
		return nil
	}
	bound := gamma.Mul(gamma.Mul(gamma, gamma), sumAbs(s))
	bound.Add(bound, new(big.Rat).Mul(unit64, new(big.Rat).Abs(sum(s))))
	input := new(big.Rat).Mul(big.NewRat(int64(21*d.rounded), 10), unit64)
	bound.Add(bound, input.Mul(input, sumAbs(s)))
	return d.within(exact.Summary{N: 5 * s.N, SumAbs: s.SumAbs}, bound)
}

// bigDot is the recursive dot product with math/big.Float: every product and sum rounded to nearest even at p bits.
type bigDot struct {
	x, y    bigFloat
	product *big.Float
	sum     *big.Float
	special *exact.Value
}

func newBigDot(o Options) (Dotter, error) {
	p := uint(o.Precision)
	return &bigDot{x: bigFloat{precision: o.Precision}, y: bigFloat{precision: o.Precision}, product: new(big.Float).SetPrec(p), sum: new(big.Float).SetPrec(p)}, nil
}

func (b *bigDot) Load(x, y Terms) error {
	if b.special = specialDot(x, y); b.special != nil {
		return nil
	}
	_, _ = b.x.Load(x), b.y.Load(y)
	return nil
}

func (b *bigDot) Dot() {
	if b.special != nil {
		return
	}
	b.sum.SetInt64(0)
	for i, x := range b.x.terms {
		b.product.Mul(x, b.y.terms[i])
		b.sum.Add(b.sum, b.product)
	}
}

func (b *bigDot) Value() exact.Value {
	if b.special != nil {
		return *b.special
	}
	return exact.FromBig(b.sum)
}

// ErrorBound is gamma(n + r) * sumAbs with u = 2^-p, r of the vectors having been rounded to p bits.
func (b *bigDot) ErrorBound(s exact.Summary) *big.Rat {
	return exact.GammaTimes(s.N+count(b.x.rounded)+count(b.y.rounded), exact.PowerOfTwo(-b.x.precision), sumAbs(s))
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (b *bigDot) Format() Format {
	f := b.x.Format()
	f.TermBytes *= 2
	return f
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

// rnsDot is the dot product of RNS numbers: products, added in one of the orders of the sums.
type rnsDot struct {
	x, y    residues
	special *exact.Value
	order   string // "reduce1", "reduce2", "reduce3"
	grid    grid
	threads int
}

// newRNSDot returns the constructor for an order.
func newRNSDot(order string) func(Options) (Dotter, error) {
	return func(o Options) (Dotter, error) {
		s, err := newReduce3(o) // whose parts serve the other orders too
		if err != nil {
			return nil, err
		}
		r := s.(*reduce3)
		y := residues{context: r.context.Clone()}
		return &rnsDot{x: r.residues, y: y, order: order, grid: r.grid, threads: r.threads}, nil
	}
}

func (d *rnsDot) Load(x, y Terms) error {
	if d.special = specialDot(x, y); d.special != nil {
		return nil
	}
	_, _ = d.x.Load(x), d.y.Load(y)
	return nil
}

func (d *rnsDot) Dot() {
	d.x.sum.SetZero()
	n := 0
	if d.special == nil {
		n = d.x.terms.Len()
	}
	if n == 0 {
		return
	}
	switch d.order {
	case "reduce1":
		s := d.newSlots(1)
		recursive(s, n)
		d.x.sum.Set(s.slots[0])
	case "reduce2":
		s := d.newSlots(pairwiseSlots(n))
		pairwise(s, n)
		d.x.sum.Set(s.slots[0])
	default:
		for _, x := range blockSums(d.grid, d.threads, n, d.newSlots) {
			if x != nil {
				d.x.context.Add(d.x.sum, d.x.sum, x)
			}
		}
	}
}

// newSlots returns an adder whose terms are the products.
func (d *rnsDot) newSlots(n int) *rnsSlots {
	s := d.x.newSlots(n)
	s.factors, s.factor, s.product = d.y.terms, new(rns.Float), d.x.context.Base().NewFloat()
	return s
}

func (d *rnsDot) Value() exact.Value {
	if d.special != nil {
		return *d.special
	}
	return exact.FromBig(d.x.context.Big(d.x.sum))
}

// ErrorBound is gamma(1 + depth of the order) * sumAbs.
func (d *rnsDot) ErrorBound(s exact.Summary) *big.Rat {
	depth := map[string]int{"reduce1": recursiveDepth(s.N), "reduce2": pairwiseDepth(s.N), "reduce3": d.grid.depth(s.N)}[d.order]
	return d.x.bound(1+depth+count(d.y.rounded), s)
}

func (d *rnsDot) Format() Format {
	f := d.x.Format()
	f.TermBytes *= 2
	if d.order == "reduce3" {
		f.Threads, f.Blocks, f.BlockSize = min(d.threads, d.grid.Blocks), d.grid.Blocks, d.grid.BlockSize
	}
	return f
}
