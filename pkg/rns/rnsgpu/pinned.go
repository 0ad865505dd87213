package rnsgpu

import (
	"errors"

	"mpbench/pkg/gpu"
	"mpbench/pkg/rns"
)

// HostVector is a vector of the host in pinned memory, from which the device copies at the bus's full speed.
type HostVector struct {
	*rns.Vector
	digits *gpu.Pinned[uint32]
	lo, up *gpu.Pinned[uint64]
	exp    *gpu.Pinned[int64]
	ivExp  *gpu.Pinned[int32]
	neg    *gpu.Pinned[bool]
}

// NewHostVector allocates n numbers, which are zero.
func (b *Base) NewHostVector(n int) (*HostVector, error) {
	d := b.device
	v := &HostVector{}
	var failures [6]error
	v.digits, failures[0] = gpu.AllocPinned[uint32](d, n*b.base.Stride())
	v.lo, failures[1] = gpu.AllocPinned[uint64](d, n)
	v.up, failures[2] = gpu.AllocPinned[uint64](d, n)
	v.exp, failures[3] = gpu.AllocPinned[int64](d, n)
	v.ivExp, failures[4] = gpu.AllocPinned[int32](d, n)
	v.neg, failures[5] = gpu.AllocPinned[bool](d, n)
	if err := errors.Join(failures[:]...); err != nil {
		v.Free()
		return nil, err
	}
	fields := rns.Fields{
		Digits: v.digits.Slice(), Lo: v.lo.Slice(), Up: v.up.Slice(), Exp: v.exp.Slice(), IntervalExp: v.ivExp.Slice(),
		Neg: v.neg.Slice(),
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
	if v == nil {
		return
	}
	v.digits.Free()
	v.lo.Free()
	v.up.Free()
	v.exp.Free()
	v.ivExp.Free()
	v.neg.Free()
	v.Vector = nil
}
