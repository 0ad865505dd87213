package exact

import (
	"math"
	"math/big"
	"slices"
)

// Short is the sum of a few products of binary64 numbers over a common divisor, kept as binary64 numbers that add up
// to it exactly. What it says is proved by error-free transformations, for a small part of what rationals cost; where
// they do not suffice it is not OK, or its bounds are apart. The zero value is not ready: Reset it.
//
// Source: D. E. Knuth, "The Art of Computer Programming", vol. 2, 4.2.2, theorem B; T. J. Dekker, "A floating-point
// technique for extending the available precision", Numer. Math. 18 (1971).
type Short struct {
	parts     [shortParts]float64
	n         int
	starts    uint64  // bit i: part i begins a term
	magnitude float64 // the sum of the magnitudes of the terms, each and their sum rounded
	divisor   float64 // at least 1
	negative  bool    // a term is
	positive  bool
	failed    bool

	led        bool // a, b and rest are those of leading
	a, b, rest float64
}

// shortParts is how many parts there are at most: a product with a factor has four.
const shortParts = 64

// Between these magnitudes products, and the products of their rounding errors with another factor, are exact sums of
// two numbers: units in the last place stay above 2^-1074, sums of parts below 2^1024.
const leastShort, mostShort = 0x1p-700, 0x1p900

// Reset makes it a sum of no terms over a divisor >= 1.
func (s *Short) Reset(divisor float64) {
	s.n, s.starts, s.magnitude, s.divisor = 0, 0, 0, divisor
	s.negative, s.positive, s.failed, s.led = false, false, divisor > mostShort, false
}

// SetDifference makes it t minus the sum of the parts of a number.
func (s *Short) SetDifference(t *Short, parts ...float64) {
	s.Reset(t.divisor)
	s.n, s.magnitude, s.failed = t.n, t.magnitude, t.failed
	s.negative, s.positive = t.negative, t.positive
	copy(s.parts[:], t.parts[:t.n])
	for _, x := range parts {
		s.Add(-t.divisor, x)
	}
	if len(parts) > 1 && !s.failed {
		s.distill()
	}
}

// distilled is how often distill adds at most: each time what has cancelled moves some 50 bits up.
const distilled = 12

// distill replaces the parts by others with the same sum, until the last one is most of it: T. Ogita, S. M. Rump,
// S. Oishi, "Accurate sum and dot product", SIAM J. Sci. Comput. 26 (2005), algorithm 4.3 (VecSum), K times.
func (s *Short) distill() {
	for range distilled {
		n, rest, sum := 0, 0.0, 0.0
		for _, x := range s.parts[:s.n] {
			var e float64
			if sum, e = twoSum(sum, x); e != 0 {
				s.parts[n] = e
				n++
				rest += math.Abs(e)
			}
		}
		if sum != 0 {
			s.parts[n] = sum
			n++
		}
		if s.n = n; rest <= 0x1p-10*math.Abs(sum) {
			return
		}
	}
}

// OK tells whether all terms could be added.
func (s *Short) OK() bool { return !s.failed }

// Fail gives up.
func (s *Short) Fail() { s.failed = true }

// Add adds factor*x, divided by the divisor, for a finite factor.
func (s *Short) Add(factor, x float64) {
	if factor == 1 && math.Abs(x) <= mostShort {
		s.note(x)
		s.push(x)
		return
	}
	if h, l, ok := s.product(factor, x); ok {
		s.note(h)
		s.push(h)
		s.push(l)
	}
}

// AddProduct adds factor*x*y, divided by the divisor, for a finite factor.
func (s *Short) AddProduct(factor, x, y float64) {
	h, l, ok := s.product(x, y)
	if !ok {
		return
	}
	if factor == 1 {
		s.note(h)
		s.push(h)
		s.push(l)
		return
	}
	if a, b, ok := s.product(factor, h); ok {
		c := factor * l
		s.note(a)
		s.push(a)
		s.push(b)
		s.push(c)
		s.push(math.FMA(factor, l, -c))
	}
}

// product returns x*y as h + l; not ok where there is nothing to add.
func (s *Short) product(x, y float64) (h, l float64, ok bool) {
	h = x * y
	if a := math.Abs(h); a >= leastShort && a <= mostShort {
		return h, math.FMA(x, y, -h), true
	}
	if !(x == 0 && y-y == 0 || y == 0 && x-x == 0) {
		s.failed = true
	}
	return 0, 0, false
}

// note takes note of a term that rounds to h.
func (s *Short) note(h float64) {
	s.starts |= 1 << s.n
	s.magnitude += math.Abs(h)
	s.negative = s.negative || h < 0
	s.positive = s.positive || h > 0
}

func (s *Short) push(x float64) {
	if s.n == len(s.parts) {
		s.failed = true
	} else if x != 0 {
		s.parts[s.n] = x
		s.n++
		s.led = false
	}
}

// OneSign tells whether no two terms have different signs: the condition number of their sum is 1.
func (s *Short) OneSign() bool { return !s.negative || !s.positive }

