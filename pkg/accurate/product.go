package accurate

import (
	"fmt"
	"math"
	"math/big"

	"gonum.org/v1/gonum/mat"

	"mpbench/internal/parallel"
	"mpbench/pkg/superacc"
)

// product is alpha*a*x + beta*y, row by row: each is an exact sum, which is rounded.
type product struct {
	name        string // of the function
	rows, cols  int
	a           mat.Matrix
	strided     Strided // a, if isStrided
	isStrided   bool
	x           []float64
	alpha, beta float64

	y    []float64    // the result; nil for one in bigs
	bigs []*big.Float // the result, of prec bits
	prec uint
}

func newProduct(name string, a mat.Matrix, x []float64) product {
	p := product{name: name, a: a, x: x}
	p.rows, p.cols = a.Dims()
	p.strided, p.isStrided = stridedOf(a)
	checkLength(name, "x", len(x), p.cols)
	if s, ok := a.(Strided); ok {
		if err := s.check(); err != nil {
			panic(fmt.Errorf("accurate.%s: a: %w", name, err))
		}
	}
	return p
}

// setResult makes y, an argument of that name, the result.
func (p *product) setResult(name string, y []float64) {
	checkLength(p.name, name, len(y), p.rows)
	checkOverlap(p.name, name, y, "x", p.x)
	if p.isStrided {
		checkOverlap(p.name, name, y, "a", p.strided.Data)
	}
	p.y = y
}

const (
	tileRows = 8       // of a column they are 64 bytes, what a processor reads at once
	tileCols = 256     // so that a tile stays in the first-level cache
	share    = 1 << 15 // elements that are worth a goroutine
)

// run computes all rows.
func (p *product) run(t Threads) {
	grain := tileRows * max(1, share/tileRows/max(1, p.cols))
	if t == 1 || p.rows <= grain {
		p.runRows(0, p.rows)
		return
	}
	q := *p // what goroutines share; p itself needs no memory that is allocated
	parallel.Ranges(int(t), p.rows, grain, func(_, from, to int) { q.runRows(from, to) })
}

// runRows computes rows from to to-1.
func (p *product) runRows(from, to int) {
	if p.alpha != 0 && !(p.isStrided && p.strided.ColStride == 1) {
		p.runTiles(from, to)
		return
	}
	var sum superacc.Accumulator
	for i := from; i < to; i++ {
		sum.Reset()
		if p.alpha != 0 {
			sum.AddProducts(p.strided.Data[i*p.strided.RowStride:][:p.cols], p.x)
		}
		p.finish(i, &sum)
	}
}

// tile is a part of some rows, copied to where elements of a row are neighbours.
type tile [tileRows][tileCols]float64

// runTiles computes rows from to to-1, tileRows at a time, whose elements are no neighbours.
func (p *product) runTiles(from, to int) {
	var (
		sums [tileRows]superacc.Accumulator
		copy tile
	)
	for i := from; i < to; i += tileRows {
		n := min(tileRows, to-i)
		for r := range n {
			sums[r].Reset()
		}
		for j := 0; j < p.cols; j += tileCols {
			x := p.x[j:min(j+tileCols, p.cols)]
			p.read(&copy, i, n, j, len(x))
			for r := range n {
				sums[r].AddProducts(copy[r][:len(x)], x)
			}
		}
		for r := range n {
			p.finish(i+r, &sums[r])
		}
	}
}

// read copies rows rows and cols columns from (i, j) on.
func (p *product) read(to *tile, i, rows, j, cols int) {
	s := &p.strided
	for c := range cols {
		if !p.isStrided {
			for r := range rows {
				to[r][c] = p.a.At(i+r, j+c)
			}
			continue
		}
		at := i*s.RowStride + (j+c)*s.ColStride
		for r := range rows {
			to[r][c] = s.Data[at]
			at += s.RowStride
		}
	}
}

// finish rounds component i from the sum of its products, which it may change.
func (p *product) finish(i int, sum *superacc.Accumulator) {
	if p.y == nil {
		p.bigs[i] = round(sum, p.prec)
		return
	}
	addend := p.y[i]
	if p.beta == 0 {
		addend = 0
	}
	p.y[i] = scaled(p.alpha, sum, p.beta, addend)
}

// scaled returns alpha*sum + beta*y, rounded once; it may change the sum, which is empty if alpha is 0.
func scaled(alpha float64, sum *superacc.Accumulator, beta, y float64) float64 {
	switch alpha {
	case 0, 1:
		if beta != 0 {
			sum.AddProduct(beta, y)
		}
		return sum.Float64()
	case -1:
		sum.AddProduct(-beta, y)
		return 0 - sum.Float64() // zero is +0
	}
	s := sum.Round(mostBits) // exact
	if s == nil || s.IsInf() || !finite(alpha) || !finite(beta) || !finite(y) {
		return special(alpha, s, beta, y)
	}
	const exact = 6464 // bits: all terms are multiples of 2^-3222, and below 2^3200 together
	s.SetPrec(exact).Mul(s, big.NewFloat(alpha))
	addend := new(big.Float).SetPrec(exact).Mul(big.NewFloat(beta), big.NewFloat(y))
	result, _ := s.Add(s, addend).Float64()
	return result + 0 // zero is +0
}

// special returns alpha*s + beta*y, of which one is infinite or NaN; a nil s is NaN.
func special(alpha float64, s *big.Float, beta, y float64) float64 {
	var left, right float64 // finite numbers count as 0
	switch {
	case s == nil:
		return math.NaN()
	case s.IsInf():
		left = float64(alpha * math.Inf(s.Sign()))
	case !finite(alpha):
		left = float64(alpha * float64(s.Sign()))
	}
	if !finite(beta) || !finite(y) {
		right = float64(beta * y)
	}
	return left + right
}

func finite(x float64) bool { return x-x == 0 }
