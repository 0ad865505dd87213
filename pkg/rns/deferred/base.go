package deferred

import (
	"math/big"
	"math/bits"
	"sync"
)

// laneMultiple is what lengths of rows are padded to: the 32-bit lanes of an AVX-512 register.
const laneMultiple = 16

// base holds the constants of the first n moduli. It is immutable and shared.
type base struct {
	n     int
	lanes int // n rounded up to laneMultiple: the length of rows of powers and crt

	modulus []uint32 // padded with modulus[0] to lanes
	delta   []uint32 // 2^28 - m

	// powers[h*lanes + k] = 2^(28h) mod m_k for h < n + 2: a binary64 number takes three limbs from any position of the
	// n. 0 in the padding lanes.
	powers []uint32

	// Reconstruction: with c_k = x_k * weight_k mod m_k,
	//   X = sum c_k * (M/m_k) - rank * M,  rank = round(sum c_k / m_k).
	// Row k < n of crt holds M/m_k, row n holds 2^(28n) - M, in n limbs, least significant first, padded to lanes. The
	// sum of rows with the coefficients c_0 ... c_(n-1), rank is X modulo 2^(28n): X in two's complement, as |X| <
	// 2^(28n-2).
	weight     []uint32
	reciprocal []float64 // 1 / m_k
	crt        []uint32
}

// Bases are kept up to this size, where tables take 0.5 MB each; of larger ones (up to 34 MB) the latest.
const keptModuli = 256

var bases struct {
	sync.Mutex
	kept   [keptModuli + 1]*base
	latest *base
}

// baseOf returns the base of the first n moduli, 1 <= n <= MaxModuli.
func baseOf(n int) *base {
	bases.Lock()
	defer bases.Unlock()
	if n <= keptModuli {
		if bases.kept[n] == nil {
			bases.kept[n] = newBase(n)
		}
		return bases.kept[n]
	}
	if bases.latest == nil || bases.latest.n != n {
		bases.latest = newBase(n)
	}
	return bases.latest
}

func newBase(n int) *base {
	b := &base{n: n, lanes: roundUp(n, laneMultiple)}
	b.modulus = make([]uint32, b.lanes)
	copy(b.modulus, moduli()[:n])
	b.delta = make([]uint32, b.lanes)
	b.reciprocal = make([]float64, n)
	for k := range b.lanes {
		if k >= n {
			b.modulus[k] = b.modulus[0]
		}
		b.delta[k] = 1<<ModulusBits - b.modulus[k]
		if k < n {
			b.reciprocal[k] = 1 / float64(b.modulus[k])
		}
	}
	b.setPowers()
	b.setReconstruction()
	return b
}

func (b *base) setPowers() {
	b.powers = make([]uint32, (b.n+2)*b.lanes)
	for k := range b.n {
		b.powers[k] = 1
	}
	for h := 1; h < b.n+2; h++ {
		row, previous := b.powers[h*b.lanes:], b.powers[(h-1)*b.lanes:]
		for k := range b.n {
			// 2^28 = delta modulo m
			row[k] = uint32(uint64(previous[k]) * uint64(b.delta[k]) % uint64(b.modulus[k]))
		}
	}
}

func (b *base) setReconstruction() {
	product, factor := big.NewInt(1), new(big.Int)
	for _, m := range b.modulus[:b.n] {
		product.Mul(product, factor.SetUint64(uint64(m)))
	}
	b.weight = make([]uint32, b.n)
	b.crt = make([]uint32, (b.n+1)*b.lanes)
	cofactor, remainder := new(big.Int), new(big.Int)
	for k, m := range b.modulus[:b.n] {
		factor.SetUint64(uint64(m))
		cofactor.Quo(product, factor)
		setLimbs(b.crt[k*b.lanes:k*b.lanes+b.n], cofactor)
		b.weight[k] = inverse(uint32(remainder.Rem(cofactor, factor).Uint64()), m)
	}
	cofactor.Lsh(factor.SetInt64(1), uint(limbBits*b.n))
	setLimbs(b.crt[b.n*b.lanes:b.n*b.lanes+b.n], cofactor.Sub(cofactor, product))
}

// inverse returns x^-1 modulo the prime m, as x^(m-2).
func inverse(x, m uint32) uint32 {
	result, power := uint64(1), uint64(x)
	for e := m - 2; e != 0; e >>= 1 {
		if e&1 != 0 {
			result = result * power % uint64(m)
		}
		power = power * power % uint64(m)
	}
	return uint32(result)
}

// setLimbs sets limbs to x >= 0, least significant limb first.
func setLimbs(limbs []uint32, x *big.Int) {
	words := x.Bits()
	for h := range limbs {
		limbs[h] = wordLimb(words, h*limbBits)
	}
}

// wordLimb returns the limb of the words that starts at bit pos >= 0.
func wordLimb(words []big.Word, pos int) uint32 {
	i, shift := pos/bits.UintSize, uint(pos%bits.UintSize)
	if i >= len(words) {
		return 0
	}
	limb := uint64(words[i]) >> shift
	if i+1 < len(words) {
		limb |= uint64(words[i+1]) << (bits.UintSize - shift) // a shift by 64 gives 0
	}
	return uint32(limb & limbMask)
}

func roundUp(x, multiple int) int { return (x + multiple - 1) / multiple * multiple }
