package network

import (
	"math/big"
	"slices"
)

// Bounds are proved for multiplications of numbers that were rounded component by component, of which one may be such
// a product, and for additions of such numbers, products, and sums. Errors of subnormal numbers come in addition, see
// [Scheme.Products].
type Bounds struct {
	Add    *big.Rat   // error of x + y, relative to |x| + |y|
	Mul    *big.Rat   // error of x * y, relative to |x*y|
	Levels []*big.Rat // the most that components are, relative to |x| + |y| or |x*y|
}

// Products returns how many products a multiplication rounds. Each of them may be wrong by half of the least subnormal
// number where it is not normal; additions of such numbers are exact.
func (s Scheme) Products() (n int) {
	for i := range s.levels() {
		n += min(i, s.Components-1) - max(0, i-s.Components+1) + 1
	}
	return n
}

// Bounds runs the scheme's own programs on magnitudes, for components of the given unit roundoff u.
//
// What the levels of results can be depends on those of their operands: the least that are large enough are found by
// trying, from those of rounded numbers upwards. The highest component is at most 1 + 4u times |x| + |y| whatever
// happens, as it is the number less the other components.
//
// For sums of many terms, |x| + |y| stands for M, the sum of the magnitudes of all terms that x and y consist of,
// times (1+e)^d after d additions with an error e: then |x| and |y| are below their M, components below their level
// times M, and the error of a sum is at most ((1+e)^d - 1) times the sum of the magnitudes.
//
// An error is u times a sum for powers of two alone, and so the components of numbers that come near the bounds are
// 1, u, u^2, ..., each a tie that is rounded to even. To such a number u^K can be added, and lost: half of the bound
// of sums. A factor 1 + u^K loses as much, a third of that of products. Sums may have such components, but rounding a
// number gives none: in numbers that are no ties each component is below u times the one before, and so in a binade
// below. Errors of such numbers are up to 2^(K-1) times smaller.
func (s Scheme) Bounds(unit *big.Rat) (b Bounds) {
	rounded := make([]*big.Rat, s.Components)
	power := new(big.Rat).Add(big.NewRat(1, 1), new(big.Rat).Mul(big.NewRat(4, 1), unit))
	for i := range rounded {
		rounded[i] = power
		power = new(big.Rat).Mul(power, unit)
	}
	if s.DoubleWord {
		square := new(big.Rat).Mul(unit, unit)
		most := new(big.Rat).Sub(big.NewRat(1, 1), new(big.Rat).Mul(big.NewRat(4, 1), unit))
		b.Add = new(big.Rat).Quo(new(big.Rat).Mul(big.NewRat(3, 1), square), most)
		b.Mul = new(big.Rat).Mul(big.NewRat(5, 1), square)
		b.Levels = rounded
		return b
	}
	if s.Mixed > 0 {
		b.Add, b.Mul = mixedBounds(unit, s.Mixed)
		b.Levels = rounded
		return b
	}
	products := enough(rounded, func(x []*big.Rat) (z []*big.Rat) {
		z, b.Mul = s.mulMagnitudes(unit, rounded, x)
		return z
	})
	if s.Components == 2 && s.Guard == 0 { // what MulDoubleWord computes
		b.Mul = new(big.Rat).Mul(big.NewRat(5, 1), new(big.Rat).Mul(unit, unit))
	}
	b.Levels = enough(products, func(x []*big.Rat) (z []*big.Rat) {
		z, b.Add = s.addMagnitudes(unit, x)
		return z
	})
	return b
}

// enough returns the least magnitudes of lower components, but for rounding upwards, from x on that f does not exceed.
func enough(x []*big.Rat, f func(x []*big.Rat) []*big.Rat) []*big.Rat {
	for exceeded := true; exceeded; {
		exceeded = false
		next := slices.Clone(x)
		for i, z := range f(x)[:len(x)] {
			if i > 0 && z.Cmp(x[i]) > 0 {
				next[i], exceeded = above(z), true
			}
		}
		x = next
	}
	return x
}

// above returns x rounded up to 40 bits.
func above(x *big.Rat) *big.Rat {
	r, _ := new(big.Float).SetPrec(40).SetMode(big.AwayFromZero).SetRat(x).Rat(nil)
	return r
}

// addMagnitudes returns how large the levels of x + y, and what they lack, can be relative to |x| + |y|. Both are
// linear in the operands, so for |x| + |y| = 1 they are largest where one of these is 0.
func (s Scheme) addMagnitudes(unit *big.Rat, x []*big.Rat) (z []*big.Rat, lost *big.Rat) {
	none := make([]*big.Rat, s.Components)
	for i := range none {
		none[i] = new(big.Rat)
	}
	m := &magnitudes{unit: unit}
	z = addLevels(m, s, x, none)
	return z, m.lack(z[s.Components:])
}

// mulMagnitudes returns how large the levels of x * y, and what they lack, can be relative to |x*y|.
func (s Scheme) mulMagnitudes(unit *big.Rat, x, y []*big.Rat) (z []*big.Rat, lost *big.Rat) {
	m := &magnitudes{unit: unit}
	z = mulLevels(m, s, x, y)
	for i := range x {
		for j := max(0, s.levels()-i); j < len(y); j++ {
			m.lost.Add(&m.lost, new(big.Rat).Mul(x[i], y[j]))
		}
	}
	return z, m.lack(z[s.Components:])
}

// magnitudes is the arithmetic of bounds: a number is a bound on a magnitude; lost bounds the sum of all rounding
// errors that are in no number.
type magnitudes struct {
	unit *big.Rat
	lost big.Rat
}

// lack returns the errors of a result whose guard levels are left out.
func (m *magnitudes) lack(guard []*big.Rat) *big.Rat {
	for _, z := range guard {
		m.lost.Add(&m.lost, z)
	}
	return &m.lost
}

func (m *magnitudes) Add(x, y *big.Rat) *big.Rat {
	s, e := m.TwoSum(x, y)
	m.lost.Add(&m.lost, e)
	return s
}

func (m *magnitudes) Mul(x, y *big.Rat) *big.Rat {
	p, e := m.TwoProduct(x, y)
	m.lost.Add(&m.lost, e)
	return p
}

func (m *magnitudes) MulAdd(x, y, z *big.Rat) *big.Rat { return m.Add(new(big.Rat).Mul(x, y), z) }

func (m *magnitudes) TwoSum(x, y *big.Rat) (s, e *big.Rat) { return m.rounded(new(big.Rat).Add(x, y)) }

func (m *magnitudes) FastTwoSum(x, y *big.Rat) (s, e *big.Rat) { return m.TwoSum(x, y) }

func (m *magnitudes) TwoProduct(x, y *big.Rat) (p, e *big.Rat) {
	return m.rounded(new(big.Rat).Mul(x, y))
}

// Narrow is for schemes whose bounds are proved otherwise.
func (m *magnitudes) Narrow(x *big.Rat) *big.Rat { panic("network: magnitudes of binary32") }

// rounded returns x(1+u) and xu.
func (m *magnitudes) rounded(x *big.Rat) (s, e *big.Rat) {
	e = new(big.Rat).Mul(x, m.unit)
	return new(big.Rat).Add(x, e), e
}
