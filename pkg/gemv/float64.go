package gemv

import (
	"math"
	"math/big"
	"time"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"mpbench/pkg/exact"
)

// float64Engine is gonum's Dgemv. A matrix stored by columns is its transpose stored by rows, so the operation is swapped and
// nothing is converted.
type float64Engine struct {
	problem     Problem
	alpha, beta float64
	a, x, y     []float64 // y as loaded
	result      []float64
	converted   bool // an input was rounded
	lost        bool // an input overflowed or fell below the normal range
	elapsed     time.Duration
}

func newFloat64(Options) (Engine, error) { return &float64Engine{}, nil }

func (e *float64Engine) Load(p Problem) error {
	if err := p.Check(); err != nil {
		return err
	}
	*e = float64Engine{problem: p}
	e.alpha = e.convert(p.Alpha.numbers())[0]
	e.beta = e.convert(p.Beta.numbers())[0]
	e.a, e.x, e.y = e.convert(p.A), e.convert(p.X), e.convert(p.Y)
	e.result = make([]float64, len(e.y))
	return nil
}

// convert returns the numbers as float64: themselves, or wide ones rounded to nearest even.
func (e *float64Engine) convert(x Numbers) []float64 {
	if x.Wide == nil {
		return x.Float64
	}
	result := make([]float64, len(x.Wide))
	for i, w := range x.Wide {
		if w == nil {
			continue // between the elements
		}
		f, accuracy := w.Float64()
		result[i] = f
		if accuracy != big.Exact {
			e.converted = true
			e.lost = e.lost || math.IsInf(f, 0) || math.Abs(f) <= 0x1p-1022
		}
	}
	return result
}

func (e *float64Engine) Run() {
	start := time.Now()
	p := &e.problem
	copy(e.result, e.y)
	if p.work() != unchanged {
		op := blas.Trans
		if p.Op == Trans {
			op = blas.NoTrans
		}
		blas64.Gemv(op, e.alpha, blas64.General{Rows: p.N, Cols: p.M, Stride: p.LDA, Data: e.a},
			blas64.Vector{N: p.Terms(), Inc: p.IncX, Data: e.x}, e.beta, blas64.Vector{N: p.Rows(), Inc: p.IncY, Data: e.result})
	}
	e.elapsed = time.Since(start)
}

func (e *float64Engine) Result() []exact.Value {
	result := make([]exact.Value, e.problem.Rows())
	for i := range result {
		result[i] = exact.FromFloat64(e.result[e.problem.yIndex(i)])
	}
	return result
}

func (e *float64Engine) Phases() []Phase {
	return []Phase{{"gemv", "the whole operation", e.elapsed}}
}

func (e *float64Engine) UnitRoundoff() *big.Rat { return exact.PowerOfTwo(-53) }

// overflow64 is the least number that rounds to an infinity.
var overflow64 = new(big.Rat).Sub(exact.PowerOfTwo(1024), exact.PowerOfTwo(970))

// ErrorBound is gamma(n+2) * S with u = 2^-53, in whatever order the terms are added, plus what underflow can cost: each of the
// n+1 products with alpha or beta and the n products with A loses at most 2^-1075 beside its relative error, which
// later is multiplied by at most max(1, |alpha|) or |a_ij|. It is nil where a partial result might overflow.
func (e *float64Engine) ErrorBound(i int, s exact.Summary) *big.Rat {
	p := &e.problem
	if e.lost {
		return nil
	}
	bound := exact.GammaTimes(depth(p.work(), p.Terms(), e.converted), e.UnitRoundoff(), rat(s.SumAbs))
	if bound == nil || p.work() == unchanged {
		return bound
	}
	loss, partial := big.NewRat(1, 1), new(big.Rat).Set(rat(s.SumAbs))
	if p.work() == full {
		rowAbs, largest := e.magnitudes(i)
		if math.IsInf(rowAbs, 0) || math.IsInf(e.alpha, 0) || math.IsInf(e.beta, 0) {
			return nil
		}
		n := big.NewRat(int64(p.Terms()), 1)
		alpha := new(big.Rat).SetFloat64(math.Abs(e.alpha))
		loss.Mul(n, alpha)
		loss.Add(loss, n).Add(loss, new(big.Rat).SetFloat64(rowAbs)).Add(loss, big.NewRat(2, 1))
		partial.Add(partial, new(big.Rat).Quo(rat(s.SumAbs), alpha)) // sums before the multiplication by alpha
		partial.Add(partial, alpha.Mul(alpha, new(big.Rat).SetFloat64(largest)))
	}
	loss.Mul(loss, exact.PowerOfTwo(-1074))
	if partial.Add(partial, partial).Add(partial, loss).Cmp(overflow64) >= 0 { // twice: room for rounding errors
		return nil
	}
	return bound.Add(bound, loss)
}

// magnitudes returns upper bounds on the sum of |a_ij| over j, and on |x_j|.
func (e *float64Engine) magnitudes(i int) (rowAbs, largest float64) {
	p := &e.problem
	for j := range p.Terms() {
		rowAbs += math.Abs(e.a[p.aIndex(i, j)])
		largest = max(largest, math.Abs(e.x[p.xIndex(j)]))
	}
	return 2 * rowAbs, largest // the rounding errors of the sum are far less than the sum
}

func (e *float64Engine) Format() Format {
	return Format{Name: "binary64", Actual: 53, NumberBytes: 8, Threads: 1}
}
