package datasets

import (
	"math"
	"math/big"

	"mpbench/pkg/exact"
)

const (
	reproSource = "fills of ReproBLAS's tests (Ahrens, Demmel and Nguyen, doi:10.1145/3389360)"
	reproSmall  = 0x1p-27
	reproBig    = 0x1p27
)

// reproFill is one fill: the terms, and the exact sum where it is evident.
type reproFill struct {
	name string
	make func(j *job, r *source)
}

// reproFills are in the order of listing.
var reproFills = []reproFill{
	{"constant", func(j *job, _ *source) { fill(j.terms, 1); j.knownIs(exact.FromFloat64(float64(j.n))) }},
	{"rand", func(j *job, r *source) { each(j.terms, r.reproUnit) }},
	{"2rand-1", func(j *job, r *source) { each(j.terms, func() float64 { return float64(2*r.reproUnit()) - 1 }) }},
	{"rand+rand-1", func(j *job, r *source) {
		each(j.terms, func() float64 { return r.reproUnit() + (r.reproUnit() - 1) })
	}},
	{"normal", func(j *job, r *source) { each(j.terms, r.normal) }},
	{"sine", reproSine},
	{"n-cond", func(j *job, _ *source) { reproNCond(j); j.knownIs(exact.FromFloat64(-1)) }},
	{"n-cond+rand", func(j *job, r *source) { reproNCond(j); j.terms[j.n-1] = r.reproUnit() }},
	{"full-range", func(j *job, _ *source) { reproRange(j.terms, log(0x1p-1022), log(math.MaxFloat64)) }},
	{"half-range", func(j *job, _ *source) { reproRange(j.terms, 0, log(math.MaxFloat64)) }},
	{"small+grow-big", reproGrow},
	{"small+rand-big", func(j *job, r *source) {
		each(j.terms, func() float64 { return reproSmall + float64((reproBig-reproSmall)*r.reproUnit()) })
	}},
	{"mountain", reproMountain},
	{"big", func(j *job, _ *source) { reproEnds(j, reproSmall, reproBig, reproSmall) }},
	{"big+big", func(j *job, _ *source) { reproEnds(j, reproSmall, reproBig, reproBig) }},
	{"big-big", func(j *job, _ *source) { reproEnds(j, reproSmall, reproBig, -reproBig) }},
	{"inf", func(j *job, _ *source) { reproEnds(j, 1, math.Inf(1), 1) }},
	{"inf+inf", func(j *job, _ *source) { reproEnds(j, 1, math.Inf(1), math.Inf(1)) }},
	{"inf-inf", func(j *job, _ *source) { reproEnds(j, 1, math.Inf(1), math.Inf(-1)) }},
	{"nan", func(j *job, _ *source) { reproEnds(j, 1, 1, 1); reproNaN(j) }},
	{"inf+nan", func(j *job, _ *source) { reproEnds(j, 1, math.Inf(1), 1); reproNaN(j) }},
	{"inf+inf+nan", func(j *job, _ *source) { reproEnds(j, 1, math.Inf(1), math.Inf(1)); reproNaN(j) }},
	{"inf-inf+nan", func(j *job, _ *source) { reproEnds(j, 1, math.Inf(1), math.Inf(-1)); reproNaN(j) }},
}

// reproSets are the fills, and apart the one that takes a condition number.
func reproSets() []*Set {
	names := make([]string, len(reproFills))
	byName := make(map[string]reproFill)
	for i, f := range reproFills {
		names[i] = f.name
		byName[f.name] = f
	}
	return []*Set{
		{
			Name:    "repro",
			Summary: "the fills of ReproBLAS's tests; drop=yes multiplies the second half by 1e-12",
			Source:  reproSource,
			Params: []Param{
				{Name: "fill", Meaning: "which terms", Default: "rand", Kind: Choice, Choices: names},
				{Name: "drop", Meaning: "whether the second half is multiplied by 1e-12", Default: "no", Kind: Choice,
					Choices: []string{"no", "yes"}},
			},
			DefaultN: 4095, MinN: 2, Seeded: true,
			make: func(j *job) error {
				byName[j.text("fill")].make(j, j.random(0))
				if j.text("drop") == "yes" {
					for i := j.n / 2; i < j.n; i++ {
						j.terms[i] = float64(j.terms[i] * 1e-12)
					}
					j.known = nil
				}
				return nil
			},
		},
		{
			Name: "repro-cond",
			Summary: "cancelling quarters with entries of size 1, 1e-10 and 1e-20, and a remainder scaled for the wanted " +
				"condition number, shuffled; the scale is limited to 1e-16 .. 1e16",
			Source: reproSource,
			Params: []Param{{Name: "cond", Meaning: "condition number aimed at", Default: "1e+10", Kind: Real, Min: 2,
				Max: 1e300}},
			DefaultN: 4095, MinN: 16, Seeded: true, make: reproCond,
		},
	}
}

