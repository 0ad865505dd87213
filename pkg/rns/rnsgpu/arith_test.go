package rnsgpu_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"mpbench/pkg/gpu"
	"mpbench/pkg/gpu/gputest"
	"mpbench/pkg/rns"
	"mpbench/pkg/rns/internal/operands"
	"mpbench/pkg/rns/rnsgpu"
)

// bases are those at which every operation is compared with package rns.
var bases = []struct{ bits, moduliBits int }{
	{30, 16}, {30, 31}, {53, 9}, {53, 31}, {60, 16}, {106, 31}, {240, 16}, {240, 31}, {424, 31}, {848, 31}, {1696, 31},
}

// pairs is how many pairs of operands are compared at a base; the emulator is slow.
func pairs(stride int) int {
	if !gputest.Emulated() && !testing.Short() {
		return 80_000 / stride
	}
	return max(20, 1200/stride)
}

// onDevice runs f on the device's thread.
func onDevice(t *testing.T, f func(d *gpu.Device) error) {
	t.Helper()
	d := gputest.Device(t)
	if err := d.Do(func() error { return f(d) }); err != nil {
		t.Fatal(err)
	}
}

// forEachBase runs f for every base, rounding and alignment.
func forEachBase(t *testing.T, f func(t *testing.T, b *rnsgpu.Base, c *rns.Context) error) {
	for i, p := range bases {
		base, err := rns.NewBaseForPrecision(p.bits, p.moduliBits)
		if err != nil {
			t.Fatal(err)
		}
		for variant := range 4 {
			r, a := rns.Rounding(variant&1), rns.Alignment(variant>>1)
			if gputest.Emulated() && p.bits > 240 && variant != i%4 {
				continue // the emulator is slow: one variant at each high precision
			}
			t.Run(fmt.Sprintf("p=%d/bits=%d/%v/%v", p.bits, p.moduliBits, r, a), func(t *testing.T) {
				onDevice(t, func(d *gpu.Device) error {
					c := rns.NewContext(base, r, a)
					b, err := rnsgpu.NewBase(d, c)
					if err != nil {
						return err
					}
					defer b.Free()
					return f(t, b, c)
				})
			})
		}
	}
}

// source makes operands for a context.
func source(c *rns.Context, seed uint64) operands.Source {
	m := c.Base().DynamicRange()
	limit := new(big.Int).Sub(m, big.NewInt(1))
	return operands.Source{Rand: rand.New(rand.NewPCG(seed, 1)), P: c.Base().Precision(), F: m.BitLen() - 1,
		Limit: limit.Sqrt(limit)}
}

// set makes number i of v the number x.
func set(c *rns.Context, v *rns.Vector, i int, x operands.Number) {
	f := c.Base().NewFloat()
	digits := make([]uint32, c.Base().Stride())
	c.Base().Residues(digits, new(big.Int).Abs(x.Sig))
	c.SetResidues(f, digits, x.Exp, x.Sig.Sign() < 0)
	v.Set(i, f)
}

// upload copies a vector to the device.
func upload(b *rnsgpu.Base, v *rns.Vector) (*rnsgpu.Vector, error) {
	on, err := b.NewVector(v.Len())
	if err != nil {
		return nil, err
	}
	return on, on.Upload(v)
}

// compare downloads got and compares it with want: signs, residues and exponents bit for bit, intervals by what they
// promise.
func compare(b *rns.Base, what string, got *rnsgpu.Vector, want *rns.Vector) error {
	v := b.NewVector(want.Len())
	if err := got.Download(v); err != nil {
		return err
	}
	stride, g, w := b.Stride(), v.Fields(), want.Fields()
	for i := range want.Len() {
		digits := g.Digits[i*stride : (i+1)*stride]
		if !slices.Equal(digits, w.Digits[i*stride:(i+1)*stride]) || g.Exp[i] != w.Exp[i] || g.Neg[i] != w.Neg[i] {
			return fmt.Errorf("%s %d: exponent %d, negative %v, residues %v; want %d, %v, %v", what, i,
				g.Exp[i], g.Neg[i], digits[:b.Len()], w.Exp[i], w.Neg[i], w.Digits[i*stride:i*stride+b.Len()])
		}
		if err := checkInterval(b, rns.Interval{Lo: g.Lo[i], Up: g.Up[i], Exp: g.IntervalExp[i]}, digits); err != nil {
			return fmt.Errorf("%s %d: %w", what, i, err)
		}
	}
	return nil
}

// checkInterval verifies that v encloses X/M and is tight.
func checkInterval(b *rns.Base, v rns.Interval, digits []uint32) error {
	x := b.Int(digits)
	if x.Sign() == 0 {
		if v != (rns.Interval{}) {
			return fmt.Errorf("interval %v of zero", v)
		}
		return nil
	}
	m := b.DynamicRange()
	lo, up := new(big.Int).Mul(m, new(big.Int).SetUint64(v.Lo)), new(big.Int).Mul(m, new(big.Int).SetUint64(v.Up))
	x.Lsh(x, uint(64-v.Exp))
	if lo.Cmp(x) > 0 || up.Cmp(x) < 0 || v.Lo == 0 || v.Up < 1<<63 || v.Up-v.Lo > v.Up>>32 {
		return fmt.Errorf("interval %v does not enclose %v/M tightly", v, b.Int(digits))
	}
	return nil
}

