package rns

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"mpbench/pkg/rns/internal/operands"
)

// TestAliasing requires the same result whichever operand is the destination.
func TestAliasing(t *testing.T) {
	b := testBase(t, 120, 31)
	s := newModel(b.Moduli(), Truncate, Align2018)
	a := adversary(rand.New(rand.NewPCG(15, 16)), s)
	c := NewContext(b, Truncate, Align2018)
	for range 5000 {
		mx, my := a.Pair()
		for name, op := range map[string]func(z, x, y *Float){"Add": c.Add, "Sub": c.Sub, "Mul": c.Mul} {
			x, y, want := b.NewFloat(), b.NewFloat(), b.NewFloat()
			c.fromModel(x, mx)
			c.fromModel(y, my)
			op(want, x, y)
			z := b.NewFloat()
			z.Set(x)
			op(z, z, y)
			checkSame(t, c, name+" with z = x", z, want)
			z.Set(y)
			op(z, x, z)
			checkSame(t, c, name+" with z = y", z, want)
			op(want, x, x)
			op(x, x, x)
			checkSame(t, c, name+" with z = x = y", x, want)
		}
	}
}

func checkSame(t *testing.T, c *Context, what string, got, want *Float) {
	t.Helper()
	if c.Compare(got, want) != 0 || got.Exp != want.Exp || got.Neg != want.Neg || !slices.Equal(got.digits, want.digits) {
		t.Fatalf("%s: %v, want %v", what, c.Big(got), c.Big(want))
	}
}

// TestCompare checks the order of numbers, among them equal ones with different exponents.
func TestCompare(t *testing.T) {
	forEachContext(t, func(t *testing.T, c *Context, s model) {
		a := adversary(rand.New(rand.NewPCG(17, 18)), s)
		x, y := c.base.NewFloat(), c.base.NewFloat()
		for range 1000 {
			mx, my := a.Pair()
			c.fromModel(x, mx)
			c.fromModel(y, my)
			if got, want := c.Compare(x, y), mx.Rat().Cmp(my.Rat()); got != want {
				t.Fatalf("compare %v and %v: %d", mx, my, got)
			}
			if c.Compare(x, x) != 0 || x.Sign() != mx.Sig.Sign() {
				t.Fatalf("%v is not itself", mx)
			}
		}
	})
}

// TestFloat64 checks that every float64 is held exactly and comes back.
func TestFloat64(t *testing.T) {
	rng := rand.New(rand.NewPCG(19, 20))
	values := []float64{0, math.Copysign(0, -1), 1, -1, math.MaxFloat64, math.SmallestNonzeroFloat64, 0x1p-1022,
		0x1.fffffffffffffp-1023, 0.1, 1e300}
	for range 20_000 {
		if x := math.Float64frombits(rng.Uint64()); x-x == 0 {
			values = append(values, x)
		}
	}
	for _, p := range precisions[:7] {
		b := testBase(t, p.bits, p.moduliBits)
		c := NewContext(b, Truncate, Align2018)
		x, y := b.NewFloat(), b.NewFloat()
		for i, want := range values {
			c.SetFloat64(x, want)
			if got := c.Float64(x); got != want {
				t.Fatalf("%v comes back as %v", want, got)
			}
			if i%8 == 0 {
				checkInterval(t, b, x.interval, c.Significand(x))
				c.SetBig(y, big.NewFloat(want))
				checkSame(t, c, "SetBig", y, x)
			}
		}
	}
	for _, bad := range []float64{math.Inf(1), math.Inf(-1), math.NaN()} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("SetFloat64(%v) does not panic", bad)
				}
			}()
			c := NewContext(testBase(t, 60, 31), Truncate, Align2018)
			c.SetFloat64(c.base.NewFloat(), bad)
		}()
	}
}

