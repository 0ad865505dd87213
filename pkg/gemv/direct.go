package gemv

import (
	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
	"mpbench/pkg/rns/deferred"
	"mpbench/pkg/superacc"
)

// directVariant is what records call it.
const directVariant = "exact dot products of rows in place, no residues"

// fewUses is how many products of a matrix cost less without residues, whatever its numbers are: to convert takes
// longer than so many exact dot products of the same rows (BenchmarkOneShot).
const fewUses = 8

// With so many moduli, a product of residues, once converted, is slower than one of binary64 numbers in place
// (BenchmarkOneShot), whose exponents lie near enough to each other for the fast kernels of package superacc.
const leastDirect, mostDirect = 3, 12

// inPlace tells whether the matrix and what it is multiplied by are binary64 numbers in memory.
func inPlace(p *op.Problem) bool { return p.A.Binary64() && p.X.Binary64() && p.A.Pattern == nil }

// finiteVectors tells whether all is finite that is read beside the matrix.
func finiteVectors(p *op.Problem) bool {
	return p.Alpha.AllFinite() && p.X.AllFinite() && (!p.Adds() || p.Beta.AllFinite() && p.Y.AllFinite())
}

// usedRarely tells whether the matrix is used for so few products, one for each column, that residues do not pay.
func (e *deferredEngine) usedRarely() bool {
	uses := e.config.Reuse() * e.problem.Right().Cols
	return 0 < uses && uses <= fewUses
}

// directIsFaster tells whether a product in place is faster than one of the residues of a plan.
func directIsFaster(plan *deferred.Plan) bool {
	return !plan.Truncated() && leastDirect <= plan.Moduli() && plan.Moduli() <= mostDirect
}

// newDirect is the product of a binary64 matrix and binary64 vectors: an exact dot product for each row of op(A), read
// from where it is.
func newDirect(e *deferredEngine) *rowSums {
	p := e.problem
	a, right := p.Matrix(), p.Right()
	x := right.Source.(numbers.Float64s)
	rows := superacc.NewRowSums(superacc.Matrix{
		Data: a.Source.(numbers.Float64s), Rows: a.Rows, Cols: a.Cols, Offset: a.Offset,
		RowStride: a.RowStride, ColStride: a.ColStride,
	}, e.config.Threads)
	var columns [][]float64
	for j := range right.Cols {
		column := right.Column(j)
		list, ok := column.Contiguous()
		if !ok {
			list = make([]float64, column.Rows)
			for i := range list {
				list[i] = x[column.Index(i, 0)]
			}
		}
		columns = append(columns, list)
	}
	info := method.Info{Format: "exact", NumberBytes: 8, Variant: directVariant}
	return newRowSums(e, info, func(sums []numbers.Number, j int) {
		rows.MulVec(columns[j], func(i int, sum *superacc.Accumulator) {
			z := &sums[i]
			var special float64
			z.Words, z.Exp, z.Neg, special = sum.AppendMagnitude(z.Words[:0])
			switch z.Class = numbers.Finite; {
			case special != special:
				z.Class = numbers.NaN
			case special != 0:
				z.Class, z.Neg = numbers.Infinite, special < 0
			}
		})
	})
}
