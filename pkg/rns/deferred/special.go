package deferred

import (
	"math/big"
	"mpbench/pkg/numbers"
)

// specialRows returns the class and sign of every row's sum that infinities and NaN take part in, Zero for the other
// rows; nil if there are none at all.
//
// Signs and zeros of the elements that meet an infinity in x come from their residues, or from the original numbers if
// they are truncated.
func (s *Accumulator) specialRows() []special {
	var rows []special
	for _, p := range s.parts {
		if len(p.a.special)+len(p.x.special) == 0 {
			continue
		}
		if rows == nil {
			rows = make([]special, s.rows)
		}
		var r reconstructor
		var x big.Int
		for _, e := range p.a.special {
			i, j := e.i, e.j
			if s.op == Trans {
				i, j = j, i
			}
			other := p.x.class(j, &r, &x)
			rows[i].add(product(special{class: e.class, neg: e.neg}, other))
		}
		for _, e := range p.x.special {
			for i := range rows {
				rows[i].add(product(p.a.element(s.op, i, e.i, &r, &x), special{class: e.class, neg: e.neg}))
			}
		}
	}
	return rows
}

// class returns the class and sign of element j.
func (v *Vector) class(j int, r *reconstructor, x *big.Int) special {
	for _, e := range v.special {
		if e.i == j {
			return special{class: e.class, neg: e.neg}
		}
	}
	return v.entry(j).class(r, x)
}

// element returns the class and sign of element (i, j) of op(A).
func (a *Matrix) element(op Op, i, j int, r *reconstructor, x *big.Int) special {
	for _, e := range a.special {
		if op != Trans && e.i == i && e.j == j || op == Trans && e.i == j && e.j == i {
			return special{class: e.class, neg: e.neg}
		}
	}
	return a.entry(op, i, j).class(r, x)
}

func classOf(x *big.Int) special {
	if x.Sign() == 0 {
		return special{}
	}
	return special{class: numbers.Finite, neg: x.Sign() < 0}
}

// product returns the class and sign of the product of two numbers by IEEE 754.
func product(x, y special) special {
	class := max(x.class, y.class) // NaN > Infinite > Finite > Zero
	if x.class == numbers.Zero || y.class == numbers.Zero {
		if class == numbers.Infinite {
			return special{class: numbers.NaN}
		}
		if class != numbers.NaN {
			return special{}
		}
	}
	return special{class: class, neg: x.neg != y.neg && class != numbers.NaN}
}

// add adds y to the class z of a sum, of which only infinities and NaN are kept.
func (z *special) add(y special) {
	switch {
	case y.class < numbers.Infinite || z.class == numbers.NaN:
	case z.class == numbers.Infinite && (y.class == numbers.NaN || y.neg != z.neg):
		*z = special{class: numbers.NaN}
	default:
		*z = y
	}
}

// combineClasses returns Finite if alpha*sum + beta*y_i is a number, and reads beta*y_i into w.addend; otherwise what
// it is. row is the class of the sum if that is infinite or NaN, w.sum the sum if not.
func combineClasses(w *rounder, y results, i int, row special, alpha, beta *scalar) (numbers.Class, bool) {
	var total special
	if alpha.Class != numbers.Zero {
		if row.class == numbers.Zero {
			row = classOf(&w.sum)
		}
		total.add(product(special{class: alpha.Class, neg: alpha.Neg}, row))
	}
	w.addend.x.SetInt64(0)
	if beta.Class != numbers.Zero {
		y.read(&w.number, i)
		total.add(product(special{class: beta.Class, neg: beta.Neg}, special{class: w.number.Class, neg: w.number.Neg}))
		if beta.Class == numbers.Finite && w.number.Class == numbers.Finite {
			integerOf(&w.number, &w.addend.x)
			w.addend.x.Mul(&w.addend.x, &beta.x)
			w.addend.exp = w.number.Exp + beta.Exp
		}
	}
	if total.class >= numbers.Infinite {
		return total.class, total.neg
	}
	return numbers.Finite, false
}
