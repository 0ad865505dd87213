package deferred

import (
	"math/big"
	"slices"

	"mpbench/internal/parallel"
	"mpbench/pkg/numbers"
)

// GemmPlan says which integers a product of matrices, each entry rounded once to prec bits, is made of, on whatever
// device.
//
// Row i of A becomes integers a_ik * 2^-low_i, low_i being the lowest bit set in the row; column j of B
// likewise. Where elements of a row or column differ so much that this takes too many products, they are
// truncated to fewer bits, counted from the highest: an entry is certain if the sum minus and plus the bound of
// what is left out (see errorOf) round to the same number. Others are computed again from the original numbers.
type GemmPlan struct {
	a, b       numbers.Array
	prec       int
	threads    int
	cost       GemmCost
	rows, cols []alignedExtent // of A, and of B
	width      [2]int          // of their integers
	products   [2]int          // of a multiply-add: of the plan, and of exact integers
}

// GemmCost is what products of integers cost.
type GemmCost struct {
	// Products returns how many products of residues a multiply-add of integers |a| < 2^aBits and |b| < 2^bBits takes,
	// in sums of so many terms; it never falls. Most is the most that are possible.
	Products func(aBits, bBits, terms int) int
	Most     int
	// Redo is how many such products, for all terms of an entry, take as long as computing it again on the host.
	Redo int
}

// GemmLine is a row of A or a column of B: elements are integers |x| < 2^Bits times 2^Low, which are what they are a
// multiple of, or, if they are truncated, less than 2^Low away. Bits is 0 for zeros.
type GemmLine struct {
	Low, Bits int
	Truncated bool
}

// alignedExtent says which bits of the numbers of a row of A or a column of B the integers have.
type alignedExtent struct {
	numbers.Extent
	truncated bool // there are bits below Low
	least     int  // the lowest bit
}

// NewGemmPlan plans the product of a and b. rows and cols are the extents of the rows of a and the columns of b, in
// which infinities and NaN count as 0, as everywhere here; nil ones are measured. It returns nil where the numbers
// take too many products.
func NewGemmPlan(a, b numbers.Array, rows, cols []numbers.Extent, prec, threads int, cost GemmCost) *GemmPlan {
	if rows == nil {
		rows = extentsOf(a, threads)
	}
	if cols == nil {
		cols = extentsOf(b.Transposed(), threads)
	}
	g := &GemmPlan{a: a, b: b, prec: prec, threads: threads, cost: cost}
	g.width = [2]int{widest(rows), widest(cols)}
	g.products[1] = g.count()
	if keep := g.keepBits(rows, cols); keep > 0 {
		g.width = [2]int{min(g.width[0], keep), min(g.width[1], keep)}
	}
	return g.align(rows, cols)
}

// count returns the products of a multiply-add.
func (g *GemmPlan) count() int { return g.cost.Products(g.width[0], g.width[1], g.a.Cols) }

// align cuts the extents to the plan's widths; it returns nil if that still takes too many products.
func (g *GemmPlan) align(rows, cols []numbers.Extent) *GemmPlan {
	g.rows, g.cols = aligned(rows, g.width[0]), aligned(cols, g.width[1])
	if g.products[0] = g.count(); g.products[0] > g.cost.Most {
		return nil
	}
	return g
}

// Exact returns the plan without truncation, or nil if there is none.
func (g *GemmPlan) Exact() *GemmPlan {
	e := *g
	whole := func(list []alignedExtent) []numbers.Extent {
		extents := make([]numbers.Extent, len(list))
		for i, x := range list {
			extents[i] = numbers.Extent{Low: x.least, Top: x.Top}
		}
		return extents
	}
	rows, cols := whole(g.rows), whole(g.cols)
	e.width = [2]int{widest(rows), widest(cols)}
	return e.align(rows, cols)
}

// extentsOf returns the extent of each row.
func extentsOf(a numbers.Array, threads int) []numbers.Extent {
	p := Plan{near: a.Source, nearLayout: a.Layout, op: NoTrans, opt: Options{Threads: threads}}
	return p.measure()
}

// aligned cuts extents to the width.
func aligned(extents []numbers.Extent, width int) []alignedExtent {
	list := make([]alignedExtent, len(extents))
	for i, e := range extents {
		list[i].Extent, list[i].least = e, e.Low
		if e.Bits() > width {
			list[i].Low, list[i].truncated = e.Top-width, true
		}
	}
	return list
}

const (
	// gemmGuard is how many bits beside prec, and the logarithm of the number of terms, truncated factors keep: the
	// error of an entry then is below 2^-31 of half a unit in the last place of its largest product.
	gemmGuard = 34
	// gemmSamples is on how many entries widths are chosen.
	gemmSamples = 256
)

// keepBits returns the number of bits of least cost that factors are truncated to, 0 for all. With D the bits
// by which the largest product of an entry falls short of the product of the largest elements of its row and
// column, prec + D and guard bits make the entry certain unless it cancels.
func (g *GemmPlan) keepBits(rows, cols []numbers.Extent) int {
	width, exact := g.width, g.products[1]
	least := g.prec + gemmGuard + log2Ceil(g.a.Cols)
	products := func(keep int) int { return g.cost.Products(min(width[0], keep), min(width[1], keep), g.a.Cols) }
	if leastSaving*products(least) > exact {
		return 0
	}
	short := g.sampleShort(rows, cols)
	best, cost := 0, exact/leastSaving
	if exact > g.cost.Most {
		cost = g.cost.Redo * g.cost.Most
	}
	for i, d := range short {
		n := products(least + d)
		if c := n + g.cost.Redo*(len(short)-1-i)/len(short); n <= g.cost.Most && c <= cost {
			best, cost = least+d, c
		}
	}
	return best
}

