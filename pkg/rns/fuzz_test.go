package rns

import (
	"math/big"
	"sync"
	"testing"

	"mpbench/pkg/rns/internal/operands"
)

// fuzzContexts are the contexts a fuzzed operation runs in: each base with each rounding and alignment.
var fuzzContexts = sync.OnceValue(func() []*Context {
	var list []*Context
	for _, p := range []struct{ bits, width int }{{30, 16}, {30, 31}, {53, 9}, {240, 31}} {
		b, err := NewBaseForPrecision(p.bits, p.width)
		if err != nil {
			panic(err)
		}
		for i := range 4 {
			list = append(list, NewContext(b, Rounding(i&1), Alignment(i>>1)))
		}
	}
	return list
})

// fuzzNumber makes a number of s from bytes: a significand cut to what conversions keep.
func (s model) fuzzNumber(significand []byte, exp int16, neg bool) modelNumber {
	x := new(big.Int).SetBytes(significand)
	if over := x.BitLen() - (s.f - 4); over > 0 {
		x.Rsh(x, uint(over))
	}
	if neg {
		x.Neg(x)
	}
	return operands.Normal(modelNumber{Sig: x, Exp: int(exp)})
}

// fuzzOperation compares an operation with the model for operands of any bytes.
func fuzzOperation(f *testing.F, op func(c *Context, s model, x, y modelNumber, fx, fy, z *Float) modelNumber) {
	f.Add([]byte{1}, int16(0), false, []byte{1}, int16(0), true, byte(0))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff}, int16(30), false, []byte{1}, int16(-30), true, byte(3))
	f.Add([]byte("sixteen bytes of"), int16(1000), true, []byte("any other bytes!"), int16(-1000), true, byte(13))
	f.Fuzz(func(t *testing.T, xs []byte, xe int16, xn bool, ys []byte, ye int16, yn bool, which byte) {
		if len(xs) > 200 || len(ys) > 200 {
			return
		}
		c := fuzzContexts()[int(which)%len(fuzzContexts())].Clone()
		s := newModel(c.base.Moduli(), c.rounding, c.alignment)
		x, y := s.fuzzNumber(xs, xe, xn), s.fuzzNumber(ys, ye, yn)
		fx, fy, z := c.base.NewFloat(), c.base.NewFloat(), c.base.NewFloat()
		c.fromModel(fx, x)
		c.fromModel(fy, y)
		checkResult(t, c, "result", z, op(c, s, x, y, fx, fy, z), x, y)
	})
}

func FuzzAdd(f *testing.F) {
	fuzzOperation(f, func(c *Context, s model, x, y modelNumber, fx, fy, z *Float) modelNumber {
		c.Add(z, fx, fy)
		return s.add(x, y)
	})
}

func FuzzSub(f *testing.F) {
	fuzzOperation(f, func(c *Context, s model, x, y modelNumber, fx, fy, z *Float) modelNumber {
		c.Sub(z, fx, fy)
		return s.add(x, modelNumber{Sig: new(big.Int).Neg(y.Sig), Exp: y.Exp})
	})
}

func FuzzMul(f *testing.F) {
	fuzzOperation(f, func(c *Context, s model, x, y modelNumber, fx, fy, z *Float) modelNumber {
		c.Mul(z, fx, fy)
		return s.mul(x, y)
	})
}

func FuzzCompare(f *testing.F) {
	fuzzOperation(f, func(c *Context, s model, x, y modelNumber, fx, fy, z *Float) modelNumber {
		z.Set(fx)
		if got, want := c.Compare(fx, fy), x.Rat().Cmp(y.Rat()); got != want {
			panic("wrong order")
		}
		return x
	})
}

func FuzzScale(f *testing.F) {
	fuzzOperation(f, func(c *Context, s model, x, y modelNumber, fx, fy, z *Float) modelNumber {
		k := max(0, y.Exp)
		digits := make([]uint32, c.base.stride)
		c.Scale(digits, fx.digits, k)
		c.SetResidues(z, digits, 5, false)
		return operands.Normal(modelNumber{Sig: new(big.Int).Rsh(new(big.Int).Abs(x.Sig), uint(k)), Exp: 5})
	})
}

func FuzzSetBig(f *testing.F) {
	fuzzOperation(f, func(c *Context, s model, x, y modelNumber, fx, fy, z *Float) modelNumber {
		number := new(big.Float).SetInt(x.Sig)
		c.SetBig(z, number.SetMantExp(number, x.Exp))
		if x.Sig.Sign() == 0 {
			return x
		}
		zeros := x.Sig.TrailingZeroBits()
		return modelNumber{Sig: x.Sig.Quo(x.Sig, new(big.Int).Lsh(big.NewInt(1), zeros)), Exp: x.Exp + int(zeros)}
	})
}

// FuzzModuli: whatever is asked for, the generator gives a valid base or an error.
func FuzzModuli(f *testing.F) {
	f.Add(240, 16, false)
	f.Add(30, 6, true)
	f.Fuzz(func(t *testing.T, p, width int, descending bool) {
		order := Ascending
		if descending {
			order = Descending
		}
		moduli, err := GenerateModuli(p%2000, width%40, order)
		if err != nil {
			return
		}
		if err := CheckModuli(moduli); err != nil {
			t.Fatal(err)
		}
	})
}
