package rnsgpu

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"mpbench/cuda"
	"mpbench/pkg/gpu"
	"mpbench/pkg/rns"
)

// Base is a base of numbers, with a rounding and an alignment, in device memory.
type Base struct {
	device    *gpu.Device
	own       *gpu.Owner
	base      *rns.Base
	residues  *gpu.Buffer[cuda.Residue]
	fractions *gpu.Buffer[cuda.Fraction]
	powers    *gpu.Buffer[cuda.Power]
	limit     *gpu.Buffer[uint32]
	self      *gpu.Buffer[cuda.Base]
	parameter cuda.Base
}

// NewBase copies the tables of c's base to the device. The error wraps rns.ErrModuli if the moduli are too uneven for
// the device's arithmetic; those that rns.GenerateModuli finds never are.
func NewBase(d *gpu.Device, c *rns.Context) (*Base, error) {
	b := &Base{device: d, own: d.NewOwner(), base: c.Base()}
	t := b.base.Tables()
	rankBits, direct, err := fixedPoint(t.Modulus, b.base.Len())
	if err != nil {
		return nil, err
	}
	b.upload(t, rankBits)
	if err := b.own.Err(); err != nil {
		return nil, err
	}
	unit := uint64(1)
	if p := b.base.Precision(); p < 65 {
		unit <<= 65 - p
	}
	b.parameter = cuda.Base{
		Residues: b.residues.Pointer(), Fractions: b.fractions.Pointer(), Powers: b.powers.Pointer(),
		Limit: b.limit.Pointer(), Self: b.self.Pointer(),
		Mantissa: t.RangeMant, Inverse: t.InvMant, LimitLo: t.LimitInterval.Lo, LimitUp: t.LimitInterval.Up,
		EvalError: t.EvalError, Unit: unit,
		LimitExp: t.LimitInterval.Exp, Log2M: int32(t.Log2M), Precision: int32(b.base.Precision()),
		DropBits: int32(t.DropBits),
		Stride:   uint32(b.base.Stride()), Direct: direct, RankBits: rankBits, LowM: t.RangeLow,
		Nearest: flag(c.Rounding() == rns.Nearest), Blas: flag(c.Alignment() == rns.AlignBLAS),
	}
	if err := b.self.Upload([]cuda.Base{b.parameter}); err != nil {
		b.Free()
		return nil, err
	}
	return b, nil
}

// fixedPoint returns the bits after the point in which a device sums c_i/m_i, c_i < 2m_i, in 64 bits, and the number
// of k with 2^k below every modulus. Each term floor(2^rankBits / m_i) * c_i is too small by less than 2m_i, so the
// sum is by less than 2n * max m_i, which must be small against 2^(rankBits-1).
func fixedPoint(moduli []uint32, n int) (rankBits, direct uint32, err error) {
	least, most := slices.Min(moduli), slices.Max(moduli)
	direct = uint32(bits.Len32(least))
	rankBits = 32 + min(direct-1, uint32(31-bits.Len(uint(n))))
	if wrong := 2 * float64(n) * float64(most); wrong > math.Ldexp(1, int(rankBits)-4) {
		return 0, 0, fmt.Errorf("%w: moduli from %d to %d are too uneven for a GPU; use moduli of one width", rns.ErrModuli,
			least, most)
	}
	return rankBits, direct, nil
}

func flag(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}

func (b *Base) upload(t rns.Tables, rankBits uint32) {
	n, stride := b.base.Len(), b.base.Stride()
	residues, fractions := make([]cuda.Residue, stride), make([]cuda.Fraction, stride)
	for i, m := range t.Modulus {
		residues[i] = cuda.Residue{
			Modulus: m, Inverse: inverseMod32(m), Weight: t.Weight.Value[i], WeightScaled: t.Weight.Scaled[i],
			Low: t.CofactorLow[i], Reciprocal: math.MaxUint64 / uint64(m), // m is odd: the same as of 2^64
		}
		if i < n {
			residues[i].Rank = uint32(uint64(1) << rankBits / uint64(m))
		}
		fractions[i] = cuda.Fraction{High: t.FractionHigh[i], Mid: t.FractionMid[i], Low: t.FractionLow[i]}
	}
	var powers []cuda.Power
	for _, row := range t.Powers {
		for i := range row.Value {
			powers = append(powers, cuda.Power{Value: row.Value[i], Scaled: row.Scaled[i]})
		}
	}
	b.residues, b.fractions = gpu.TakeCopy(b.own, residues), gpu.TakeCopy(b.own, fractions)
	b.powers, b.limit = gpu.TakeCopy(b.own, powers), gpu.TakeCopy(b.own, t.Limit)
	b.self = gpu.Take[cuda.Base](b.own, 1)
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
func (b *Base) Parameter() cuda.Base { return b.parameter }

// Base returns the base on the host.
func (b *Base) Base() *rns.Base { return b.base }

// Device returns the device.
func (b *Base) Device() *gpu.Device { return b.device }

// Free gives the tables' memory back. It does nothing for nil.
func (b *Base) Free() {
	if b != nil {
		b.own.Free()
	}
}

// Scratch is the memory that groups of lanes need for rare cases of the arithmetic: three numbers' residues a group.
type Scratch struct {
	buffer    *gpu.Buffer[uint32]
	parameter cuda.ScratchMemory
}

// NewScratch allocates memory for so many groups.
func (b *Base) NewScratch(groups int) (*Scratch, error) {
	buffer, err := gpu.Alloc[uint32](b.device, 3*b.base.Stride()*groups)
	if err != nil {
		return nil, err
	}
	return &Scratch{buffer, cuda.ScratchMemory{P: buffer.Pointer(), Groups: uint32(groups)}}, nil
}

// Parameter returns the parameter of a kernel.
func (s *Scratch) Parameter() cuda.ScratchMemory { return s.parameter }

// Free gives the memory back.
func (s *Scratch) Free() {
	if s != nil {
		s.buffer.Free()
	}
}
