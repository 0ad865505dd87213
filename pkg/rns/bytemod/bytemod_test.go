package bytemod

import (
	"math/big"
	"math/rand/v2"
	"testing"
)

// reduced is what devices reduce with: cuda/tensor.cuh.
func reduced(x int64, m Modulus) int64 {
	q := (x*int64(m.Magic) + 1<<(31+m.Shift)) >> (32 + m.Shift)
	return x - q*int64(m.M)
}

// TestReduction: whatever is reduced, residues fit a byte, or two digits of which each, and their sum, do. The
// quotient is off by less than 2^-(Shift+2), so that the extremes are next to the odd multiples of m/2 that are
// farthest from 0.
func TestReduction(t *testing.T) {
	const limit = StageTerms<<14 + 1<<26 // sums and what is carried in
	for _, list := range [][]Modulus{families().bytes, families().pairs} {
		for _, m := range list {
			for _, far := range []int64{0, 1, limit/int64(m.M) - 2, limit / int64(m.M) / 2} {
				for _, x := range []int64{far*int64(m.M) + int64(m.M)/2, (far+1)*int64(m.M) - int64(m.M)/2} {
					for near := x - 2; near <= x+2; near++ {
						for _, y := range []int64{near, -near} {
							r := reduced(y, m)
							if (y-r)%int64(m.M) != 0 || !fits(r, m.Digits) {
								t.Fatalf("%d modulo %d is reduced to %d", y, m.M, r)
							}
						}
					}
				}
			}
		}
	}
}

func fits(r int64, digits int) bool {
	if digits == 1 {
		return r >= -128 && r <= 127
	}
	high := (r + 64) >> 7
	low := r - 128*high
	upper := (r + 128) >> 8 // as a plane of the product
	return low >= -64 && low <= 64 && high >= -64 && high <= 64 && low+high >= -128 && low+high <= 127 &&
		upper >= -33 && upper <= 33
}

// TestPremises: moduli have no common factors, and no sum of any kernel exceeds its type, whatever the bytes are.
func TestPremises(t *testing.T) {
	f := families()
	product := big.NewInt(1)
	for _, m := range append(append([]Modulus(nil), f.bytes...), f.pairs...) {
		x := big.NewInt(int64(m.M))
		if new(big.Int).GCD(nil, nil, product, x).Cmp(big.NewInt(1)) != 0 {
			t.Errorf("%d has a factor in common with others", m.M)
		}
		product.Mul(product, x)
		if m.Digits == 2 { // between the three products: a residue times gamma, or 127
			carried := (int64(m.M)/2 + 64) * max(127, int64(max(m.Gamma, -m.Gamma)))
			if carried > 1<<26 || balanced(-128*int64(m.Gamma), m.M) != 1 {
				t.Errorf("gamma = %d modulo %d; %d is carried in", m.Gamma, m.M, carried)
			}
		}
		if m.Magic <= 0 {
			t.Errorf("the reciprocal of %d is %d", m.M, m.Magic)
		}
	}
	if sum := int64(StageTerms*128*128 + 1<<26); sum >= 1<<31 {
		t.Errorf("sums of products reach %d", sum)
	}
	const bytes = 4 * stepBytes // of an integer, between reductions
	if sum := bytes*255*128 + 128; sum >= 1<<22 {
		t.Errorf("bytes add up to %d", sum)
	}
	if sum := bytes * 255 * (64 + 128*64); sum >= 1<<31 {
		t.Errorf("digits add up to %d", sum)
	}
	// planes times digits: four, with a carry, in 32 and 16 bits more
	most := (&Plan{Moduli: make([]Modulus, maxBytes+maxPairs), Pairs: maxPairs}).mostDigit()
	if digit := 2*most + 255; digit >= 1<<24 || digit*257 >= 1<<32 {
		t.Errorf("digits reach %d", digit)
	}
}

