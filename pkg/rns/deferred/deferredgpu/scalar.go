package deferredgpu

import (
	"math/big"

	"mpbench/pkg/gpu"
)

const limbBits = 28

// scalar is a finite number in device memory: (-1)^negative * limbs * 2^exp, an odd integer of 28-bit limbs, or 0.
type scalar struct {
	limbs    *gpu.Buffer[uint32]
	exp      int64
	negative bool
}

func newScalar(o *gpu.Owner, v *big.Float) scalar {
	if v.Sign() == 0 {
		return scalar{}
	}
	x, exp := oddInteger(v)
	var limbs []uint32
	mask := big.NewInt(1<<limbBits - 1)
	for digit := new(big.Int); x.Sign() != 0; x.Rsh(x, limbBits) {
		limbs = append(limbs, uint32(digit.And(x, mask).Uint64()))
	}
	return scalar{gpu.TakeCopy(o, limbs), int64(exp), v.Signbit()}
}

// oddInteger returns |v| = x*2^exp, v not zero.
func oddInteger(v *big.Float) (x *big.Int, exp int) {
	exp = v.MantExp(nil) - int(v.MinPrec())
	x, _ = new(big.Float).SetMantExp(v, -exp).Int(nil)
	return x.Abs(x), exp
}

func (s scalar) count() uint32 {
	if s.limbs == nil {
		return 0
	}
	return uint32(s.limbs.Len())
}

// isUnit reports whether the scalar is a power of two or minus one: its integer is 1.
func (s scalar) isUnit(v *big.Float) bool { return s.count() == 1 && v.MinPrec() == 1 }
