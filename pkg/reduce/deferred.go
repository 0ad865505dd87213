package reduce

import (
	"fmt"
	"math/big"
	"runtime"

	"mpbench/pkg/exact"
	"mpbench/pkg/numbers"
	"mpbench/pkg/rns/deferred"
	"mpbench/pkg/superacc"
)

const (
	sourceDeferred = "mpbench, package superacc; for numbers wider than float64 package rns/deferred"
	minDeferred    = 24
	// conversionBits is how much longer than the result's precision wide terms are kept: rounding them costs 2^-64 units of
	// the result, times the condition number.
	conversionBits = 64
)

// deferredSum adds exactly and rounds once, to nearest even at p bits. Terms in float64 are summed by package superacc; wide
// ones, rounded to p + 64 bits, as packed words by package deferred.
type deferredSum struct {
	precision int
	threads   int
	terms     []float64
	wide      *deferred.Packed // nil for float64 terms
	exact     superacc.Accumulator
	result    *big.Float // nil for NaN
}

func newDeferred(o Options) (Summer, error) {
	if kindOf(o.Device) != "cpu" {
		return newDeferredSumOn(o)
	}
	return &deferredSum{precision: o.Precision, threads: allThreads(o.Threads)}, nil
}

// allThreads resolves the option 0.
func allThreads(threads int) int {
	if threads <= 0 {
		return runtime.GOMAXPROCS(0)
	}
	return threads
}

func (d *deferredSum) Load(t Terms) error {
	d.terms, d.wide = t.Float64, nil
	if t.Wide == nil {
		return nil
	}
	var err error
	d.wide, err = packed(t.Wide, d.precision)
	return err
}

// packed returns the numbers rounded to p + conversionBits bits.
func packed(x []*big.Rat, p int) (*deferred.Packed, error) {
	return deferred.Pack(numbers.Bigs(roundedTo(x, p+conversionBits)), numbers.Strided(len(x), 1))
}

// roundedTo returns the numbers rounded to nearest even at p bits.
func roundedTo(x []*big.Rat, p int) []*big.Float {
	list := make([]*big.Float, len(x))
	for i, v := range x {
		list[i] = new(big.Float).SetPrec(uint(p)).SetRat(v)
	}
	return list
}

func (d *deferredSum) Sum() {
	if d.wide != nil {
		d.result = d.wide.Sum(d.threads).Round(new(big.Float), uint(d.precision))
		return
	}
	d.exact.Reset()
	d.exact.AddSliceParallel(d.terms, d.threads)
	d.result = d.exact.Round(uint(d.precision))
}

func (d *deferredSum) Value() exact.Value { return exact.FromBig(d.result) }

// ErrorBound is u*|sum| with u = 2^-p: correct rounding; for wide terms 4*2^-(p+64)*sumAbs more.
func (d *deferredSum) ErrorBound(s exact.Summary) *big.Rat {
	return deferredBound(d.precision, d.wide != nil, s)
}

// deferredBound is u*|sum|, and for rounded terms 4*v*sumAbs more, which covers sums of terms (v) and of products (2v + v^2), and
// their part of the last rounding.
func deferredBound(p int, rounded bool, s exact.Summary) *big.Rat {
	bound := new(big.Rat).Mul(exact.PowerOfTwo(-p), new(big.Rat).Abs(sum(s)))
	if rounded {
		bound.Add(bound, new(big.Rat).Mul(exact.PowerOfTwo(2-p-conversionBits), sumAbs(s)))
	}
	return bound
}

func (d *deferredSum) Format() Format {
	f := Format{Name: "exact", Actual: d.precision, TermBytes: 8, Threads: d.threads}
	if d.wide != nil {
		f.TermBytes = int(d.wide.Bytes()) / max(1, d.wide.Len())
	}
	return f
}

// deferredDot is the exact dot product, rounded once to nearest even at p bits; wide vectors are rounded to p + 64 bits first.
type deferredDot struct {
	precision int
	threads   int
	x, y      []float64
	wideX     []*big.Float // for wide vectors, with wideY
	wideY     []*big.Float
	exact     superacc.Accumulator
	result    *big.Float // nil for NaN
}

func newDeferredDot(o Options) (Dotter, error) {
	if kindOf(o.Device) != "cpu" {
		return newDeferredDotOn(o)
	}
	return &deferredDot{precision: o.Precision, threads: allThreads(o.Threads)}, nil
}

func (d *deferredDot) Load(x, y Terms) error {
	d.x, d.y, d.wideX, d.wideY = x.Float64, y.Float64, nil, nil
	if x.Wide == nil && y.Wide == nil {
		return nil
	}
	if hasSpecial(x.Float64) || hasSpecial(y.Float64) {
		return fmt.Errorf("%w: infinities and NaN do not go with numbers wider than float64", ErrOption)
	}
	d.wideX, d.wideY = d.widened(x), d.widened(y)
	return nil
}

// widened returns the terms as big.Float, rounded if they are wide.
func (d *deferredDot) widened(t Terms) []*big.Float {
	if t.Wide != nil {
		return roundedTo(t.Wide, d.precision+conversionBits)
	}
	list := make([]*big.Float, len(t.Float64))
	for i, x := range t.Float64 {
		list[i] = big.NewFloat(x)
	}
	return list
}

func (d *deferredDot) Dot() {
	if d.wideX != nil {
		layout := numbers.Strided(len(d.wideX), 1)
		s, err := deferred.Dot(numbers.Bigs(d.wideX), layout, numbers.Bigs(d.wideY), layout, d.threads)
		if err != nil {
			panic(err) // the layouts fit by construction
		}
		d.result = s.Round(new(big.Float), uint(d.precision))
		return
	}
	d.exact.Reset()
	d.exact.AddProductsParallel(d.x, d.y, d.threads)
	d.result = d.exact.Round(uint(d.precision))
}

func (d *deferredDot) Value() exact.Value { return exact.FromBig(d.result) }

// ErrorBound is u*|x'y| with u = 2^-p: correct rounding; for wide vectors 4*2^-(p+64)*sumAbs more.
func (d *deferredDot) ErrorBound(s exact.Summary) *big.Rat {
	return deferredBound(d.precision, d.wideX != nil, s)
}

func (d *deferredDot) Format() Format {
	return Format{Name: "exact", Actual: d.precision, TermBytes: 16, Threads: d.threads}
}

// StreamSummer is a method that sums terms as they come, without holding them.
type StreamSummer interface {
	// SumStream sums what next delivers: it fills the slice and returns how many terms it put there, 0 at the end. It
	// stops at the first error. It is what is timed.
	SumStream(next func([]float64) (int, error)) error
	// Value, ErrorBound and Format are as those of a Summer.
	Value() exact.Value
	ErrorBound(s exact.Summary) *big.Rat
	Format() Format
}

// streamTerms is how many terms SumStream takes at a time: 4 MB, enough for all threads.
const streamTerms = 1 << 19

func newDeferredStream(o Options) (StreamSummer, error) {
	if kindOf(o.Device) != "cpu" {
		return newDeferredStreamOn(o)
	}
	return &deferredSum{precision: o.Precision, threads: allThreads(o.Threads)}, nil
}

func (d *deferredSum) SumStream(next func([]float64) (int, error)) error {
	d.exact.Reset()
	buffer := make([]float64, streamTerms)
	for {
		n, err := next(buffer)
		if err != nil {
			return err
		}
		if n == 0 {
			break
		}
		d.exact.AddSliceParallel(buffer[:n], d.threads)
	}
	d.result = d.exact.Round(uint(d.precision))
	return nil
}
