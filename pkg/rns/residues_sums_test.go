package rns

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

// sumBases have one to several vectors of residues and of words, narrow and wide moduli, and every kind of tail.
func sumBases(t testing.TB) []*Base {
	var list []*Base
	for _, moduli := range [][]uint32{
		{1<<31 - 1, 1<<31 - 3}, {17, 1<<31 - 1, 1<<30 + 1, 19, 23, 29, 31},
		mustModuli(t, 30, 6), mustModuli(t, 30, 31), mustModuli(t, 120, 16), mustModuli(t, 240, 31), mustModuli(t, 424, 31),
		mustModuli(t, 848, 16), mustModuli(t, 1696, 31),
	} {
		b, err := NewBase(moduli)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, b)
	}
	return list
}

// largest returns m - 1 for every modulus.
func (b *Base) largest() []uint32 {
	x := slices.Clone(b.modulus)
	for i := range x {
		x[i]--
	}
	return x
}

// TestSumsOverResidues compares the sums in use with plain Go: all that are integers must have the same bits.
func TestSumsOverResidues(t *testing.T) {
	rng := rand.New(rand.NewPCG(17, 18))
	for _, b := range sumBases(t) {
		for round := range 500 {
			c, y := operandsFor(rng, b.modulus), operandsFor(rng, b.modulus)
			w := newShoup(operandsFor(rng, b.modulus), b.modulus)
			if round == 0 {
				c = b.largest()
			}
			if got, want := fractionSum(c, &b.fractions), fractionSumGeneric(c, &b.fractions); got != want {
				t.Fatalf("%v: fractionSum of %v = %#x, want %#x", b, c, got, want)
			}
			if got, want := lowWord(c, b.radix.low), lowWordGeneric(c, b.radix.low); got != want {
				t.Fatalf("%v: lowWord of %v = %#x, want %#x", b, c, got, want)
			}
			got, want := quotientSum(c, b.fractions.quotient), quotientSumGeneric(c, b.fractions.quotient)
			if n := float64(b.n); math.Abs(got-want) > 2*n*(n+2)*0x1p-53 {
				t.Fatalf("%v: quotientSum of %v = %v, want %v", b, c, got, want)
			}
			z, expect := make([]uint32, b.stride), make([]uint32, b.stride)
			subMulConstGeneric(expect, c, y, &w, b.modulus)
			for alias, operands := range [][3][]uint32{{z, c, y}, {slices.Clone(c), nil, y}, {slices.Clone(y), c, nil}} {
				for i := range operands {
					if operands[i] == nil {
						operands[i] = operands[0]
					}
				}
				if subMulConst(operands[0], operands[1], operands[2], &w, b.modulus); !slices.Equal(operands[0], expect) {
					t.Fatalf("%v, alias %d: subMulConst = %v, want %v", b, alias, operands[0], expect)
				}
			}
		}
	}
}

// TestWeightedWords compares the sums of words in use with plain Go, for every number of words, at the largest
// coefficients too.
func TestWeightedWords(t *testing.T) {
	rng := rand.New(rand.NewPCG(19, 20))
	for _, b := range sumBases(t) {
		for n := laneMultiple; n <= b.radix.pitch; n += laneMultiple {
			for round := range 10 {
				c := operandsFor(rng, b.modulus)[:b.n]
				if round == 0 {
					c = b.largest()[:b.n]
				}
				got, want := make([]uint64, n), make([]uint64, n)
				weightedWords(got, c, b.radix.crt, b.radix.pitch)
				weightedWordsGeneric(want, c, b.radix.crt, b.radix.pitch)
				if !slices.Equal(got, want) {
					t.Fatalf("%v: %d words of %v\n%x, want\n%x", b, n, c, got, want)
				}
			}
		}
	}
}

