package primer

import (
	"math"
	"math/bits"
	"math/rand/v2"
)

// Data returns n elements for an operation, from integer bits of a seeded generator: such that the result says
// something, and no product overflows.
//
//   - min max ^      uniform integers; uniform numbers in [-1, 1)
//   - odd integers; 1 + d, d uniform in [-2^-k, 2^-k), 2^k about n/16, at least 4
//     &                uniform integers with some bits that all have
//     |                uniform integers without some bits
//     && ||            1; all 0 but the middle one
func Data[T Number](o Operation, n int, seed uint64) []T {
	r := rand.New(rand.NewPCG(seed, 0x7072696d6572))
	x := make([]T, n)
	mask := r.Int64()
	for i := range x {
		switch {
		case o.Name == "&&":
			x[i] = 1
		case o.Name == "||":
			x[i] = truth[T](i == n/2)
		case IsFloat[T]():
			// 24 or 53 bits, so that every number is exact in its format
			v := float64(r.Int64N(1<<24)-1<<23) / (1 << 23)
			if TypeName[T]() == "float64" {
				v = float64(r.Int64N(1<<53)-1<<52) / (1 << 52)
			}
			if o.Name == "*" {
				v = 1 + math.Ldexp(v, -max(2, bits.Len(uint(n))-5))
			}
			x[i] = T(v)
		default:
			x[i] = integer[T](o.Name, r.Int64()<<1^r.Int64(), mask)
		}
	}
	return x
}

func integer[T Number](name string, v, mask int64) T {
	switch name {
	case "*":
		v |= 1
	case "&":
		v |= mask
	case "|":
		v &= mask
	}
	return T(v)
}
