package gemv

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"mpbench/pkg/bound"
)

// tracer is an adder whose values say how they came about.
type tracer struct{ slots []trace }

type trace struct {
	text  string // the grouping, "" for zero
	depth int    // the most additions a term went through
	terms int
}

func term(r, j int) trace { return trace{text: string(rune('a'+r)) + string(rune('0'+j%10)), terms: 1} }

func (a *tracer) load(slot, r, j int)    { a.slots[slot] = term(r, j) }
func (a *tracer) addTerm(slot, r, j int) { a.slots[slot] = a.slots[slot].plus(term(r, j)) }
func (a *tracer) addSlot(slot, j int)    { a.slots[slot] = a.slots[slot].plus(a.slots[j]) }

func (x trace) plus(y trace) trace {
	switch {
	case x.terms == 0:
		return y
	case y.terms == 0:
		return x
	}
	text := ""
	if x.terms+y.terms <= 64 {
		text = "(" + x.text + y.text + ")"
	}
	return trace{text, max(x.depth, y.depth) + 1, x.terms + y.terms}
}

func traced(components, n, blockSize int) []trace {
	used := min(blockSize, n)
	a := &tracer{make([]trace, components*used)}
	blockSums(a, components, n, blockSize)
	var result []trace
	for r := range components {
		result = append(result, a.slots[r*used])
	}
	return result
}

// TestOrder pins the grouping, which other devices must reproduce bit for bit.
func TestOrder(t *testing.T) {
	for _, c := range []struct {
		n, block int
		want     string
	}{
		{1, 64, "a0"}, {2, 64, "(a0a1)"}, {3, 64, "((a0a2)a1)"}, {4, 1, "(((a0a1)a2)a3)"}, {4, 2, "((a0a2)(a1a3))"},
		{5, 3, "(((a0a3)a2)(a1a4))"}, {8, 4, "(((a0a4)(a2a6))((a1a5)(a3a7)))"}, {7, 4, "(((a0a4)(a2a6))((a1a5)a3))"},
		{6, 6, "(((a0a4)a2)((a1a5)a3))"},
	} {
		if got := traced(1, c.n, c.block)[0].text; got != c.want {
			t.Errorf("%d terms, block of %d: %s, want %s", c.n, c.block, got, c.want)
		}
	}
}

// paperSum is step 4 as the paper's kernel does it, thread by thread, all threads starting at zero.
func paperSum(r, n, bsize int) trace {
	s := make([]trace, bsize)
	for t := range bsize {
		for j := t; j < n; j += bsize {
			s[t] = s[t].plus(term(r, j))
		}
	}
	top := 1
	for top < bsize {
		top *= 2
	}
	for h := top / 2; h >= 1; h /= 2 {
		for t := range h {
			if t+h < bsize {
				s[t] = s[t].plus(s[t+h])
			}
		}
	}
	return s[0]
}

// depth is what the error bound of rns-split says of the additions within a component.
var depth = bound.New("(ceil(n/B) - 1 + ceil(log2 min(B,n)))*S", "test")

func sumDepth(n, block int) int {
	b := map[string]*big.Rat{"B": big.NewRat(int64(block), 1)}
	d, _ := depth.Eval(bound.Vars{N: n, S: big.NewRat(1, 1), More: b}).Float64()
	return int(d)
}

// TestOrderIsPaper compares with the paper's step 4 for random shapes, and the depth with the one the bound rests on.
func TestOrderIsPaper(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		n, block, components := 1+rng.IntN(40), 1+rng.IntN(20), 1+rng.IntN(3)
		for r, got := range traced(components, n, block) {
			want := paperSum(r, n, block)
			if got.text != want.text || got.terms != n || got.depth > sumDepth(n, block) {
				t.Fatalf("%d terms, block of %d, component %d: %s, depth %d, want %s", n, block, r, got.text, got.depth, want.text)
			}
		}
	}
	for n := 1; n < 400; n++ {
		for _, block := range []int{1, 2, 3, 32, 64, 100, 1024} {
			if got := traced(1, n, block)[0]; got.depth > sumDepth(n, block) || got.terms != n {
				t.Fatalf("%d terms, block of %d: depth %d of %d terms", n, block, got.depth, got.terms)
			}
		}
	}
}
