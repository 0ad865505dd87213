package method

import (
	"math/big"

	"mpbench/pkg/bound"
	"mpbench/pkg/exact"
	"mpbench/pkg/op"
)

// Range is the exponent range of a format. The zero Range is unbounded.
type Range struct {
	Unit     *big.Rat // relative error of rounding an input
	Tiny     *big.Rat // absolute error of rounding below the normal range; nil for none
	Overflow *big.Rat // magnitudes from here on may become infinite; nil for none
}

// IEEE returns the range of a binary interchange format of IEEE 754 with p bits and exponents up to emax, rounded to
// nearest: unit 2^-p, tiny 2^(1-emax-p), which is half of the least subnormal number, and overflow from
// 2^(emax+1) - 2^(emax-p) on.
func IEEE(p, emax int) Range {
	return Range{
		Unit:     exact.PowerOfTwo(-p),
		Tiny:     exact.PowerOfTwo(1 - emax - p),
		Overflow: new(big.Rat).Sub(exact.PowerOfTwo(emax+1), exact.PowerOfTwo(emax-p)),
	}
}

// The ranges of binary64 and binary32.
var (
	Binary64 = IEEE(53, 1023)
	Binary32 = IEEE(24, 127)
)

// ErrorBound bounds the errors of a problem's components: the method's formula, and what rounding inputs costs.
type ErrorBound struct {
	bound   bound.Bound
	info    Info
	problem *op.Problem
	more    map[string]*big.Rat
	scaled  *big.Rat // |alpha|, if that is not 1
}

// ErrorBound returns the bounds for a problem that an engine with this Info has prepared.
func (m Method) ErrorBound(info Info, p *op.Problem) *ErrorBound {
	b := &ErrorBound{bound: m.Bound, info: info, problem: p, more: map[string]*big.Rat{}}
	if info.Unit != nil {
		b.more["u"] = info.Unit
	}
	for letter, n := range info.Bound {
		b.more[letter] = new(big.Rat).SetInt64(int64(n))
	}
	for _, letter := range m.Bound.Needs() {
		if b.more[letter] == nil {
			b.more[letter] = p.Quantity(letter)
		}
	}
	if !p.Alpha.Absent() && p.Multiplies() && info.Range.Overflow != nil && !p.Alpha.Equals(1) {
		b.scaled = p.Quantity("a")
		b.more["X"] = p.Quantity("X")
	}
	return b
}

// Unit returns the unit roundoff of the method's operations, nil if its bound has none.
func (b *ErrorBound) Unit() *big.Rat { return b.bound.Unit(b.vars(exact.Summary{})) }

func (b *ErrorBound) vars(s exact.Summary) bound.Vars {
	return bound.Vars{N: s.N, P: b.info.Bits, S: exact.Above(s.SumAbs.Number()), Sum: s.Sum.Number(), More: b.more}
}

// Of returns the proved bound on |computed - exact| of a component of which s is the exact summary; nil where nothing
// is proved, as where a sum may overflow. An exact result that is infinite or NaN has the bound 0, as every method
// must return it, unless nothing is proved of the finite terms beside: they may overflow to an infinity of the other
// sign, and factors that underflow to 0 give NaN with one.
//
// Where r factors of each term were rounded with a relative error of at most u, the terms that are computed with have
// magnitudes that sum to at most S' = (1+u)^r S, and r = 1 allows for errors of underflow, n of them. The formula is
// evaluated for S' and for a result of magnitude at most |s| + S' - S, and S' - S is added. S and |s| are rounded up
// to 64 bits first.
func (b *ErrorBound) Of(s exact.Summary) *big.Rat {
	if !s.SumAbs.IsFinite() || !s.Sum.IsFinite() {
		if b.factorMayVanish() || b.Of(exact.Summary{N: s.N, Sum: s.Finite, SumAbs: s.Finite}) == nil {
			return nil
		}
		return new(big.Rat)
	}
	rounded := b.rounded(s)
	if rounded == nil {
		return nil
	}
	v := b.vars(s)
	lost := exact.Add(rounded, new(big.Rat).Neg(v.S))
	v.S = rounded
	v.Sum = exact.Add(exact.Above(new(big.Rat).Abs(v.Sum)), lost)
	limit := b.formula(v)
	if limit == nil || b.mayOverflow(exact.Add(rounded, limit), rounded) {
		return nil
	}
	return exact.Add(lost, limit)
}

// factorMayVanish tells whether alpha*x may underflow to 0 where neither alpha nor x is 0.
func (b *ErrorBound) factorMayVanish() bool {
	return b.scaled != nil && b.scaled.Sign() != 0 && b.info.Range.Tiny != nil && b.scaled.Cmp(big.NewRat(1, 1)) < 0
}

// formula evaluates the method's formula; without products (alpha = 0) it multiplies once, by beta, or never, and a
// format that stores fewer digits than it computes with rounds once more.
func (b *ErrorBound) formula(v bound.Vars) *big.Rat {
	limit := b.bound.Eval(v)
	if b.problem.Multiplies() {
		return limit
	}
	if b.problem.Copies() {
		return new(big.Rat)
	}
	u := b.bound.Unit(v)
	if u == nil {
		return limit
	}
	if stored := b.info.Range.Unit; stored != nil && stored.Cmp(u) > 0 {
		u = new(big.Rat).Add(u, stored)
	}
	once := exact.GammaTimes(1, u, v.S)
	if once != nil && b.info.Range.Tiny != nil {
		once.Add(once, b.info.Range.Tiny)
	}
	if limit == nil || once != nil && once.Cmp(limit) < 0 {
		return once
	}
	return limit
}

// rounded returns S', nil if it is not known.
func (b *ErrorBound) rounded(s exact.Summary) *big.Rat {
	r := b.info.Rounded
	total := exact.Above(s.SumAbs.Number())
	if r.Factors == 0 {
		return total
	}
	if r.Lost && b.products() || b.info.Range.Unit == nil {
		return nil
	}
	factor := new(big.Rat).Add(big.NewRat(1, 1), b.info.Range.Unit)
	for range r.Factors {
		total = exact.Mul(total, factor)
	}
	if tiny := b.info.Range.Tiny; tiny != nil && !b.products() {
		total = exact.Add(total, exact.Mul(tiny, new(big.Rat).SetInt64(int64(s.N))))
	}
	return total
}

// products tells whether the result is a product of several operands: a norm grows as its numbers, like a sum.
func (b *ErrorBound) products() bool { return len(b.problem.Op.Operands) > 1 }

// mayOverflow tells whether a partial sum, of magnitude at most reach, or another intermediate result may overflow:
// those are alpha*x, and sums of products before they are multiplied by alpha. Twice: room for their rounding errors.
func (b *ErrorBound) mayOverflow(reach, sum *big.Rat) bool {
	limit := b.info.Range.Overflow
	if limit == nil {
		return false
	}
	if b.scaled != nil && b.scaled.Sign() != 0 {
		x := b.more["X"]
		if x == nil {
			return true
		}
		inner := new(big.Rat).Quo(sum, b.scaled)
		inner.Add(inner, new(big.Rat).Mul(b.scaled, x))
		reach = new(big.Rat).Add(reach, inner.Add(inner, inner))
	}
	return reach.Cmp(limit) >= 0
}
