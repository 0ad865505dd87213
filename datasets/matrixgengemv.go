package datasets

import (
	"math"

	"mpbench/pkg/exact"
)

// genGemvSets are matrices whose rows have a prescribed condition number with one common x.
func genGemvSets() []*Set {
	return []*Set{{
		Name: "gengemv",
		Summary: "rows of op(A) with condition numbers sum|a_ij x_j| / |sum a_ij x_j| near cond (noted), all with the " +
			"same x: GenDot for every row, the last element chosen for the condition number; the columns are shuffled; y = 0",
		Source: "after Ogita, Rump and Oishi, SIAM J. Sci. Comput. 26(6), 2005, algorithm 6.1, doi:10.1137/030601818",
		Params: []Param{{Name: "cond", Meaning: "condition number of the rows", Default: "1e+16", Kind: Real, Min: 1,
			Max: 1e300}},
		MinN: 8, Seeded: true, matrix: genGemv,
	}}
}

// genGemv draws x_j = +-f*2^e_j, f in [1/2, 1), with GenDot's exponents e_j: b = log2(cond)/2 (plus 1), random ones up
// to b, 0, and then falling from b to 0. Each row has (2U-1)*2^e_j in its first half; in the second half a_ij = fl((v
// - s)/x_j) moves the exact sum s of the row so far to about v = (2U-1)*2^e_j, and in the end to the sum of magnitudes
// divided by cond.
func genGemv(j *matrixJob) error {
	if j.terms < 8 {
		return usagef("%d terms: want at least 8", j.terms)
	}
	r, cond := j.random(0), j.real("cond")
	exps := genDotExponents(j.terms, cond, r)
	columns := r.permutation(j.terms) // the k-th to be drawn is column columns[k]
	for k, e := range exps {
		j.x[columns[k]] = math.Ldexp(r.halfToOne(), e)
	}
	least, most := math.Inf(1), 0.0
	for i := range j.rows {
		row := j.genGemvRow(i, exps, columns, cond, r)
		least, most = min(least, row), max(most, row)
	}
	if least < cond/10 || most > 10*cond {
		return usagef("cond=%g was not reached with %d terms (rows have %.2g to %.2g); take more terms", cond, j.terms,
			least, most)
	}
	lo, hi := exact.FromFloat64(least), exact.FromFloat64(most)
	j.notes = append(j.notes, "condition numbers of the rows from "+lo.Text(3)+" to "+hi.Text(3))
	return nil
}

// genGemvRow draws row i and returns its condition number, rounded.
func (j *matrixJob) genGemvRow(i int, exps, columns []int, cond float64, r *source) float64 {
	half := (j.terms + 1) / 2
	var sum fixedSum
	var row exact.Dot
	magnitudes := 0.0
	for k, e := range exps {
		x := j.x[columns[k]]
		a := math.Ldexp(r.symmetric(), e)
		if k >= half {
			if k == j.terms-1 {
				a = math.Copysign(magnitudes/cond, a)
			}
			a = -sum.minus(a) / x
		}
		p := twoProd(a, x)
		sum.add(p.hi)
		sum.add(p.lo)
		row.Add(a, x)
		magnitudes += math.Abs(p.hi)
		j.a[j.place(i, columns[k])] = a
	}
	return row.Summary().Condition().Float64()
}

// genDotExponents returns the exponents of GenDot(n, cond), n >= 8.
func genDotExponents(n int, cond float64, r *source) []int {
	half := (n + 1) / 2
	b := logDD(cond).div(dd{ln2[0], ln2[1]}).hi / 2
	exps := make([]int, n)
	for k := range exps {
		switch {
		case k == 0:
			exps[k] = int(math.RoundToEven(b)) + 1
		case k < half-1:
			exps[k] = int(math.RoundToEven(float64(r.unit() * b)))
		case k >= half:
			exps[k] = int(math.RoundToEven(float64(b*float64(n-1-k)) / float64(n-half-1)))
		}
	}
	return exps
}

// halfToOne returns a number of random sign with a magnitude in [1/2, 1).
func (s *source) halfToOne() float64 {
	word := s.uint64()
	f := math.Float64frombits(0x3fe<<52 | word>>12)
	if word&1 != 0 {
		return -f
	}
	return f
}

// permutation returns the numbers 0 to n-1 in random order.
func (s *source) permutation(n int) []int {
	p := make([]int, n)
	for i := range p {
		j := s.below(i + 1)
		p[i], p[j] = p[j], i
	}
	return p
}
