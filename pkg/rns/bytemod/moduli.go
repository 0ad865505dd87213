package bytemod

import (
	"math"
	"math/big"
	"sync"
)

const (
	// MaxBits is the greatest width of an element.
	MaxBits = 2400
	// StageTerms is how many terms a sum takes between reductions: 2^16 products of bytes, and less than 2^26 that
	// is carried in, stay below 2^31.
	StageTerms = 1 << 16

	maxBytes = 49    // moduli up to 256 that are used: beyond, two digits have more bits for a product
	maxPairs = 350   // moduli of two digits
	digit    = 128   // base of two digits
	widest   = 16255 // residues in [-8127, 8127], so that digits are in [-64, 64]
)

// Modulus is a modulus of a plan with what reduces by it.
type Modulus struct {
	M      int32
	Digits int // 1 or 2
	// round(x/M) = (x*Magic + 2^(31+Shift)) >> (32+Shift) for int32 x, but for ties and quotients as near to them as
	// 2^-(Shift+2): Magic = round(2^(32+Shift)/M) < 2^31.
	Magic, Shift int32
	Gamma        int32 // -1/128 mod M, balanced, for two digits
	In, Out      int   // the first of its planes: 1 or 3 of the factors, 1 or 2 of the product
}

func newModulus(m int32, digits int) Modulus {
	z := Modulus{M: m, Digits: digits}
	for quotient(32+z.Shift+1, m) < 1<<31 {
		z.Shift++
	}
	z.Magic = int32(quotient(32+z.Shift, m))
	if digits == 2 {
		z.Gamma = int32(balanced(-int64(inverse(digit, m)), m))
	}
	return z
}

// mostDigits is a bound on the sum of 128 bytes times two digits.
const mostDigits = 4 * stepBytes * 255 * (64 + digit*64)

// Remainder is what cuda/byte_planes.cu reduces sums of bytes times weights with, |x| < 2^22 - 2^15, modulo M <=
// 256: F = B + x, a binary32 number, has the bits Start + x; Q = F*Inverse + Rounder, rounded once, is an integer
// in [2^23, 2^24), and the low byte of Start + x - M*bits(Q) is x mod M. F*Inverse is off from F/M by at most 1/M,
// as F < 2^24 and Inverse has 24 bits, so that the remainder is in [-M/2 - 1, M/2 + 1]. Again makes it a start.
type Remainder struct {
	Start, Again     int32
	Inverse, Rounder float32
}

// Remainder returns that of a modulus. Of two digits it has Start and Again alone: sums begin as 64 + 128*64, what
// both digits get to be nonnegative, and a multiple of M.
func (m Modulus) Remainder() Remainder {
	if m.Digits == 2 {
		again := (mostDigits/m.M + 1) * m.M
		return Remainder{Start: 64 + digit*64 + again, Again: again}
	}
	const center = 3 << 22
	count := int32((center + int64(m.M)/2) / int64(m.M))
	r := Remainder{Start: int32(math.Float32bits(float32(count * m.M))), Inverse: 1 / float32(m.M)}
	for rounder := int32(center); ; rounder++ { // M is odd, or 256
		r.Rounder = float32(rounder)
		if r.Again = (int32(math.Float32bits(r.Rounder)) + count) * m.M; (r.Start-r.Again)&255 == 0 {
			return r
		}
	}
}

// quotient returns round(2^e/m).
func quotient(e, m int32) int64 { return (1<<(e+1)/int64(m) + 1) / 2 }

// balanced returns x modulo m, in [-m/2, m/2).
func balanced(x int64, m int32) int64 {
	if x %= int64(m); x < 0 {
		x += int64(m)
	}
	if 2*x >= int64(m) {
		x -= int64(m)
	}
	return x
}

// inverse returns 1/x modulo m.
func inverse(x int64, m int32) int32 {
	n := big.NewInt(int64(m))
	return int32(new(big.Int).ModInverse(big.NewInt(x), n).Int64())
}

// family is all moduli: plans take the first ones of each list.
type family struct {
	bytes, pairs []Modulus
	bits         [2][]float64 // of the product of the first n of them
}

// families returns the list: downwards from 256, and from widest in odd numbers, each that has no factor in
// common with those before it.
var families = sync.OnceValue(func() (f family) {
	product := big.NewInt(1)
	take := func(from, step int32, n, digits int) (list []Modulus, bits []float64) {
		bits = []float64{0}
		gcd, x, one := new(big.Int), new(big.Int), big.NewInt(1)
		for m := from; len(list) < n; m -= step {
			if gcd.GCD(nil, nil, product, x.SetInt64(int64(m))); gcd.Cmp(one) == 0 && (digits == 2 || useful(m)) {
				product.Mul(product, x)
				list = append(list, newModulus(m, digits))
				bits = append(bits, bits[len(bits)-1]+math.Log2(float64(m)))
			}
		}
		return list, bits
	}
	f.bytes, f.bits[0] = take(256, 1, maxBytes, 1)
	f.pairs, f.bits[1] = take(widest, 2, maxPairs, 2)
	return f
})

// useful leaves out numbers whose small factors are worth more in 243 and 145, among the best 49 numbers: these have
// 344.1 bits together, where taking the greatest each time gives 341.9.
func useful(m int32) bool { return (m%3 != 0 || m == 243) && (m%5 != 0 || m == 145) }

// choose returns how many moduli of each kind take the fewest products for sums |S| < 2^width; ok is false if
// all are too few.
func choose(width int) (bytes, pairs int, ok bool) {
	f := families()
	need := float64(width) + math.Log2(129.0/64) + 1e-6 // rounding errors are below 1e-9
	best := math.MaxInt
	for n := range f.pairs {
		for k := range f.bytes {
			if f.bits[0][k+1]+f.bits[1][n] >= need {
				if cost := k + 1 + 3*n; cost < best {
					best, bytes, pairs = cost, k+1, n
				}
				break
			}
		}
	}
	return bytes, pairs, best < math.MaxInt
}

// MaxProducts is more than any plan takes.
const MaxProducts = maxBytes + 3*maxPairs + 1

// Products returns how many products of matrices of bytes a plan takes, MaxProducts if there is none.
func Products(aBits, bBits, terms int) int {
	bytes, pairs, ok := choose(sumBits(aBits, bBits, terms))
	if !ok || max(aBits, bBits) > MaxBits {
		return MaxProducts
	}
	return bytes + 3*pairs
}

// sumBits is the width of sums of so many products.
func sumBits(aBits, bBits, terms int) int {
	width := aBits + bBits
	for n := terms; n > 1; n = (n + 1) / 2 {
		width++
	}
	return width
}
