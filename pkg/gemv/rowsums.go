package gemv

import (
	"time"

	"mpbench/internal/parallel"
	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
	"mpbench/pkg/rns/deferred"
)

// rowSums is a product whose exact sums are found without residues: alpha times each plus beta*y is rounded once.
type rowSums struct {
	info     method.Info                        // format, bytes of a number, variant
	add      func(sums []numbers.Number, j int) // sets the exact sums of the rows, for column j of the result
	sums     []numbers.Number
	rounders []*deferred.Rounder
}

func newRowSums(e *deferredEngine, info method.Info, add func(sums []numbers.Number, j int)) *rowSums {
	s := &rowSums{
		info: info, add: add, sums: make([]numbers.Number, e.shape.Rows),
		rounders: make([]*deferred.Rounder, parallel.Threads(e.config.Threads)),
	}
	for i := range s.rounders {
		s.rounders[i] = deferred.NewRounder(e.columns[0].scalars.Alpha, e.columns[0].scalars.Beta, uint(e.config.Precision))
	}
	return s
}

// round rounds the sums; the results are y before.
func (s *rowSums) round(scalars *deferred.Scalars) {
	const grain = 64
	parallel.Ranges(len(s.rounders), len(s.sums), grain, func(worker, from, to int) {
		for i := from; i < to; i++ {
			scalars.Result[i] = s.rounders[worker].Round(scalars.Result[i], &s.sums[i])
		}
	})
}

// multiply computes all columns of the result.
func (s *rowSums) multiply(e *deferredEngine) {
	for j, c := range e.columns {
		start := time.Now()
		c.scalars.Reset()
		s.add(s.sums, j)
		e.accumulate += time.Since(start)
		start = time.Now()
		s.round(c.scalars)
		e.round += time.Since(start)
	}
}
