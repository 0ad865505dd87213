package reduce

import (
	"math/big"

	"mpbench/pkg/exact"
)

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

func (b *bigDot) Format() Format {
	f := b.x.Format()
	f.TermBytes *= 2
	return f
}
