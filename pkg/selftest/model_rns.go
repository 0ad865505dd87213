package selftest

import (
	"math/big"

	"mpbench/pkg/rns"
)

// residueModel is the arithmetic of package rns, as its comment specifies it, in integers without residues.
type residueModel struct {
	limit           *big.Int // floor(sqrt(M - 1))
	precision       int
	log2M, dropBits int  // F and F'
	nearest         bool // and alignment as in MPRES-BLAS
}

// newResidueModel is the model of the base that has a precision with moduli of a width, 0 for the default.
func newResidueModel(v variant) residueModel {
	width := v.moduliBits
	if width == 0 {
		width = rns.DefaultModuliBits
	}
	moduli, err := rns.GenerateModuli(v.precision, width, rns.Ascending)
	if err != nil {
		panic(err) // there are such bases for the variants
	}
	m := big.NewInt(1)
	for _, mi := range moduli {
		m.Mul(m, big.NewInt(int64(mi)))
	}
	limit := new(big.Int).Sqrt(new(big.Int).Sub(m, big.NewInt(1)))
	root := new(big.Int).Sqrt(m)
	drop := new(big.Int).Sub(m, root.Add(root.Lsh(root, 2), big.NewInt(4)))
	return residueModel{
		limit: limit, precision: limit.BitLen() - 1, log2M: m.BitLen() - 1, dropBits: drop.BitLen() - 1, nearest: v.nearest,
	}
}

func (s residueModel) wide(x *big.Int) bool { return x.CmpAbs(s.limit) > 0 }

// load keeps a float64 as it is, with an odd significand.
func (s residueModel) load(x float64) number { return fromFloat(x) }

func (s residueModel) round(x number) number {
	if !s.wide(x.sig) {
		return x.normal()
	}
	k := uint(x.sig.BitLen() - s.precision)
	abs := new(big.Int).Abs(x.sig)
	q := new(big.Int).Rsh(abs, k)
	if s.nearest && (binary{}).away(1, abs, q, k) {
		q.Add(q, big.NewInt(1))
	}
	if x.sig.Sign() < 0 {
		q.Neg(q)
	}
	return number{q, x.exp + int(k)}.normal()
}

func (s residueModel) add(x, y number) number {
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
	up := min(d, s.log2M-1-x.sig.BitLen())
	if s.nearest && !s.wide(y.sig) {
		if x.sig.BitLen()+d > s.dropBits {
			return x
		}
		up = d
	}
	low := new(big.Int).Rsh(new(big.Int).Abs(y.sig), uint(d-up))
	if y.sig.Sign() < 0 {
		low.Neg(low)
	}
	return s.round(number{low.Add(low, new(big.Int).Lsh(x.sig, uint(up))), y.exp + d - up})
}

func (s residueModel) mul(x, y number) number {
	return s.round(number{new(big.Int).Mul(x.sig, y.sig), x.exp + y.exp})
}
