package op

import (
	"math/big"
	"math/bits"
	"math/rand/v2"
	"runtime"
	"sync"

	"mpbench/internal/parallel"
	"mpbench/pkg/exact"
)

// Reference is the exact result of a problem: for each component the sum of its terms and the sum of their magnitudes.
type Reference struct {
	Shape   Shape
	problem *Problem
	keeping sync.Once
	kept    []exact.Summary // of all components, or of none where they are too many, or short and nobody asked to Keep
	shorts  *shorts         // where many components have few terms
	sample  []uint64        // a bit for each component that is compared; nil where all are

	adding    sync.Once
	norm, abs *big.Rat // see Norms
}

// mostKept is how many components a Reference keeps; of larger results each is computed when it is asked for.
const mostKept = 1 << 20

// leastShorts is from how many components on they are looked at as exact.Shorts, if they have few terms.
const leastShorts = 1 << 12

// Exact returns the exact result of a problem.
func Exact(p *Problem) (*Reference, error) {
	shape, err := p.Op.Shape(p)
	if err != nil {
		return nil, err
	}
	r := &Reference{Shape: shape, problem: p}
	if shape.Components == 1 && p.Op.Split == ByTerm {
		r.kept = []exact.Summary{r.long()}
		return r, nil
	}
	if shape.Components >= leastShorts {
		r.shorts = shortsOf(p, shape)
	}
	if r.shorts == nil {
		r.Keep()
	}
	return r, nil
}

// Sampled is Exact of a problem of which, where it has more than so many elements, only so many components are
// compared with results: different ones, chosen at random, the same for the same number of components.
func Sampled(p *Problem, elements int64, components int) (*Reference, error) {
	shape, err := p.Op.Shape(p)
	if err != nil || shape.Elements <= elements || shape.Components <= components {
		return Exact(p)
	}
	r := &Reference{Shape: shape, problem: p, sample: make([]uint64, (shape.Components+63)/64)}
	random := rand.New(rand.NewPCG(1, uint64(shape.Components)))
	for range components {
		i := random.IntN(shape.Components)
		for r.Compares(i) {
			i = random.IntN(shape.Components)
		}
		r.sample[i/64] |= 1 << (i % 64)
	}
	return r, nil
}

// Compares tells whether component i is to be compared with a result.
func (r *Reference) Compares(i int) bool { return r.sample == nil || r.sample[i/64]>>(i%64)&1 != 0 }

// Compared returns how many components are.
func (r *Reference) Compared() (n int) {
	if r.sample == nil {
		return r.Shape.Components
	}
	for _, word := range r.sample {
		n += bits.OnesCount64(word)
	}
	return n
}

// Keep computes all components, unless they are too many, for those who will ask for all of them more than once. It
// is not for concurrent use with Component.
func (r *Reference) Keep() {
	r.keeping.Do(func() {
		if n := r.Shape.Components; r.kept == nil && r.sample == nil && n <= mostKept {
			list := make([]exact.Summary, n)
			parallel.Ranges(0, n, 1, func(_, i, _ int) { list[i] = r.compute(i) })
			r.kept = list
		}
	})
}

// Component returns the exact summary of component i.
func (r *Reference) Component(i int) exact.Summary {
	if r.kept != nil {
		return r.kept[i]
	}
	return r.compute(i)
}

// Norms returns the sum of the magnitudes of the components that are compared, and that of all their terms; not finite
// where a component is not.
func (r *Reference) Norms() (norm, abs *big.Rat, finite bool) {
	r.adding.Do(func() {
		parts := make([]normSums, parallel.Threads(0))
		for i := range parts {
			parts[i].norm, parts[i].abs = new(big.Rat), new(big.Rat)
		}
		const grain = 1 << 10
		parallel.Ranges(0, r.Shape.Components, grain, func(worker, from, to int) {
			for i := from; i < to; i++ {
				if r.Compares(i) {
					parts[worker].add(r, i)
				}
			}
		})
		norm, abs := new(big.Rat), new(big.Rat)
		for i := range parts {
			if parts[i].special {
				return
			}
			norm = exact.Add(norm, parts[i].total(r, parts[i].norm, &parts[i].shortNorm))
			abs = exact.Add(abs, parts[i].total(r, parts[i].abs, &parts[i].shortAbs))
		}
		r.norm, r.abs = norm, abs
	})
	return r.norm, r.abs, r.norm != nil
}

