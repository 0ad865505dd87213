package rns

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
)

// laneMultiple is what the number of residues is padded to: the 32-bit lanes of an AVX2 register.
// Padding lanes repeat the first modulus and its residue, so that no operation needs to know them.
const laneMultiple = 8

// Base is a set of moduli with all the constants that its arithmetic needs. It is immutable after
// [NewBase] and safe for concurrent use.
type Base struct {
	n         int // moduli
	stride    int // n rounded up to laneMultiple; the length of every slice of residues
	precision int
	log2M     int // F = floor(log2 M)
	dropBits  int // F' of the package comment

	modulus    []uint32 // length stride, padded with modulus[0]
	reciprocal []float64
	mulhi      []uint64 // floor((2^64 - 1) / m_i)

	crtWeight shoup     // (M/m_i)^-1 mod m_i
	fractions fractions // 1/m_i, 0 in padding lanes
	evalError uint64    // the fixed-point sum of fractions is too small by less than this

	powers   powerTable // 2^k mod m_i
	inverses powerTable // 2^-k mod m_i

	limbs int   // 64-bit words of M
	radix radix // the tables of the Chinese remainder theorem

	rangeMant uint64 // M = (rangeMant + [0, 1)) * 2^(F - 63)
	invMant   uint64 // 1/M = (invMant + [0, 1)) * 2^(-F - 64)
	limit     threshold
	rangeInt  *big.Int
	limitInt  *big.Int
	widthBits int
}

// threshold is a constant to compare significands with: its residues and its interval evaluation.
type threshold struct {
	digits   []uint32
	interval Interval
}

// NewBase builds the constants for a set of moduli; [CheckModuli] says which sets are accepted.
// It takes O(n^2) word operations and memory for about n*(log2(M)/2 + 500) bytes of tables.
func NewBase(moduli []uint32) (*Base, error) {
	if err := CheckModuli(moduli); err != nil {
		return nil, err
	}
	b := &Base{n: len(moduli)}
	b.stride = (b.n + laneMultiple - 1) / laneMultiple * laneMultiple
	b.modulus = make([]uint32, b.stride)
	copy(b.modulus, moduli)
	for i := b.n; i < b.stride; i++ {
		b.modulus[i] = moduli[0]
	}
	b.setRange()
	b.setReductions()
	b.setFractions()
	b.setPowers()
	b.setRadix()
	b.setLimit()
	return b, nil
}

// NewBaseForPrecision is NewBase on [GenerateModuli] in ascending order; moduliBits 0 means DefaultModuliBits.
func NewBaseForPrecision(p, moduliBits int) (*Base, error) {
	if moduliBits == 0 {
		moduliBits = DefaultModuliBits
	}
	moduli, err := GenerateModuli(p, moduliBits, Ascending)
	if err != nil {
		return nil, err
	}
	return NewBase(moduli)
}

// Precision returns p, the bits of a rounded significand.
func (b *Base) Precision() int { return b.precision }

// Len returns the number n of moduli.
func (b *Base) Len() int { return b.n }

// Stride returns the length of a slice of residues: n rounded up to a multiple of 8.
func (b *Base) Stride() int { return b.stride }

// Moduli returns a copy of the moduli.
func (b *Base) Moduli() []uint32 { return append([]uint32(nil), b.modulus[:b.n]...) }

// ModuliBits returns the width of the widest modulus.
func (b *Base) ModuliBits() int { return b.widthBits }

// DynamicRange returns M, the product of the moduli.
func (b *Base) DynamicRange() *big.Int { return new(big.Int).Set(b.rangeInt) }

// Log2Range returns log2 M to float64 accuracy.
func (b *Base) Log2Range() float64 {
	return float64(b.log2M) + math.Log2(math.Ldexp(float64(b.rangeMant), -63))
}

// ExactBits returns F - 4, the largest number of bits of a significand that conversions keep as it is.
func (b *Base) ExactBits() int { return b.log2M - 4 }

// String describes the base in a few words.
func (b *Base) String() string {
	return fmt.Sprintf("%d moduli of %d bits, %d-bit precision", b.n, b.widthBits, b.precision)
}

func (b *Base) setRange() {
	b.rangeInt = big.NewInt(1)
	for _, m := range b.modulus[:b.n] {
		b.rangeInt.Mul(b.rangeInt, new(big.Int).SetUint64(uint64(m)))
		b.widthBits = max(b.widthBits, bits.Len32(m))
	}
	b.precision = precisionOf(b.rangeInt)
	b.log2M = b.rangeInt.BitLen() - 1
	b.limbs = (b.rangeInt.BitLen() + 63) / 64

	shifted := new(big.Int).Lsh(b.rangeInt, 64)
	b.rangeMant = shifted.Rsh(shifted, uint(b.log2M+1)).Uint64()
	inverse := new(big.Int).Lsh(big.NewInt(1), uint(b.log2M+64))
	b.invMant = inverse.Quo(inverse, b.rangeInt).Uint64()

	root := new(big.Int).Sqrt(b.rangeInt)
	root.Add(root, big.NewInt(1))
	root.Lsh(root, 2)
	b.dropBits = root.Sub(b.rangeInt, root).BitLen() - 1
}

// setReductions sets the constants of the two ways to find a quotient by m. The binary64 reciprocal r is below 1/m by
// a relative 2^-50.5 to 2^-49.4, so with two roundings trunc(t*r) is floor(t/m) or one less for every product t < 2^62
// of residues and every t < 2^53, as 2^53 / MinModulus * 2^-49 < 1.
func (b *Base) setReductions() {
	b.reciprocal = make([]float64, b.stride)
	b.mulhi = make([]uint64, b.stride)
	for i, m := range b.modulus {
		b.mulhi[i] = math.MaxUint64 / uint64(m)
		b.reciprocal[i] = 1 / float64(m) * (1 - 0x1p-50)
	}
}

func (b *Base) setPowers() {
	half := func(m uint64) uint64 { return (m + 1) / 2 } // 2^-1 mod m
	b.powers = newPowerTable(b.modulus, b.log2M, func(m uint64) uint64 { return 2 % m })
	b.inverses = newPowerTable(b.modulus, b.log2M, func(m uint64) uint64 { return half(m) % m })
}

// setLimit prepares floor(sqrt(M - 1)), above which a significand is wide.
func (b *Base) setLimit() {
	limit := new(big.Int).Sub(b.rangeInt, big.NewInt(1))
	b.limitInt = limit.Sqrt(limit)
	b.limit.digits = make([]uint32, b.stride)
	b.residuesOfLimbs(b.limit.digits, limbsOf(b.limitInt, b.limbs))
	b.limit.interval = b.evaluate(b.limit.digits, make([]uint32, b.stride))
}

// limbsOf returns x >= 0 as n little-endian 64-bit words.
func limbsOf(x *big.Int, n int) []uint64 {
	limbs := make([]uint64, n)
	buf := x.FillBytes(make([]byte, 8*n))
	for i := range limbs {
		for _, octet := range buf[8*(n-1-i) : 8*(n-i)] {
			limbs[i] = limbs[i]<<8 | uint64(octet)
		}
	}
	return limbs
}

func intOf(limbs []uint64) *big.Int {
	buf := make([]byte, 8*len(limbs))
	for i, limb := range limbs {
		for k := range 8 {
			buf[len(buf)-1-8*i-k] = byte(limb >> (8 * k))
		}
	}
	return new(big.Int).SetBytes(buf)
}