// TestPlans: M is large enough for every sum, and so many products are taken as the design says.
func TestPlans(t *testing.T) {
	for p, want := range map[int]int{53: 16, 106: 30, 212: 70, 424: 160} {
		if got := Products(p, p, 4096); got != want {
			t.Errorf("%d products at %d bits, want %d", got, p, want)
		}
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		a, b, terms := 1+rng.IntN(MaxBits), 1+rng.IntN(MaxBits), 1+rng.IntN(1<<20)
		plan := NewPlan(a, b, terms)
		if plan == nil {
			t.Fatalf("no plan for %d and %d bits", a, b)
		}
		least := new(big.Int).Lsh(big.NewInt(int64(terms)), uint(a+b)) // times 129/64
		if least.Mul(least, big.NewInt(129)); least.Cmp(new(big.Int).Lsh(plan.product, 6)) > 0 {
			t.Errorf("%d and %d bits, %d terms: M has %d bits", a, b, terms, plan.product.BitLen())
		}
		if in, _ := plan.Planes(); in != Products(a, b, terms) {
			t.Errorf("%d planes for %d products", in, Products(a, b, terms))
		}
	}
	if NewPlan(MaxBits+1, 1, 1) != nil || Products(MaxBits+1, 1, 1) != MaxProducts {
		t.Error("a plan for too long elements")
	}
}

// TestReconstruction: balanced digits of the tables are alpha*M/m_k, sums fit the limbs, and the rank is certain.
func TestReconstruction(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for _, bits := range []int{1, 30, 53, 212, 424, 2000} {
		plan := NewPlan(bits, bits, 4096)
		alpha := new(big.Int).SetUint64(rng.Uint64() | 1)
		r := plan.Reconstruction(alpha)
		product := new(big.Int).Mul(alpha, plan.product)
		all := new(big.Int).Lsh(big.NewInt(1), uint(32*r.Words))
		if z := integerOf(r.Negative); z.Add(z, product).Cmp(all) != 0 {
			t.Fatalf("%d bits: alpha*M is %v less than 2^%d", bits, z, 32*r.Words)
		}
		// sums are in [M, 2KM), as |sum| <= M * sum over moduli of 0.51, and 2^18 units of the rank's lowest word are less
		// than M/2^45
		if product.Cmp(r.product) != 0 || r.turns.Int64()*100 < 51*int64(len(plan.Moduli))+100 ||
			new(big.Int).Mul(product, r.turns).BitLen() >= 32*r.Words || r.Words > 8*r.Chunks {
			t.Errorf("%d bits: %v turns of %d moduli in %d words", bits, r.turns, len(plan.Moduli), r.Words)
		}
		if r.RankWord > 0 && 32*r.RankWord+18+45 > product.BitLen() || product.BitLen() > 32*r.RankWord+96 {
			t.Errorf("%d bits: the rank from word %d of %d bits", bits, r.RankWord, product.BitLen())
		}
		start := new(big.Int).Mul(r.turns, product)
		for d, x := range r.Starts {
			start.Sub(start, new(big.Int).Lsh(big.NewInt(int64(x)), uint(8*d)))
			if least := plan.mostDigit(); int64(x) < least || int64(x) > least+255 {
				t.Errorf("%d bits: digit %d begins as %d", bits, d, x)
			}
		}
		if start.Mod(start, all).Sign() != 0 {
			t.Errorf("%d bits: sums begin %v off", bits, start)
		}
		for _, m := range plan.Moduli {
			want, _ := plan.cofactor(m)
			want.Mul(want, alpha)
			for d, x := range balancedBytes(want, 32*r.Chunks) {
				want.Sub(want, new(big.Int).Lsh(big.NewInt(int64(x)), uint(8*d)))
			}
			if want.Sign() != 0 {
				t.Fatalf("%d bits: the digits for %d are not alpha*M/m: %v is left", bits, m.M, want)
			}
		}
	}
}

func integerOf(words []uint32) *big.Int {
	z := new(big.Int)
	for i := len(words) - 1; i >= 0; i-- {
		z.Lsh(z, 32)
		z.Or(z, big.NewInt(int64(words[i])))
	}
	return z
}
