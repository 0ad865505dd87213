package deferred

import (
	"math/big"
	"slices"
)

// term is the number x * 2^exp.
type term struct {
	x   big.Int
	exp int
}

func (t *term) top() int { return t.exp + t.x.BitLen() }

// addTerms sets s to s + t, or to a number that every rounding to nearest at prec bits or fewer, or to a multiple of
// any power of two that is not less than the last place of that, takes to the same number. tail reports the latter
// case. t is overwritten.
//
// Memory is bounded by the lengths of the significands and prec, whatever the exponents are: where the smaller term
// lies below the last place that matters, only its sign is kept. With u = min(exponent of the larger, its top - prec -
// 3), the larger term, all numbers of prec bits near it and the midpoints between them are multiples of 2^u. So all
// numbers strictly between it and the next multiple of 2^u round alike.
func (s *term) addTerms(t *term, prec int) (tail bool) {
	if t.x.Sign() == 0 {
		return false
	}
	if s.x.Sign() == 0 {
		s.x.Set(&t.x)
		s.exp = t.exp
		return false
	}
	if unit := min(s.exp, s.top()-prec-3); t.top() <= unit {
		t.x.SetInt64(int64(t.x.Sign()))
		t.exp = unit - 1
		tail = true
	} else if unit := min(t.exp, t.top()-prec-3); s.top() <= unit {
		s.x.SetInt64(int64(s.x.Sign()))
		s.exp = unit - 1
		tail = true
	}
	switch gap := s.exp - t.exp; {
	case gap > 0:
		s.x.Lsh(&s.x, uint(gap))
		s.exp = t.exp
	case gap < 0:
		t.x.Lsh(&t.x, uint(-gap))
	}
	s.x.Add(&s.x, &t.x)
	return tail
}

// quotientBits returns the precision of a sum that is divided by d and then rounded to prec bits: whether the quotient
// lies above or below a number of prec+1 bits is whether the sum lies above or below that times d.
func quotientBits(d *big.Int, prec uint) int { return int(prec) + d.BitLen() + 2 }

// divide sets t, a sum of quotientBits, to a number that rounds to prec bits as t/d does, for d > 0.
func (t *term) divide(d *big.Int, prec uint) {
	if shift := quotientBits(d, prec) + 2 - t.x.BitLen(); shift > 0 {
		t.x.Lsh(&t.x, uint(shift))
		t.exp -= shift
	}
	var rest big.Int
	if t.x.QuoRem(&t.x, d, &rest); rest.Sign() != 0 { // toward zero: an odd last bit stands for what is cut off
		t.x.Abs(&t.x)
		t.x.SetBit(&t.x, 0, 1)
		if rest.Sign() < 0 {
			t.x.Neg(&t.x)
		}
	}
}

// sumTerms returns the sum of terms in the sense of addTerms. It overwrites them.
//
// Terms are taken by descending magnitude and added exactly as long as they overlap. When all that are left add up to
// less than half a unit of the last place of the sum so far, that sum is complete unless it is zero, and the rest
// decides at most ties and neighbours.
func sumTerms(terms []*term, prec int) *term {
	terms = slices.DeleteFunc(terms, func(t *term) bool { return t.x.Sign() == 0 })
	slices.SortFunc(terms, func(a, b *term) int { return b.top() - a.top() })
	slack := log2Ceil(len(terms)) + 2
	total := new(term)
	for len(terms) > 0 {
		// A cluster: terms that overlap, or nearly, added exactly.
		cluster := terms[0]
		terms = terms[1:]
		for len(terms) > 0 && terms[0].top()+slack > cluster.exp {
			t := terms[0]
			if gap := cluster.exp - t.exp; gap > 0 {
				cluster.x.Lsh(&cluster.x, uint(gap))
				cluster.exp = t.exp
			} else {
				t.x.Lsh(&t.x, uint(-gap))
			}
			cluster.x.Add(&cluster.x, &t.x)
			terms = terms[1:]
		}
		if total.addTerms(cluster, prec) {
			break
		}
	}
	return total
}
