package exact

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// shortCase is a Short beside what it stands for.
type shortCase struct {
	short    Short
	sum, abs *big.Rat
}

// add adds f*x*y, or f*x where y is 1 and single.
func (c *shortCase) add(f, x, y float64, single bool) {
	term := big.NewRat(1, 1)
	for _, v := range []float64{f, x, y} {
		if v-v != 0 {
			term = nil
			break
		}
		term.Mul(term, new(big.Rat).SetFloat64(v))
	}
	if single {
		c.short.Add(f, x)
	} else {
		c.short.AddProduct(f, x, y)
	}
	if term != nil && c.sum != nil {
		term.Quo(term, new(big.Rat).SetFloat64(c.short.divisor))
		c.sum.Add(c.sum, term)
		c.abs.Add(c.abs, new(big.Rat).Abs(term))
	} else {
		c.sum = nil
	}
}

// hostileNumber returns numbers of all sizes, near powers of two, few distinct ones, and infinities and NaN.
func hostileNumber(r *rand.Rand) float64 {
	x := math.Float64frombits(r.Uint64()&(1<<52-1) | 1023<<52)
	switch r.IntN(12) {
	case 0:
		return 0
	case 1:
		x = float64(r.IntN(9) - 4)
	case 2:
		x = math.Nextafter(math.Ldexp(1, r.IntN(8)), float64(r.IntN(2)*1000))
	case 3:
		x = math.Ldexp(x, r.IntN(2098)-1074)
	case 4:
		x = math.Ldexp(1, r.IntN(2098)-1074)
	case 5:
		x = math.Ldexp(x, []int{-1074, -1022, -701, -699, -350, 449, 450, 899, 901, 1023}[r.IntN(10)])
	case 6:
		if r.IntN(10) == 0 {
			x = []float64{math.Inf(1), math.NaN()}[r.IntN(2)]
		}
	case 7:
		x = math.Ldexp(x, r.IntN(120)-60)
	}
	if r.IntN(2) == 0 {
		return -x
	}
	return x
}

// TestShort compares all that is said of short sums with rationals.
func TestShort(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	known, exactly := 0, 0
	bigs := 0
	for range 10_000 {
		c := randomShort(r)
		if c.short.Big() != nil {
			bigs++
		}
		if !c.short.OK() {
			continue
		}
		if c.sum == nil {
			t.Fatal("a sum with an infinity or NaN is OK")
		}
		if c.check(t) {
			exactly++
		}
		if _, ok := c.short.Sign(); ok {
			known++
		}
	}
	if bigs < 1000 {
		t.Errorf("%d sums are big.Floats", bigs)
	}
	if known < 3000 || exactly < 300 {
		t.Errorf("the sign of %d is known, and the magnitude of %d exactly", known, exactly)
	}
	if gapsKnown < 1000 || gapsKnown < gaps*9/10 {
		t.Errorf("the sign of %d of %d differences from several parts is known", gapsKnown, gaps)
	}
}

func randomShort(r *rand.Rand) *shortCase {
	c := &shortCase{sum: new(big.Rat), abs: new(big.Rat)}
	c.short.Reset([]float64{1, 1, 5, 3, 0x1p52 + 1, 1e17}[r.IntN(6)])
	factors := []float64{1, c.short.divisor, 0.3, -7, hostileNumber(r)}
	for range 1 + r.IntN(4) {
		f, x, y := factors[r.IntN(5)], hostileNumber(r), hostileNumber(r)
		if f-f != 0 {
			f = 1
		}
		if single := r.IntN(2) == 0; single {
			c.add(f, x, 1, true)
		} else {
			c.add(f, x, y, false)
		}
	}
	if first := c.short.parts[0]; r.IntN(3) == 0 && c.short.n > 0 { // cancels
		c.add(1, -first, 1, true)
	}
	return c
}

