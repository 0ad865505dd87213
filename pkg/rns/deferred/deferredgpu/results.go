package deferredgpu

import (
	"math/big"
	"math/bits"
	"mpbench/internal/parallel"
)

// results waits and sets y to the results of the kernels, exactly: numbers of Precision bits.
func (p *Product) results(y []*big.Float) error {
	words, exponents := make([]uint64, p.out.Len()), make([]int64, p.exponents.Len())
	if err := p.out.Download(words); err != nil {
		return err
	}
	if err := p.exponents.Download(exponents); err != nil {
		return err
	}
	parallel.Ranges(0, len(y), 256, func(_, from, to int) {
		var x big.Int
		for i := from; i < to; i++ {
			if y[i] == nil {
				y[i] = new(big.Float)
			}
			setPacked(y[i], &x, words[i*p.width:(i+1)*p.width], exponents[i], uint(p.options.Precision))
		}
	})
	return nil
}

// setPacked sets z to a packed number of prec bits; x is overwritten.
func setPacked(z *big.Float, x *big.Int, words []uint64, exponent int64, prec uint) {
	digits := x.Bits()[:0]
	for _, w := range words {
		digits = append(digits, big.Word(w))
		if bits.UintSize == 32 {
			digits = append(digits, big.Word(w>>32))
		}
	}
	z.SetPrec(0).SetPrec(prec).SetInt(x.SetBits(digits))
	z.SetMantExp(z, int(exponent>>1))
	if exponent&1 != 0 {
		z.Neg(z)
	}
}
