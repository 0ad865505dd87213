package rns

import (
	"math/big"
	"math/rand/v2"

	"mpbench/pkg/rns/internal/operands"
)

// model is the package comment's specification of the arithmetic in integers of math/big, with no residues in it.
type model struct {
	m, limit   *big.Int
	p, f, drop int
	rounding   Rounding
	alignment  Alignment
}

// modelNumber is a number of the model.
type modelNumber = operands.Number

func newModel(moduli []uint32, r Rounding, a Alignment) model {
	m := big.NewInt(1)
	for _, mi := range moduli {
		m.Mul(m, big.NewInt(int64(mi)))
	}
	limit := new(big.Int).Sqrt(new(big.Int).Sub(m, big.NewInt(1)))
	root := new(big.Int).Sqrt(m)
	drop := new(big.Int).Sub(m, new(big.Int).Add(root.Lsh(root, 2), big.NewInt(4)))
	return model{m: m, limit: limit, p: limit.BitLen() - 1, f: m.BitLen() - 1, drop: drop.BitLen() - 1, rounding: r,
		alignment: a}
}

func (s model) wide(x *big.Int) bool { return x.CmpAbs(s.limit) > 0 }

func (s model) round(x modelNumber) modelNumber {
	if !s.wide(x.Sig) {
		return operands.Normal(x)
	}
	k := uint(x.Sig.BitLen() - s.p)
	abs := new(big.Int).Abs(x.Sig)
	q := new(big.Int).Rsh(abs, k)
	if s.rounding == Nearest {
		rest := new(big.Int).Sub(abs, new(big.Int).Lsh(q, k))
		order := rest.Cmp(new(big.Int).Lsh(big.NewInt(1), k-1))
		if order > 0 || order == 0 && q.Bit(0) == 1 {
			q.Add(q, big.NewInt(1))
		}
	}
	if x.Sig.Sign() < 0 {
		q.Neg(q)
	}
	return operands.Normal(modelNumber{Sig: q, Exp: x.Exp + int(k)})
}

func (s model) add(x, y modelNumber) modelNumber {
	if x.Sig.Sign() == 0 {
		return y
	}
	if y.Sig.Sign() == 0 {
		return x
	}
	if x.Exp < y.Exp {
		x, y = y, x
	}
	d := x.Exp - y.Exp
	up := min(d, s.f-1-x.Sig.BitLen())
	if s.alignment == AlignBLAS && !s.wide(y.Sig) {
		if x.Sig.BitLen()+d > s.drop {
			return x
		}
		up = d
	}
	down := uint(d - up)
	low := new(big.Int).Rsh(new(big.Int).Abs(y.Sig), down)
	if y.Sig.Sign() < 0 {
		low.Neg(low)
	}
	return s.round(modelNumber{Sig: low.Add(low, new(big.Int).Lsh(x.Sig, uint(up))), Exp: y.Exp + int(down)})
}

func (s model) mul(x, y modelNumber) modelNumber {
	return s.round(modelNumber{Sig: new(big.Int).Mul(x.Sig, y.Sig), Exp: x.Exp + y.Exp})
}

// adversary makes operands that strain the decisions of the model's base.
func adversary(rng *rand.Rand, s model) operands.Source {
	return operands.Source{Rand: rng, P: s.p, F: s.f, Limit: s.limit}
}
