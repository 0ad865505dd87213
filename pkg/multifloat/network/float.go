package network

import "math"

// Float is the arithmetic of the processor: IEEE 754 binary64 or binary32.
//
// TwoSum is error-free unless a sum overflows (D. E. Knuth, "The Art of Computer Programming", volume 2, 4.2.2,
// theorem B), FastTwoSum where its condition holds (T. J. Dekker 1971, https://doi.org/10.1007/BF01397083), TwoProduct
// unless the product overflows or its error is no multiple of the least subnormal number.
type Float[T float32 | float64] struct{}

func (Float[T]) Add(x, y T) T { return x + y }
func (Float[T]) Mul(x, y T) T { return x * y }

func (Float[T]) MulAdd(x, y, z T) T {
	if _, narrow := any(x).(float32); !narrow {
		return T(math.FMA(float64(x), float64(y), float64(z)))
	}
	// The product is exact in binary64. Rounding the sum to odd before rounding it to nearest is rounding once
	// (S. Boldo, G. Melquiond 2008, https://doi.org/10.1109/TC.2007.70819).
	s, e := Float[float64]{}.TwoSum(float64(x)*float64(y), float64(z))
	if bits := math.Float64bits(s); e != 0 && e-e == 0 && bits&1 == 0 {
		if (e > 0) == (s > 0) {
			s = math.Float64frombits(bits + 1)
		} else {
			s = math.Float64frombits(bits - 1)
		}
	}
	return T(s)
}

func (Float[T]) Narrow(x T) T { return T(float32(x)) }

func (Float[T]) TwoSum(x, y T) (s, e T) {
	s = x + y
	z := s - x
	return s, (x - (s - z)) + (y - z)
}

func (Float[T]) FastTwoSum(x, y T) (s, e T) {
	s = x + y
	return s, y - (s - x)
}

func (f Float[T]) TwoProduct(x, y T) (p, e T) {
	p = x * y
	return p, f.MulAdd(x, y, -p)
}
