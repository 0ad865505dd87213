package reduce

import (
	"math/big"

	"mpbench/pkg/exact"
)

// bigFloat is recursive summation with math/big.Float: binary, round to nearest even, p bits.
type bigFloat struct {
	precision int
	terms     []*big.Float
	rounded   bool
	special   *exact.Value
	sum       *big.Float
}

func newBigFloat(o Options) (Summer, error) {
	return &bigFloat{precision: o.Precision, sum: new(big.Float)}, nil
}

func (b *bigFloat) Load(t Terms) error {
	b.special = nil
	if v, found := special(t.Float64); found {
		b.special = &v
		return nil
	}
	b.rounded = t.Wide != nil || b.precision < 53
	b.terms = make([]*big.Float, t.Len())
	for i := range b.terms {
		b.terms[i] = new(big.Float).SetPrec(uint(b.precision))
		if t.Wide != nil {
			b.terms[i].SetRat(t.Wide[i])
		} else {
			b.terms[i].SetFloat64(t.Float64[i])
		}
	}
	return nil
}

func (b *bigFloat) Sum() {
	if b.special != nil {
		return
	}
	b.sum.SetPrec(uint(b.precision)).SetInt64(0)
	for _, x := range b.terms {
		b.sum.Add(b.sum, x)
	}
}

func (b *bigFloat) Value() exact.Value {
	if b.special != nil {
		return *b.special
	}
	return exact.FromBig(b.sum)
}

// ErrorBound is gamma(n-1) * sumAbs with u = 2^-p, or gamma(n) * sumAbs if the terms were rounded to p bits.
func (b *bigFloat) ErrorBound(s exact.Summary) *big.Rat {
	depth := recursiveDepth(s.N)
	if b.rounded {
		depth++
	}
	return exact.GammaTimes(depth, exact.PowerOfTwo(-b.precision), sumAbs(s))
}

func (b *bigFloat) Format() Format {
	words := (b.precision + 63) / 64
	return Format{Name: "big.Float", Actual: b.precision, TermBytes: 8 + 40 + 8*words, Threads: 1}
}
