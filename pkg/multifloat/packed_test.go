package multifloat

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"mpbench/pkg/exact"
	"mpbench/pkg/numbers"
)

// packings are the formats whose numbers are packed.
func packings() (list []Format) {
	for _, f := range Formats() {
		if f.Packing != nil {
			list = append(list, f)
		}
	}
	return list
}

// doubleDouble returns a double-double with a high part of that magnitude; in one of four its lower part is next to
// the most that it may be.
func doubleDouble(r *rand.Rand, exponent int) (high, low float64) {
	high = math.Ldexp(1+r.Float64(), exponent)
	low = math.Ldexp(2*r.Float64()-1, exponent-53)
	if r.IntN(4) == 0 {
		low = math.Copysign(math.Ldexp(1-math.Ldexp(float64(r.IntN(5)), -30), exponent-53), low)
	}
	if r.IntN(2) == 0 {
		high = -high
	}
	sum := high + low
	return sum, low - (sum - high)
}

// TestPacked: packing rounds within the stated error, or within half of the least number, and keeps what it rounded.
func TestPacked(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 3))
	for _, f := range packings() {
		p, worst := f.Packing, 0.0
		for range 100000 {
			exponent := r.IntN(p.most+p.least) - p.least
			high, low := doubleDouble(r, exponent)
			x := Number[float64]{high, low}.Value()
			h, bits := p.pack(high, low)
			kept := Number[float64]{h, p.expand(bits)}
			if h+kept[1] != h {
				t.Fatalf("%s: %g + %g is no double-double", f.Method, h, kept[1])
			}
			if again, same := p.pack(h, kept[1]); again != h || same != bits {
				t.Fatalf("%s: %g + %g is packed as %g and %x, not %x", f.Method, h, kept[1], again, same, bits)
			}
			e := exact.Measure(kept.Value(), x)
			limit := new(big.Rat).Mul(p.error(), new(big.Rat).Abs(x.Number()))
			if p.loses(low) {
				limit.Add(limit, exact.PowerOfTwo(-p.least))
			} else {
				worst = max(worst, e.Rel.Float64())
			}
			if !e.Within(limit) {
				t.Fatalf("%s: %g + %g becomes %g + %g, an error of %v", f.Method, high, low, h, kept[1], e.Rel)
			}
		}
		if stated, _ := p.error().Float64(); worst < stated/2 {
			t.Errorf("%s: the greatest relative error is %g, %g is stated", f.Method, worst, stated)
		}
	}
}

// TestPackedLoops: loops on packed vectors are those on the double-doubles that they hold, and round the results.
func TestPackedLoops(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 3))
	for _, f := range packings() {
		a := newArithmetic[float64](f.Scheme)
		for _, n := range []int{1, 31, 32, 33, 4*lanes + 3, segment + 17} {
			var whole, packed [3]Vector[float64]
			for i := range whole {
				whole[i], packed[i] = MakeVector[float64](n, 2), MakePacked[float64](n, 2, f.Packing)
				for j := range n {
					high, low := doubleDouble(r, r.IntN(20))
					packed[i].Set(j, Number[float64]{high, low})
					whole[i].Set(j, packed[i].Get(j))
				}
			}
			check := func(what string, want, got Vector[float64]) {
				t.Helper()
				rounded := MakePacked[float64](1, 2, f.Packing)
				for j := range want.Len {
					if rounded.Set(0, want.Get(j)); got.Get(j) != rounded.Get(0) {
						t.Fatalf("%s, %s of %d: %v, want %v", f.Method, what, n, got.Get(j), rounded.Get(0))
					}
				}
			}
			if got, want := a.Sum(packed[0]), a.Sum(whole[0]); got != want {
				t.Fatalf("%s: the sum of %d is %v, want %v", f.Method, n, got, want)
			}
			if got, want := a.Dot(packed[0], packed[1]), a.Dot(whole[0], whole[1]); got != want {
				t.Fatalf("%s: the dot product of %d is %v, want %v", f.Method, n, got, want)
			}
			c := whole[2].Get(0)
			a.Axpy(whole[2], c, whole[0], whole[1])
			a.Axpy(packed[2], c, packed[0], packed[1])
			check("axpy", whole[2], packed[2])
			a.Scal(whole[2], c, whole[0])
			a.Scal(packed[2], c, packed[0])
			check("scal", whole[2], packed[2])
		}
	}
}

// TestPackedRange: a number whose lower part has no binary32 is named; one without a lower part is not.
func TestPackedRange(t *testing.T) {
	wide := new(big.Float).SetMantExp(big.NewFloat(1), 200).SetPrec(120)
	wide.Add(wide, big.NewFloat(0x1p147))
	a := numbers.Vector(numbers.Bigs{big.NewFloat(3), big.NewFloat(0x1p900), wide})
	for _, f := range packings() {
		err := f.Packing.check(a)
		if !f.Packing.single {
			if err != nil {
				t.Errorf("%s: %v", f.Method, err)
			}
			continue
		}
		want := "[2] is 1.6069e+60"
		if f.Packing.lost > 0 {
			want = "[1] is 8.4527e+270"
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", f.Method, err)
		}
	}
}
