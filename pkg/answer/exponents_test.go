package answer

import (
	"testing"

	"mpbench/pkg/exact"
)

// TestClassExponents: each component finds its class again, however large or small it is.
func TestClassExponents(t *testing.T) {
	c := newClasses(7)
	for i, e := range []int{0, 1000, -1000, 32767, 40000, -40000, 100000} {
		x := exact.FromRat(exact.PowerOfTwo(e))
		s := exact.Summary{N: 2, Sum: x, SumAbs: x, Finite: x}
		c.add(i, lookAt(s))
		if ratio, ok := c.ratio[int(c.of[i])]; !ok || ratio < 1 || ratio > 1+0x1p-48 || len(c.ratio) != i+1 {
			t.Errorf("2^%d is in class %d, with the ratio %v", e, c.of[i], ratio)
		}
	}
}