// TestSetInt checks conversions of integers of every length: exact up to F - 4 bits without trailing zeros, then
// rounded to p bits.
func TestSetInt(t *testing.T) {
	forEachContext(t, func(t *testing.T, c *Context, s model) {
		a := adversary(rand.New(rand.NewPCG(21, 22)), s)
		z := c.base.NewFloat()
		for range 2000 {
			x := a.Bits(1 + a.Rand.IntN(3*s.f))
			if a.Rand.IntN(2) == 0 {
				x.Neg(x)
			}
			c.SetInt(z, x, -7)
			want := modelNumber{Sig: new(big.Int).Set(x), Exp: -7}
			if x.Sign() != 0 {
				zeros := x.TrailingZeroBits()
				want = modelNumber{Sig: new(big.Int).Quo(x, new(big.Int).Lsh(big.NewInt(1), zeros)), Exp: -7 + int(zeros)}
			}
			if want.Sig.BitLen() > s.f-4 {
				want = s.round(want)
			}
			checkResult(t, c, "conversion", z, operands.Normal(want), want, want)
		}
	})
}

// TestVector checks bulk operations against single ones, and sharing.
func TestVector(t *testing.T) {
	b := testBase(t, 113, 31)
	c := NewContext(b, Nearest, Align2018)
	rng := rand.New(rand.NewPCG(23, 24))
	n := 100
	xs, ys := make([]float64, n), make([]float64, n)
	for i := range xs {
		xs[i], ys[i] = rng.Float64()-0.5, math.Ldexp(rng.Float64()-0.5, rng.IntN(300)-150)
	}
	x, y, z := b.NewVector(n), b.NewVector(n), b.NewVector(n)
	c.SetFloat64s(x, xs)
	c.SetFloat64s(y, ys)
	f, g, want, alpha := b.NewFloat(), b.NewFloat(), b.NewFloat(), b.NewFloat()
	c.SetFloat64(alpha, -1.5)
	for name, op := range map[string]struct {
		bulk   func()
		single func(z, x, y *Float)
	}{
		"AddVector":   {func() { c.AddVector(z, x, y) }, c.Add},
		"SubVector":   {func() { c.SubVector(z, x, y) }, c.Sub},
		"MulVector":   {func() { c.MulVector(z, x, y) }, c.Mul},
		"ScaleVector": {func() { c.ScaleVector(z, alpha, x) }, func(z, x, _ *Float) { c.Mul(z, alpha, x) }},
	} {
		op.bulk()
		bigs := c.Bigs(z)
		for i := range n {
			c.SetFloat64(f, xs[i])
			c.SetFloat64(g, ys[i])
			op.single(want, f, g)
			var view Float
			z.View(&view, i)
			checkSame(t, c, name, &view, want)
			if bigs[i].Cmp(c.Big(want)) != 0 {
				t.Fatalf("%s: Bigs", name)
			}
		}
	}
	part := z.Slice(10, 20)
	part.Set(0, alpha)
	var view Float
	if z.View(&view, 10); c.Compare(&view, alpha) != 0 || part.Len() != 10 {
		t.Error("a slice does not share the vector's numbers")
	}
	defer func() {
		if r := recover(); r == nil || !strings.Contains(r.(string), "AddVector of vectors of lengths 100 and 10") {
			t.Errorf("vectors of different lengths: %v", r)
		}
	}()
	c.AddVector(z, x, part)
}

// TestAllocations: no operation allocates.
func TestAllocations(t *testing.T) {
	b := testBase(t, 240, 31)
	c := NewContext(b, Truncate, Align2018)
	x, y, z := b.NewFloat(), b.NewFloat(), b.NewFloat()
	c.SetFloat64(x, math.Pi)
	c.SetFloat64(y, 1e-70)
	c.Mul(x, x, x)
	c.Mul(x, x, x)
	c.Mul(x, x, x) // significands of full length round from here on
	for name, f := range map[string]func(){
		"Add": func() { c.Add(z, x, y) }, "Sub": func() { c.Sub(z, x, y) }, "Mul": func() { c.Mul(z, x, x) },
		"SetFloat64": func() { c.SetFloat64(z, 0.1) }, "Compare": func() { c.Compare(x, y) },
	} {
		if n := testing.AllocsPerRun(100, f); n != 0 {
			t.Errorf("%s allocates %v times", name, n)
		}
	}
}