func each(xs []float64, next func() float64) {
	for i := range xs {
		xs[i] = next()
	}
}

// reproUnit is ReproBLAS's uniform number, stretched so that its significand is full.
func (s *source) reproUnit() float64 {
	stretch := 1 + 1e-9 // rounded to binary64
	return float64(s.unit() * stretch)
}

// normal returns a normally distributed number (Box and Muller), sqrt(-2 ln t) cos(2 pi t') with t in (0, 1].
func (s *source) normal() float64 {
	t := 1 - s.unit()
	j := int64(s.uint64() >> 11)
	radius := math.Sqrt(float64(-2 * log(t)))
	return float64(radius * cos2pi(j, 1<<53))
}

// reproSine is one period of a sine with the negative of its first half as the second, so that the exact sum is 0.
func reproSine(j *job, _ *source) {
	n := int64(j.n)
	for i := int64(1); 2*i < n; i++ {
		v := sin2pi(i, n)
		j.terms[i], j.terms[n-i] = v, -v
	}
	j.knownIs(exact.FromRat(new(big.Rat)))
}

// reproNCond is -n followed by n - 1 ones.
func reproNCond(j *job) {
	fill(j.terms, 1)
	j.terms[0] = -float64(j.n)
}

// reproRange is (-1)^i exp(from + (to - from) i/n).
func reproRange(xs []float64, from, to float64) {
	for i := range xs {
		xs[i] = exp(from + float64((to-from)*(float64(i)/float64(len(xs)))))
		if i%2 == 1 {
			xs[i] = -xs[i]
		}
	}
}

// reproGrow is small + (big - small) i/n.
func reproGrow(j *job, _ *source) {
	for i := range j.terms {
		j.terms[i] = reproSmall + float64((reproBig-reproSmall)*float64(i))/float64(j.n)
	}
}

// reproMountain goes down from both ends to the middle in steps of 2^-26, s, s*2^-26, ... with opposite signs, so that
// the exact sum is 0. It reaches 0 after 41 steps; s = 1.
func reproMountain(j *job, _ *source) {
	s := 1.0
	for i := 0; i < j.n/2; i++ {
		j.terms[i], j.terms[j.n-1-i] = s, -s
		s = float64(s * 0x1p-26)
	}
	j.knownIs(exact.FromRat(new(big.Rat)))
}

// reproEnds is first, middle, ..., middle, last.
func reproEnds(j *job, middle, first, last float64) {
	fill(j.terms, middle)
	j.terms[0], j.terms[j.n-1] = first, last
}

func reproNaN(j *job) { j.terms[j.n/2] = math.NaN() }

// reproCond builds q = 2*floor(n/16) terms, their negatives, and n - 2q positive terms whose scale f makes
// (2 S + f R')/(f R) the wanted condition number: S the sum of the first q, R that of the rest, R' its magnitudes.
func reproCond(j *job) error {
	r := j.random(0)
	unit := func(xs []float64, scale float64) {
		each(xs, func() float64 { return float64(r.reproUnit() * scale) })
	}
	q := j.n / 8 &^ 1
	head, rest := j.terms[:q], j.terms[2*q:]
	unit(head[:q/2], 1e-10)
	unit(head[q/2:], 1)
	unit(head[:q/8], 1e-20)
	unit(rest[:q], 1)
	unit(rest[q:], 1e-8)
	sumHead, sumRest := 0.0, 0.0
	for i, x := range head {
		j.terms[q+i] = -x
		sumHead += x
	}
	for _, x := range rest {
		sumRest += x
	}
	f := 2 * sumHead / (float64(j.real("cond")*sumRest) - sumRest)
	f = min(max(f, 1e-16), 1e16)
	for i := range rest {
		rest[i] = float64(rest[i] * f)
	}
	r.shuffle(j.terms)
	j.notes = append(j.notes, conditionNote(j.terms))
	return nil
}
