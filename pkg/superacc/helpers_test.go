package superacc

import (
	"math"
	"math/big"
	"math/rand/v2"

	"mpbench/pkg/exact"
)

// referencePrec is enough for every sum and product of the tests: nothing rounds.
const referencePrec = 4500

// reference sums x, or the products of x and y, with big.Float, and the specials with IEEE arithmetic.
func reference(x, y []float64) (finite *big.Float, special float64, isSpecial bool) {
	finite = new(big.Float).SetPrec(referencePrec)
	product := new(big.Float).SetPrec(referencePrec)
	for i, v := range x {
		factor := 1.0
		if y != nil {
			factor = y[i]
		}
		if v-v != 0 || factor-factor != 0 {
			special += float64(v * factor)
			isSpecial = true
			continue
		}
		finite.Add(finite, product.Mul(big.NewFloat(v), big.NewFloat(factor)))
	}
	return finite, special, isSpecial
}

// rounded is the reference rounded to binary64.
func rounded(x, y []float64) float64 {
	finite, special, isSpecial := reference(x, y)
	if isSpecial {
		return special
	}
	f, _ := finite.Float64()
	return f + 0 // -0 becomes +0
}

// same compares results bit for bit; NaN equals NaN.
func same(a, b float64) bool {
	return math.Float64bits(a) == math.Float64bits(b) || a != a && b != b
}

// kinds is the number of kinds of randomTerms.
const kinds = 14

// randomTerms returns n terms of one of several kinds, made to hit the decisions of the algorithm.
func randomTerms(rng *rand.Rand, n, kind int) []float64 {
	x := make([]float64, n)
	spread := rng.IntN(12) * rng.IntN(120)
	low := rng.IntN(2046 - spread)
	for i := range x {
		b := rng.Uint64()
		random := math.Float64frombits(b&^(exponentMask<<fractionBits) | uint64(1+low+rng.IntN(spread+1))<<fractionBits)
		switch kind {
		case 0: // any finite number
			for b>>52&exponentMask == exponentMask {
				b = rng.Uint64()
			}
			x[i] = math.Float64frombits(b)
		case 1: // a window of exponents
			x[i] = random
		case 2: // subnormals and zeros
			x[i] = math.Float64frombits(b &^ (exponentMask << 52) >> rng.UintN(53))
		case 3: // the largest binade
			x[i] = math.Float64frombits(b&^(exponentMask<<52) | 2046<<52)
		case 4: // cancelling pairs
			x[i] = random
			if i%2 == 1 {
				x[i] = -x[i-1]
			}
		case 5: // all ones in the significand, all of one sign: the largest sums for their exponent
			x[i] = math.Float64frombits(uint64(1+low)<<fractionBits | fractionMask)
		case 6: // ties: one term and halves of its last place
			x[i] = math.Ldexp(1, low%1900-950)
			if i > 0 {
				x[i] = math.Ldexp(float64(rng.IntN(5)-2), low%1900-950-53)
			}
		case 7: // ties, decided far below
			x[i] = math.Ldexp(float64(int64(b>>62)-1), -53*rng.IntN(20))
		case 8: // a uniform distribution
			x[i] = float64(2*float64(b>>11)*0x1p-53) - 1
		case 9: // growing
			x[i] = math.Ldexp(float64(b>>11)*0x1p-53, i%2000-1000)
		case 10: // falling
			x[i] = math.Ldexp(float64(b>>11)*0x1p-53, 1000-i%2000)
		case 11: // zeros of both signs and rare numbers
			if b%64 < 32 {
				x[i] = math.Copysign(0, float64(int64(b)))
			} else if b%64 == 63 {
				x[i] = random
			}
		case 12: // uniform but for rare tiny terms
			x[i] = float64(b>>11) * 0x1p-53
			if b%512 == 0 {
				x[i] = math.Ldexp(x[i], -rng.IntN(1080))
			}
		case 13: // powers of two, at the bounds of the windows
			x[i] = math.Ldexp(1-2*float64(b>>63), rng.IntN(2098)-1074)
		}
	}
	return x
}

// lengths around the groups and blocks of all kernels.
var lengths = []int{
	0, 1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 1023, 1024, 1025, 1055,
	1056, 1057,
	2047, 2048, 2049, 4095, 4096, 4097, 5119, 5120, 5121, 8191, 8192, 8193, 16383, 16384, 16385, 16416, 17408, 17409,
	33792, 33793,
}

// exactSum is the sum by package exact.
func exactSum(x []float64) exact.Value {
	var s exact.Sum
	s.AddSlice(x)
	return s.Value()
}

func newRand() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }
