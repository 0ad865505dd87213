package deferred

import (
	"math/big"

	"mpbench/pkg/numbers"
)

// packedResults are the entries of a matrix, row by row, as packed numbers, and where C comes from.
type packedResults struct {
	z      *Packed
	c      numbers.Array
	number numbers.Number // scratch
}

func (y *packedResults) precision() int { return y.z.bits }

// read sets z to an entry of C, infinities and NaN to 0.
func (y *packedResults) read(z *numbers.Number, i int) {
	if y.c.ReadAt(z, i/y.c.Cols, i%y.c.Cols); z.Class >= numbers.Infinite {
		z.Class = numbers.Zero
	}
}

func (y *packedResults) special(i int, class numbers.Class, neg bool) {
	panic("deferred: an infinite product of finite numbers")
}

func (y *packedResults) round(i int, t *term, _ *big.Float) { y.store(i, &t.x, t.exp) }

func (y *packedResults) same(t, u *term, f, g *big.Float) bool {
	setRounded(f, t, uint(y.z.bits))
	setRounded(g, u, uint(y.z.bits))
	return f.Cmp(g) == 0
}

// store sets number i to x * 2^exp, rounded to nearest even.
func (y *packedResults) store(i int, x *big.Int, exp int) {
	p := y.z
	w := p.words[i*p.width : (i+1)*p.width]
	cut := x.BitLen() - p.bits
	if p.exponents[i] = int64(exp+cut) << 1; x.Sign() <= 0 {
		p.exponents[i]++
		if x.Sign() == 0 {
			clear(w)
			p.exponents[i] = 0
			return
		}
	}
	y.number.SetWords(x.Bits())
	for h := range w {
		w[h] = bitsAt(y.number.Words, 64*h+cut)
	}
	if cut > 0 && bitsAt(y.number.Words, cut-1)&1 != 0 && (w[0]&1 != 0 || x.TrailingZeroBits() < uint(cut-1)) {
		p.increment(i)
	}
}

// increment adds a unit of the last place to the magnitude of number i, which has its highest bit set.
func (p *Packed) increment(i int) {
	w := p.words[i*p.width : (i+1)*p.width]
	for h := range w {
		if w[h]++; w[h] != 0 {
			break
		}
	}
	top := p.bits - 64*(p.width-1) // bits of the last word
	if last := &w[p.width-1]; *last>>top != 0 || *last == 0 {
		*last = 1 << (top - 1) // all bits were ones
		p.exponents[i] += 2
	}
}
