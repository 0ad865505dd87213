package gemv

import (
	"mpbench/pkg/numbers"
	"mpbench/pkg/rns/deferred"
)

// This file has what the deferred engines do with truncated factors, see package rns/deferred: results are correctly rounded all the same.

// reconsiderShare is the share of the rows, one in so many, beyond which computing them again takes longer than exact sums of all: a row takes
// some 200 ns an element then (BenchmarkRepaired of package rns/deferred), and exact sums of float64 numbers of all exponents take 16 ns more than
// truncated ones (BenchmarkTruncated).
const reconsiderShare = 16

// reconsider tries a product with truncated factors, and goes over to exact ones if too many rows are computed again and moduli and
// memory suffice.
func (e *deferredEngine) reconsider(plan *deferred.Plan, x numbers.Source, layout numbers.Layout, op deferred.Op) error {
	if !e.matrix.Truncated() && !e.x.Truncated() {
		return nil
	}
	e.Run()
	if reconsiderShare*e.sums.Repaired() <= e.problem.Rows() {
		return nil
	}
	extent, err := deferred.Measure(x, layout)
	if err != nil {
		return err
	}
	exact := plan.Exact(extent)
	if exact == nil || e.problem.checkBytes("deferred", exact.Bytes(), e.maxBytes, "") != nil {
		return nil
	}
	return e.convert(exact, x, layout, op)
}

// reconsider goes over to exact sums where truncated ones would have to be repaired too often, and gives up what exact ones do not need.
func (e *deviceDeferred) reconsider() error {
	if e.product.Truncated() {
		a, x, product, err := e.product.Reconsidered()
		if err != nil {
			return err
		}
		if product != nil {
			e.product.Free()
			e.dX.Free()
			e.a.Free()
			e.a, e.dX, e.product = a, x, product
		}
	}
	if !e.product.Truncated() {
		e.freeNumbers()
	}
	return nil
}

// freeNumbers gives the device's copy of the numbers back.
func (e *deviceDeferred) freeNumbers() {
	for _, x := range e.raw {
		x.Free()
	}
	e.raw = nil
}

// truncatedVariant says that factors are truncated, and how many rows the last Run had to compute again for results that are correctly rounded.
func truncatedVariant(repaired int) string {
	return "truncated factors, " + counted(repaired, "row") + " computed again"
}
