package reduce

import (
	"mpbench/pkg/bound"
	"mpbench/pkg/format"
	"mpbench/pkg/lanes"
	"mpbench/pkg/method"
	"mpbench/pkg/op"
)

// The pairwise sum of binary64 numbers in the order of NumPy's sum of a contiguous array, so that it has the same
// bits: n terms are cut in two, the first part being the largest multiple of 8 up to n/2, until at most 128 are left.
// Such a leaf is eight partial sums ([lanes.Leaves]), to which the n mod 8 last terms are added in turn.
//
// Source: NumPy, DOUBLE_pairwise_sum in numpy/_core/src/umath/loops_utils.h.src; Higham, "The accuracy of floating
// point summation", SIAM J. Sci. Comput. 14 (1993) 783-799, DOI 10.1137/0914050, section 3.
const (
	leafTerms = 128
	planTerms = 8192 // a multiple of leafTerms
	maxLeaves = planTerms / (leafTerms / 2)
)

// half returns how many of n > leafTerms terms are in the first part.
func half(n int) int { return n / 2 / lanes.LeafLanes * lanes.LeafLanes }

// pairwise64 returns a pairwise sum.
func pairwise64(x []float64) float64 {
	if len(x) < lanes.LeafLanes {
		return format.Binary64.Sum(x)
	}
	var a pairAdder
	return a.sum(len(x), func(from, to int) []float64 { return x[from:to] })
}

// pairwiseDot64 returns the pairwise sum of rounded products.
func pairwiseDot64(x, y []float64) float64 {
	if len(x) < lanes.LeafLanes {
		return format.Binary64.Dot(x, y)
	}
	var a pairAdder
	products := make([]float64, min(len(x), planTerms))
	return a.sum(len(x), func(from, to int) []float64 {
		left, right := x[from:to], y[from:to]
		for i, v := range left {
			products[i] = v * right[i]
		}
		return products[:to-from]
	})
}

// pairAdder adds the terms of a sum that falls into parts of at most planTerms terms. Parts that have been halved
// equally often are two numbers of groups long, one apart: each has a plan, to be used again.
type pairAdder struct {
	plans [2]plan
	terms func(from, to int) []float64
}

// sum returns the sum of n >= lanes.LeafLanes terms.
func (a *pairAdder) sum(n int, terms func(from, to int) []float64) float64 {
	a.terms = terms
	return a.part(0, n)
}

func (a *pairAdder) part(from, to int) float64 {
	n := to - from
	if n > planTerms {
		middle := from + half(n)
		return a.part(from, middle) + a.part(middle, to)
	}
	return a.plans[n/lanes.LeafLanes%2].sum(a.terms(from, to))
}

// plan says how a sum of n terms falls into leaves.
type plan struct {
	n, leaves int
	groups    [maxLeaves]int // of lanes.LeafLanes terms
	joins     [maxLeaves]int // how often the last two partial sums are added after a leaf
	even      bool           // all leaves have been halved equally often
}

// split returns how often its leaves have been halved, -1 if not equally often.
func (p *plan) split(n int) int {
	if n <= leafTerms {
		p.groups[p.leaves], p.joins[p.leaves] = n/lanes.LeafLanes, 0
		p.leaves++
		return 0
	}
	first := half(n)
	left, right := p.split(first), p.split(n-first)
	p.joins[p.leaves-1]++
	if left != right || left < 0 {
		return -1
	}
	return left + 1
}

func (p *plan) sum(x []float64) float64 {
	if p.n != len(x) {
		p.n, p.leaves = len(x), 0
		p.even = p.split(len(x)) >= 0
	}
	var sums [maxLeaves]float64 // of leaves; those that have been read hold a stack of partial sums
	lanes.Leaves(x, p.groups[:p.leaves], sums[:])
	for _, v := range x[len(x)-len(x)%lanes.LeafLanes:] {
		sums[p.leaves-1] += v
	}
	if p.even {
		for n := p.leaves / 2; n > 0; n /= 2 {
			for i := range n {
				sums[i] = sums[2*i] + sums[2*i+1]
			}
		}
		return sums[0]
	}
	top := 0
	for leaf, joins := range p.joins[:p.leaves] {
		sums[top] = sums[leaf]
		for range joins {
			top--
			sums[top] += sums[top+1]
		}
		top++
	}
	return sums[0]
}

// pairwise64Depth returns how many additions a term of n goes through, at most.
func pairwise64Depth(n int) int { return depthBelow(n, map[int]int{}) }

// depthBelow is pairwise64Depth with those that are known: parts that have been halved equally often have three
// lengths.
func depthBelow(n int, known map[int]int) int {
	switch {
	case n < lanes.LeafLanes:
		return max(0, n-1)
	case n <= leafTerms:
		return n/lanes.LeafLanes - 1 + 3 + n%lanes.LeafLanes
	}
	depth, ok := known[n]
	if !ok {
		first := half(n)
		depth = 1 + max(depthBelow(first, known), depthBelow(n-first, known))
		known[n] = depth
	}
	return depth
}

// inPairs is binary64 with pairwise sums.
func inPairs() format.Format[[]float64, float64] {
	f := format.Binary64
	f.Depth = pairwise64Depth
	return f
}

var pairwise64Methods = []method.Method{
	inPairs().Method(method.Method{
		Operation: op.Sum, Name: "pairwise", Extra: true,
		Summary: "pairwise summation in binary64, in the order of NumPy",
		Bound:   bound.New("g(m-1)*S, u = 2^-53", higham),
	}, format.Loops[[]float64, float64]{Sum: pairwise64}),
	inPairs().Method(method.Method{
		Operation: op.Dot, Name: "pairwise", Extra: true,
		Summary: "products in binary64, added in pairs in the order of NumPy",
		Bound:   bound.New("g(m)*S + n*2^-1074, u = 2^-53", higham),
	}, format.Loops[[]float64, float64]{Dot: pairwiseDot64}),
}

const higham = "Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., section 4.2"
