package datasets

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

const testBits = 300

func bigFloat(x float64) *big.Float { return new(big.Float).SetPrec(testBits).SetFloat64(x) }

// bigExp returns e^x at 300 bits: 64 halvings, 40 Taylor terms, 64 squarings (which cost 64 bits).
func bigExp(x *big.Float) *big.Float {
	r := new(big.Float).SetMantExp(x, -64)
	sum, term := bigFloat(1), bigFloat(1)
	for i := 1; i <= 40; i++ {
		term.Mul(term, r)
		term.Quo(term, bigFloat(float64(i)))
		sum.Add(sum, term)
	}
	for range 64 {
		sum.Mul(sum, sum)
	}
	return sum
}

// bigSin returns sin x for |x| < 7 by its Taylor series.
func bigSin(x *big.Float) *big.Float {
	sum, term := new(big.Float).SetPrec(testBits).Set(x), new(big.Float).SetPrec(testBits).Set(x)
	x2 := new(big.Float).Mul(x, x)
	for i := 2; i <= 120; i += 2 {
		term.Mul(term, x2)
		term.Quo(term, bigFloat(float64(-i*(i+1))))
		sum.Add(sum, term)
	}
	return sum
}

func mustBig(text string) *big.Float {
	f, _, err := big.ParseFloat(text, 10, testBits, big.ToNearestEven)
	if err != nil {
		panic(err)
	}
	return f
}

var bigPi = mustBig("3.141592653589793238462643383279502884197169399375105820974944592307816406286208" +
	"99862803482534211706798")

func TestExp(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 3000 {
		x := rng.Float64()*1417 - 708
		want, _ := bigExp(bigFloat(x)).Float64()
		if got := exp(x); got != want {
			t.Fatalf("exp(%x) = %x, want %x", x, got, want)
		}
	}
	if exp(0) != 1 {
		t.Errorf("exp(0) = %g", exp(0))
	}
}

// TestLog checks that exp of the result, at 300 bits, brackets x: for the correctly rounded y, x lies between
// e^(y - ulp/2) and e^(y + ulp/2).
func TestLog(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for i := range 3000 {
		x := math.Ldexp(1+rng.Float64(), rng.IntN(2000)-1000)
		if i%2 == 0 {
			x = 1 + (rng.Float64()-0.5)*math.Ldexp(1, -rng.IntN(50))
		}
		y := log(x)
		if x == 1 {
			if y != 0 {
				t.Fatalf("log(1) = %g", y)
			}
			continue
		}
		half := math.Abs(math.Nextafter(y, 0)-y) / 2
		if y == math.Ldexp(math.Round(math.Ldexp(y, 53)), -53) &&
			math.Abs(y) == math.Exp2(math.Round(math.Log2(math.Abs(y)))) {
			half *= 2 // the spacing changes at a power of two
		}
		low := bigExp(new(big.Float).Sub(bigFloat(y), bigFloat(half)))
		high := bigExp(new(big.Float).Add(bigFloat(y), bigFloat(half)))
		if v := bigFloat(x); v.Cmp(low) < 0 || v.Cmp(high) > 0 {
			t.Fatalf("log(%x) = %x is not correctly rounded", x, y)
		}
	}
}

func TestSinCos(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for range 2000 {
		n := int64(1 + rng.Uint64N(1<<53))
		if rng.IntN(2) == 0 {
			n = 1 + rng.Int64N(5000)
		}
		j := rng.Int64N(n)
		angle := func(j, n *big.Float) *big.Float {
			x := new(big.Float).Quo(j, n)
			x.Mul(x, bigPi)
			return x.Mul(x, bigFloat(2))
		}
		bj, bn := new(big.Float).SetPrec(testBits).SetInt64(j), new(big.Float).SetPrec(testBits).SetInt64(n)
		x := angle(bj, bn)
		want, _ := bigSin(x).Float64()
		if 2*j%n == 0 {
			want = 0
		}
		if got := sin2pi(j, n); got != want {
			t.Fatalf("sin(2 pi %d/%d) = %x, want %x", j, n, got, want)
		}
		quarter := new(big.Float).Quo(bigPi, bigFloat(2))
		want, _ = bigSin(new(big.Float).Sub(quarter, x)).Float64()
		if 4*j%n == 0 {
			want = math.Round(want)
		}
		if got := cos2pi(j, n); got != want {
			t.Fatalf("cos(2 pi %d/%d) = %x, want %x", j, n, got, want)
		}
	}
	for _, n := range []int64{4, 8, 400, 1 << 53} {
		if sin2pi(n/4, n) != 1 || sin2pi(3*n/4, n) != -1 || cos2pi(0, n) != 1 || cos2pi(n/2, n) != -1 {
			t.Errorf("n = %d: the quarters are wrong", n)
		}
	}
}

// TestConstants checks the tables against their definitions.
func TestConstants(t *testing.T) {
	sum := new(big.Float).SetPrec(testBits)
	for _, part := range ln2 {
		sum.Add(sum, bigFloat(part))
	}
	ratio, _ := new(big.Float).Quo(bigExp(sum), bigFloat(2)).Float64()
	off := new(big.Float).Sub(bigExp(sum), bigFloat(2))
	if limit := bigFloat(0x1p-158); off.Abs(off).Cmp(limit) > 0 {
		t.Errorf("exp(ln2) = 2 * %g, off by %g", ratio, off)
	}
	pi := new(big.Float).Add(bigFloat(pi2.hi), bigFloat(pi2.lo))
	pi.Sub(pi.Mul(pi, bigFloat(2)), bigPi)
	if pi.Abs(pi).Cmp(bigFloat(0x1p-105)) > 0 {
		t.Errorf("pi/2 is off by %g", pi)
	}
	for i := range factorials {
		f := new(big.Int).MulRange(1, int64(i))
		checkInverse(t, factorials[i], new(big.Float).SetPrec(testBits).SetInt(f))
		checkInverse(t, odds[i], bigFloat(float64(2*i+1)))
	}
}

// checkInverse checks that x is 1/of to 100 bits.
func checkInverse(t *testing.T, x dd, of *big.Float) {
	t.Helper()
	p := new(big.Float).Add(bigFloat(x.hi), bigFloat(x.lo))
	p.Mul(p, of)
	p.Sub(p, bigFloat(1))
	if p.Abs(p).Cmp(bigFloat(0x1p-100)) > 0 {
		t.Errorf("1/%g: relative error %g", of, p)
	}
}