// twoSum returns a + b rounded, and the error.
func twoSum(a, b float64) (sum, err float64) {
	sum = a + b
	c := sum - a
	return sum, (a - (sum - c)) + (b - c)
}

// leading returns the sum of the parts as a + b, where a is a + b rounded, and how far that is off at most.
func (s *Short) leading() (a, b, rest float64) {
	if s.led {
		return s.a, s.b, s.rest
	}
	for _, x := range s.parts[:s.n] {
		var e1, e2 float64
		a, e1 = twoSum(a, x)
		b, e2 = twoSum(b, e1)
		rest += math.Abs(e2)
	}
	a, b = twoSum(a, b)
	s.led, s.a, s.b, s.rest = true, a, b, rest*(1+0x1p-40)
	return s.a, s.b, s.rest
}

// Bounds returns numbers that the magnitude is between; they are the same only where it is that number. low is 0 where
// nothing else is known.
func (s *Short) Bounds() (low, high float64) {
	a, b, rest := s.leading()
	a = math.Abs(a)
	q := a / s.divisor
	if b == 0 && rest == 0 && math.FMA(q, s.divisor, -a) == 0 && (q == 0 || q >= leastShort) {
		return q, q
	}
	low = (a*(1-0x1p-51) - rest) / s.divisor * (1 - 0x1p-51)
	high = (a*(1+0x1p-51) + rest) / s.divisor * (1 + 0x1p-51)
	if !(low >= leastShort) {
		low = 0
	}
	return low, max(high, 0x1p-1000)
}

// Equal tells whether s and t have the same terms, in the same order.
func (s *Short) Equal(t *Short) bool {
	return s.divisor == t.divisor && s.starts == t.starts &&
		slices.Equal(s.parts[:s.n], t.parts[:t.n])
}

// RoundsTo tells whether x is the sum rounded to nearest, where that is known. Gap is scratch.
func (s *Short) RoundsTo(x float64, gap *Short) (rounded, known bool) {
	gap.SetDifference(s, x)
	half := math.Ldexp(1, math.Ilogb(x)-53) // of a unit in the last place; below a power of two of two units
	low, high := gap.Bounds()
	switch {
	case gap.failed || !(math.Abs(x) >= leastShort && math.Abs(x) <= mostShort):
		return false, false
	case high < half/2, high < half && math.Float64bits(x)&(hiddenBit-1) != 0:
		return true, true
	}
	return false, low > half
}

// Float64 returns the sum rounded to nearest, where that is known. Gap is scratch.
func (s *Short) Float64(gap *Short) (x float64, known bool) {
	a, _, _ := s.leading()
	x = a / s.divisor
	rounded, known := s.RoundsTo(x, gap)
	return x, known && rounded
}

// bigBits is how many bits the sums of Big have at most: enough for products of numbers of like size.
const bigBits = 1 << 10

// Big returns the sum, exactly; nil where it takes more than bigBits bits, or the divisor is not 1.
func (s *Short) Big() *big.Float {
	if s.failed || s.divisor != 1 {
		return nil
	}
	sum, next, x := new(big.Float).SetPrec(bigBits), new(big.Float).SetPrec(bigBits), new(big.Float)
	for _, part := range s.parts[:s.n] {
		if next.Add(sum, x.SetFloat64(part)).Acc() != big.Exact {
			return nil
		}
		sum, next = next, sum
	}
	return sum
}

// MagnitudesAbove returns an upper bound on the sum of the magnitudes of the terms. Terms and their sums are rounded,
// once each, and none underflows unless it is exact.
func (s *Short) MagnitudesAbove() float64 {
	return s.magnitude / s.divisor * (1 + 0x1p-40)
}

// MagnitudesBelow returns a lower bound on that sum.
func (s *Short) MagnitudesBelow() float64 {
	return s.magnitude / s.divisor * (1 - 0x1p-40)
}

// AddMagnitudesTo adds the magnitudes of the terms, times the divisor, to a sum.
func (s *Short) AddMagnitudesTo(sum *Sum) {
	sign := 1.0
	for i, x := range s.parts[:s.n] {
		if s.starts>>i&1 != 0 {
			sign = math.Copysign(1, x)
		}
		sum.Add(sign * x)
	}
}

// Sign returns the sign, and whether it is known.
func (s *Short) Sign() (sign int, ok bool) {
	a, b, rest := s.leading()
	switch {
	case math.Abs(a) > 2*rest+math.Abs(b) && a > 0:
		return 1, true
	case math.Abs(a) > 2*rest+math.Abs(b):
		return -1, true
	}
	return 0, a == 0 && rest == 0
}

// AddTo adds the magnitude, times the divisor, to a sum. The sign must be known.
func (s *Short) AddTo(sum *Sum) {
	sign, _ := s.Sign()
	f := float64(sign)
	if a, b, rest := s.leading(); rest == 0 {
		sum.AddSlice([]float64{f * a, f * b})
		return
	}
	for _, x := range s.parts[:s.n] {
		sum.Add(f * x)
	}
}
