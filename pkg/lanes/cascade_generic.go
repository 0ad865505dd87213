package lanes

import "mpbench/pkg/superacc"

// sumsGeneric adds the terms of x, a multiple of Count.
func (c Cascade) sumsGeneric(x []float64) {
	for ; len(x) > 0; x = x[Count:] {
		for l, v := range x[:Count] {
			c.Deposit(l, 0, v)
		}
	}
}

// productsGeneric adds the products of x and y, a multiple of Count: rounded at level 0, their errors from level 1
// on, before that of the addition at level 0. With two levels, both errors are added to each other first.
func (c Cascade) productsGeneric(x, y []float64) {
	for ; len(x) > 0; x, y = x[Count:], y[Count:] {
		for l, v := range x[:Count] {
			p, pe := superacc.TwoProduct(v, y[l])
			s, se := superacc.TwoSum(c[0][l], p)
			c[0][l] = s
			if len(c) == 2 {
				c[1][l] += pe + se
				continue
			}
			c.Deposit(l, 1, pe)
			c.Deposit(l, 1, se)
		}
	}
}
