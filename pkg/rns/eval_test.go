package rns

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

// edgeIntegers are integers of [0, M) where interval evaluations are hardest: 0, 1, tiny, next to powers of two, to
// M/2 and to M, and multiples of M/m_i, whose residues are all zero but one.
func edgeIntegers(rng *rand.Rand, b *Base) []*big.Int {
	m, one := b.DynamicRange(), big.NewInt(1)
	var list []*big.Int
	around := func(x *big.Int) {
		for d := int64(-2); d <= 2; d++ {
			y := new(big.Int).Add(x, big.NewInt(d))
			if y.Sign() >= 0 && y.Cmp(m) < 0 {
				list = append(list, y)
			}
		}
	}
	around(new(big.Int))
	around(m)
	around(new(big.Int).Rsh(m, 1))
	around(new(big.Int).Sqrt(m))
	for k := 1; k < m.BitLen(); k += 1 + rng.IntN(8) {
		around(new(big.Int).Lsh(one, uint(k)))
		around(new(big.Int).Sub(m, new(big.Int).Lsh(one, uint(k))))
		around(new(big.Int).Quo(m, new(big.Int).Lsh(one, uint(k))))
	}
	for _, mi := range b.Moduli() {
		around(new(big.Int).Quo(m, big.NewInt(int64(mi))))
	}
	for range 300 {
		x := new(big.Int).Rand(newRand(rng), m)
		list = append(list, x, new(big.Int).Rsh(x, uint(rng.IntN(m.BitLen()))))
	}
	return list
}

var evalBases = []struct{ bits, width int }{{30, 6}, {30, 16}, {30, 31}, {60, 16}, {240, 16}, {240, 31}, {1696, 31},
	{1000, 16}}

// TestEvaluate checks enclosure and width of I(X/M), and conversion to and from integers, on edge integers.
func TestEvaluate(t *testing.T) {
	for _, e := range evalBases {
		b := testBase(t, e.bits, e.width)
		rng := rand.New(rand.NewPCG(11, uint64(e.bits)))
		digits := make([]uint32, b.stride)
		for _, x := range edgeIntegers(rng, b) {
			b.Residues(digits, x)
			for i, m := range b.modulus {
				if want := new(big.Int).Mod(x, big.NewInt(int64(m))); want.Uint64() != uint64(digits[i]) {
					t.Fatalf("%v mod %d = %d", x, m, digits[i])
				}
			}
			checkInterval(t, b, b.Evaluate(digits), x)
			if got := b.Int(digits[:b.n]); got.Cmp(x) != 0 {
				t.Fatalf("residues of %v give %v", x, got)
			}
		}
	}
}

// TestEvaluateSigned checks sign and interval of small and large negative numbers.
func TestEvaluateSigned(t *testing.T) {
	for _, e := range evalBases {
		b := testBase(t, e.bits, e.width)
		rng := rand.New(rand.NewPCG(12, uint64(e.bits)))
		digits, c := make([]uint32, b.stride), make([]uint32, b.stride)
		for _, x := range edgeIntegers(rng, b) {
			x.Rsh(x, 2)
			for _, neg := range []bool{false, true} {
				y := x
				if neg {
					y = new(big.Int).Neg(x)
				}
				b.Residues(digits, y)
				got, v := b.evaluateSigned(digits, c)
				if got != (y.Sign() < 0) {
					t.Fatalf("sign of %v", y)
				}
				checkInterval(t, b, v, x)
			}
		}
	}
}

// TestMixedRadix checks the digits by Horner's rule and the comparison by digits against that of the integers.
func TestMixedRadix(t *testing.T) {
	for _, e := range evalBases[:6] {
		b := testBase(t, e.bits, e.width)
		rng := rand.New(rand.NewPCG(13, uint64(e.bits)))
		var last *big.Int
		x, y := make([]uint32, b.stride), make([]uint32, b.stride)
		for i, n := range edgeIntegers(rng, b) {
			if i%7 != 0 {
				continue
			}
			b.Residues(x, n)
			sum := new(big.Int)
			digits := b.MixedRadix(x)
			for k := b.n - 1; k >= 0; k-- {
				if digits[k] >= b.modulus[k] {
					t.Fatalf("mixed-radix digit %d of %v is %d", k, n, digits[k])
				}
				sum.Mul(sum, big.NewInt(int64(b.modulus[k])))
				sum.Add(sum, big.NewInt(int64(digits[k])))
			}
			if sum.Cmp(n) != 0 {
				t.Fatalf("mixed radix of %v is that of %v", n, sum)
			}
			if last != nil {
				b.Residues(y, last)
				if got := b.CompareMixedRadix(x, y); got != n.Cmp(last) {
					t.Fatalf("compare %v and %v: %d", n, last, got)
				}
			}
			last = n
		}
	}
}

// TestScale compares the quotients, and what the cut says about rounding, with integer shifts.
func TestScale(t *testing.T) {
	for _, e := range evalBases {
		b := testBase(t, e.bits, e.width)
		c := NewContext(b, Truncate, Align2018)
		rng := rand.New(rand.NewPCG(14, uint64(e.bits)))
		x, z, want := make([]uint32, b.stride), make([]uint32, b.stride), make([]uint32, b.stride)
		for i, n := range edgeIntegers(rng, b) {
			if testing.Short() && i%5 != 0 {
				continue
			}
			for _, k := range []int{0, 1, 31, 32, 33, 63, 64, 65, rng.IntN(b.log2M + 1), b.log2M, b.log2M + 1, b.log2M + 500} {
				b.Residues(x, n)
				b.Residues(want, new(big.Int).Rsh(n, uint(k)))
				if c.Scale(z, x, k); !slices.Equal(z, want) {
					t.Fatalf("floor(%v / 2^%d)", n, k)
				}
				if k == 0 || k > b.log2M || n.Sign() == 0 {
					continue
				}
				cut := c.scale(x, x, b.Evaluate(x), k)
				quotient, rest := new(big.Int).Rsh(n, uint(k)), new(big.Int).SetBit(new(big.Int), k, 1)
				rest.Mod(n, rest)
				if cut.odd != (quotient.Bit(0) == 1) || cut.half != (rest.Bit(k-1) == 1) ||
					cut.remaining != (rest.SetBit(rest, k-1, 0).Sign() != 0) || !slices.Equal(x, want) {
					t.Fatalf("%v / 2^%d leaves %+v", n, k, cut)
				}
			}
		}
	}
}

// newRand makes the math/rand that big.Int.Rand takes.
func newRand(rng *rand.Rand) *mathRand { return newMathRand(int64(rng.Uint64() >> 1)) }
