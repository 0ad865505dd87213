package deferred

import (
	"math/big"
	"math/rand/v2"
	"testing"
)

// randomTerm returns a term of few bits, so that ties, powers of two and cancellation are frequent.
func randomTerm(rng *rand.Rand, spread int) *term {
	t := &term{exp: rng.IntN(2*spread+1) - spread}
	t.x.SetInt64(rng.Int64N(1<<(1+rng.IntN(12))) - 1<<rng.IntN(12))
	return t
}

// TestAddTerms compares rounded sums of two and of many terms, at gaps from none to far beyond the precision, with
// sums that are exact before they are rounded.
func TestAddTerms(t *testing.T) {
	rng := rand.New(rand.NewPCG(51, 52))
	rounds := 200_000
	if testing.Short() {
		rounds = 20_000
	}
	for range rounds {
		spread := []int{2, 15, 40, 200}[rng.IntN(4)]
		prec := 1 + rng.IntN(30)
		n := 2 + rng.IntN(2)*rng.IntN(6)
		terms := make([]*term, n)
		exact := new(big.Float).SetPrec(2000)
		for i := range terms {
			terms[i] = randomTerm(rng, spread)
			if i > 0 && rng.IntN(4) == 0 { // cancel the one before
				terms[i].x.Neg(&terms[i-1].x)
				terms[i].exp = terms[i-1].exp
			}
			v := new(big.Float).SetPrec(64).SetInt(&terms[i].x)
			exact.Add(exact, v.SetMantExp(v, terms[i].exp))
		}
		want := new(big.Float).SetPrec(uint(prec)).Set(exact)
		sum := terms[0]
		if n == 2 {
			sum.addTerms(terms[1], prec)
		} else {
			sum = sumTerms(terms, prec)
		}
		got := new(big.Float)
		setRounded(got, sum, uint(prec))
		if got.Cmp(want) != 0 {
			t.Fatalf("%d terms to %d bits: %v, want %v of %v", n, prec, got.Text('p', 0), want.Text('p', 0), exact.Text('p', 0))
		}
	}
}

// TestFarTerms adds terms whose exponents are so far apart that a fixed-point sum would not fit memory.
func TestFarTerms(t *testing.T) {
	make3 := func(a, b, c int64) []*term {
		terms := []*term{{exp: 1 << 30}, {exp: 0}, {exp: -1 << 30}}
		for i, x := range []int64{a, b, c} {
			terms[i].x.SetInt64(x)
		}
		return terms
	}
	round := func(terms []*term) *big.Float {
		z := new(big.Float)
		setRounded(z, sumTerms(terms, 3), 3)
		return z
	}
	at := func(x float64, exp int) *big.Float { z := big.NewFloat(x); return z.SetMantExp(z, exp) }
	for _, c := range []struct {
		terms []*term
		want  *big.Float
	}{
		{make3(18, 0, 0), at(16, 1<<30)},  // a tie goes to even
		{make3(18, 1, -1), at(20, 1<<30)}, // and up if anything is added
		{make3(18, 0, 1), at(20, 1<<30)},
		{make3(18, -1, 1), at(16, 1<<30)},
		{make3(0, 18, -1), at(16, 0)},
		{make3(0, 18, 1), at(20, 0)},
		{append(make3(18, 3, 1), make3(-18, -3, 0)...), at(1, -1<<30)},
	} {
		if got := round(c.terms); got.Cmp(c.want) != 0 {
			t.Errorf("%v, want %v", got.Text('p', 0), c.want.Text('p', 0))
		}
	}
}