// check reports whether the magnitude is known exactly.
func (c *shortCase) check(t *testing.T) bool {
	t.Helper()
	size := new(big.Rat).Abs(c.sum)
	if x := c.short.Big(); x != nil {
		if r, _ := x.Rat(nil); r.Cmp(c.sum) != 0 {
			t.Fatalf("%s is said to be %s", c.sum, r)
		}
	}
	low, high := c.short.Bounds()
	l, h := new(big.Rat).SetFloat64(low), new(big.Rat).SetFloat64(high)
	if h == nil {
		t.Fatalf("|%s| is at most %v", c.sum, high)
	}
	if l.Cmp(size) > 0 || h.Cmp(size) < 0 {
		t.Fatalf("|%s| is said to be from %v to %v", c.sum, low, high)
	}
	if sign, ok := c.short.Sign(); ok && sign != c.sum.Sign() {
		t.Fatalf("the sign of %s is said to be %d", c.sum, sign)
	} else if ok {
		var total Sum
		c.short.AddTo(&total)
		divided := new(big.Rat).Quo(total.Value().Number(), new(big.Rat).SetFloat64(c.short.divisor))
		if divided.Cmp(size) != 0 {
			t.Fatalf("%s is added as %s", c.sum, divided)
		}
	}
	below, above := c.short.MagnitudesBelow(), c.short.MagnitudesAbove()
	if low > 0 && (rational(above).Cmp(c.abs) < 0 || rational(below).Cmp(c.abs) > 0) {
		t.Fatalf("the magnitudes sum to %s, said to be from %v to %v", c.abs, below, above)
	}
	var magnitudes Sum
	c.short.AddMagnitudesTo(&magnitudes)
	divided := new(big.Rat).Quo(magnitudes.Value().Number(), rational(c.short.divisor))
	if divided.Cmp(c.abs) != 0 {
		t.Fatalf("the magnitudes sum to %s, and are added as %s", c.abs, divided)
	}
	if c.short.OneSign() != (size.Cmp(c.abs) == 0) {
		t.Fatalf("%s of %s has one sign: %v", c.sum, c.abs, c.short.OneSign())
	}
	c.checkRounding(t)
	c.checkParts(t)
	return low == high
}

func rational(x float64) *big.Rat { return new(big.Rat).SetFloat64(x) }

// checkParts compares the sum with numbers of 1 to 5 parts, each the rest rounded, the last one also a little off.
func (c *shortCase) checkParts(t *testing.T) {
	t.Helper()
	var parts []float64
	off := new(big.Rat).Set(c.sum)
	for range 5 {
		x, _ := off.Float64()
		if x-x != 0 {
			return
		}
		parts = append(parts, x)
		off.Sub(off, rational(x))
		c.checkGap(t, parts, off)
		last := &parts[len(parts)-1]
		*last = math.Nextafter(x, 1)
		c.checkGap(t, parts, new(big.Rat).Sub(off, new(big.Rat).Sub(rational(*last), rational(x))))
		*last = x
	}
}

// checkGap compares what is said of the difference of sum and parts with what it is.
func (c *shortCase) checkGap(t *testing.T, parts []float64, off *big.Rat) {
	t.Helper()
	var gap Short
	if gap.SetDifference(&c.short, parts...); !gap.OK() {
		return
	}
	sign, ok := gap.Sign()
	if ok && sign != off.Sign() {
		t.Fatalf("the sign of %s - %v is said to be %d", c.sum, parts, sign)
	}
	if len(parts) > 1 {
		gaps++
		if ok {
			gapsKnown++
		}
	}
	low, high := gap.Bounds()
	if size := new(big.Rat).Abs(off); rational(low).Cmp(size) > 0 || rational(high).Cmp(size) < 0 {
		t.Fatalf("|%s - %v| is said to be from %v to %v", c.sum, parts, low, high)
	}
}

// gaps counts differences from numbers of several parts, gapsKnown those whose sign is known.
var gaps, gapsKnown int

// checkRounding compares the sum with the nearest number and its neighbours.
func (c *shortCase) checkRounding(t *testing.T) {
	t.Helper()
	nearest, _ := c.sum.Float64()
	for _, x := range []float64{nearest, math.Nextafter(nearest, math.Inf(1)), math.Nextafter(nearest, math.Inf(-1))} {
		if x-x != 0 {
			continue
		}
		var gap Short
		if rounded, known := c.short.RoundsTo(x, &gap); known && rounded != (x == nearest) {
			t.Fatalf("%s rounds to %v, not %v: %v", c.sum, nearest, x, rounded)
		}
		c.checkGap(t, []float64{x}, new(big.Rat).Sub(c.sum, rational(x)))
	}
}

// TestShortEqual: sums with the same parts but other terms are not equal.
func TestShortEqual(t *testing.T) {
	x, y := 1+0x1p-40, 1-0x1p-30
	var product, apart Short
	product.Reset(1)
	product.AddProduct(1, x, y)
	apart.Reset(1)
	for _, part := range product.parts[:product.n] {
		apart.Add(1, part)
	}
	if product.n != 2 || product.Equal(&apart) || !product.Equal(&product) {
		t.Errorf("a product of %d parts equals its parts, or not itself", product.n)
	}
}

// TestShortRounding: below a power of two numbers are half as far apart.
func TestShortRounding(t *testing.T) {
	for _, c := range []struct {
		below          float64
		rounded, known bool
	}{{0x1p-55, true, true}, {0x1.8p-54, false, false}, {0x1.8p-53, false, true}} {
		var s, gap Short
		s.Reset(1)
		s.Add(1, 1)
		s.Add(1, -c.below)
		if rounded, known := s.RoundsTo(1, &gap); rounded != c.rounded || known != c.known {
			t.Errorf("1 - %v rounds to 1: %v, known: %v", c.below, rounded, known)
		}
	}
}
