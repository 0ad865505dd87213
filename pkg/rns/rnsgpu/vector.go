package rnsgpu

import (
	"errors"

	"mpbench/cuda"
	"mpbench/pkg/gpu"
	"mpbench/pkg/rns"
)

// Vector is an array of numbers in device memory, each field of a number in an array of its own.
type Vector struct {
	own       *gpu.Owner
	n         int
	digits    *gpu.Buffer[uint32]
	lo, up    *gpu.Buffer[uint64]
	exp       *gpu.Buffer[int64]
	ivExp     *gpu.Buffer[int32]
	neg       *gpu.Buffer[bool]
	parameter cuda.Vector
}

// NewVector allocates n numbers, with undefined values. Residue i of number j lies at j*Stride + i, as in rns.Vector.
func (b *Base) NewVector(n int) (*Vector, error) {
	return b.newVector(n, cuda.Vector{NumberStep: uint64(b.base.Stride()), ResidueStep: 1})
}

// NewInterleaved allocates n numbers with residue i of number j at i*n + j: for kernels whose neighbouring threads
// work on neighbouring numbers. It cannot be copied from or to the host.
func (b *Base) NewInterleaved(n int) (*Vector, error) {
	return b.newVector(n, cuda.Vector{NumberStep: 1, ResidueStep: uint32(n)})
}

func (b *Base) newVector(n int, layout cuda.Vector) (*Vector, error) {
	v := &Vector{own: b.device.NewOwner(), n: n}
	v.digits, v.lo, v.up = gpu.Take[uint32](v.own, n*b.base.Stride()), gpu.Take[uint64](v.own, n),
		gpu.Take[uint64](v.own, n)
	v.exp, v.ivExp, v.neg = gpu.Take[int64](v.own, n), gpu.Take[int32](v.own, n), gpu.Take[bool](v.own, n)
	if err := v.own.Err(); err != nil {
		return nil, err
	}
	layout.Digits, layout.Lo, layout.Up = v.digits.Pointer(), v.lo.Pointer(), v.up.Pointer()
	layout.Exp, layout.IntervalExp, layout.Neg = v.exp.Pointer(), v.ivExp.Pointer(), gpu.Pointer[uint8](v.neg.Pointer())
	v.parameter = layout
	return v, nil
}

// Len returns the number of numbers.
func (v *Vector) Len() int { return v.n }

// Parameter returns the parameter of a kernel.
func (v *Vector) Parameter() cuda.Vector { return v.parameter }

// Free gives the memory back.
func (v *Vector) Free() {
	if v != nil {
		v.own.Free()
	}
}

// Upload makes the first numbers of v those of the host's x, of the same base, and waits.
func (v *Vector) Upload(x *rns.Vector) error {
	f := x.Fields()
	return errors.Join(v.digits.Upload(f.Digits), v.lo.Upload(f.Lo), v.up.Upload(f.Up), v.exp.Upload(f.Exp),
		v.ivExp.Upload(f.IntervalExp), v.neg.Upload(f.Neg))
}

// Download waits for the default stream and makes x the first numbers of v.
func (v *Vector) Download(x *rns.Vector) error {
	f := x.Fields()
	return errors.Join(v.digits.Download(f.Digits), v.lo.Download(f.Lo), v.up.Download(f.Up), v.exp.Download(f.Exp),
		v.ivExp.Download(f.IntervalExp), v.neg.Download(f.Neg))
}

// HostVector is a vector of the host in pinned memory, from which the device copies at the bus's full speed.
type HostVector struct {
	*rns.Vector
	own *gpu.Owner
}

// NewHostVector allocates n numbers, which are zero.
func (b *Base) NewHostVector(n int) (*HostVector, error) {
	v := &HostVector{own: b.device.NewOwner()}
	digits, lo, up := gpu.TakePinned[uint32](v.own, n*b.base.Stride()), gpu.TakePinned[uint64](v.own, n),
		gpu.TakePinned[uint64](v.own, n)
	exp, ivExp, neg := gpu.TakePinned[int64](v.own, n), gpu.TakePinned[int32](v.own, n), gpu.TakePinned[bool](v.own, n)
	if err := v.own.Err(); err != nil {
		return nil, err
	}
	fields := rns.Fields{
		Digits: digits.Slice(), Lo: lo.Slice(), Up: up.Slice(), Exp: exp.Slice(), IntervalExp: ivExp.Slice(),
		Neg: neg.Slice(),
	}
	clear(fields.Digits)
	clear(fields.Lo)
	clear(fields.Up)
	clear(fields.Exp)
	clear(fields.IntervalExp)
	clear(fields.Neg)
	v.Vector = b.base.VectorOf(fields)
	return v, nil
}

// Free gives the memory back; the vector must not be used afterwards.
func (v *HostVector) Free() {
	if v != nil {
		v.own.Free()
		v.Vector = nil
	}
}
