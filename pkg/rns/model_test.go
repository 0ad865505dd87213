package rns

import (
	"math/big"
	"math/rand/v2"
)

// model is the package comment's specification of the arithmetic in integers of math/big, with no residues in it.
type model struct {
	m, limit   *big.Int
	p, f, drop int
	rounding   Rounding
	alignment  Alignment
}

// modelNumber is sig * 2^exp with a signed significand.
type modelNumber struct {
	sig *big.Int
	exp int
}

func newModel(moduli []uint32, r Rounding, a Alignment) model {
	m := big.NewInt(1)
	for _, mi := range moduli {
		m.Mul(m, big.NewInt(int64(mi)))
	}
	limit := new(big.Int).Sqrt(new(big.Int).Sub(m, big.NewInt(1)))
	root := new(big.Int).Sqrt(m)
	drop := new(big.Int).Sub(m, new(big.Int).Add(root.Lsh(root, 2), big.NewInt(4)))
	return model{m: m, limit: limit, p: limit.BitLen() - 1, f: m.BitLen() - 1, drop: drop.BitLen() - 1, rounding: r, alignment: a}
}

func (s model) wide(x *big.Int) bool { return x.CmpAbs(s.limit) > 0 }

func (s model) round(x modelNumber) modelNumber {
	if !s.wide(x.sig) {
		return normal(x)
	}
	k := uint(x.sig.BitLen() - s.p)
	abs := new(big.Int).Abs(x.sig)
	q := new(big.Int).Rsh(abs, k)
	if s.rounding == Nearest {
		rest := new(big.Int).Sub(abs, new(big.Int).Lsh(q, k))
		order := rest.Cmp(new(big.Int).Lsh(big.NewInt(1), k-1))
		if order > 0 || order == 0 && q.Bit(0) == 1 {
			q.Add(q, big.NewInt(1))
		}
	}
	if x.sig.Sign() < 0 {
		q.Neg(q)
	}
	return normal(modelNumber{q, x.exp + int(k)})
}

func normal(x modelNumber) modelNumber {
	if x.sig.Sign() == 0 {
		x.exp = 0
	}
	return x
}

func (s model) add(x, y modelNumber) modelNumber {
	if x.sig.Sign() == 0 {
		return y
	}
	if y.sig.Sign() == 0 {
		return x
	}
	if x.exp < y.exp {
		x, y = y, x
	}
	d := x.exp - y.exp
	up := min(d, s.f-1-x.sig.BitLen())
	if s.alignment == AlignBLAS && !s.wide(y.sig) {
		if x.sig.BitLen()+d > s.drop {
			return x
		}
		up = d
	}
	down := uint(d - up)
	low := new(big.Int).Rsh(new(big.Int).Abs(y.sig), down)
	if y.sig.Sign() < 0 {
		low.Neg(low)
	}
	return s.round(modelNumber{low.Add(low, new(big.Int).Lsh(x.sig, uint(up))), y.exp + int(down)})
}

func (s model) mul(x, y modelNumber) modelNumber {
	return s.round(modelNumber{new(big.Int).Mul(x.sig, y.sig), x.exp + y.exp})
}

func (x modelNumber) rat() *big.Rat {
	r := new(big.Rat).SetInt(x.sig)
	power := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(max(x.exp, -x.exp))))
	if x.exp < 0 {
		return r.Quo(r, power)
	}
	return r.Mul(r, power)
}

// adversary makes operands that strain decisions: significands of every length, next to powers of two, to the limit of wide
// ones and to each other, with long runs of zeros and ones, and exponents from equal to far apart.
type adversary struct {
	rng *rand.Rand
	s   model
}

func (a adversary) significand() *big.Int {
	one := big.NewInt(1)
	length := a.rng.IntN(a.s.p + 2)
	x := new(big.Int)
	switch a.rng.IntN(8) {
	case 0: // a power of two and its neighbours
		x.Lsh(one, uint(length))
		x.Add(x, big.NewInt(int64(a.rng.IntN(3)-1)))
	case 1: // next to the limit
		x.Sub(a.s.limit, big.NewInt(int64(a.rng.IntN(3))))
	case 2: // runs of ones and zeros
		for range 1 + a.rng.IntN(4) {
			x.Lsh(x.Add(x, one), uint(a.rng.IntN(a.s.p/2+1)))
			x.Sub(x, big.NewInt(int64(a.rng.IntN(2))))
		}
	case 3: // a wide one, as a conversion makes it
		x = a.bits(a.s.f - 4)
	case 4:
		x.SetUint64(a.rng.Uint64() >> (11 + a.rng.IntN(53)))
	case 5: // the very top of the kept range
		x.Lsh(one, uint(a.s.f-4))
		x.Sub(x, big.NewInt(int64(1+a.rng.IntN(2))))
	default:
		x = a.bits(length)
	}
	if x.Sign() < 0 {
		x.SetInt64(0)
	}
	if over := x.BitLen() - (a.s.f - 4); over > 0 {
		x.Rsh(x, uint(over))
	}
	return x
}

func (a adversary) bits(n int) *big.Int {
	x := new(big.Int)
	for range n/64 + 1 {
		x.Lsh(x, 64).Add(x, new(big.Int).SetUint64(a.rng.Uint64()))
	}
	return x.Rsh(x, uint(64*(n/64+1)-n))
}

func (a adversary) number() modelNumber {
	x := a.significand()
	if a.rng.IntN(2) == 0 {
		x.Neg(x)
	}
	return normal(modelNumber{x, a.rng.IntN(80) - 40})
}

// pair returns two operands related in one of the ways that matter to an addition.
func (a adversary) pair() (x, y modelNumber) {
	x, y = a.number(), a.number()
	switch a.rng.IntN(8) {
	case 0: // cancellation to a few units
		y = normal(modelNumber{new(big.Int).Neg(x.sig), x.exp})
		if a.rng.IntN(2) == 0 && y.sig.Sign() != 0 {
			y.sig.Add(y.sig, big.NewInt(int64(a.rng.IntN(5)-2)))
			y = normal(y)
		}
	case 1: // cancellation with different exponents
		shift := uint(a.rng.IntN(a.s.p/2 + 1))
		if x.sig.BitLen()+int(shift) <= a.s.f-4 {
			y = normal(modelNumber{new(big.Int).Neg(new(big.Int).Lsh(x.sig, shift)), x.exp - int(shift)})
			if y.sig.Sign() != 0 {
				y.sig.Add(y.sig, big.NewInt(int64(a.rng.IntN(3)-1)))
			}
			y = normal(y)
		}
	case 2: // equal exponents
		if y.sig.Sign() != 0 && x.sig.Sign() != 0 {
			y.exp = x.exp
		}
	case 3: // exponents near the border of shifting
		if y.sig.Sign() != 0 && x.sig.Sign() != 0 {
			y.exp = x.exp - (a.s.f - x.sig.BitLen()) + a.rng.IntN(9) - 4
		}
	case 4: // hopelessly far apart
		if y.sig.Sign() != 0 {
			y.exp += (a.rng.IntN(2)*2 - 1) * a.rng.IntN(5*a.s.f)
		}
	}
	if y.sig.BitLen() > a.s.f-4 { // a unit more would be rounded on entry
		y.sig.Quo(y.sig, big.NewInt(2))
	}
	return x, y
}
