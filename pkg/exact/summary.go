package exact

import (
	"math/big"
	"runtime"

	"mpbench/internal/parallel"
)

// Summary is what the exact reference says about a set of terms.
type Summary struct {
	N      int
	Sum    Value // the exact sum
	SumAbs Value // the exact sum of the magnitudes
	Finite Value // that of the magnitudes of the finite terms

	// Square is the square of an exact result that is irrational, of which Sum is the beginning; nil for others.
	Square *big.Rat
}

// Condition returns the condition number of the summation, sum|x| / |sum x|, which is at least 1 and +Inf when the
// terms cancel to 0. Terms that are all zeros, or no terms at all, have condition 1: any order and any format sums
// them exactly. Where a term is infinite or NaN there is no condition number and the result is NaN.
func (s Summary) Condition() Value {
	if !s.Sum.IsFinite() || !s.SumAbs.IsFinite() {
		return Value{Class: NaN}
	}
	abs, sum := s.SumAbs.Number(), s.Sum.Number()
	switch {
	case abs.Sign() == 0:
		return Value{Rat: big.NewRat(1, 1)}
	case sum.Sign() == 0:
		return Value{Class: PosInf}
	}
	c := new(big.Rat).Quo(abs, sum)
	return Value{Rat: c.Abs(c)}
}

// Summary returns the sum and the sum of magnitudes of the terms added so far.
func (s *Sum) Summary() Summary {
	finite := s.finiteAbs()
	return Summary{N: s.n, Sum: s.Value(), SumAbs: s.specials.magnitude(finite), Finite: finite}
}

// SumOf returns the exact summary of xs, by a goroutine for each processor, whose number changes nothing.
func SumOf(xs []float64) Summary { return sumParallel(xs, runtime.GOMAXPROCS(0)).Summary() }

// minBlock is the least number of terms worth a goroutine: with fewer, merging costs more than adding.
const minBlock = 1 << 16

// sumParallel adds xs with up to workers goroutines.
func sumParallel(xs []float64, workers int) *Sum {
	workers = max(1, min(workers, len(xs)/minBlock))
	parts := make([]Sum, workers)
	parallel.Ranges(workers, len(xs), minBlock, func(worker, from, to int) { parts[worker].AddSlice(xs[from:to]) })
	for w := 1; w < workers; w++ {
		parts[0].Merge(&parts[w])
	}
	return &parts[0]
}