// sampleShort returns the D of some entries, ascending; at least one.
func (g *GemmPlan) sampleShort(rows, cols []numbers.Extent) []int {
	short := []int{0}
	total := len(rows) * len(cols)
	for s := range min(gemmSamples, total) {
		at := int(int64(s) * int64(total) / int64(min(gemmSamples, total)))
		i, j := at/len(cols), (at+s)%len(cols)
		top := NoTop
		for k := range g.a.Cols {
			x, y := g.a.SpanAt(i, k), g.b.SpanAt(k, j)
			if x.Class == numbers.Finite && y.Class == numbers.Finite {
				top = max(top, x.Top+y.Top)
			}
		}
		if top != NoTop {
			short = append(short, rows[i].Top+cols[j].Top-top)
		}
	}
	slices.Sort(short)
	return short
}

// Widths returns the bits of the integers of A and of B.
func (g *GemmPlan) Widths() (a, b int) { return g.width[0], g.width[1] }

// Lines returns the rows of A and the columns of B.
func (g *GemmPlan) Lines() (rows, cols []GemmLine) {
	lines := func(list []alignedExtent) []GemmLine {
		lines := make([]GemmLine, len(list))
		for i, x := range list {
			lines[i] = GemmLine{x.Low, x.Bits(), x.truncated}
		}
		return lines
	}
	return lines(g.rows), lines(g.cols)
}

// Truncated reports whether factors are truncated.
func (g *GemmPlan) Truncated() bool {
	cut := func(x alignedExtent) bool { return x.truncated }
	return slices.ContainsFunc(g.rows, cut) || slices.ContainsFunc(g.cols, cut)
}

// Reconsider reports whether exact products, if there are any, would have taken less time than those of the
// plan with so many entries computed again.
func (g *GemmPlan) Reconsider(recomputed int) bool {
	saved := int64(g.products[1]-g.products[0]) * int64(len(g.rows)) * int64(len(g.cols))
	return int64(g.cost.Redo)*int64(recomputed) > saved
}

// Recompute sets numbers of z, which are entries of the result, row by row, to alpha*A*B + beta*C, rounded
// once, from the original numbers. alpha and beta are finite; C is not read where beta is 0.
func (g *GemmPlan) Recompute(z *Packed, entries []int, alpha, beta *big.Float, c numbers.Array) {
	var left, right scalar
	left.set(alpha)
	right.set(beta)
	workers := make([]gemmWorker, parallel.Threads(g.threads))
	parallel.Tasks(g.threads, len(entries), func(worker, task int) {
		w := &workers[worker]
		w.results = packedResults{z: z, c: c}
		at := entries[task]
		combineClasses(&w.rounder, &w.results, at, special{class: numbers.Finite}, &left, &right) // reads the addend
		w.results.round(at, g.exactEntry(w, at/len(g.cols), at%len(g.cols), &left), nil)
	})
}

// errorOf sets bound to what truncation leaves out of entry (i, j) at most, in units of its sum: with |da| < 1,
// |db| < 1, |a'| < 2^bits(A_i) and |b| < 2^bits(B_j), the sum of K products da*b + a'*db is below K*2^bits(B_j)
// [row i truncated] + K*2^bits(A_i) [column j truncated]. b has no more bits before the point than b'. It
// reports whether there is an error at all.
func (g *GemmPlan) errorOf(bound *big.Int, i, j int) bool {
	row, col := g.rows[i], g.cols[j]
	bound.SetInt64(0)
	if row.Bits() == 0 || col.Bits() == 0 {
		return false
	}
	var t big.Int
	if row.truncated {
		bound.Lsh(t.SetInt64(int64(g.a.Cols)), uint(col.Bits()))
	}
	if col.truncated {
		bound.Add(bound, t.Lsh(t.SetInt64(int64(g.a.Cols)), uint(row.Bits())))
	}
	return row.truncated || col.truncated
}

// exactEntry returns alpha times the exact sum of entry (i, j), plus the addend of w, in the sense of addTerms.
func (g *GemmPlan) exactEntry(w *gemmWorker, i, j int, alpha *scalar) *term {
	terms := g.exactSum(w, i, j)
	for _, t := range terms {
		t.x.Mul(&t.x, &alpha.x)
		t.exp += alpha.Exp
	}
	return products(terms).sum(&w.addend, g.prec)
}

// exactSum returns terms of which entry (i, j) is the sum.
func (g *GemmPlan) exactSum(w *gemmWorker, i, j int) []*term {
	low, top := g.rows[i].least+g.cols[j].least, g.rows[i].Top+g.cols[j].Top
	if top-low <= mostFixed {
		w.fixed.reset(low, top, g.a.Cols)
		g.eachProduct(w, i, j, w.fixed.add)
		return []*term{w.fixed.term()}
	}
	var sum LimbSum
	g.eachProduct(w, i, j, sum.AddProduct)
	return sum.terms()
}

// eachProduct calls add with the factors of entry (i, j).
func (g *GemmPlan) eachProduct(w *gemmWorker, i, j int, add func(x, y *numbers.Number)) {
	for k := range g.a.Cols {
		g.a.ReadAt(&w.left, i, k)
		g.b.ReadAt(&w.right, k, j)
		if w.left.Class == numbers.Finite && w.right.Class == numbers.Finite {
			add(&w.left, &w.right)
		}
	}
}
