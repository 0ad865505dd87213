package reduce

import (
	"math"
	"math/bits"

	"mpbench/pkg/bound"
	"mpbench/pkg/format"
	"mpbench/pkg/method"
	"mpbench/pkg/op"
	"mpbench/pkg/superacc"
)

// residual is a vector whose exact sum is still to be rounded.
type residual []float64

// next returns a faithful rounding of the sum, the sum itself if that is a binary64 number and otherwise one of the
// two around it, and subtracts it from the vector: AccSum of Rump, Ogita and Oishi.
//
// With 2^M >= n + 2, sigma is a power of two from 2^M max|p_i| on. Then
//
//	q_i = (sigma + p_i) - sigma;  p_i = p_i - q_i;  tau = sum q_i
//
// are exact, and the p_i that are left are below sigma*u. This is done again with sigma = 2^M u sigma until the sum t
// of the taus is at least 2^(2M+1) u sigma, or sigma is in the range where nothing rounds; the result is t + (t' +
// sum p_i), where t' is the error of the last addition to t.
//
// Source: S. M. Rump, T. Ogita, S. Oishi, "Accurate floating-point summation part I: faithful rounding", SIAM J. Sci.
// Comput. 31 (2008) 189-224, DOI 10.1137/050645671, algorithm 4.5, for n <= 2^26 - 2.
func (p *residual) next() float64 {
	t, sigma := 0.0, 0.0
	scale := math.Ldexp(1, bits.Len(uint(len(*p)+1))) // 2^M
	for {
		if t == 0 {
			largest := p.largest()
			if largest == 0 {
				*p = (*p)[:0]
				return 0
			}
			sigma = scale * above(largest)
		}
		tau := p.extract(sigma)
		before := t
		t += tau
		if math.Abs(t) >= 2*scale*scale*unit*sigma || sigma <= 0x1p-1022 {
			error := tau - (t - before)
			result := t + (error + p.sum())
			high, low := superacc.TwoSum(t, -result)
			*p = append(*p, high, low, error)
			return result
		}
		sigma *= scale * unit
	}
}

const unit = 0x1p-53

// above returns the least power of two that is at least x > 0.
func above(x float64) float64 {
	fraction, exponent := math.Frexp(x)
	if fraction == 0.5 {
		return x
	}
	return math.Ldexp(1, exponent)
}

// extract leaves what is below sigma*u of each number, without zeros, and returns the sum of the rest.
func (p *residual) extract(sigma float64) (tau float64) {
	n := 0
	for _, v := range *p {
		q := (sigma + v) - sigma
		tau += q
		if v -= q; v != 0 {
			(*p)[n] = v
			n++
		}
	}
	*p = (*p)[:n]
	return tau
}

func (p residual) largest() (largest float64) {
	for _, v := range p {
		largest = max(largest, math.Abs(v))
	}
	return largest
}

func (p residual) sum() (sum float64) {
	for _, v := range p {
		sum += v
	}
	return sum
}

// residualOf returns a copy of x, or nil if numbers are infinite or NaN, too many, or so large that sigma might
// overflow.
func residualOf(x []float64) residual {
	const most = 1<<26 - 2 - 9 // a residual grows by three in each of at most three rounds
	if len(x) > most || residual(x).largest() > 0x1p995 {
		return nil
	}
	p := make(residual, 0, len(x)+9)
	for _, v := range x {
		if v-v != 0 {
			return nil
		}
		p = append(p, v)
	}
	return p
}

// accSum returns a faithful rounding of the sum; a correct one where residualOf has nothing.
func accSum(x []float64) float64 {
	p := residualOf(x)
	if p == nil {
		return superacc.Sum(x, 1)
	}
	return p.next()
}

// nearSum returns the correctly rounded sum: f is a faithful rounding, d one of what it lacks, g the next number
// beside f on the side of d. What decides is |d| against half of g - f, which is a number: a faithful rounding is
// never on the other side of one; and if they are equal, the sign of what d lacks.
//
// Source: S. M. Rump, T. Ogita, S. Oishi, "Accurate floating-point summation part II: sign, K-fold faithful and
// rounding to nearest", SIAM J. Sci. Comput. 31 (2008) 1269-1302, DOI 10.1137/07068816X, section 7.
func nearSum(x []float64) float64 {
	p := residualOf(x)
	if p == nil {
		return superacc.Sum(x, 1)
	}
	f := p.next()
	d := p.next()
	if d == 0 {
		return f
	}
	g := math.Nextafter(f, math.Inf(int(math.Copysign(1, d))))
	half := math.Abs(g-f) / 2
	switch {
	case math.Abs(d) < half:
		return f
	case math.Abs(d) > half:
		return g
	}
	switch rest := p.next(); {
	case rest == 0 && math.Float64bits(f)%2 == 1, rest > 0 && d > 0, rest < 0 && d < 0:
		return g
	}
	return f
}

// dotBy makes a dot product of a sum: of the rounded products and their errors. Where a product is not the sum of
// these, the exact dot product is rounded.
func dotBy(sum func(x []float64) float64) func(x, y []float64) float64 {
	return func(x, y []float64) float64 {
		parts := make([]float64, 0, 2*len(x))
		for i, v := range x {
			p, e := superacc.TwoProduct(v, y[i])
			if a := math.Abs(p); (a < 0x1p-968 && v != 0 && y[i] != 0) || a > math.MaxFloat64 || p != p {
				return superacc.Dot(x, y, 1)
			}
			parts = append(parts, p, e)
		}
		return sum(parts)
	}
}

const (
	rumpFaithful = "Rump, Ogita, Oishi, SIAM J. Sci. Comput. 31 (2008) 189-224, DOI 10.1137/050645671"
	rumpNearest  = "Rump, Ogita, Oishi, SIAM J. Sci. Comput. 31 (2008) 1269-1302, DOI 10.1137/07068816X"
)

// roundedMethods returns a sum, and the dot product made of it, that have so many units of relative error.
func roundedMethods(name, summary, units, remark, source string, sum func(x []float64) float64) []method.Method {
	return []method.Method{
		format.Binary64.Method(method.Method{
			Operation: op.Sum, Name: name, Summary: "sum, " + summary, Extra: true,
			Bound: bound.New(units+"*|sum|, u = 2^-53: "+remark, source),
		}, format.Loops[[]float64, float64]{Sum: sum}),
		format.Binary64.Method(method.Method{
			Operation: op.Dot, Name: name, Summary: "dot product, " + summary, Extra: true,
			Bound: bound.New(units+"*|x'y| + 2^-1074, u = 2^-53: "+remark, source),
		}, format.Loops[[]float64, float64]{Dot: dotBy(sum)}),
	}
}

func accSumMethods() []method.Method {
	return append(
		roundedMethods("accsum", "faithfully rounded, by extraction (AccSum)", "2u", "faithful", rumpFaithful, accSum),
		roundedMethods("nearsum", "correctly rounded, by extraction (NearSum)", "u", "correctly rounded", rumpNearest,
			nearSum)...)
}
