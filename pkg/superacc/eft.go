package superacc

import "math"

// TwoSum returns s = fl(x + y) and the error e, so that s + e = x + y exactly: six additions, any order of magnitudes.
// It holds for all finite x and y unless s overflows.
//
// Source: O. Moller, "Quasi double-precision in floating point addition", BIT 5 (1965); D. E. Knuth, The Art of
// Computer Programming, vol. 2, section 4.2.2, theorem B.
func TwoSum(x, y float64) (s, e float64) {
	s = x + y
	z := s - x
	return s, (x - (s - z)) + (y - z)
}

// FastTwoSum is TwoSum in three additions for |x| >= |y| or x = 0, or whenever x is a multiple of the unit in the last
// place of y.
//
// Source: T. J. Dekker, "A floating-point technique for extending the available precision", Numerische Mathematik 18
// (1971).
func FastTwoSum(x, y float64) (s, e float64) {
	s = x + y
	return s, y - (s - x)
}

// TwoProduct returns p = fl(x * y) and the error e, so that p + e = x * y exactly. It holds if x or y is 0, and if
// 2^-968 <= |p| and p does not overflow: the error is a multiple of the product of the last places of x and y, which
// is then at least 2^-1074.
func TwoProduct(x, y float64) (p, e float64) {
	p = x * y
	return p, math.FMA(x, y, -p)
}

// tinyProduct is the least magnitude from which the error of a product is certain to be a binary64 number.
const tinyProduct = 0x1p-968
