package bytemod

import (
	"math"
	"testing"
)

// TestRemainder: the remainders of all sums of 128 bytes, as a GPU computes them, are right and fit a byte.
func TestRemainder(t *testing.T) {
	for _, m := range families().bytes {
		r := m.Remainder()
		limit := int32(4*stepBytes*255) * ((m.M + 1) / 2)
		if start := math.Float32frombits(uint32(r.Start)); int64(start)%int64(m.M) != 0 ||
			start-float32(limit) < 1<<23 || start+float32(limit)+128 >= 1<<24 {
			t.Fatalf("modulo %d sums begin at %v", m.M, start)
		}
		for x := -limit - 128; x <= limit+128; x++ {
			f := float64(math.Float32frombits(uint32(r.Start + x)))
			q := float32(f*float64(r.Inverse) + float64(r.Rounder)) // exact but for the last rounding
			whole := r.Start + x - m.M*int32(math.Float32bits(q))
			rest := whole + r.Again - r.Start
			if (x-rest)%m.M != 0 || m.M < 256 && (rest < -127 || rest > 127) || int8(whole) != int8(rest) {
				t.Fatalf("%d modulo %d: %d, %d", x, m.M, rest, whole)
			}
		}
	}
}

// TestDigits: the same of moduli of two digits, near multiples of them.
func TestDigits(t *testing.T) {
	const limit = mostDigits
	for _, m := range families().pairs {
		r := m.Remainder()
		for _, far := range []int32{0, 1, limit / m.M / 2, limit/m.M - 1} {
			for near := int32(-2); near <= 2; near++ {
				for _, x := range []int32{far*m.M + near, -far*m.M + near} {
					sum := uint32(r.Start + x)
					rest := int32(sum - uint32(uint64(sum)*uint64(m.Magic)>>(32+m.Shift))*uint32(m.M))
					low, high := rest&127-64, rest>>7-64
					if r.Start+x < 0 || rest < 0 || rest > m.M || (low+digit*high-x)%m.M != 0 || high > 64 || low+high > 127 {
						t.Fatalf("%d modulo %d: digits %d, %d", x, m.M, low, high)
					}
				}
			}
		}
	}
}
