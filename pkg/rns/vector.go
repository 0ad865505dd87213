package rns

import (
	"fmt"
	"math/big"
)

// Vector is an array of numbers of one base, each field of a number in an array of its own (structure of arrays):
//
//	digits     n residues of number 0 (padded to the base's stride), those of number 1, ...
//	neg, exp   signs and exponents
//	lo, up     lower and upper bounds of the interval evaluations; ivExp their exponents
//
// It takes Base.Stride()*4 + 29 bytes a number.
type Vector struct {
	base   *Base
	digits []uint32
	lo, up []uint64
	exp    []int64
	ivExp  []int32
	neg    []bool
}

// TermBytes returns the bytes that one number of a [Vector] takes.
func (b *Base) TermBytes() int { return 4*b.stride + 8 + 8 + 8 + 4 + 1 }

// NewVector returns a vector of n zeros.
func (b *Base) NewVector(n int) *Vector {
	return &Vector{
		base: b, digits: make([]uint32, n*b.stride),
		lo: make([]uint64, n), up: make([]uint64, n), exp: make([]int64, n), ivExp: make([]int32, n), neg: make([]bool, n),
	}
}

// Len returns the number of numbers.
func (v *Vector) Len() int { return len(v.exp) }

// Base returns the base of the numbers.
func (v *Vector) Base() *Base { return v.base }

// View makes f number i of v without copying its residues: f is for reading until number i is set again.
func (v *Vector) View(f *Float, i int) {
	stride := v.base.stride
	f.digits = v.digits[i*stride : (i+1)*stride : (i+1)*stride]
	f.interval = Interval{v.lo[i], v.up[i], v.ivExp[i]}
	f.Exp, f.Neg = int(v.exp[i]), v.neg[i]
}

// Set copies f to number i.
func (v *Vector) Set(i int, f *Float) {
	stride := v.base.stride
	copy(v.digits[i*stride:(i+1)*stride], f.digits)
	v.SetFields(i, f)
}

// SetFields sets all of number i but its residues to those of f: what a View that was changed in place needs.
func (v *Vector) SetFields(i int, f *Float) {
	v.lo[i], v.up[i], v.ivExp[i] = f.interval.Lo, f.interval.Up, f.interval.Exp
	v.exp[i], v.neg[i] = int64(f.Exp), f.Neg
}

// Slice returns numbers i to j-1, sharing memory with v.
func (v *Vector) Slice(i, j int) *Vector {
	stride := v.base.stride
	return &Vector{
		base: v.base, digits: v.digits[i*stride : j*stride],
		lo: v.lo[i:j], up: v.up[i:j], exp: v.exp[i:j], ivExp: v.ivExp[i:j], neg: v.neg[i:j],
	}
}

// SetFloat64s makes v the finite numbers x, exactly. It panics if the lengths differ.
func (c *Context) SetFloat64s(v *Vector, x []float64) {
	checkLength("SetFloat64s", v.Len(), len(x))
	c.forEach(v, func(z *Float, i int) { c.SetFloat64(z, x[i]) })
}

// SetBigs makes v the finite numbers x, rounding as [Context.SetBig] does.
func (c *Context) SetBigs(v *Vector, x []*big.Float) {
	checkLength("SetBigs", v.Len(), len(x))
	c.forEach(v, func(z *Float, i int) { c.SetBig(z, x[i]) })
}

// AddVector sets z_i = x_i + y_i. Any of the vectors may be the same; lengths that differ make it panic.
func (c *Context) AddVector(z, x, y *Vector) { c.combine("AddVector", z, x, y, c.Add) }

// SubVector sets z_i = x_i - y_i, as AddVector.
func (c *Context) SubVector(z, x, y *Vector) { c.combine("SubVector", z, x, y, c.Sub) }

// MulVector sets z_i = x_i * y_i, as AddVector.
func (c *Context) MulVector(z, x, y *Vector) { c.combine("MulVector", z, x, y, c.Mul) }

// ScaleVector sets z_i = alpha * x_i. z may be x.
func (c *Context) ScaleVector(z *Vector, alpha *Float, x *Vector) {
	checkLength("ScaleVector", z.Len(), x.Len())
	var operand Float
	c.forEach(z, func(f *Float, i int) {
		x.View(&operand, i)
		c.Mul(f, alpha, &operand)
	})
}

// combine sets z_i = op(x_i, y_i).
func (c *Context) combine(name string, z, x, y *Vector, op func(z, x, y *Float)) {
	checkLength(name, z.Len(), x.Len())
	checkLength(name, z.Len(), y.Len())
	var left, right Float
	c.forEach(z, func(f *Float, i int) {
		x.View(&left, i)
		y.View(&right, i)
		op(f, &left, &right)
	})
}

// forEach lets set change every number of z in place.
func (c *Context) forEach(z *Vector, set func(f *Float, i int)) {
	var f Float
	for i := range z.Len() {
		z.View(&f, i)
		set(&f, i)
		z.SetFields(i, &f)
	}
}

func checkLength(name string, want, got int) {
	if want != got {
		panic(fmt.Sprintf("rns: %s of vectors of lengths %d and %d", name, want, got))
	}
}

// Bigs returns the numbers of v, exactly.
func (c *Context) Bigs(v *Vector) []*big.Float {
	result := make([]*big.Float, v.Len())
	var f Float
	for i := range result {
		v.View(&f, i)
		result[i] = c.Big(&f)
	}
	return result
}
