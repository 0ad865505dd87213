package accurate

import (
	"math/big"

	"gonum.org/v1/gonum/mat"
)

// MulVec sets dst = a*x. A matrix is any of gonum's, or a slice: [RowMajor], [ColMajor], [Strided]; its transpose is
// a.T().
//
// Result: every component is the exact one, rounded once to the nearest float64, ties to even: the bound is that of
// [Dot], component by component.
//
// Special values: those of [Dot], of each row and x; for no columns, +0. It panics with a [*LengthError] if x has not
// as many elements as a has columns, or dst as a has rows, and with an [*OverlapError] if dst shares memory with x or
// with the elements of a.
//
// Cost: that of [Dot] for each row where elements of rows are neighbours (mat.Dense, RowMajor); 1 to 2 ns an element
// more where they are not (transposed, ColMajor); and a call of At, some 4 ns an element, for other types, such as
// mat.SymDense (BenchmarkMulVec). Nothing is allocated, and a is not copied.
//
// Source: as for [Dot].
func MulVec(dst []float64, a mat.Matrix, x []float64) { Threads(1).MulVec(dst, a, x) }

// MulVec is the function [MulVec]; goroutines share the rows.
func (t Threads) MulVec(dst []float64, a mat.Matrix, x []float64) {
	p := newProduct("MulVec", a, x)
	p.alpha = 1
	p.setResult("dst", dst)
	p.run(t)
}

// MulVecPrec returns a*x, every component rounded once to prec bits.
//
// Result, bound and special values of a component are those of [DotPrec], 0 bits standing for the exact values; NaN is
// nil. It panics with a [*LengthError] if x has not as many elements as a has columns. Cost: that of [MulVec], and
// some allocations for each component. Source: as for [Dot].
func MulVecPrec(a mat.Matrix, x []float64, prec uint) []*big.Float {
	return Threads(1).MulVecPrec(a, x, prec)
}

// MulVecPrec is the function [MulVecPrec]; goroutines share the rows.
func (t Threads) MulVecPrec(a mat.Matrix, x []float64, prec uint) []*big.Float {
	p := newProduct("MulVecPrec", a, x)
	p.alpha = 1
	p.prec = prec
	p.bigs = make([]*big.Float, p.rows)
	p.run(t)
	return p.bigs
}

// Gemv sets y = alpha*a*x + beta*y.
//
// Result: every component is the exact one, rounded once to the nearest float64, ties to even, so |result - exact| <=
// 2^-53 |exact|, or half of 2^-1074 if that is more, whatever cancels.
//
// Special values: those of IEEE 754 arithmetic without overflow on the way, and +0 for zero. As in BLAS, a and x are
// not read if alpha is 0, nor y if beta is 0. It panics as [MulVec] does.
//
// Cost: that of [MulVec] if alpha is 1 or -1; for others, a component takes 1 µs and 10 allocations
// more (BenchmarkGemv). Source: as for [Dot].
func Gemv(alpha float64, a mat.Matrix, x []float64, beta float64, y []float64) {
	Threads(1).Gemv(alpha, a, x, beta, y)
}

// Gemv is the function [Gemv]; goroutines share the rows.
func (t Threads) Gemv(alpha float64, a mat.Matrix, x []float64, beta float64, y []float64) {
	p := newProduct("Gemv", a, x)
	p.alpha, p.beta = alpha, beta
	p.setResult("y", y)
	p.run(t)
}

// MulVecDense sets dst = a*x and does all that dst.MulVec(a, x) of gonum does: an empty dst gets its length, and dst
// may be x.
//
// Result, bound, special values and cost are those of [MulVec]; it allocates if x or dst has an increment, if x is no
// *mat.VecDense, or if dst shares memory with x or a. It panics with a [*LengthError] if lengths do not match.
func MulVecDense(dst *mat.VecDense, a mat.Matrix, x mat.Vector) { Threads(1).MulVecDense(dst, a, x) }

// MulVecDense is the function [MulVecDense]; goroutines share the rows.
func (t Threads) MulVecDense(dst *mat.VecDense, a mat.Matrix, x mat.Vector) {
	p := newProduct("MulVecDense", a, neighbours(x))
	p.alpha = 1
	if dst.IsEmpty() {
		dst.ReuseAsVec(p.rows)
	}
	checkLength(p.name, "dst", dst.Len(), p.rows)
	raw := dst.RawVector()
	if raw.Inc == 1 && !overlap(raw.Data, p.x) && !(p.isStrided && overlap(raw.Data, p.strided.Data)) {
		p.y = raw.Data
		p.run(t)
		return
	}
	p.y = make([]float64, p.rows)
	p.run(t)
	for i, v := range p.y {
		dst.SetVec(i, v)
	}
}

// neighbours returns the elements of a vector one next to the other: themselves, or copies.
func neighbours(x mat.Vector) []float64 {
	if v, ok := x.(*mat.VecDense); ok && v.RawVector().Inc == 1 {
		return v.RawVector().Data
	}
	list := make([]float64, x.Len())
	for i := range list {
		list[i] = x.AtVec(i)
	}
	return list
}