// TestOperations compares additions, subtractions and products of adversarial operands with those of package rns, for
// groups of every size.
func TestOperations(t *testing.T) {
	gputest.Sanitize(t)
	forEachBase(t, func(t *testing.T, b *rnsgpu.Base, c *rns.Context) error {
		base := c.Base()
		n := pairs(base.Stride())
		x, y, want := base.NewVector(n), base.NewVector(n), base.NewVector(n)
		s := source(c, uint64(base.Stride()))
		for i := range n {
			left, right := s.Pair()
			set(c, x, i, left)
			set(c, y, i, right)
		}
		dx, err := upload(b, x)
		if err != nil {
			return err
		}
		defer dx.Free()
		dy, err := upload(b, y)
		if err != nil {
			return err
		}
		defer dy.Free()
		z, err := b.NewVector(n)
		if err != nil {
			return err
		}
		defer z.Free()
		for k, group := range groups {
			if gputest.Emulated() && n < 50 && k != base.Stride()/8%len(groups) {
				continue
			}
			a, err := newArithmetic(b, group)
			if err != nil {
				return err
			}
			defer a.free()
			for _, op := range []struct {
				name   string
				device func(z, x, y *rnsgpu.Vector) error
				host   func(z, x, y *rns.Vector)
			}{{"sum", a.add, c.AddVector}, {"difference", a.sub, c.SubVector}, {"product", a.mul, c.MulVector}} {
				op.host(want, x, y)
				if err := op.device(z, dx, dy); err != nil {
					return err
				}
				if err := compare(base, fmt.Sprintf("%s by groups of %d,", op.name, group), z, want); err != nil {
					return err
				}
			}
			// In place, with the operand that a sum's larger exponent swaps.
			c.AddVector(want, x, y)
			if err := z.Upload(y); err != nil {
				return err
			}
			if err := a.add(z, dx, z); err != nil {
				return err
			}
			if err := compare(base, "sum in place", z, want); err != nil {
				return err
			}
		}
		return nil
	})
}

// TestScaleAndNormalize compares products with a scalar, and residues of any size made numbers.
func TestScaleAndNormalize(t *testing.T) {
	gputest.Sanitize(t)
	forEachBase(t, func(t *testing.T, b *rnsgpu.Base, c *rns.Context) error {
		base := c.Base()
		n := pairs(base.Stride())
		s := source(c, 77)
		x, want, alpha, raw := base.NewVector(n), base.NewVector(n), base.NewVector(1), base.NewVector(n)
		set(c, alpha, 0, s.Number())
		f := raw.Fields()
		for i := range n {
			set(c, x, i, s.Number())
			X := s.Bits(s.Rand.IntN(s.F + 1)) // below M, the widest too
			base.Residues(f.Digits[i*base.Stride():(i+1)*base.Stride()], X)
			f.Exp[i], f.Neg[i] = int64(s.Rand.IntN(9)-4), s.Rand.IntN(2) == 0
		}
		a, err := newArithmetic(b, groups[base.Stride()/8%len(groups)])
		if err != nil {
			return err
		}
		defer a.free()
		scalar, err := upload(b, alpha)
		if err != nil {
			return err
		}
		defer scalar.Free()
		z, err := upload(b, x)
		if err != nil {
			return err
		}
		defer z.Free()
		number := base.NewFloat()
		alpha.View(number, 0)
		c.ScaleVector(want, number, x)
		if err := a.scale(z, scalar, z); err != nil {
			return err
		}
		if err := compare(base, "scaled number", z, want); err != nil {
			return err
		}
		for i := range n {
			number := base.NewFloat()
			c.SetResidues(number, f.Digits[i*base.Stride():], int(f.Exp[i]), f.Neg[i])
			want.Set(i, number)
		}
		if err := z.Upload(raw); err != nil {
			return err
		}
		if err := a.normalize(z); err != nil {
			return err
		}
		return compare(base, "number of residues", z, want)
	})
}

// TestFromFloat64 compares conversions.
func TestFromFloat64(t *testing.T) {
	gputest.Sanitize(t)
	forEachBase(t, func(t *testing.T, b *rnsgpu.Base, c *rns.Context) error {
		x := []float64{0, math.Copysign(0, -1), 1, -1, 0.1, math.MaxFloat64, -math.SmallestNonzeroFloat64, 0x1p-1022,
			0x1.fffffffffffffp-1023, 1 << 52, 1<<53 - 1}
		rng := rand.New(rand.NewPCG(1, 2))
		for range 40 {
			if f := math.Float64frombits(rng.Uint64()); f-f == 0 {
				x = append(x, f)
			}
		}
		want := c.Base().NewVector(len(x))
		c.SetFloat64s(want, x)
		a, err := newArithmetic(b, groups[c.Base().Stride()/8%len(groups)])
		if err != nil {
			return err
		}
		defer a.free()
		from, err := gpu.Upload(b.Device(), x)
		if err != nil {
			return err
		}
		defer from.Free()
		z, err := b.NewVector(len(x))
		if err != nil {
			return err
		}
		defer z.Free()
		if err := a.setFloat64s(z, from); err != nil {
			return err
		}
		return compare(c.Base(), "conversion", z, want)
	})
}

// TestUnevenModuli: moduli whose fractions a device cannot add in 64 bits are refused.
func TestUnevenModuli(t *testing.T) {
	gputest.Sanitize(t)
	moduli := []uint32{17, 2147483647, 2147483629, 2147483587, 2147483579, 2147483563, 2147483549}
	base, err := rns.NewBase(moduli)
	if err != nil {
		t.Fatal(err)
	}
	onDevice(t, func(d *gpu.Device) error {
		_, err := rnsgpu.NewBase(d, rns.NewContext(base, rns.Truncate, rns.Align2018))
		if err == nil {
			t.Error("no error")
		}
		return nil
	})
}
