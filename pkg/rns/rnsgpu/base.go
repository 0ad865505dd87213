package rnsgpu

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"mpbench/pkg/gpu"
	"mpbench/pkg/rns"
)

// residue is the struct Residue of cuda/rns_base.cuh.
type residue struct {
	Modulus, Inverse, Weight, WeightScaled, Rank, Low uint32
	Reciprocal                                        uint64
}

// fraction is the struct Fraction of cuda/rns_base.cuh.
type fraction struct{ High, Mid, Low, Unused uint32 }

// power is the struct Power of cuda/rns_base.cuh.
type power struct{ Value, Scaled uint32 }

// BaseParameter is the struct Base of cuda/rns_base.cuh: a parameter of kernels.
type BaseParameter struct {
	residues  gpu.Pointer[residue]
	fractions gpu.Pointer[fraction]
	powers    gpu.Pointer[power]
	limit     gpu.Pointer[uint32]
	self      gpu.Pointer[BaseParameter]

	mantissa, inverse, limitLo, limitUp, evalError, unit uint64
	limitExp, log2M, precision, dropBits                 int32
	stride, direct, rankBits, lowM, nearest, blas        uint32
}

// Base is a base of numbers, with a rounding and an alignment, in device memory.
type Base struct {
	device    *gpu.Device
	base      *rns.Base
	residues  *gpu.Buffer[residue]
	fractions *gpu.Buffer[fraction]
	powers    *gpu.Buffer[power]
	limit     *gpu.Buffer[uint32]
	self      *gpu.Buffer[BaseParameter]
	parameter BaseParameter
}

// NewBase copies the tables of c's base to the device. The error wraps rns.ErrModuli if the moduli are too uneven for the
// device's arithmetic; those that rns.GenerateModuli finds never are.
func NewBase(d *gpu.Device, c *rns.Context) (*Base, error) {
	b := &Base{device: d, base: c.Base()}
	t := b.base.Tables()
	rankBits, direct, err := fixedPoint(t.Modulus, b.base.Len())
	if err != nil {
		return nil, err
	}
	if err := b.upload(t, rankBits); err != nil {
		b.Free()
		return nil, err
	}
	unit := uint64(1)
	if p := b.base.Precision(); p < 65 {
		unit <<= 65 - p
	}
	b.parameter = BaseParameter{
		residues: b.residues.Pointer(), fractions: b.fractions.Pointer(), powers: b.powers.Pointer(), limit: b.limit.Pointer(), self: b.self.Pointer(),
		mantissa: t.RangeMant, inverse: t.InvMant, limitLo: t.LimitInterval.Lo, limitUp: t.LimitInterval.Up, evalError: t.EvalError, unit: unit,
		limitExp: t.LimitInterval.Exp, log2M: int32(t.Log2M), precision: int32(b.base.Precision()), dropBits: int32(t.DropBits),
		stride: uint32(b.base.Stride()), direct: direct, rankBits: rankBits, lowM: t.RangeLow,
		nearest: flag(c.Rounding() == rns.Nearest), blas: flag(c.Alignment() == rns.AlignBLAS),
	}
	if err := b.self.Upload([]BaseParameter{b.parameter}); err != nil {
		b.Free()
		return nil, err
	}
	return b, nil
}

// fixedPoint returns the bits after the point in which a device sums c_i/m_i, c_i < 2m_i, in 64 bits, and the number of k with 2^k below
// every modulus. Each term floor(2^rankBits / m_i) * c_i is too small by less than 2m_i, so the sum is by less than 2n * max m_i, which
// must be small against 2^(rankBits-1).
func fixedPoint(moduli []uint32, n int) (rankBits, direct uint32, err error) {
	least, most := slices.Min(moduli), slices.Max(moduli)
	direct = uint32(bits.Len32(least))
	rankBits = 32 + min(direct-1, uint32(31-bits.Len(uint(n))))
	if wrong := 2 * float64(n) * float64(most); wrong > math.Ldexp(1, int(rankBits)-4) {
		return 0, 0, fmt.Errorf("%w: moduli from %d to %d are too uneven for a GPU; use moduli of one width", rns.ErrModuli, least, most)
	}
	return rankBits, direct, nil
}

func flag(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}

func (b *Base) upload(t rns.Tables, rankBits uint32) (err error) {
	n, stride := b.base.Len(), b.base.Stride()
	residues, fractions := make([]residue, stride), make([]fraction, stride)
	for i, m := range t.Modulus {
		residues[i] = residue{
			Modulus: m, Inverse: inverseMod32(m), Weight: t.Weight.Value[i], WeightScaled: t.Weight.Scaled[i],
			Low: t.CofactorLow[i], Reciprocal: math.MaxUint64 / uint64(m), // m is odd: the same as of 2^64
		}
		if i < n {
			residues[i].Rank = uint32(uint64(1) << rankBits / uint64(m))
		}
		fractions[i] = fraction{High: t.FractionHigh[i], Mid: t.FractionMid[i], Low: t.FractionLow[i]}
	}
	var powers []power
	for _, row := range t.Powers {
		for i := range row.Value {
			powers = append(powers, power{row.Value[i], row.Scaled[i]})
		}
	}
	if b.residues, err = gpu.Upload(b.device, residues); err != nil {
		return err
	}
	if b.fractions, err = gpu.Upload(b.device, fractions); err != nil {
		return err
	}
	if b.powers, err = gpu.Upload(b.device, powers); err != nil {
		return err
	}
	if b.limit, err = gpu.Upload(b.device, t.Limit); err != nil {
		return err
	}
	b.self, err = gpu.Alloc[BaseParameter](b.device, 1)
	return err
}

// inverseMod32 returns m^-1 mod 2^32 for odd m, by Newton's iteration: m is its own inverse mod 2^3.
func inverseMod32(m uint32) uint32 {
	inverse := m
	for range 4 { // 6, 12, 24, 48 bits
		inverse *= 2 - m*inverse
	}
	return inverse
}

// Parameter returns the parameter of a kernel.
func (b *Base) Parameter() BaseParameter { return b.parameter }

// Base returns the base on the host.
func (b *Base) Base() *rns.Base { return b.base }

// Device returns the device.
func (b *Base) Device() *gpu.Device { return b.device }

// Free gives the tables' memory back. It does nothing for nil.
func (b *Base) Free() {
	if b == nil {
		return
	}
	b.residues.Free()
	b.fractions.Free()
	b.powers.Free()
	b.limit.Free()
	b.self.Free()
}

// Scratch is the memory that groups of lanes need for rare cases of the arithmetic: three numbers' residues a group.
type Scratch struct {
	buffer    *gpu.Buffer[uint32]
	parameter ScratchParameter
}

// ScratchParameter is the struct ScratchMemory of cuda/rns.cuh: a parameter of kernels.
type ScratchParameter struct {
	p      gpu.Pointer[uint32]
	groups uint32
	_      uint32
}

// NewScratch allocates memory for so many groups.
func (b *Base) NewScratch(groups int) (*Scratch, error) {
	buffer, err := gpu.Alloc[uint32](b.device, 3*b.base.Stride()*groups)
	if err != nil {
		return nil, err
	}
	return &Scratch{buffer, ScratchParameter{p: buffer.Pointer(), groups: uint32(groups)}}, nil
}

// Parameter returns the parameter of a kernel.
func (s *Scratch) Parameter() ScratchParameter { return s.parameter }

// Free gives the memory back.
func (s *Scratch) Free() {
	if s != nil {
		s.buffer.Free()
	}
}
