package gemv

import (
	"time"

	"mpbench/internal/parallel"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
	"mpbench/pkg/rns/deferred"
	"mpbench/pkg/superacc"
)

// direct is the product of a binary64 matrix and binary64 vectors without residues: an exact dot product for each row
// of op(A), read from where it is, and one rounding of alpha times that plus beta*y.
type direct struct {
	rows     *superacc.RowSums
	right    [][]float64      // by column
	sums     []numbers.Number // of the rows, of the last column
	rounders []*deferred.Rounder
}

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

func newDirect(e *deferredEngine) *direct {
	p := e.problem
	a, right := p.Matrix(), p.Right()
	data, x := a.Source.(numbers.Float64s), right.Source.(numbers.Float64s)
	d := &direct{
		rows: superacc.NewRowSums(superacc.Matrix{
			Data: data, Rows: a.Rows, Cols: a.Cols, Offset: a.Offset, RowStride: a.RowStride, ColStride: a.ColStride,
		}, e.config.Threads),
		sums:     make([]numbers.Number, a.Rows),
		rounders: make([]*deferred.Rounder, parallel.Threads(e.config.Threads)),
	}
	for j := range right.Cols {
		column := right.Column(j)
		list, ok := column.Contiguous()
		if !ok {
			list = make([]float64, column.Rows)
			for i := range list {
				list[i] = x[column.Index(i, 0)]
			}
		}
		d.right = append(d.right, list)
	}
	for i := range d.rounders {
		d.rounders[i] = deferred.NewRounder(e.columns[0].scalars.Alpha, e.columns[0].scalars.Beta, uint(e.config.Precision))
	}
	return d
}

// add computes the exact sums of column j of the result.
func (d *direct) add(j int) {
	d.rows.MulVec(d.right[j], func(i int, sum *superacc.Accumulator) {
		z := &d.sums[i]
		var special float64
		z.Words, z.Exp, z.Neg, special = sum.AppendMagnitude(z.Words[:0])
		switch z.Class = numbers.Finite; {
		case special != special:
			z.Class = numbers.NaN
		case special != 0:
			z.Class, z.Neg = numbers.Infinite, special < 0
		}
	})
}

// round rounds them; the results are y before.
func (d *direct) round(s *deferred.Scalars) {
	const grain = 64
	parallel.Ranges(len(d.rounders), len(d.sums), grain, func(worker, from, to int) {
		for i := from; i < to; i++ {
			s.Result[i] = d.rounders[worker].Round(s.Result[i], &d.sums[i])
		}
	})
}

// multiply computes all columns of the result.
func (d *direct) multiply(e *deferredEngine) {
	for j, c := range e.columns {
		start := time.Now()
		c.scalars.Reset()
		d.add(j)
		e.accumulate += time.Since(start)
		start = time.Now()
		d.round(c.scalars)
		e.round += time.Since(start)
	}
}