// TestUnitRoundoff: the stated bound is below 4/sqrt(M) in every context.
func TestUnitRoundoff(t *testing.T) {
	forEachContext(t, func(t *testing.T, c *Context, s model) {
		u := c.UnitRoundoff()
		if u.Mul(u, u).Cmp(new(big.Rat).SetFrac(big.NewInt(16), s.m)) >= 0 {
			t.Error("the unit roundoff is not below 4/sqrt(M)")
		}
	})
}

func TestModuli(t *testing.T) {
	for _, c := range []struct{ p, count int }{{30, 4}, {60, 8}, {120, 16}, {240, 32}, {480, 64}} {
		moduli := mustModuli(t, c.p, 16)
		if len(moduli) != c.count || moduli[0] != 32769 {
			t.Errorf("p = %d: %d moduli from %d, the paper has %d from 32769", c.p, len(moduli), moduli[0], c.count)
		}
		if got := precisionOf(newModel(moduli, 0, 0).m); got != c.p {
			t.Errorf("p = %d: the moduli give %d", c.p, got)
		}
	}
	for _, order := range []Order{Ascending, Descending} {
		for width := 12; width <= MaxModuliBits; width++ {
			for _, p := range []int{30, 53, 106, 240, 424} {
				moduli, err := GenerateModuli(p, width, order)
				if err != nil {
					t.Fatalf("p = %d, width %d, %v: %v", p, width, order, err)
				}
				if err := CheckModuli(moduli); err != nil || !slices.IsSorted(moduli) {
					t.Fatalf("p = %d, width %d, %v: %v", p, width, order, err)
				}
				if b, _ := NewBase(moduli); b.Precision() < p || b.Precision() > p+width {
					t.Errorf("p = %d, width %d, %v: %d bits", p, width, order, b.Precision())
				}
			}
		}
	}
	if descending, _ := GenerateModuli(60, 15, Descending); descending[len(descending)-1] != 1<<15-1 {
		t.Errorf("descending moduli %v do not start at 2^15 - 1", descending)
	}
	for _, p := range []int{4096, MaxPrecision} {
		if b := testBase(t, p, 31); b.Precision() != p {
			t.Errorf("p = %d gives %d", p, b.Precision())
		}
	}
}

func TestModuliErrors(t *testing.T) {
	for want, f := range map[string]func() error{
		"precision 0 is outside [30, 8192] bits": func() error {
			_, err := GenerateModuli(0, 31, Ascending)
			return err
		},
		"precision -5 is outside":         func() error { _, err := NewBaseForPrecision(-5, 0); return err },
		"precision 1000000000 is outside": func() error { _, err := NewBaseForPrecision(1e9, 0); return err },
		"moduli of 32 bits are outside [6, 31]": func() error {
			_, err := GenerateModuli(60, 32, Ascending)
			return err
		},
		"not enough pairwise coprime moduli of 10 bits": func() error {
			_, err := GenerateModuli(8000, 10, Descending)
			return err
		},
		"start 100 of the moduli must be odd": func() error {
			_, err := GenerateModuliFrom(60, 16, 100, Ascending)
			return err
		},
		"modulus 32768 must be odd":                   func() error { return CheckModuli([]uint32{32769, 32768}) },
		"modulus 15 must be odd and in [17, 2^31)":    func() error { return CheckModuli([]uint32{32769, 15}) },
		"moduli 33 and 77 have the common divisor 11": func() error { return CheckModuli([]uint32{65, 33, 77}) },
		"1 moduli; at least 2":                        func() error { return CheckModuli([]uint32{35}) },
		"the moduli give 9 bits": func() error {
			_, err := NewBase([]uint32{1021, 1023})
			return err
		},
	} {
		if err := f(); !errors.Is(err, ErrModuli) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
