package datasets

import "math"

// This file computes exp, log, sin and cos in double-double arithmetic, rounded once to binary64. The results are
// correctly rounded but for arguments whose true value lies within about 2^-40 of a unit in the last place from the
// middle of two numbers. What the data sets rest on is weaker and holds always: only IEEE operations that no platform
// may change are used (additions, FMA, products and quotients that are rounded explicitly), so the bits are the same
// everywhere. Package math promises neither.

// dd is an unevaluated sum hi + lo with |lo| <= ulp(hi)/2.
type dd struct{ hi, lo float64 }

// twoSum returns a + b exactly.
func twoSum(a, b float64) dd {
	s := a + b
	z := s - a
	return dd{s, (a - (s - z)) + (b - z)}
}

// fastTwoSum returns a + b exactly for |a| >= |b| or a = 0.
func fastTwoSum(a, b float64) dd {
	s := a + b
	return dd{s, b - (s - a)}
}

// twoProd returns a * b exactly unless it underflows.
func twoProd(a, b float64) dd {
	p := float64(a * b)
	return dd{p, math.FMA(a, b, -p)}
}

// add returns x + y with relative error below 4*2^-106 (Joldes, Muller and Popescu, doi:10.1145/3121432, algorithm 6).
func (x dd) add(y dd) dd {
	s, t := twoSum(x.hi, y.hi), twoSum(x.lo, y.lo)
	v := fastTwoSum(s.hi, s.lo+t.hi)
	return fastTwoSum(v.hi, t.lo+v.lo)
}

// mul returns x * y with relative error below 7*2^-106 (the same, algorithm 11).
func (x dd) mul(y dd) dd {
	p := twoProd(x.hi, y.hi)
	cross := float64(x.hi*y.lo) + float64(x.lo*y.hi)
	return fastTwoSum(p.hi, p.lo+cross)
}

// div returns x / y with relative error of the order of 2^-104: two steps of long division.
func (x dd) div(y dd) dd {
	q1 := x.hi / y.hi
	r := x.add(y.mul(dd{-q1, 0}))
	q2 := r.hi / y.hi
	r = r.add(y.mul(dd{-q2, 0}))
	q := fastTwoSum(q1, q2)
	return q.add(dd{r.hi / y.hi, 0})
}

// scale returns x * 2^k for a k that neither overflows nor underflows.
func (x dd) scale(p float64) dd { return dd{float64(x.hi * p), float64(x.lo * p)} }

// Constants to 159 and 106 bits.
var (
	ln2 = [3]float64{0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56, 0x1.7b57a079a1934p-111}
	pi2 = dd{0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54} // pi/2
)

// factorials holds 1/i!, odds holds 1/(2i+1).
var factorials, odds = func() (f, o [31]dd) {
	f[0] = dd{1, 0}
	for i := 1; i < len(f); i++ {
		f[i] = f[i-1].div(dd{float64(i), 0})
	}
	for i := range o {
		o[i] = dd{1, 0}.div(dd{float64(2*i + 1), 0})
	}
	return f, o
}()

// exp returns e^x for -708 <= x <= 709.78.
//
// x = k ln 2 + 256 r with |r| < 0.0014; e^r - 1 by its Taylor series to r^10 (the next term is below 2^-129), then
// eight times p -> 2p + p^2, which is e^(2r) - 1.
func exp(x float64) float64 {
	k := math.RoundToEven(float64(x * (1 / math.Ln2)))
	r := dd{x, 0}
	for _, part := range ln2 {
		r = r.add(twoProd(-k, part))
	}
	r = r.scale(0x1p-8)
	p := factorials[10]
	for i := 9; i >= 1; i-- {
		p = p.mul(r).add(factorials[i])
	}
	p = p.mul(r)
	for range 8 {
		p = p.scale(2).add(p.mul(p))
	}
	return math.Ldexp(p.add(dd{1, 0}).hi, int(k))
}

// log returns the natural logarithm of a normal x > 0.
//
// x = m * 2^k with m in [sqrt(1/2), sqrt(2)); log m = 2 artanh s, s = (m-1)/(m+1), |s| < 0.172, by the series to s^51
// (the next term is below 2^-139). There is no cancellation near x = 1, where k = 0.
func log(x float64) float64 { return logDD(x).hi }

func logDD(x float64) dd {
	m, k := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m *= 2
		k--
	}
	s := dd{m - 1, 0}.div(twoSum(m, 1))
	s2 := s.mul(s)
	sum := odds[25]
	for i := 24; i >= 0; i-- {
		sum = sum.mul(s2).add(odds[i])
	}
	sum = sum.mul(s).scale(2)
	for _, part := range ln2 {
		sum = sum.add(twoProd(float64(k), part))
	}
	return sum
}

// sin2pi returns sin(2 pi j/n), cos2pi returns cos(2 pi j/n), for 0 <= j <= n and 0 < n <= 2^53.
func sin2pi(j, n int64) float64 { return quadrantSin(4*j/n, 4*j%n, n) }
func cos2pi(j, n int64) float64 { return quadrantSin(4*j/n+1, 4*j%n, n) }

// quadrantSin returns sin(pi/2 * (quadrant + rest/n)) for 0 <= rest < n.
func quadrantSin(quadrant, rest, n int64) float64 {
	if quadrant%2 == 1 {
		rest = n - rest
	}
	if quadrant%4 >= 2 {
		return -quarterSin(rest, n)
	}
	return quarterSin(rest, n)
}

// quarterSin returns sin(pi/2 * j/n) for 0 <= j <= n: by the sine's Taylor series up to pi/4, by the cosine's of the
// complement above (the first omitted terms are below 2^-120).
func quarterSin(j, n int64) float64 {
	even := 2*j > n
	if even {
		j = n - j
	}
	x := dd{float64(j), 0}.div(dd{float64(n), 0}).mul(pi2)
	minusX2 := x.mul(x).scale(-1)
	last := 29
	if even {
		last = 28
	}
	sum := factorials[last]
	for i := last - 2; i >= 0; i -= 2 {
		sum = sum.mul(minusX2).add(factorials[i])
	}
	if !even {
		sum = sum.mul(x)
	}
	return sum.hi
}