// TestWordsMod compares the residues of words with those of the integer that they stand for: random words, zeros, and
// the largest words at the largest residues of powers, for every number of words.
func TestWordsMod(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	for _, b := range sumBases(t) {
		mask := uint64(1)<<b.radix.bits - 1
		worst := make([]uint32, len(b.radix.powers))
		for h := range b.radix.words {
			copy(worst[h*b.stride:], b.largest())
		}
		for count := 1; count <= b.radix.words; count++ {
			words := make([]uint64, count)
			for h := range words {
				words[h] = []uint64{0, mask, rng.Uint64() & mask}[rng.IntN(3)]
			}
			z, want := make([]uint32, b.stride), make([]uint32, b.stride)
			b.residuesOfWords(z, words)
			x := new(big.Int)
			for h := count - 1; h >= 0; h-- {
				x.Lsh(x, uint(b.radix.bits)).Add(x, new(big.Int).SetUint64(words[h]))
			}
			for i, m := range b.modulus {
				want[i] = uint32(new(big.Int).Mod(x, big.NewInt(int64(m))).Uint64())
			}
			if !slices.Equal(z, want) {
				t.Fatalf("%v: residues of %x = %v, want %v", b, words, z, want)
			}
			for h := range words {
				words[h] = mask
			}
			wordsMod(z, words, worst, &b.powers, b.modulus)
			for i, m := range b.modulus {
				sum := new(big.Int).Mul(new(big.Int).SetUint64(mask), big.NewInt(int64(m-1)))
				sum.Mul(sum, big.NewInt(int64(count)))
				if sum.BitLen() > 64 || uint64(z[i]) != sum.Mod(sum, big.NewInt(int64(m))).Uint64() {
					t.Fatalf("%v: %d largest words give %d mod %d", b, count, z[i], m)
				}
			}
			wordsModGeneric(want, words, worst, &b.powers, b.modulus)
			if !slices.Equal(z, want) {
				t.Fatalf("%v: wordsMod %v, want %v", b, z, want)
			}
		}
	}
}

// TestToWords checks all words of M - 1, whose coefficients have the largest rank, of other integers, and packing.
func TestToWords(t *testing.T) {
	rng := rand.New(rand.NewPCG(23, 24))
	for _, b := range sumBases(t) {
		x, c := make([]uint32, b.stride), make([]uint32, b.stride)
		for _, n := range edgeIntegers(rng, b) {
			b.Residues(x, n)
			b.coefficients(c, x)
			rank := b.rank(c, b.Evaluate(x))
			if low := new(big.Int).And(n, big.NewInt(math.MaxUint32)); low.Uint64() != uint64(b.lowBits(c, rank)) {
				t.Fatalf("%v: low bits of %v: %#x", b, n, b.lowBits(c, rank))
			}
			words := b.toWords(make([]uint64, b.radix.pitch), b.radix.words, c, rank)
			limbs := make([]uint64, b.limbs)
			b.radix.packWords(limbs, words)
			again := make([]uint64, len(words))
			b.radix.unpackWords(again, limbs)
			if intOf(limbs).Cmp(n) != 0 || !slices.Equal(words, again) {
				t.Fatalf("%v: words of %v: %x", b, n, words)
			}
		}
	}
}

// BenchmarkSums compares the sums in use with plain Go at half the words of M, as a product's rounding takes them.
func BenchmarkSums(b *testing.B) {
	for _, p := range []int{120, 424, 1696} {
		base := testBase(b, p, 31)
		c, z := base.largest(), make([]uint32, base.stride)
		r := &base.radix
		count := (r.words + 1) / 2
		words := make([]uint64, (count+7)/8*8)
		for _, op := range []struct {
			name          string
			simd, generic func()
		}{
			{"quotients", func() { quotientSum(c, base.fractions.quotient) },
				func() { quotientSumGeneric(c, base.fractions.quotient) }},
			{"fractions", func() { fractionSum(c, &base.fractions) }, func() { fractionSumGeneric(c, &base.fractions) }},
			{"lowword", func() { lowWord(c, r.low) }, func() { lowWordGeneric(c, r.low) }},
			{"weightedwords", func() { weightedWords(words, c[:base.n], r.crt, r.pitch) },
				func() { weightedWordsGeneric(words, c[:base.n], r.crt, r.pitch) }},
			{"towords", func() { base.toWords(words, count, c, 7) }, nil},
			{"wordsmod", func() { wordsMod(z, words[:count], r.powers, &base.powers, base.modulus) },
				func() { wordsModGeneric(z, words[:count], r.powers, &base.powers, base.modulus) }},
		} {
			for _, path := range []struct {
				name string
				f    func()
			}{{SIMD(), op.simd}, {"generic", op.generic}} {
				if path.f == nil {
					continue
				}
				b.Run(fmt.Sprintf("op=%s/precision=%d/simd=%s", op.name, p, path.name), func(b *testing.B) {
					for range b.N {
						path.f()
					}
				})
			}
		}
	}
}
