package deferred

import (
	"fmt"
	"math/big"
	"time"

	"mpbench/internal/parallel"
	"mpbench/pkg/numbers"
	"mpbench/pkg/rns/intmat"
)

// Gemm computes C = alpha*A*B + beta*C, each entry the exact result rounded once, by products of matrices of integers
// (package intmat), which A and B are converted to once, as its plan says.
type Gemm struct {
	GemmPlan
	plan       *intmat.Plan
	multiplier *intmat.Multiplier
	panel      [2]int // rows of A, and columns of B, that are converted at a time
	operands   [2]*intmat.Operand
	workers    []gemmWorker
	recomputed int
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

// gemmRedo is how many moduli take as long as computing an entry again, term by term.
const gemmRedo = 4000

// NewGemm plans the product of a and b, rounded to prec bits; threads = 0 stands for GOMAXPROCS. Elements that are
// infinite or NaN count as 0. It returns nil where the numbers take more moduli than package intmat has: where
// precision or spread are beyond 2000 bits.
func NewGemm(a, b numbers.Array, prec, threads int) *Gemm {
	return newGemm(NewGemmPlan(a, b, nil, nil, prec, threads, GemmCost{intmat.Moduli, intmat.MaxModuli, gemmRedo}))
}

// newGemm returns the product that p plans, nil for nil.
func newGemm(p *GemmPlan) *Gemm {
	if p == nil {
		return nil
	}
	g := &Gemm{GemmPlan: *p, plan: intmat.NewPlan(p.width[0], p.width[1], p.a.Cols)}
	g.multiplier, g.workers = g.plan.NewMultiplier(g.threads), make([]gemmWorker, parallel.Threads(g.threads))
	g.panel = [2]int{len(g.rows), len(g.cols)}
	return g
}

// Exact returns the product without truncation, or nil if there is none.
func (g *Gemm) Exact() *Gemm { return newGemm(g.GemmPlan.Exact()) }

// Moduli returns the number of moduli.
func (g *Gemm) Moduli() int { return g.plan.Moduli() }

// Kernel returns the name of the instructions.
func (g *Gemm) Kernel() string { return g.plan.Kernel() }

// Recomputed returns how many entries the last product computed again.
func (g *Gemm) Recomputed() int { return g.recomputed }

// Reconsider reports whether exact products, if there are any, would have taken less time than the last one.
func (g *Gemm) Reconsider() bool { return g.GemmPlan.Reconsider(g.recomputed) }

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
