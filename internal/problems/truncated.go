package problems

import (
	"math"
	"math/big"
	"math/rand/v2"

	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
)

// Truncated returns a matrix-vector product whose factors take several times as many moduli exactly as they do
// truncated to some bits more than the precision. The first column and x_0 are large, so that they decide most sums.
// In two rows of every `every` the second column and x_1 = x_0 take that away: nothing is left in one, terms that
// truncation loses in the other. With wide, numbers have as many bits as the precision, otherwise they are binary64 of
// every exponent.
func Truncated(r *rand.Rand, trans bool, m, n, precision, every int, wide bool) *op.Problem {
	rows, terms := m, n
	if trans {
		rows, terms = n, m
	}
	lda, inc := m+r.IntN(3), []int{1, -1, 2}[r.IntN(3)]
	length := (terms-1)*max(inc, -inc) + 1
	p := &op.Problem{Op: op.Gemv, Trans: trans, Alpha: numbers.Scalar(-0.7), Beta: numbers.Scalar(0)}
	spread := 1000
	a, x, y := wholeRange(r, lda*n), wholeRange(r, length), wholeRange(r, rows)
	if wide {
		spread = 600 + precision
		a, x = scattered(r, lda*n, precision, spread), scattered(r, length, precision, spread)
		y = scattered(r, rows, precision, 3*spread)
		p.Alpha, p.Beta = numbers.Vector(scattered(r, 1, precision, 9)), numbers.Vector(scattered(r, 1, precision, 9))
	}
	p.A = numbers.Array{Source: a, Layout: numbers.ColMajor(m, n, lda)}
	p.X, p.Y = numbers.Array{Source: x, Layout: numbers.Strided(terms, inc)}, numbers.Vector(y)
	large := func() *big.Float { return new(big.Float).SetMantExp(big.NewFloat(r.Float64()-2), spread-20) }
	x0 := large()
	set(p.X, 0, 0, x0)
	set(p.X, 1, 0, x0)
	element := p.Matrix()
	for i := range rows {
		a0 := large()
		set(element, i, 0, a0)
		if i%every > 1 {
			continue
		}
		set(element, i, 1, a0.Neg(a0))
		set(p.Y, i, 0, new(big.Float))
		for j := 2; j < terms && i%every == 0; j++ {
			set(element, i, j, new(big.Float))
		}
	}
	return p
}

// set makes an element equal to v.
func set(a numbers.Array, i, j int, v *big.Float) {
	switch x := a.Source.(type) {
	case numbers.Float64s:
		x[a.Index(i, j)], _ = v.Float64()
	case numbers.Bigs:
		x[a.Index(i, j)] = new(big.Float).Set(v)
	}
}

// Set makes an element of binary64 numbers equal to v.
func Set(a numbers.Array, i, j int, v float64) { a.Source.(numbers.Float64s)[a.Index(i, j)] = v }

// wholeRange returns float64 numbers of every exponent, subnormal ones included.
func wholeRange(r *rand.Rand, n int) numbers.Source {
	list := make(numbers.Float64s, n)
	for i := range list {
		for list[i] == 0 || math.IsNaN(list[i]) || math.IsInf(list[i], 0) {
			list[i] = math.Float64frombits(r.Uint64())
		}
	}
	return list
}

// scattered returns numbers of p bits with exponents from -spread to spread.
func scattered(r *rand.Rand, n, p, spread int) numbers.Source {
	x := maker{r, Choice{Bits: p}}.source(n).(numbers.Bigs)
	for _, v := range x {
		v.SetMantExp(v, r.IntN(2*spread+1)-spread)
	}
	return x
}
