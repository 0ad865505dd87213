package primer

import (
	"math"
	"math/rand/v2"
	"testing"
)

// plainSum returns the loops of sums without vector registers.
func plainSum[T Number]() Combiner[T] {
	c := CombinerOf[T](Operations[0])
	c.Fold, c.Scan, c.rows = foldSum[T], scanSum[T], nil
	return c
}

// TestVectorIntegers: loops of vector registers give the sums of plain ones, also in place.
func TestVectorIntegers(t *testing.T) {
	t.Run("int32", testVectorIntegers[int32])
	t.Run("int64", testVectorIntegers[int64])
}

func testVectorIntegers[T int32 | int64](t *testing.T) {
	r := rand.New(rand.NewPCG(11, 11))
	c, plain := CombinerOf[T](Operations[0]), plainSum[T]()
	for n := range 150 {
		x, y, want := make([]T, n), make([]T, n), make([]T, n)
		for i := range x {
			x[i] = T(r.Uint64())
		}
		s := T(r.Uint64())
		last := plain.Scan(s, want, x)
		if got := c.Fold(s, x); got != last {
			t.Errorf("sum of %d: %d, want %d", n, got, last)
		}
		if got := c.Scan(s, y, x); got != last {
			t.Errorf("scan of %d: last %d, want %d", n, got, last)
		}
		if got := c.Scan(s, x, x); got != last {
			t.Errorf("scan of %d in place: last %d, want %d", n, got, last)
		}
		for i := range want {
			if y[i] != want[i] || x[i] != want[i] {
				t.Fatalf("scan of %d: element %d is %d and, in place, %d, want %d", n, i, y[i], x[i], want[i])
			}
		}
	}
}

// TestVectorGrouped: rows in vector registers give the bits of plain ones: of numbers of all magnitudes, zeros of both
// signs, infinities and NaN, of more than a group of tiles.
func TestVectorGrouped(t *testing.T) {
	t.Run("float32", testVectorGrouped[float32])
	t.Run("float64", testVectorGrouped[float64])
}

func testVectorGrouped[T float32 | float64](t *testing.T) {
	r := rand.New(rand.NewPCG(12, 12))
	c, plain := CombinerOf[T](Operations[0]), plainSum[T]()
	size := TileElements[T]()
	span := 2000
	if precisionOf[T]() == 24 {
		span = 250
	}
	any := func() float64 { return math.Ldexp(r.Float64()-0.5, r.IntN(span)-span/2) }
	for name, number := range map[string]func() float64{
		"any":       any,
		"similar":   func() float64 { return r.Float64() - 0.5 },
		"zeros":     func() float64 { return math.Copysign(0, r.Float64()-0.5) },
		"subnormal": func() float64 { return math.Ldexp(r.Float64()-0.5, -span/2-20) },
		"special": func() float64 {
			if r.IntN(3*size) == 0 {
				return []float64{math.Inf(1), math.Inf(-1), math.NaN()}[r.IntN(3)]
			}
			return any()
		},
	} {
		for _, n := range []int{1, 63, 64, 65, size - 1, size, size + 1, 3*size + 77, 258*size + 5} {
			if n > 200*size && name != "similar" {
				continue
			}
			x, y, want := make([]T, n), make([]T, n), make([]T, n)
			for i := range x {
				x[i] = T(number())
			}
			for _, exclusive := range []bool{false, true} {
				scanGrouped(c, y, x, exclusive, 2)
				scanGrouped(plain, want, x, exclusive, 2)
				for i := range want {
					if !same(y[i], want[i]) {
						t.Fatalf("%s, %d elements, exclusive %v: element %d is %g, want %g", name, n, exclusive, i, y[i], want[i])
					}
				}
			}
		}
	}
}
