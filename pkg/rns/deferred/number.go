package deferred

import (
	"mpbench/pkg/numbers"
	"mpbench/pkg/rns"
)

// RNS presents the numbers of v, which is not copied, as Numbers; c is a context of their base.
func RNS(c *rns.Context, v *rns.Vector) numbers.Source { return &rnsNumbers{c, v} }

type rnsNumbers struct {
	ctx    *rns.Context // only to be cloned: Numbers may be read concurrently
	vector *rns.Vector
}

func (x *rnsNumbers) Len() int { return x.vector.Len() }

func (x *rnsNumbers) Span(i int) numbers.Span {
	var z numbers.Number
	x.Read(&z, i)
	return z.Span()
}

func (x *rnsNumbers) Read(z *numbers.Number, i int) {
	ctx, _ := z.Scratch.(*rns.Context)
	if ctx == nil || ctx.Base() != x.ctx.Base() {
		ctx = x.ctx.Clone()
		z.Scratch = ctx
	}
	var f rns.Float
	x.vector.View(&f, i)
	z.Words = z.Words[:0]
	z.Class = numbers.Zero
	if f.IsZero() {
		return
	}
	z.Class, z.Neg, z.Exp = numbers.Finite, f.Neg, f.Exp
	z.SetWords(ctx.Significand(&f).Bits())
}
