package intmat

import (
	"math/big"
	"sync"
)

const (
	// MaxModuli is the length of the list of moduli; all of them hold integers of 4242 bits and a sign.
	MaxModuli = 360
	// MaxBits is the greatest width of an element.
	MaxBits = maxDigits * digitBits

	// ModulusBits is the width of the widest modulus.
	ModulusBits = 13

	maxModulus = 5020
	maxResidue = 2896 // magnitude of a residue, of which maxModulus/2 + 385 is needed: see reduceGeneric
	blockTerms = 256  // products added to one reduced sum: 256 * 2896^2 + 2896 < 2^31

	digitBits = 12
	digitMask = 1<<digitBits - 1
	maxDigits = 200 // of an element: 200 * 4095 * maxModulus/2 < 2^31

	// Fractions X/M are sums of residues times round(2^fractionBits / m): below 2^31, with an error of at most 360 *
	// 2896/2 / 2^22 < 0.125 (TestPremises).
	fractionBits = 22
)

// modulus is a modulus with what reduces by it.
type modulus struct {
	m       int32
	inverse float32 // 1/m
}

// moduli returns the list that every plan takes a prefix of: from maxModulus downwards, each integer that has no
// factor in common with those before it.
var moduli = sync.OnceValue(func() []modulus {
	list := make([]modulus, 0, MaxModuli)
	product, x, gcd := big.NewInt(1), new(big.Int), new(big.Int)
	for m := int64(maxModulus); len(list) < MaxModuli; m-- {
		if gcd.GCD(nil, nil, product, x.SetInt64(m)); gcd.IsInt64() && gcd.Int64() == 1 {
			list = append(list, modulus{int32(m), 1 / float32(m)})
			product.Mul(product, x)
		}
	}
	return list
})

// capacities[n] is the width of the integers that n moduli hold: |X| < 2^width <= M/4.
var capacities = sync.OnceValue(func() []int {
	list := make([]int, 1, MaxModuli+1)
	product := big.NewInt(1)
	for _, m := range moduli() {
		product.Mul(product, big.NewInt(int64(m.m)))
		list = append(list, product.BitLen()-3)
	}
	return list
})

// ModuliFor returns how many moduli hold every integer |X| < 2^width; it is more than MaxModuli if none do.
func ModuliFor(width int) int {
	for n, c := range capacities() {
		if c >= width && n > 0 {
			return n
		}
	}
	return MaxModuli + 1
}

// balanced returns x modulo m, in [-m/2, m/2].
func balanced(x *big.Int, m int32) int32 {
	var r big.Int
	v := int32(r.Mod(x, big.NewInt(int64(m))).Int64())
	if v > m/2 {
		v -= m
	}
	return v
}

// base holds the constants of the first n moduli for a kernel. It is immutable and shared. Tables are left operands:
// panels of k.rows rows, pairs of columns next to each other (see Operand).
type base struct {
	moduli []modulus // padded to panels with the first
	pairs  int       // of moduli

	// powers[0] has 2^(12d) modulo m_k in row k and column d, powers[1] that times (M/m_k)^-1.
	powers [2][]uint32

	// Reconstruction: with residues c_k of X*(M/m_k)^-1,
	//   X = sum c_k * (M/m_k) - rank * M,  rank = round(sum c_k / m_k).
	// Row d of crt has digit d of M/m_k in column k, row digits has round(2^fractionBits / m_k). product has the digits
	// of M. All of them lie in [-2048, 2047].
	digits  int
	crt     []uint32
	product []int32
}

// keptBases is how many bases are kept, of up to 0.8 MB.
const keptBases = 32

var bases struct {
	sync.Mutex
	kept map[baseKey]*base
}

type baseKey struct{ n, rows int }

// baseOf returns the base of the first n moduli, 1 <= n <= MaxModuli, in panels of so many rows.
func baseOf(n, rows int) *base {
	bases.Lock()
	defer bases.Unlock()
	key := baseKey{n, rows}
	if bases.kept[key] == nil {
		if len(bases.kept)%keptBases == 0 {
			bases.kept = map[baseKey]*base{}
		}
		bases.kept[key] = newBase(n, rows)
	}
	return bases.kept[key]
}

func newBase(n, rows int) *base {
	b := &base{pairs: (n + 1) / 2}
	product := big.NewInt(1)
	for _, m := range moduli()[:n] {
		product.Mul(product, big.NewInt(int64(m.m)))
	}
	b.digits = (product.BitLen() + digitBits - 1) / digitBits
	b.crt = make([]uint32, roundUp(b.digits+1, rows)*b.pairs)
	for side := range b.powers {
		b.powers[side] = make([]uint32, roundUp(n, rows)*maxDigits/2)
	}
	cofactor, weight := new(big.Int), new(big.Int)
	for k, m := range moduli()[:n] {
		m := big.NewInt(int64(m.m))
		cofactor.Quo(product, m)
		for d, v := range balancedDigits(cofactor, b.digits) {
			setEntry(b.crt, rows, b.pairs, d, k, v)
		}
		setEntry(b.crt, rows, b.pairs, b.digits, k, int32((2<<fractionBits/m.Int64()+1)/2))
		weight.ModInverse(weight.Mod(cofactor, m), m)
		b.setPowers(rows, k, weight)
	}
	b.product = balancedDigits(product, b.digits)
	b.moduli = append(b.moduli, moduli()[:n]...)
	for len(b.moduli)%rows != 0 {
		b.moduli = append(b.moduli, b.moduli[0])
	}
	return b
}

// setPowers sets row k of both tables of powers.
func (b *base) setPowers(rows, k int, weight *big.Int) {
	m := moduli()[k].m
	for side, first := range []*big.Int{big.NewInt(1), weight} {
		x := new(big.Int).Set(first)
		for d := range maxDigits {
			v := balanced(x, m)
			setEntry(b.powers[side], rows, maxDigits/2, k, d, v)
			x.SetInt64(int64(v) << digitBits)
		}
	}
}

// setEntry sets the entry in row i and column j of a table in panels of so many rows, of so many pairs of columns.
func setEntry(table []uint32, rows, pairs, i, j int, v int32) {
	at := (i/rows*pairs+j/2)*rows + i%rows
	table[at] |= uint32(uint16(v)) << (j % 2 * 16)
}

// balancedDigits returns the digits of x >= 0 in base 2^12, in [-2048, 2047], modulo 2^(12n).
func balancedDigits(x *big.Int, n int) []int32 {
	list := make([]int32, n)
	carry := int32(0)
	for d := range list {
		v := carry
		for i := range digitBits {
			v += int32(x.Bit(digitBits*d+i)) << i
		}
		carry = (v + 1<<(digitBits-1)) >> digitBits
		list[d] = v - carry<<digitBits
	}
	return list
}

func roundUp(x, multiple int) int { return (x + multiple - 1) / multiple * multiple }
