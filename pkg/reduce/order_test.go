package reduce

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"mpbench/pkg/bound"
	"mpbench/pkg/rns/rnsop"
)

// tracer is an adder whose values say how they came about.
type tracer struct {
	slots []trace
	terms int
}

type trace struct {
	text  string // the grouping, "" for zero
	depth int    // the most additions a term went through
	terms int
}

func newTracer(slots int) *tracer { return &tracer{slots: make([]trace, slots)} }

func (a *tracer) term(i int) trace {
	a.terms++
	return trace{text: string(rune('a' + i%26)), terms: 1}
}

func (a *tracer) load(slot, i int)    { a.slots[slot] = a.term(i) }
func (a *tracer) addTerm(slot, i int) { a.slots[slot] = a.slots[slot].plus(a.term(i)) }
func (a *tracer) addSlot(slot, j int) { a.slots[slot] = a.slots[slot].plus(a.slots[j]) }

func (x trace) plus(y trace) trace {
	switch {
	case x.terms == 0:
		return y
	case y.terms == 0:
		return x
	}
	text := ""
	if x.terms+y.terms <= 32 {
		text = "(" + x.text + y.text + ")"
	}
	return trace{text, max(x.depth, y.depth) + 1, x.terms + y.terms}
}

// blocked runs all stages of the block reduction.
func blocked(g grid, n int) trace {
	var sum trace
	for b := range g.used(n) {
		a := newTracer(g.BlockSize)
		block(a, g, b, n)
		sum = sum.plus(a.slots[0])
	}
	return sum
}

// TestOrders pins the groupings, which other devices must reproduce bit for bit.
func TestOrders(t *testing.T) {
	for n, want := range map[int]string{
		1: "a", 2: "(ab)", 3: "((ab)c)", 4: "((ab)(cd))", 5: "(((ab)(cd))e)", 6: "(((ab)(cd))(ef))",
		7: "(((ab)(cd))((ef)g))",
	} {
		a := newTracer(pairwiseSlots(n))
		pairwise(a, n)
		if got := a.slots[0].text; got != want {
			t.Errorf("pairwise of %d terms: %s, want %s", n, got, want)
		}
	}
	a := newTracer(1)
	recursive(a, 4)
	if got := a.slots[0].text; got != "(((ab)c)d)" {
		t.Errorf("recursive: %s", got)
	}
	for _, c := range []struct {
		g    grid
		n    int
		want string
	}{
		{grid{1, 1}, 4, "(((ab)c)d)"},
		{grid{1, 2}, 4, "((ac)(bd))"},
		{grid{1, 2}, 6, "(((ac)e)((bd)f))"},
		{grid{2, 2}, 8, "(((ac)(bd))((eg)(fh)))"},
		{grid{2, 2}, 11, "(((((ac)i)k)((bd)j))((eg)(fh)))"},
		{grid{1, 4}, 3, "((ac)b)"},
		{grid{4, 2}, 5, "(((ac)(bd))e)"},
	} {
		if got := blocked(c.g, c.n).text; got != c.want {
			t.Errorf("%v, %d terms: %s, want %s", c.g, c.n, got, c.want)
		}
	}
}

// depths are what the error bounds say: the most additions that a term goes through.
var depths = map[string]bound.Bound{
	"recursive": bound.New("(n-1)*S", "test"),
	"pairwise":  bound.New("ceil(log2 n)*S", "test"),
	"blocks":    bound.New("d*S, "+rnsop.Depth, "test"),
}

func depthOf(order string, n int, g grid) int {
	more := map[string]*big.Rat{"G": big.NewRat(int64(g.Blocks), 1), "B": big.NewRat(int64(g.BlockSize), 1)}
	d, _ := depths[order].Eval(bound.Vars{N: n, S: big.NewRat(1, 1), More: more}).Float64()
	return int(d)
}

// TestDepths checks what the error bounds rest on: every term is used once and goes through at most so many
// additions.
func TestDepths(t *testing.T) {
	sizes := []int{1000, 4095, 4096, 4097, 1 << 14, 100_000}
	for n := 1; n <= 300; n++ {
		sizes = append(sizes, n)
	}
	for _, n := range sizes {
		a := newTracer(pairwiseSlots(n))
		pairwise(a, n)
		checkTrace(t, "pairwise", n, a.slots[0], depthOf("pairwise", n, grid{}))
		a = newTracer(1)
		recursive(a, n)
		checkTrace(t, "recursive", n, a.slots[0], depthOf("recursive", n, grid{}))
		for _, g := range []grid{{1, 1}, {1, 64}, {2, 1}, {3, 8}, {256, 64}, {32, 4}} {
			checkTrace(t, "blocks", n, blocked(g, n), depthOf("blocks", n, g))
		}
	}
}

func checkTrace(t *testing.T, order string, n int, got trace, depth int) {
	t.Helper()
	if got.terms != n || got.depth > depth {
		t.Fatalf("%s of %d terms: %d terms used, depth %d, want at most %d", order, n, got.terms, got.depth, depth)
	}
}

// paperBlocks is the block reduction as the paper's algorithm 5 writes it, thread by thread.
func paperBlocks(terms []trace, bcount, bsize, maxBsize int) trace {
	n, gsize := len(terms), 2*bsize*bcount
	gd := make([]trace, bcount)
	for b := range bcount {
		sd := make([]trace, bsize)
		for t := range bsize {
			for i := b*bsize*2 + t; i < n; i += gsize {
				sd[t] = sd[t].plus(terms[i])
				if i+bsize < n {
					sd[t] = sd[t].plus(terms[i+bsize])
				}
			}
		}
		for h := maxBsize; h >= 2; h /= 2 {
			before := slices.Clone(sd)
			for t := range bsize {
				if bsize >= h && t < h/2 {
					sd[t] = before[t].plus(before[t+h/2])
				}
			}
		}
		gd[b] = sd[0]
	}
	sum := gd[0]
	for _, x := range gd[1:] {
		sum = sum.plus(x)
	}
	return sum
}

// TestBlocksArePaper compares with the paper's algorithm for random shapes.
func TestBlocksArePaper(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 3000 {
		g := grid{1 + rng.IntN(5), 1 << rng.IntN(5)}
		n := 1 + rng.IntN(32)
		a := newTracer(0)
		terms := make([]trace, n)
		for i := range terms {
			terms[i] = a.term(i)
		}
		if got, want := blocked(g, n).text, paperBlocks(terms, g.Blocks, g.BlockSize, 1024).text; got != want {
			t.Fatalf("%v, %d terms: %s, want %s", g, n, got, want)
		}
	}
}
