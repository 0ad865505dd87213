package rns

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSplitProduct compares the product in three parts with Mul, fields and residues alike.
func TestSplitProduct(t *testing.T) {
	forEachContext(t, func(t *testing.T, c *Context, s model) {
		a := adversary(rand.New(rand.NewPCG(31, uint64(s.p))), s)
		x, y, z, want := c.base.NewFloat(), c.base.NewFloat(), c.base.NewFloat(), c.base.NewFloat()
		for range 3000 {
			mx, my := a.Pair()
			c.fromModel(x, mx)
			c.fromModel(y, my)
			c.Mul(want, x, y)
			c.MulFields(z, x, y)
			c.MulResidues(z, x, y)
			c.MulRound(z, x, y)
			if z.Exp != want.Exp || z.Neg != want.Neg || z.interval != want.interval || !slices.Equal(z.digits, want.digits) {
				t.Fatalf("%v * %v: %+v, want %+v", mx, my, z, want)
			}
		}
	})
}
