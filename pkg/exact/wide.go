package exact

import "math/big"

// wideSum adds rationals over one common denominator, the least common multiple of those seen so far. The denominators
// of decimals are divisors of a power of ten, so after a few terms the denominator no longer changes and a term costs
// one division and one multiplication, without the greatest common divisor that big.Rat.Add takes each time.
type wideSum struct {
	sum, abs *big.Int // numerators of the sum and of the sum of magnitudes
	den      *big.Int

	quo, rem big.Int // scratch
}

func newWideSum() *wideSum {
	return &wideSum{sum: new(big.Int), abs: new(big.Int), den: big.NewInt(1)}
}

// add adds x.
func (w *wideSum) add(x *big.Rat) {
	term := w.bring(x.Num(), x.Denom())
	w.sum.Add(w.sum, term)
	w.abs.Add(w.abs, term.Abs(term))
}

// merge adds the terms of t.
func (w *wideSum) merge(t *wideSum) {
	w.sum.Add(w.sum, w.bring(t.sum, t.den))
	w.abs.Add(w.abs, w.bring(t.abs, t.den))
}

// bring makes w.den a multiple of den and returns num/den as a numerator over it, in scratch memory.
func (w *wideSum) bring(num, den *big.Int) *big.Int {
	w.quo.QuoRem(w.den, den, &w.rem)
	if w.rem.Sign() != 0 {
		w.extend(den)
		w.quo.Quo(w.den, den)
	}
	return w.quo.Mul(&w.quo, num)
}

// extend replaces w.den by its least common multiple with den.
func (w *wideSum) extend(den *big.Int) {
	gcd := new(big.Int).GCD(nil, nil, w.den, den)
	factor := gcd.Quo(den, gcd)
	w.den.Mul(w.den, factor)
	w.sum.Mul(w.sum, factor)
	w.abs.Mul(w.abs, factor)
}

// value returns num over the common denominator, in lowest terms.
func (w *wideSum) value(num *big.Int) *big.Rat {
	return new(big.Rat).SetFrac(num, w.den)
}
