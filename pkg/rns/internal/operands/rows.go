package operands

import (
	"math"
	"math/rand/v2"
)

// CancellingRows returns a square matrix, row after row, and a vector of float64 numbers of nearly all exponents,
// whose products in each of the first open rows add up to exactly zero. size is even, or open 0.
func CancellingRows(size, open int) (a, x []float64) {
	r := rand.New(rand.NewPCG(5, 6))
	number := func() float64 { return math.Ldexp(r.Float64()-0.5, r.IntN(2000)-1000) }
	a, x = make([]float64, size*size), make([]float64, size)
	for k := range a {
		if a[k] = number(); k < open*size && k%2 == 1 {
			a[k] = -a[k-1]
		}
	}
	for j := range x {
		if x[j] = number(); j%2 == 1 {
			x[j] = x[j-1]
		}
	}
	return a, x
}
