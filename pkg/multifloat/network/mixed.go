package network

import "math/big"

// AddMixed returns x + y of numbers whose second component is a binary32, in whose precision it is computed with: the
// variant of triple precision with arithmetic of its own of Mukunoki and Takahashi 2010.
//
// With u and v for the unit roundoffs of the two components, and |x1| <= u|x0|, the error is at most 2uv(2+v)/(1-u),
// relative to |x| + |y| = M: e and x1 + y1 are at most uM/(1-u) each, e is rounded once, x1 + y1 once, and then the
// sum of both. The last two steps round nothing where nothing underflows. For |s| >= |l| FastTwoSum is exact, and its
// error a multiple of the last place of s, and at most one of them, or of that of l, and at most |l|: in both cases a
// binary32. For |s| < |l| x and y nearly cancel, s is a multiple of the last place of the smaller of x0 and y0, and s
// + l is a binary64: the error is 0.
//
// Numbers below 2^-126 become binary32 numbers with errors of up to 2^-150, twice an addition.
func AddMixed[T any](f Arithmetic[T], x, y []T) []T {
	s, e := f.TwoSum(x[0], y[0])
	l := f.Narrow(f.Add(f.Narrow(f.Add(x[1], y[1])), f.Narrow(e)))
	s, e = f.FastTwoSum(s, l)
	return []T{s, f.Narrow(e)}
}

// MulMixed returns x * y likewise, with an error of at most uv(10 + 9v + 8v^2 + 2v^3) + u^2 relative to |x0*y0|: the
// binary32 steps err by v, relative to u|x0*y0| times 1 for e, 4 + 2v for both products of which one factor is rounded
// before, 2(1+v)^2 for their sum, and (1+v) + 2(1+v)^3 for the sum of all; x1*y1 is left out.
func MulMixed[T any](f Arithmetic[T], x, y []T) []T {
	p, e := f.TwoProduct(x[0], y[0])
	left, right := f.Narrow(f.Mul(f.Narrow(x[0]), y[1])), f.Narrow(f.Mul(x[1], f.Narrow(y[0])))
	l := f.Narrow(f.Add(f.Narrow(f.Add(left, right)), f.Narrow(e)))
	p, e = f.FastTwoSum(p, l)
	return []T{p, f.Narrow(e)}
}

// mixedBounds are those of [AddMixed] and [MulMixed], for a second component of so many bits.
func mixedBounds(u *big.Rat, bits int) (add, mul *big.Rat) {
	v := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), uint(bits)))
	polynomial := func(coefficients ...int64) *big.Rat { // of v, the highest power first
		sum := new(big.Rat)
		for _, c := range coefficients {
			sum.Add(sum.Mul(sum, v), big.NewRat(c, 1))
		}
		return sum
	}
	most := new(big.Rat).Sub(big.NewRat(1, 1), u)
	add = new(big.Rat).Mul(u, polynomial(2, 4, 0))
	add.Quo(add, most)
	mul = new(big.Rat).Add(polynomial(2, 8, 9, 10, 0), u)
	mul.Mul(mul, u)
	return add, mul.Quo(mul, most.Mul(most, most)) // |x0| <= |x|/(1-u)
}
