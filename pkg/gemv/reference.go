package gemv

import (
	"math"
	"math/big"

	"mpbench/pkg/exact"
)

// Reference is the exact result of a problem.
type Reference struct {
	Y   []exact.Value // y* = alpha*op(A)*x + beta*y
	Abs []exact.Value // S = |alpha||op(A)||x| + |beta||y|; NaN where y* is no number because an input is none

	terms int // length of the sums
}

// Exact returns the exact result, computed by the given number of goroutines, 0 for all processors.
//
// The products alpha*x_j are exact too: where they are float64 numbers, as for alpha = 1 and every float64 x, the sums of a
// component are accumulated in a fixed-point integer, otherwise in integers of any length.
func Exact(p Problem, threads int) (*Reference, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	r := &Reference{Y: make([]exact.Value, p.Rows()), Abs: make([]exact.Value, p.Rows()), terms: p.Terms()}
	special := p.specials()
	d := p.scaledX()
	parallel(threadsOf(threads), p.Rows(), 1, func(_, i, _ int) {
		if special != nil && special[i] != 0 {
			r.Y[i], r.Abs[i] = exact.FromFloat64(special[i]), exact.Value{Class: exact.NaN}
			return
		}
		sum := p.component(d, i)
		r.Y[i], r.Abs[i] = sum.Value(), sum.Abs()
	})
	return r, nil
}

// scaledX returns alpha*x, exactly, infinities and NaN counting as 0; its elements are in order.
func (p *Problem) scaledX() Numbers {
	if p.work() != full {
		return Numbers{}
	}
	n := p.Terms()
	alpha := new(big.Float).Set(p.Alpha.numbers().float(new(big.Float), 0))
	d := Numbers{Float64: make([]float64, n)}
	var scratch big.Float
	for j := range n {
		x := p.X.float(&scratch, p.xIndex(j))
		product := new(big.Float).SetPrec(max(1, alpha.MinPrec()+x.MinPrec())).Mul(alpha, x) // exact
		if d.Wide == nil {
			f, accuracy := product.Float64()
			if accuracy == big.Exact && !math.IsInf(f, 0) {
				d.Float64[j] = f
				continue
			}
			d.Wide = make([]*big.Float, n)
			for k, f := range d.Float64[:j] {
				d.Wide[k] = new(big.Float).SetFloat64(f)
			}
		}
		d.Wide[j] = product
	}
	if d.Wide != nil {
		d.Float64 = nil
	}
	return d
}

// component accumulates component i: the products a_ij * d_j, and beta*y_i.
func (p *Problem) component(d Numbers, i int) *exact.Dot {
	sum := new(exact.Dot)
	if p.readsY() {
		beta := p.Beta
		if p.work() == unchanged {
			beta = Number(1)
		}
		sum.AddBig(beta.numbers().float(new(big.Float), 0), p.Y.float(new(big.Float), p.yIndex(i)))
	}
	if p.work() != full {
		return sum
	}
	if d.Wide == nil && p.A.Wide == nil {
		for j, x := range d.Float64 {
			sum.Add(finite(p.A.Float64[p.aIndex(i, j)]), x)
		}
		return sum
	}
	var left, right big.Float
	for j := range d.Len() {
		sum.AddBig(p.A.float(&left, p.aIndex(i, j)), d.float(&right, j))
	}
	return sum
}

// Summary returns y*_i and S_i as the exact summary of a sum. Its condition number is S_i / |y*_i|: 1 where S_i is 0, +Inf where only
// y*_i is.
func (r *Reference) Summary(i int) exact.Summary {
	return exact.Summary{N: r.terms, Sum: r.Y[i], SumAbs: r.Abs[i]}
}

// Condition returns the condition number of component i.
func (r *Reference) Condition(i int) exact.Value { return r.Summary(i).Condition() }

// norm returns ||y*||_1; NaN if a component is no number.
func (r *Reference) norm() exact.Value { return norm(r.Y) }

func norm(y []exact.Value) exact.Value {
	total := new(big.Rat)
	for _, v := range y {
		if !v.IsFinite() {
			return exact.Value{Class: exact.NaN}
		}
		total.Add(total, rat(v.Abs()))
	}
	return exact.FromRat(total)
}

// Accuracy says how far a result is from the exact one.
type Accuracy struct {
	Components []exact.Errors
	Worst      int         // the component with the largest relative error, the first of equals; -1 if there is none
	Norm       exact.Value // ||y - y*||_1; NaN if a component is no number on either side
	Relative   exact.Value // ||y - y*||_1 / ||y*||_1, the paper's measure; 0/0 = 0
}

// Measure compares a result with the exact one.
func Measure(y []exact.Value, r *Reference) Accuracy {
	a := Accuracy{Components: make([]exact.Errors, len(y)), Worst: -1}
	differences := make([]exact.Value, len(y))
	for i := range y {
		a.Components[i] = exact.Measure(y[i], r.Y[i])
		differences[i] = a.Components[i].Abs
		if !y[i].IsFinite() || !r.Y[i].IsFinite() {
			differences[i] = exact.Value{Class: exact.NaN}
		}
		if a.Worst < 0 || larger(a.Components[i].Rel, a.Components[a.Worst].Rel) {
			a.Worst = i
		}
	}
	a.Norm = norm(differences)
	a.Relative = exact.Value{Class: exact.NaN}
	if a.Norm.IsFinite() {
		a.Relative = quotient(rat(a.Norm), r.norm())
	}
	return a
}

// larger orders errors: numbers, then +Inf, then NaN.
func larger(x, y exact.Value) bool {
	if x.Class != y.Class {
		rank := map[exact.Class]int{exact.Finite: 0, exact.PosInf: 1, exact.NaN: 2}
		return rank[x.Class] > rank[y.Class]
	}
	return x.IsFinite() && rat(x).Cmp(rat(y)) > 0
}
