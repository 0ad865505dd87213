package rns

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"
)

// precisions are those at which every operation is compared with the model.
var precisions = []struct{ bits, moduliBits int }{{30, 16}, {30, 31}, {53, 31}, {60, 16}, {240, 16}, {240, 31},
	{424, 31}, {1696, 31}}

func testBase(t testing.TB, p, moduliBits int) *Base {
	t.Helper()
	b, err := NewBaseForPrecision(p, moduliBits)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// forEachContext runs f for every precision, rounding and alignment.
func forEachContext(t *testing.T, f func(t *testing.T, c *Context, s model)) {
	for _, p := range precisions {
		b := testBase(t, p.bits, p.moduliBits)
		for _, r := range []Rounding{Truncate, Nearest} {
			for _, a := range []Alignment{Align2018, AlignBLAS} {
				t.Run(fmt.Sprintf("p=%d/bits=%d/%v/%v", p.bits, p.moduliBits, r, a), func(t *testing.T) {
					f(t, NewContext(b, r, a), newModel(b.Moduli(), r, a))
				})
			}
		}
	}
}

func (c *Context) fromModel(z *Float, x modelNumber) {
	digits := make([]uint32, c.base.stride)
	c.base.Residues(digits, new(big.Int).Abs(x.Sig))
	c.SetResidues(z, digits, x.Exp, x.Sig.Sign() < 0)
}

func (c *Context) toModel(x *Float) modelNumber {
	sig := c.Significand(x)
	if x.Neg {
		sig.Neg(sig)
	}
	return modelNumber{Sig: sig, Exp: x.Exp}
}

// checkResult compares z with the model's result and its interval with its significand.
func checkResult(t *testing.T, c *Context, what string, z *Float, want modelNumber, x, y modelNumber) {
	t.Helper()
	got := c.toModel(z)
	if got.Sig.Cmp(want.Sig) != 0 || got.Exp != want.Exp {
		t.Fatalf("%s of %v*2^%d and %v*2^%d: %v*2^%d, want %v*2^%d", what, x.Sig, x.Exp, y.Sig, y.Exp, got.Sig, got.Exp,
			want.Sig, want.Exp)
	}
	checkInterval(t, c.base, z.interval, new(big.Int).Abs(want.Sig))
}

// checkInterval verifies that v encloses x/M tightly.
func checkInterval(t *testing.T, b *Base, v Interval, x *big.Int) {
	t.Helper()
	if x.Sign() == 0 {
		if v != (Interval{}) {
			t.Fatalf("interval %v of zero", v)
		}
		return
	}
	// lo * 2^(Exp-64) <= x/M <= up * 2^(Exp-64)
	bound := func(word uint64) *big.Int {
		return new(big.Int).Mul(new(big.Int).SetUint64(word), b.rangeInt)
	}
	scaled := new(big.Int).Set(x)
	lo, up := bound(v.Lo), bound(v.Up)
	if shift := 64 - int(v.Exp); shift >= 0 {
		scaled.Lsh(scaled, uint(shift))
	} else {
		t.Fatalf("interval %v has an exponent above 64", v)
	}
	if lo.Cmp(scaled) > 0 || up.Cmp(scaled) < 0 {
		t.Fatalf("interval %v does not contain %v/M", v, x)
	}
	if !v.tight() || v.Up < 1<<63 {
		t.Fatalf("interval %v is too wide", v)
	}
}

// operations is the number of random operations of a kind at one precision; the heavy run of scripts/check raises it.
func operations() int {
	if testing.Short() {
		return 2_000
	}
	return 26_000 // four contexts a precision make 104,000
}

// TestOperationsMatchModel compares additions, subtractions and products with the integer model bit for bit, and each
// with the bound u < 4/sqrt(M) on its relative error.
func TestOperationsMatchModel(t *testing.T) {
	forEachContext(t, func(t *testing.T, c *Context, s model) {
		t.Parallel()
		a := adversary(rand.New(rand.NewPCG(1, uint64(s.p))), s)
		unit := c.UnitRoundoff()
		x, y, z := c.base.NewFloat(), c.base.NewFloat(), c.base.NewFloat()
		for range operations() {
			mx, my := a.Pair()
			c.fromModel(x, mx)
			c.fromModel(y, my)
			c.Add(z, x, y)
			checkResult(t, c, "sum", z, s.add(mx, my), mx, my)
			checkBound(t, c, z, new(big.Rat).Add(mx.Rat(), my.Rat()), unit)
			minus := modelNumber{Sig: new(big.Int).Neg(my.Sig), Exp: my.Exp}
			c.Sub(z, x, y)
			checkResult(t, c, "difference", z, s.add(mx, minus), mx, my)
			checkBound(t, c, z, new(big.Rat).Sub(mx.Rat(), my.Rat()), unit)
			c.Mul(z, x, y)
			checkResult(t, c, "product", z, s.mul(mx, my), mx, my)
			checkBound(t, c, z, new(big.Rat).Mul(mx.Rat(), my.Rat()), unit)
		}
	})
}

// checkBound fails unless |z - exact| <= unit * |exact|.
func checkBound(t *testing.T, c *Context, z *Float, exact, unit *big.Rat) {
	t.Helper()
	diff := new(big.Rat).Sub(c.toModel(z).Rat(), exact)
	if diff.Sign() == 0 {
		return
	}
	if diff.Abs(diff).Cmp(exact.Mul(exact.Abs(exact), unit)) > 0 {
		t.Fatalf("relative error above %v", unit)
	}
}
