package krylov_test

import (
	"context"
	"math/big"
	"testing"

	"mpbench/pkg/exact"
	"mpbench/pkg/format"
	"mpbench/pkg/krylov"
	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
	"mpbench/pkg/superacc"
)

// word is a double-double number with the product of Joldes, Muller and Popescu's algorithm 10, whose small terms are
// not fused, and sums from the first term to the last: another grouping than that of the format dd.
type word [2]float64

func (x word) add(y word) word {
	s, e := superacc.TwoSum(x[0], y[0])
	t, g := superacc.TwoSum(x[1], y[1])
	s, e = superacc.FastTwoSum(s, e+t)
	s, e = superacc.FastTwoSum(s, g+e)
	return word{s, e}
}

func (x word) mul(y word) word {
	p, e := superacc.TwoProduct(x[0], y[0])
	p, e = superacc.FastTwoSum(p, e+(float64(x[0]*y[1])+float64(x[1]*y[0])))
	return word{p, e}
}

// div is long division by three terms.
func (x word) div(y word) word {
	var q [3]float64
	for i := range q {
		q[i] = x[0] / y[0]
		x = x.add(word{-q[i]}.mul(y))
	}
	h, l := superacc.FastTwoSum(q[0], q[1])
	return word{h, l}.add(word{q[2]})
}

func otherDoubleDouble() krylov.Solver {
	f := format.Elements(format.Format[[]word, word]{
		Name: "double-double", Bits: 106, Bytes: 16,
		Value: func(x word) exact.Value {
			return exact.FromRat(new(big.Rat).Add(exact.FromFloat64(x[0]).Number(), exact.FromFloat64(x[1]).Number()))
		},
		Float64s: func(z []float64, x []word) {
			for i, v := range x {
				z[i] = v[0]
			}
		},
		Loops: format.Loops[[]word, word]{Mul: word.mul, Add: word.add, Div: word.div},
	}, func(z *numbers.Number) (word, bool, bool) {
		h := z.Value().Float64() // all numbers of the collection are binary64
		return word{h}, false, false
	})
	f.Dot = func(x, y []word) (s word) {
		for i, v := range x {
			s = s.add(v.mul(y[i]))
		}
		return s
	}
	f.Axpy = func(z []word, a word, x, y []word) {
		for i, v := range x {
			z[i] = y[i].add(a.mul(v))
		}
	}
	f.Scal = func(z []word, a word, x []word) {
		for i, v := range x {
			z[i] = a.mul(v)
		}
	}
	return krylov.Of("other", 106, 0, 0, func(method.Config) format.Format[[]word, word] { return f })
}

// TestOtherGrouping: the numbers of iterations that another program found in double-double come out exactly with its
// product and its order of sums; with those of the format dd they are others (TestCollection).
func TestOtherGrouping(t *testing.T) {
	for name, want := range map[string]int{"add20": 781, "dw2048": 1783, "Pd": 165} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && name != "Pd" {
				t.Skip("it takes long, and -short is given")
			}
			r, err := otherDoubleDouble().Solve(context.Background(), 106, matrix(t, name), standard)
			if err != nil || r.Status != krylov.Converged || r.Iterations != want {
				t.Errorf("%v, %s after %d iterations, want %d", err, r.Status, r.Iterations, want)
			}
		})
	}
}
