package gemv

import (
	"fmt"

	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
	"mpbench/pkg/rns/deferred"
)

// limbsVariant is what records call products of limbs.
const limbsVariant = "products of limbs of 28 bits, no residues"

// newLimbs is the product of short factors by their limbs; nil where residues are better.
func newLimbs(e *deferredEngine, plan *deferred.Plan) (*rowSums, error) {
	n := plan.Limbs()
	if n == 0 {
		return nil, nil
	}
	need := plan.LimbBytes(n) + plan.CopyBytes() + 4*int64(n*e.shape.Length*len(e.columns))
	detail := fmt.Sprintf("%d limbs of 4 bytes per element", n)
	if err := e.config.CheckMemory("deferred", e.shape, need, detail); err != nil {
		return nil, err
	}
	matrix := plan.LimbMatrix()
	columns := make([]*deferred.LimbVector, len(e.columns))
	for j, c := range e.columns {
		var err error
		if columns[j], err = matrix.NewVector(c.problem.X.Source, c.problem.X.Layout); err != nil {
			return nil, err
		}
	}
	info := method.Info{Format: "limbs", NumberBytes: 4 * n, Variant: limbsVariant}
	return newRowSums(e, info, func(sums []numbers.Number, j int) {
		matrix.MulVec(columns[j], e.config.Threads, func(i int, z *numbers.Number) {
			s := &sums[i]
			s.Class, s.Neg, s.Exp, s.Words = z.Class, z.Neg, z.Exp, append(s.Words[:0], z.Words...)
		})
	}), nil
}
