package deferred

import (
	"errors"
	"math/big"
	"math/rand/v2"
	"mpbench/pkg/numbers"
	"strings"
	"testing"
)

// TestModuli proves the claims of the list: descending primes below 2^28, none left out, near enough to 2^28 for fold,
// and products that leave |X| < 2^capacity below 0.31 M.
func TestModuli(t *testing.T) {
	list := moduli()
	product, quarter := big.NewInt(1), new(big.Int)
	previous := uint32(1 << ModulusBits)
	x := new(big.Int)
	for n, m := range list {
		for c := previous - 1; c > m; c-- {
			if x.SetUint64(uint64(c)).ProbablyPrime(0) { // exact below 2^64
				t.Fatalf("the prime %d is missing", c)
			}
		}
		if !x.SetUint64(uint64(m)).ProbablyPrime(0) {
			t.Fatalf("%d is not prime", m)
		}
		previous = m
		if delta := uint64(1<<ModulusBits - m); delta*(1<<12+34) >= 1<<ModulusBits {
			t.Fatalf("delta %d is too large for fold", delta)
		}
		product.Mul(product, x)
		// 2^capacity / M < 0.31
		quarter.Lsh(big.NewInt(100), uint(capacity(n+1)))
		if quarter.Cmp(new(big.Int).Mul(product, big.NewInt(31))) >= 0 {
			t.Fatalf("the product of %d moduli is too small", n+1)
		}
		if ModuliFor(capacity(n+1)) != n+1 || ModuliFor(capacity(n+1)+1) != n+2 {
			t.Fatalf("ModuliFor is not the inverse of capacity at %d", n+1)
		}
	}
	bits := new(big.Int).SetUint64(lazyProducts)
	m1 := new(big.Int).SetUint64(uint64(list[0] - 1))
	bits.Mul(bits, m1).Mul(bits, m1).Add(bits, x.SetUint64(1<<ModulusBits))
	if bits.BitLen() > 64 {
		t.Fatal("lazyProducts products do not fit 64 bits")
	}
}

// TestBase converts integers of either sign, up to the greatest, to residues and back.
func TestBase(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	sizes := []int{1, 2, 3, 15, 16, 17, 40, 254, 255, 256, 257, 300}
	if !testing.Short() {
		sizes = append(sizes, 511, 600, MaxModuli)
	}
	for _, n := range sizes {
		b := baseOf(n)
		c := newConverter(b)
		var r reconstructor
		for trial := range 30 {
			x := new(big.Int)
			width := capacity(n)
			switch trial % 4 {
			case 0: // the greatest
				x.Lsh(big.NewInt(1), uint(width)).Sub(x, big.NewInt(1))
			case 1:
				x.SetInt64(1)
			default:
				for range width/64 + 1 {
					x.Lsh(x, 64).Or(x, new(big.Int).SetUint64(rng.Uint64()))
				}
				x.Rsh(x, uint(x.BitLen()-min(x.BitLen(), 1+rng.IntN(width))))
			}
			if trial%2 == 1 {
				x.Neg(x)
			}
			var v numbers.Number
			v.SetBig(new(big.Float).SetInt(x))
			planes := make([]uint32, n*laneMultiple)
			c.convert(planes, laneMultiple, 0, numbers.Bigs([]*big.Float{new(big.Float).SetInt(x)}), 0, 1, 1, []int{0}, 0)
			m := new(big.Int)
			for k := range n {
				m.SetUint64(uint64(b.modulus[k]))
				if want := uint32(new(big.Int).Mod(x, m).Uint64()); planes[k*laneMultiple] != want {
					t.Fatalf("n = %d: %v mod %d = %d, want %d", n, x, b.modulus[k], planes[k*laneMultiple], want)
				}
			}
			got := new(big.Int)
			r.coefficients(b, planes, laneMultiple, 0, 1)
			r.integer(got, b, 0)
			if got.Cmp(x) != 0 {
				t.Fatalf("n = %d: %v came back as %v", n, x, got)
			}
			r = reconstructor{}
		}
	}
}

func TestTooManyModuli(t *testing.T) {
	x := []*big.Float{big.NewFloat(1), new(big.Float).SetMantExp(big.NewFloat(1), -100_000),
		new(big.Float).SetPrec(100).SetMantExp(big.NewFloat(3), 7)}
	extent, err := Measure(numbers.Bigs(x), numbers.Strided(3, 1))
	if err != nil {
		t.Fatal(err)
	}
	_, err = NewPlan(numbers.Bigs(x), numbers.RowMajor(1, 3, 3), NoTrans, extent, Options{MaxModuli: 2})
	var many *TooManyModuliError
	if !errors.As(err, &many) || many.Limit != 2 || many.Need != ModuliFor(2*extent.Bits()+2) ||
		!strings.Contains(err.Error(), "the limit is 2") {
		t.Fatalf("error %v", err)
	}
	if _, err := NewPlan(numbers.Bigs(x), numbers.RowMajor(2, 2, 2), NoTrans, extent, Options{}); err == nil {
		t.Fatal("a layout beyond the numbers is accepted")
	}
}
