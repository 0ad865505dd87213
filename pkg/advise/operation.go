package advise

import (
	"fmt"
	"math"
	"math/big"

	"mpbench/pkg/exact"
)

// An Operation is a sum, a dot product or a matrix-vector product of given data, with its exact result.
type Operation interface {
	// Name is "sum", "dot" or "gemv".
	Name() string
	// Facts describe the data: numbers, condition, exponents.
	Facts() Facts

	methods() []row
	// prepare makes a method ready for a precision on a device.
	prepare(name string, precision int, device string, threads int) (instance, error)
	// sample is a part of the data and how many times as much the whole is; nil for data that are small already.
	sample() (Operation, float64)
}

// Facts are what is measured of data before any method is run.
type Facts struct {
	Size      []string    // "n = 1000"
	Condition exact.Value // the worst of the components
	Least     int         // the exponents of the magnitudes of the terms: from 2^Least ...
	Most      int         // ... to below 2^(Most+1)
	Spread    int         // Most - Least, in bits; 0 without any term
}

// row is a row of a registry.
type row struct {
	name, format string
	devices      []string
	fixed        int // precision of a fixed format, 0 when the user chooses it
	least, most  int
}

// instance is a method made ready for one precision.
type instance interface {
	// bound returns the proved bound on the relative error, of the worst component; +Inf or NaN where nothing is proved. Before
	// load it converts as few numbers as it can, and may leave out what the conversion of the others costs.
	bound() exact.Value
	load() error
	run() error // of the device
	// found returns the relative error of the last run, of the worst component.
	found() exact.Value
	close() // gives back a device's memory
}

// exponents collects the exponents of magnitudes.
type exponents struct {
	least, most int
	any         bool
}

func (e *exponents) add(exp int) {
	if !e.any {
		e.least, e.most, e.any = exp, exp, true
	}
	e.least, e.most = min(e.least, exp), max(e.most, exp)
}

// addFloat adds floor(log2 |x|) of a finite x != 0.
func (e *exponents) addFloat(x float64) {
	if x != 0 && x-x == 0 {
		e.add(math.Ilogb(x))
	}
}

// addRat adds floor(log2 |x|) of x != 0, or one less.
func (e *exponents) addRat(x *big.Rat) {
	if x.Sign() != 0 {
		e.add(x.Num().BitLen() - x.Denom().BitLen())
	}
}

func (e *exponents) facts(f Facts) Facts {
	f.Least, f.Most, f.Spread = e.least, e.most, e.most-e.least
	return f
}

// relativeBound returns bound/|exact|: 0 for 0/0, +Inf where only exact is 0, NaN for a nil bound.
func relativeBound(bound *big.Rat, want exact.Value) exact.Value {
	switch {
	case bound == nil || !want.IsFinite():
		return exact.Value{Class: exact.NaN}
	case bound.Sign() == 0:
		return exact.FromRat(new(big.Rat))
	case want.Sign() == 0:
		return exact.Value{Class: exact.PosInf}
	}
	r := new(big.Rat).Quo(bound, want.Rat)
	return exact.FromRat(r.Abs(r))
}

// larger orders relative errors: numbers, then +Inf, then NaN.
func larger(x, y exact.Value) bool {
	rank := map[exact.Class]int{exact.Finite: 0, exact.PosInf: 1, exact.NegInf: 1, exact.NaN: 2}
	if x.Class != y.Class {
		return rank[x.Class] > rank[y.Class]
	}
	return x.IsFinite() && ratOf(x).Cmp(ratOf(y)) > 0
}

func ratOf(v exact.Value) *big.Rat {
	if v.Rat == nil {
		return new(big.Rat)
	}
	return v.Rat
}

// unknownMethod is the error of a name that is in no registry.
func unknownMethod(name string) error { return fmt.Errorf("advise: no method %s", name) }
