package sell

import (
	"math"

	"mpbench/pkg/superacc"
)

// word is a double-double number; its operations are network.AddDoubleWord and MulDoubleWord.
type word [2]float64

// addProduct returns x + a*y.
func (x word) addProduct(a, y word) word {
	p, e := superacc.TwoProduct(a[0], y[0])
	p, e = superacc.FastTwoSum(p, e+math.FMA(a[0], y[1], a[1]*y[0]))
	s, f := superacc.TwoSum(x[0], p)
	t, g := superacc.TwoSum(x[1], e)
	s, f = superacc.FastTwoSum(s, f+t)
	s, f = superacc.FastTwoSum(s, g+f)
	return word{s, f}
}

// float64sGeneric sets the sums of each slice, 8 numbers, to those of its steps.
func float64sGeneric(steps, columns []int32, a, x, sums []float64) {
	for s, n := range steps {
		sum := sums[rows*s : rows*(s+1)]
		clear(sum)
		for range n {
			for l, j := range columns[:rows] {
				sum[l] += float64(a[l] * x[j])
			}
			columns, a = columns[rows:], a[rows:]
		}
	}
}

// doubleDoublesGeneric is float64sGeneric for numbers of two parts, 8 high parts of a slice before 8 low ones, and
// elements of one or two.
func doubleDoublesGeneric(parts int, steps, columns []int32, a, x, low, sums []float64) {
	for s, n := range steps {
		sum := sums[2*rows*s : 2*rows*(s+1)]
		clear(sum)
		for range n {
			for l, j := range columns[:rows] {
				element := word{a[l], 0}
				if parts == 2 {
					element[1] = a[rows+l]
				}
				z := word{sum[l], sum[rows+l]}.addProduct(element, word{x[j], low[j]})
				sum[l], sum[rows+l] = z[0], z[1]
			}
			columns, a = columns[rows:], a[rows*parts:]
		}
	}
}
