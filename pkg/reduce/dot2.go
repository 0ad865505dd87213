package reduce

import (
	"mpbench/pkg/bound"
	"mpbench/pkg/format"
	"mpbench/pkg/lanes"
	"mpbench/pkg/method"
	"mpbench/pkg/op"
	"mpbench/pkg/superacc"
)

// dot2Method is the compensated dot product Dot2 of Ogita, Rump and Oishi, which is dotK for K = 2:
//
//	(p, pe) = TwoProduct(x_i, y_i);  (s, se) = TwoSum(s, p);  c = c + (pe + se);  the result is s + c
var dot2Method = func() method.Method {
	m := dotMethod(2)
	m.Name, m.Summary = "dot2", "compensated dot product (Dot2), as if in twice the precision"
	return m
}()

// dot2Products are products of a matrix whose components are dot products by Dot2, s + c, that are rounded once with
// their factors and what is added:
//
//	(p, e) = TwoProduct(alpha, s);  (q, f) = TwoProduct(beta, y);  (t, g) = TwoSum(p, q)
//	the result is t + ((e + f) + (g + alpha*c))
//
// Errors. With G = g(m) as in sumK, S the sum of the magnitudes of all terms, and 64m*u <= 1: |s + c - x'y| <= G^2 S,
// |s| <= (1+2G)S, |c| <= (1+G)G S, where S is short for the part of it. So |e| + |f| <= u(1+2G)S, |g| <=
// u(1+u)(1+2G)S, and with |alpha*c| they are at most L = (2u + G)(1+3G)S. Adding them errs by ((1+u)^2 - 1)L, alpha*c
// by uG(1+G)S, together at most (4.3u^2 + 3.2uG)S, and rounding the result by u times it: as G >= u, all is
//
//	u|y| + (G^2 + 4uG + 4u^2) S <= u|y| + g(m+2)^2 S.
//
// The dot product loses n*2^-1074 where products underflow, times |alpha|; e, f and alpha*c lose 2^-1075 each.
func dot2Products() (list []method.Method) {
	for _, o := range []*op.Operation{op.Gemv, op.Symv, op.Trmv, op.Gemm} {
		f := cascaded(dotDepth(2))
		f.IEEE = false // infinities do not pass through TwoSum
		list = append(list, f.Method(method.Method{
			Operation: o, Name: "dot2", Extra: true, Advised: true,
			Summary: o.Loop + " by compensated dot products (Dot2), rounded once with alpha and beta*y",
			Bound: bound.New("u*|y| + g(m+2)^2*S + (2n*a+4)*2^-1074, u = 2^-53, for 64m*u <= 1",
				ogita+"; alpha and beta: package reduce, dot2Products"),
		}, format.Loops[[]float64, float64]{Combine: combine2, Scal: format.Binary64.Scal}))
	}
	return list
}

func combine2(z []float64, alpha float64, a, x []float64, beta float64, y []float64, rows, columns, n int) {
	for i := range rows {
		for j := range columns {
			s, c := dot2(a[i*n:(i+1)*n], x[j*n:(j+1)*n])
			p, e := superacc.TwoProduct(alpha, s)
			q, f := superacc.TwoProduct(beta, y[i*columns+j])
			t, g := superacc.TwoSum(p, q)
			z[i*columns+j] = t + ((e + f) + (g + float64(alpha*c)))
		}
	}
}

// dot2 returns a dot product as s + c.
func dot2(x, y []float64) (s, c float64) {
	var memory [2]lanes.Lane
	cascade := lanes.Cascade(memory[:])
	addProducts(cascade, x, y)
	return cascade.Join()
}
