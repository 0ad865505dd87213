package gemv

import (
	"math/big"

	"mpbench/pkg/exact"
)

// depth returns the k of the bound gamma(k)*S for work that makes at most additions additions on a path, the
// final one with beta*y included, converted telling that the conversion of the inputs rounded.
//
// A term alpha*x_j*a_ij passes through two products, and through three conversions (alpha, x_j, a_ij); beta*y_i
// through less of both.
func depth(w work, additions int, converted bool) int {
	k := map[work]int{unchanged: 0, scaleOnly: 1, full: additions + 2}[w]
	if converted {
		k += map[work]int{unchanged: 1, scaleOnly: 2, full: 3}[w]
	}
	return k
}

// Bounds are the bounds (16) to (19) of the 2020 paper for the data at hand: g(n+2) with the length n of the sums and the
// unit roundoff u of a method. Fields are nil where (n+2)*u >= 1 or where S is not finite.
type Bounds struct {
	Components []*big.Rat  // |y_i - y*_i| <= g(n+2) * (|alpha||op(A)||x| + |beta||y|)_i, equation (15)
	Norm       *big.Rat    // ||y - y*||_1 <= g(n+2) * || |alpha||op(A)||x| + |beta||y| ||_1, (16) and (18)
	Relative   exact.Value // ||y - y*||_1 / ||y*||_1 <= Norm / ||y*||_1, (17) and (19); NaN where Norm is nil
}

// Bounds evaluates the paper's bounds for the unit roundoff u of a method. They presuppose inputs that the method's format holds, and no
// overflow.
func (r *Reference) Bounds(u *big.Rat) Bounds {
	b := Bounds{Components: make([]*big.Rat, len(r.Y)), Relative: exact.Value{Class: exact.NaN}}
	g := exact.Gamma(r.terms+2, u)
	if g == nil {
		return b
	}
	total := new(big.Rat)
	for i, s := range r.Abs {
		if !s.IsFinite() {
			total = nil
			continue
		}
		b.Components[i] = new(big.Rat).Mul(g, rat(s))
		if total != nil {
			total.Add(total, rat(s))
		}
	}
	if total == nil {
		return b
	}
	b.Norm = total.Mul(total, g)
	b.Relative = quotient(b.Norm, r.norm())
	return b
}

// quotient returns x/y for an exact value y >= 0: 0/0 = 0, otherwise +Inf for y = 0 and NaN for y that is no number.
func quotient(x *big.Rat, y exact.Value) exact.Value {
	switch {
	case !y.IsFinite():
		return exact.Value{Class: exact.NaN}
	case x.Sign() == 0:
		return exact.FromRat(new(big.Rat))
	case y.Sign() == 0:
		return exact.Value{Class: exact.PosInf}
	}
	return exact.FromRat(new(big.Rat).Quo(x, y.Rat))
}

// rat returns the number of a finite value.
func rat(v exact.Value) *big.Rat {
	if v.Rat == nil {
		return new(big.Rat)
	}
	return v.Rat
}
