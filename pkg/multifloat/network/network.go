// Package network has the arithmetic of unevaluated sums of floating-point numbers: straight-line programs without
// branches, each written once, for any [Arithmetic]. Over float64 they compute; over narrow formats tests try all
// operands; over [Magnitudes] they bound their own errors; over a [Recorder] they become a [Program], which computes
// many numbers at a time; over registers of generated code they become loops of vector instructions.
//
// A number is x[0] + ... + x[K-1], from the highest component down. Level i is what is about u^i times as large as
// the number, for the unit roundoff u of a component: numbers that are rounded component by component have
// |x[i+1]| <= u|x[i]|. Sums that cancel do not: their components are small beside the operands, not beside the result.
// The error bounds of a [Scheme] are therefore relative to |x| + |y|, which is what a bound of a long sum needs.
package network

// Arithmetic is a floating-point arithmetic that rounds to nearest, ties to even. T is one of its numbers, or what
// stands for one.
type Arithmetic[T any] interface {
	Add(x, y T) T
	Mul(x, y T) T
	// MulAdd returns x*y + z, rounded once.
	MulAdd(x, y, z T) T
	// TwoSum returns x + y rounded, and the error of that, exactly.
	TwoSum(x, y T) (s, e T)
	// FastTwoSum is TwoSum for |x| >= |y|, or x = 0.
	FastTwoSum(x, y T) (s, e T)
	// TwoProduct returns x * y rounded, and the error of that, exactly.
	TwoProduct(x, y T) (p, e T)
	// Narrow returns x rounded to binary32.
	Narrow(x T) T
}

// Scheme says how numbers of so many components are added and multiplied.
type Scheme struct {
	Components int
	Guard      int  // levels beyond the last component that are computed, 0 or 1
	Carries    int  // passes that add what has gathered in a component to the one above
	DoubleWord bool // two components by [AddDoubleWord] and [MulDoubleWord]
	Mixed      int  // bits of the second of two components, by [AddMixed] and [MulMixed]; otherwise 0
}

// Bits returns how many bits the components of a number have, of which the first one has so many.
func (s Scheme) Bits(component int) int {
	if s.Mixed > 0 {
		return component + s.Mixed
	}
	return s.Components * component
}

// Guarded returns the scheme of so many components with errors of at most little more than 2u^K for sums and 3u^K for
// products.
func Guarded(components int) Scheme {
	return Scheme{Components: components, Guard: 1, Carries: components - 1}
}

// levels returns how many levels are computed.
func (s Scheme) levels() int { return s.Components + s.Guard }

// Add returns x + y.
//
// Level i adds the components i and the errors of the additions of level i-1, in pairs. The errors of the last level
// are lost, and so is what carrying leaves in a guard level: see [Scheme.Bounds].
func Add[T any](f Arithmetic[T], s Scheme, x, y []T) []T {
	switch {
	case s.DoubleWord:
		return AddDoubleWord(f, x, y)
	case s.Mixed > 0:
		return AddMixed(f, x, y)
	}
	return addLevels(f, s, x, y)[:s.Components]
}

// addLevels is Add with the guard level.
func addLevels[T any](f Arithmetic[T], s Scheme, x, y []T) []T {
	z := make([]T, s.levels())
	var errors []T
	for i := range z {
		terms := errors
		if i < s.Components {
			terms = append([]T{x[i], y[i]}, errors...)
		}
		z[i], errors = addTerms(f, terms, i == len(z)-1)
	}
	return carry(f, s, z)
}

// Mul returns x * y.
//
// Level i adds the products x[j]*y[i-j] and the errors of the products and additions of level i-1, in pairs. Products
// of higher levels are left out: see [Scheme.Bounds].
func Mul[T any](f Arithmetic[T], s Scheme, x, y []T) []T {
	switch {
	case s.DoubleWord:
		return MulDoubleWord(f, x, y)
	case s.Mixed > 0:
		return MulMixed(f, x, y)
	}
	return mulLevels(f, s, x, y)[:s.Components]
}

// mulLevels is Mul with the guard level.
func mulLevels[T any](f Arithmetic[T], s Scheme, x, y []T) []T {
	z := make([]T, s.levels())
	var errors []T
	for i := range z {
		last := i == len(z)-1
		var terms, lost []T
		for j := max(0, i-s.Components+1); j <= min(i, s.Components-1); j++ {
			switch {
			case !last:
				p, e := f.TwoProduct(x[j], y[i-j])
				terms, lost = append(terms, p), append(lost, e)
			case terms == nil:
				terms = []T{f.Mul(x[j], y[i-j])}
			default:
				terms[0] = f.MulAdd(x[j], y[i-j], terms[0])
			}
		}
		z[i], errors = addTerms(f, append(terms, errors...), last)
		errors = append(lost, errors...)
	}
	return carry(f, s, z)
}

// addTerms adds neighbours until one sum is left, and returns the errors of the additions, unless it is the last
// level.
func addTerms[T any](f Arithmetic[T], terms []T, last bool) (sum T, errors []T) {
	for len(terms) > 1 {
		var sums []T
		for i := 0; i+1 < len(terms); i += 2 {
			if last {
				sums = append(sums, f.Add(terms[i], terms[i+1]))
				continue
			}
			s, e := f.TwoSum(terms[i], terms[i+1])
			sums, errors = append(sums, s), append(errors, e)
		}
		terms = append(sums, terms[len(terms)&^1:]...)
	}
	return terms[0], errors
}

// carry adds what has gathered in a component to the one above, without an error: the first pass up to the highest
// component, the next up to the one below, and so on.
func carry[T any](f Arithmetic[T], s Scheme, z []T) []T {
	for pass := range s.Carries {
		for i := len(z) - 1; i > pass; i-- {
			z[i-1], z[i] = f.TwoSum(z[i-1], z[i])
		}
	}
	return z
}

// AddDoubleWord returns x + y of two components with a relative error of at most 3u^2/(1-4u), also where parts are
// subnormal: AccurateDWPlusDW.
//
// Source: M. Joldes, J.-M. Muller, V. Popescu, "Tight and rigorous error bounds for basic building blocks of
// double-word arithmetic", ACM TOMS 44 (2017) 15res, https://doi.org/10.1145/3121432, algorithm 6, theorem 3.1.
func AddDoubleWord[T any](f Arithmetic[T], x, y []T) []T {
	s, e := f.TwoSum(x[0], y[0])
	t, g := f.TwoSum(x[1], y[1])
	s, e = f.FastTwoSum(s, f.Add(e, t))
	s, e = f.FastTwoSum(s, f.Add(g, e))
	return []T{s, e}
}

// MulDoubleWord returns x * y of two components with a relative error of at most 5u^2 where nothing underflows:
// DWTimesDW2.
//
// Source: the same, algorithm 11, theorem 5.2.
func MulDoubleWord[T any](f Arithmetic[T], x, y []T) []T {
	p, e := f.TwoProduct(x[0], y[0])
	p, e = f.FastTwoSum(p, f.Add(e, f.MulAdd(x[0], y[1], f.Mul(x[1], y[0]))))
	return []T{p, e}
}
