package rnsgpu

import (
	"errors"

	"mpbench/cuda"
	"mpbench/pkg/gpu"
	"mpbench/pkg/rns"
)

// Vector is an array of numbers in device memory, each field of a number in an array of its own.
type Vector struct {
	n         int
	digits    *gpu.Buffer[uint32]
	lo, up    *gpu.Buffer[uint64]
	exp       *gpu.Buffer[int64]
	ivExp     *gpu.Buffer[int32]
	neg       *gpu.Buffer[bool]
	parameter cuda.Vector
}

// NewVector allocates n numbers, whose values are not defined. Residue i of number j lies at j*Stride + i, as in
// rns.Vector.
func (b *Base) NewVector(n int) (*Vector, error) {
	return b.newVector(n, cuda.Vector{NumberStep: uint64(b.base.Stride()), ResidueStep: 1})
}

// NewInterleaved allocates n numbers with residue i of number j at i*n + j: for kernels whose neighbouring threads
// work on neighbouring numbers. It cannot be copied from or to the host.
func (b *Base) NewInterleaved(n int) (*Vector, error) {
	return b.newVector(n, cuda.Vector{NumberStep: 1, ResidueStep: uint32(n)})
}

func (b *Base) newVector(n int, layout cuda.Vector) (*Vector, error) {
	d := b.device
	v := &Vector{n: n}
	var failures [6]error
	v.digits, failures[0] = gpu.Alloc[uint32](d, n*b.base.Stride())
	v.lo, failures[1] = gpu.Alloc[uint64](d, n)
	v.up, failures[2] = gpu.Alloc[uint64](d, n)
	v.exp, failures[3] = gpu.Alloc[int64](d, n)
	v.ivExp, failures[4] = gpu.Alloc[int32](d, n)
	v.neg, failures[5] = gpu.Alloc[bool](d, n)
	for _, err := range failures {
		if err != nil {
			v.Free()
			return nil, err
		}
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
	if v == nil {
		return
	}
	v.digits.Free()
	v.lo.Free()
	v.up.Free()
	v.exp.Free()
	v.ivExp.Free()
	v.neg.Free()
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
