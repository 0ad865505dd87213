package datasets

import (
	"math"
	"math/big"

	"mpbench/pkg/exact"
)

// genSumSets is the generator of sums with a prescribed condition number.
func genSumSets() []*Set {
	return []*Set{{
		Name: "gensum",
		Summary: "random terms with condition number sum|x| / |sum x| near cond (within a factor 10, mostly 2): the exact " +
			"products of a GenDot vector pair, the last one chosen for the condition number; an odd n adds one term 0",
		Source: "Ogita, Rump and Oishi, SIAM J. Sci. Comput. 26(6), 2005, algorithm 6.1, doi:10.1137/030601818",
		Params: []Param{{
			Name: "cond", Meaning: "condition number of the sum", Default: "1e+16", Kind: Real, Min: 1, Max: 1e300,
		}},
		DefaultN: 1000, MinN: 8, Seeded: true, make: genSum,
	}}
}

const (
	genSumTries = 24
	genSumGood  = 3  // a condition number within this factor of the target ends the search
	genSumFair  = 10 // the best of all tries must be within this one
	genSumMax   = 1e300
)

func genSum(j *job) error {
	target := j.real("cond")
	try := make([]float64, j.n)
	nearest, ok := j.search(target, func(r *source, c float64) exact.Value {
		genDotTerms(try[:j.n/2*2], c, target, r)
		clear(try[j.n/2*2:])
		r.shuffle(try)
		return exact.SumOf(try).Condition()
	}, func() { copy(j.terms, try) })
	if !ok {
		return usagef("cond=%g was not reached with %d terms (nearest: %s); take more terms",
			target, j.n, nearest.Text(2))
	}
	j.notes = append(j.notes, conditionNote(j.terms))
	return nil
}

// search calls draw, which makes GenDot vectors and returns their condition number, until that is within a factor 3 of
// the target, moving GenDot's own parameter c by factors of two; keep is called for each try that is nearer than those
// before. The first try is nearly always good; only sets of a few terms need more. ok is false if the nearest
// condition number, which is returned, is not near enough.
func (j *job) search(
	target float64, draw func(r *source, c float64) exact.Value, keep func(),
) (nearest exact.Value, ok bool) {
	c, best := target, math.Inf(1)
	for t := range uint64(genSumTries) {
		cond := draw(j.random(t), c)
		off, low := distance(cond.Float64(), target)
		if off < best {
			best, nearest = off, cond
			keep()
		}
		if best <= genSumGood {
			break
		}
		if low {
			c = min(2*c, genSumMax)
		} else {
			c = max(1, c/2)
		}
	}
	return nearest, best <= genSumFair
}

// distance returns by which factor x and target differ, at least 1, and whether x is the lesser.
func distance(x, target float64) (factor float64, low bool) {
	if x < target {
		return target / x, true
	}
	return x / target, false
}

// genDotTerms writes the 2m halves of the m exact products x_i*y_i of GenDot(m, 2c) to terms; their exact sum is that
// of the products, c that of genDot. len(terms) = 2m >= 8, 1 <= c <= 1e300.
//
// The first half of the pairs has random exponents up to b = log2(2c)/2. In the second half x_i has an exponent e that
// falls from b to 0 and y_i = fl(fl(v - s)/x_i), where s is the exact sum of the products so far and v = (2U-1)*2^e,
// so that the sum shrinks from about c to v. The published algorithm ends with |v| < 1, and hence with a condition
// number of at least about m however small c is, and far larger when U happens to be near 1/2. Here the last v is the
// sum of magnitudes divided by cond, where that is above 1.
func genDotTerms(terms []float64, c, cond float64, r *source) {
	genDot(len(terms)/2, c, cond, r, func(i int, _, _ float64, p dd) {
		terms[2*i], terms[2*i+1] = p.hi, p.lo
	})
}

// genDot hands the m pairs of GenDot(m, 2c) to put, with their exact products p.
func genDot(m int, c, cond float64, r *source, put func(i int, x, y float64, p dd)) {
	half := (m + 1) / 2
	b := logDD(2*c).div(dd{ln2[0], ln2[1]}).hi / 2
	var sum fixedSum
	magnitudes := 0.0
	add := func(i int, x, y float64) {
		p := twoProd(x, y)
		put(i, x, y, p)
		sum.add(p.hi)
		sum.add(p.lo)
		magnitudes += math.Abs(p.hi)
	}
	for i := range half {
		e := math.RoundToEven(float64(r.unit() * b))
		switch i {
		case 0:
			e = math.RoundToEven(b) + 1
		case half - 1:
			e = 0
		}
		x := math.Ldexp(r.nonzero(), int(e))
		add(i, x, math.Ldexp(r.symmetric(), int(e)))
	}
	for i := half; i < m; i++ {
		e := math.RoundToEven(float64(b*float64(m-1-i)) / float64(m-half-1))
		x := math.Ldexp(r.nonzero(), int(e))
		v := math.Ldexp(r.symmetric(), int(e))
		if last := magnitudes / cond; i == m-1 && last > 1 {
			v = math.Copysign(last, v)
		}
		add(i, x, -sum.minus(v)/x)
	}
}

// nonzero returns a value of symmetric other than 0.
func (s *source) nonzero() float64 {
	for {
		if x := s.symmetric(); x != 0 {
			return x
		}
	}
}

// fixedSum is an exact running sum of binary64 numbers that can be read at every step, at a cost that depends on the
// spread of the terms only: an integer in units of 2^-1074.
type fixedSum struct {
	sum, term, difference big.Int
	rounded               big.Float
}

// add adds a finite x.
func (f *fixedSum) add(x float64) {
	f.load(x)
	f.sum.Add(&f.sum, &f.term)
}

// minus returns the sum less x, rounded to nearest even; the sum stays as it is.
func (f *fixedSum) minus(x float64) float64 {
	f.load(x)
	f.difference.Sub(&f.sum, &f.term)
	f.rounded.SetPrec(53).SetInt(&f.difference)
	f.rounded.SetMantExp(&f.rounded, -1074)
	rounded, _ := f.rounded.Float64()
	return rounded
}

// load sets term to x in units of 2^-1074.
func (f *fixedSum) load(x float64) {
	m, e := math.Frexp(x)
	f.term.SetInt64(int64(math.Ldexp(m, 53))) // an integer
	if shift := e - 53 + 1074; shift >= 0 {
		f.term.Lsh(&f.term, uint(shift))
	} else {
		f.term.Rsh(&f.term, uint(-shift)) // x is subnormal: the bits shifted out are zeros
	}
}

func conditionNote(terms []float64) string {
	return "condition number " + exact.SumOf(terms).Condition().Text(3)
}