// normSums add up the magnitudes of components and of their terms, those of short sums times their divisor.
type normSums struct {
	norm, abs           *big.Rat
	shortNorm, shortAbs exact.Sum
	special             bool // a component is no number
	short               Short
}

func (n *normSums) add(r *Reference, i int) {
	if r.Short(i, &n.short) {
		if _, known := n.short.Sign(); known {
			n.short.AddTo(&n.shortNorm)
			n.short.AddMagnitudesTo(&n.shortAbs)
			return
		}
	}
	s := r.Component(i)
	if n.special = n.special || !s.SumAbs.IsFinite() || !s.Sum.IsFinite(); !n.special {
		n.norm, n.abs = exact.Add(n.norm, s.Sum.Abs().Number()), exact.Add(n.abs, s.SumAbs.Number())
	}
}

func (n *normSums) total(r *Reference, sum *big.Rat, short *exact.Sum) *big.Rat {
	return exact.Add(sum, new(big.Rat).Quo(short.Value().Number(), r.Divisor()))
}

func (r *Reference) compute(i int) exact.Summary {
	var t Terms
	r.problem.Op.Terms(r.problem, i, &t)
	return r.finish(&t)
}

func (r *Reference) finish(t *Terms) exact.Summary {
	s := r.problem.Op.result(t)
	s.N = r.Shape.Length
	return s
}

// result returns the exact result that terms give.
func (o *Operation) result(t *Terms) exact.Summary {
	s := t.summary()
	switch o.Norm {
	case 1:
		s.Sum = s.SumAbs
	case 2:
		s = s.Root()
	}
	return s
}

// leastShare is the least number of terms worth a goroutine.
const leastShare = 1 << 16

// long computes a single component of many terms by all processors; terms that are not in memory are read in order.
func (r *Reference) long() exact.Summary {
	workers := max(1, min(runtime.GOMAXPROCS(0), r.Shape.Length/leastShare))
	if r.problem.Chunked() {
		workers = 1
	}
	parts := make([]Terms, workers)
	share := max(1, (r.Shape.Length+workers-1)/workers)
	parallel.Ranges(workers, r.Shape.Length, share, func(_, from, to int) {
		r.problem.Op.Terms(r.problem.Part(from, to), 0, &parts[from/share])
	})
	for i := 1; i < workers; i++ {
		parts[0].Merge(&parts[i])
	}
	return r.finish(&parts[0])
}

// Condition returns the condition number of component i: the sum of the magnitudes of its terms over that of their
// sum, times the operation's factor.
func (r *Reference) Condition(i int) exact.Value {
	c := r.Component(i).Condition()
	if f := r.problem.Op.ConditionFactor; f > 1 && c.IsFinite() {
		c = exact.FromRat(new(big.Rat).Mul(c.Number(), new(big.Rat).SetInt64(f)))
	}
	return c
}

// Specials returns which components of a problem are infinite or NaN because a number that is read is: nil if none can
// be, otherwise a value for each component, finite ones being 0. A component is what IEEE 754 arithmetic without
// overflow gives for its terms.
func Specials(p *Problem, components int) []exact.Value {
	finite := true
	if p.Multiplies() {
		finite = p.Alpha.AllFinite() && p.A.AllFinite() && p.X.AllFinite()
	}
	if p.Adds() || p.A.Absent() {
		finite = finite && p.Beta.AllFinite() && p.Y.AllFinite()
	}
	if finite {
		return nil
	}
	list := make([]exact.Value, components)
	parallel.Ranges(0, components, 1, func(_, i, _ int) {
		t := Terms{classes: true}
		p.Op.Terms(p, i, &t)
		if v := p.Op.result(&t).Sum; !v.IsFinite() {
			list[i] = v
		}
	})
	return list
}
