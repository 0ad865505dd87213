package deferred

import (
	"fmt"
	"math/big"
	"slices"
	"time"

	"mpbench/internal/parallel"
	"mpbench/pkg/numbers"
	"mpbench/pkg/rns/intmat"
)

// Gemm computes C = alpha*A*B + beta*C, each entry the exact result rounded once, by products of matrices of integers
// (package intmat), which A and B are converted to once.
//
// Row i of A becomes integers a_ik * 2^-low_i, low_i being the lowest bit set in the row; column j of B likewise.
// Where elements of a row or column differ so much that this needs too many moduli, they are truncated to fewer bits,
// counted from the highest: an entry is certain if the sum minus and plus the bound of what is left out (see errorOf)
// round to the same number. Others are computed again from the original numbers.
type Gemm struct {
	a, b       numbers.Array
	prec       int
	threads    int
	rows, cols []alignedExtent // of A, and of B
	moduli     [2]int          // that are used, and that exact products would take
	plan       *intmat.Plan
	multiplier *intmat.Multiplier
	panel      [2]int // rows of A, and columns of B, that are converted at a time
	operands   [2]*intmat.Operand
	workers    []gemmWorker
	recomputed int
}

// alignedExtent says which bits of the numbers of a row of A or a column of B the integers have.
type alignedExtent struct {
	numbers.Extent
	truncated bool // there are bits below Low
	least     int  // the lowest bit
}

type gemmWorker struct {
	rounder
	results     packedResults
	recomputed  int
	left, right numbers.Number
	fixed       fixedSum
}

// GemmModulusBits is the width of the moduli.
const GemmModulusBits = intmat.ModulusBits

// TruncatedEntries says that factors are truncated, and how many entries the last product computed again.
func TruncatedEntries(recomputed int) string {
	if recomputed == 1 {
		return "truncated factors, 1 entry computed again"
	}
	return fmt.Sprintf("truncated factors, %d entries computed again", recomputed)
}

// NewGemm plans the product of a and b, rounded to prec bits; threads = 0 stands for GOMAXPROCS. Elements that are
// infinite or NaN count as 0. It returns nil where the numbers take more moduli than package intmat has: where
// precision or spread are beyond 2000 bits.
func NewGemm(a, b numbers.Array, prec, threads int) *Gemm {
	g := &Gemm{a: a, b: b, prec: prec, threads: threads}
	rows, cols := extentsOf(a, threads), extentsOf(b.Transposed(), threads)
	width := [2]int{widest(rows), widest(cols)}
	exact := intmat.Moduli(width[0], width[1], a.Cols)
	if keep := g.keepBits(rows, cols, width, exact); keep > 0 {
		width = [2]int{min(width[0], keep), min(width[1], keep)}
	}
	g.moduli = [2]int{intmat.Moduli(width[0], width[1], a.Cols), exact}
	g.rows, g.cols = aligned(rows, width[0]), aligned(cols, width[1])
	if g.plan = intmat.NewPlan(width[0], width[1], a.Cols); g.plan == nil {
		return nil
	}
	g.multiplier, g.workers = g.plan.NewMultiplier(threads), make([]gemmWorker, parallel.Threads(threads))
	g.panel = [2]int{len(g.rows), len(g.cols)}
	return g
}

// Exact returns the plan without truncation, or nil if there is none.
func (g *Gemm) Exact() *Gemm {
	e := *g
	rows, cols := extentsOf(g.a, g.threads), extentsOf(g.b.Transposed(), g.threads)
	e.rows, e.cols = aligned(rows, widest(rows)), aligned(cols, widest(cols))
	if e.plan = intmat.NewPlan(widest(rows), widest(cols), g.a.Cols); e.plan == nil {
		return nil
	}
	e.multiplier = e.plan.NewMultiplier(g.threads)
	e.moduli[0], e.operands = g.moduli[1], [2]*intmat.Operand{}
	e.panel = [2]int{len(e.rows), len(e.cols)}
	return &e
}

// extentsOf returns the extent of each row.
func extentsOf(a numbers.Array, threads int) []numbers.Extent {
	extents := make([]numbers.Extent, a.Rows)
	parallel.Ranges(threads, a.Rows, 16, func(_, from, to int) {
		for i := from; i < to; i++ {
			for j := range a.Cols {
				if s := a.SpanAt(i, j); s.Class == numbers.Finite {
					extents[i] = extents[i].Union(s.Extent)
				}
			}
		}
	})
	return extents
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
	// gemmRedo is how many moduli take as long as computing an entry again, term by term.
	gemmRedo = 4000
	// gemmSamples is on how many entries widths are chosen.
	gemmSamples = 256
)

// keepBits returns the number of bits of least cost that factors are truncated to, 0 for all. With D the bits by which
// the largest product of an entry falls short of the product of the largest elements of its row and column, prec + D
// and guard bits make the entry certain unless it cancels.
func (g *Gemm) keepBits(rows, cols []numbers.Extent, width [2]int, exact int) int {
	least := g.prec + gemmGuard + log2Ceil(g.a.Cols)
	moduli := func(keep int) int { return intmat.Moduli(min(width[0], keep), min(width[1], keep), g.a.Cols) }
	if leastSaving*moduli(least) > exact {
		return 0
	}
	short := g.sampleShort(rows, cols)
	best, cost := 0, exact/leastSaving
	if exact > intmat.MaxModuli {
		cost = gemmRedo * intmat.MaxModuli
	}
	for i, d := range short {
		n := moduli(least + d)
		if c := n + gemmRedo*(len(short)-1-i)/len(short); n <= intmat.MaxModuli && c <= cost {
			best, cost = least+d, c
		}
	}
	return best
}

// sampleShort returns the D of some entries, ascending; at least one.
func (g *Gemm) sampleShort(rows, cols []numbers.Extent) []int {
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

// Moduli returns the number of moduli.
func (g *Gemm) Moduli() int { return g.plan.Moduli() }

// Kernel returns the name of the instructions.
func (g *Gemm) Kernel() string { return g.plan.Kernel() }

// Truncated reports whether factors are truncated.
func (g *Gemm) Truncated() bool {
	cut := func(x alignedExtent) bool { return x.truncated }
	return slices.ContainsFunc(g.rows, cut) || slices.ContainsFunc(g.cols, cut)
}

// Recomputed returns how many entries the last product computed again.
func (g *Gemm) Recomputed() int { return g.recomputed }

// Reconsider reports whether exact products, if there are any, would have taken less time than the last one.
func (g *Gemm) Reconsider() bool {
	saved := int64(g.moduli[1]-g.moduli[0]) * int64(len(g.rows)) * int64(len(g.cols))
	return int64(gemmRedo)*int64(g.recomputed) > saved
}

// Bytes returns what the matrices take that are converted at a time; a product takes WorkspaceBytes beside.
func (g *Gemm) Bytes() int64 {
	return g.plan.OperandBytes(g.panel[0]) + g.plan.OperandBytes(g.panel[1])
}

// WorkspaceBytes returns what a product takes.
func (g *Gemm) WorkspaceBytes() int64 { return int64(len(g.workers)) * g.plan.WorkspaceBytes() }

// gemmPanel is what numbers of rows and columns that are converted at a time are multiples of.
const gemmPanel = 96

// LeastBytes returns what Fit needs.
func (g *Gemm) LeastBytes() int64 { return g.WorkspaceBytes() + 2*g.plan.OperandBytes(gemmPanel) }

// Fit makes Bytes and WorkspaceBytes together fit so many bytes, 0 for any number: of one matrix, or of both, only so
// many rows or columns are converted at a time then, anew for each product. The smaller matrix is kept if there is
// room for it. Fit fails where not even gemmPanel rows and columns fit.
func (g *Gemm) Fit(bytes int64) bool {
	g.panel = [2]int{len(g.rows), len(g.cols)}
	if bytes == 0 || g.Bytes()+g.WorkspaceBytes() <= bytes {
		return true
	}
	bytes -= g.WorkspaceBytes()
	room := int(max(bytes, 0) / g.plan.OperandBytes(gemmPanel))
	small, large := 0, 1
	if g.panel[0] > g.panel[1] {
		small, large = 1, 0
	}
	kept := (g.panel[small] + gemmPanel - 1) / gemmPanel
	if kept >= room {
		kept = room / 2
	}
	g.panel[small], g.panel[large] = min(g.panel[small], kept*gemmPanel), min(g.panel[large], (room-kept)*gemmPanel)
	return kept > 0 && room > kept
}

// Panels returns how many panels the matrices are converted in; 1 stands for once, for all products.
func (g *Gemm) Panels() int {
	return (len(g.rows) + g.panel[0] - 1) / g.panel[0] * ((len(g.cols) + g.panel[1] - 1) / g.panel[1])
}

// Convert makes residues of the matrices, but for those that are converted in panels.
func (g *Gemm) Convert() {
	g.operands = [2]*intmat.Operand{}
	if g.panel[0] >= len(g.rows) {
		g.operands[0] = g.left(0)
	}
	if g.panel[1] >= len(g.cols) {
		g.operands[1] = g.right(0)
	}
}

// left returns the panel of A that begins at row i.
func (g *Gemm) left(i int) *intmat.Operand {
	if g.operands[0] != nil {
		return g.operands[0]
	}
	to := min(i+g.panel[0], len(g.rows))
	return g.plan.Left(to-i, g.source(g.a.Part(i, to), g.rows[i:]), g.threads)
}

// right returns the panel of B that begins at column j.
func (g *Gemm) right(j int) *intmat.Operand {
	if g.operands[1] != nil {
		return g.operands[1]
	}
	to := min(j+g.panel[1], len(g.cols))
	return g.plan.Right(to-j, g.source(g.b.Transposed().Part(j, to), g.cols[j:]), g.threads)
}

func (g *Gemm) source(a numbers.Array, list []alignedExtent) intmat.Source {
	return func(worker int, z *intmat.Integer, vector, term int) {
		x := &g.workers[worker].left
		a.ReadAt(x, vector, term)
		z.Words = nil
		if x.Class == numbers.Finite {
			z.Words, z.Shift, z.Neg = x.Words, x.Exp-list[vector].Low, x.Neg
		}
	}
}

// GemmTimes says what a product spent its time on.
type GemmTimes struct {
	Convert time.Duration // panels
	intmat.Times
}

// Multiply sets z, the entries row by row, to alpha*A*B + beta*C, rounded once to nearest even, for finite alpha and
// beta; if beta is zero, C is not read. z has numbers of the precision of the plan.
func (g *Gemm) Multiply(z *Packed, alpha, beta *big.Float, c numbers.Array) (total GemmTimes) {
	var left, right scalar
	left.set(alpha)
	right.set(beta)
	for i := range g.workers {
		w := &g.workers[i]
		w.recomputed, w.results = 0, packedResults{z: z, c: c}
	}
	for row := 0; row < len(g.rows); row += g.panel[0] {
		start := time.Now()
		a := g.left(row)
		total.Convert += time.Since(start)
		for col := 0; col < len(g.cols); col += g.panel[1] {
			start := time.Now()
			b := g.right(col)
			total.Convert += time.Since(start)
			times := g.multiplier.Multiply(a, b, func(worker, i, j int, sum *big.Int) {
				if w := &g.workers[worker]; g.round(w, row+i, col+j, sum, &left, &right) {
					w.recomputed++
				}
			})
			total.Products += times.Products
			total.Reconstruct += times.Reconstruct
		}
	}
	g.recomputed = 0
	for i := range g.workers {
		g.recomputed += g.workers[i].recomputed
	}
	return total
}

// round stores entry (i, j), whose sum of products is known. It reports whether the entry was computed again.
func (g *Gemm) round(w *gemmWorker, i, j int, sum *big.Int, alpha, beta *scalar) bool {
	at, exp := i*len(g.cols)+j, g.rows[i].Low+g.cols[j].Low
	inexact := g.errorOf(&w.bound, i, j)
	if !inexact && beta.Class == numbers.Zero && alpha.isUnit() && !alpha.Neg {
		w.results.store(at, sum, exp)
		return false
	}
	combineClasses(&w.rounder, &w.results, at, special{class: numbers.Finite}, alpha, beta) // reads the addend
	if !inexact {
		w.combine(&w.lower, sum, exp, alpha, beta, g.prec)
		w.results.round(at, &w.lower, nil)
		return false
	}
	w.shifted.Sub(sum, &w.bound)
	w.combine(&w.lower, &w.shifted, exp, alpha, beta, g.prec)
	w.shifted.Add(sum, &w.bound)
	w.combine(&w.upper, &w.shifted, exp, alpha, beta, g.prec)
	if w.results.same(&w.lower, &w.upper, &w.low, &w.high) {
		w.results.round(at, &w.lower, nil)
		return false
	}
	w.results.round(at, g.exactEntry(w, i, j, alpha), nil)
	return true
}

// errorOf sets bound to what truncation leaves out of entry (i, j) at most, in units of its sum: with |da| < 1, |db| <
// 1, |a'| < 2^bits(A_i) and |b| < 2^bits(B_j), the sum of K products da*b + a'*db is below K*2^bits(B_j) [row i
// truncated] + K*2^bits(A_i) [column j truncated]. b has no more bits before the point than b'. It reports whether
// there is an error at all.
func (g *Gemm) errorOf(bound *big.Int, i, j int) bool {
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
func (g *Gemm) exactEntry(w *gemmWorker, i, j int, alpha *scalar) *term {
	terms := g.exactSum(w, i, j)
	for _, t := range terms {
		t.x.Mul(&t.x, &alpha.x)
		t.exp += alpha.Exp
	}
	return products(terms).sum(&w.addend, g.prec)
}

// exactSum returns terms of which entry (i, j) is the sum.
func (g *Gemm) exactSum(w *gemmWorker, i, j int) []*term {
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
func (g *Gemm) eachProduct(w *gemmWorker, i, j int, add func(x, y *numbers.Number)) {
	for k := range g.a.Cols {
		g.a.ReadAt(&w.left, i, k)
		g.b.ReadAt(&w.right, k, j)
		if w.left.Class == numbers.Finite && w.right.Class == numbers.Finite {
			add(&w.left, &w.right)
		}
	}
}
