package deferredgpu_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"mpbench/pkg/gpu/gputest"
	"mpbench/pkg/numbers"
	"mpbench/pkg/rns/deferred"
	"mpbench/pkg/rns/deferred/deferredgpu"
)

// packedNumbers returns n numbers of p bits whose exponents exp chooses; some are zeros.
func packedNumbers(r *rand.Rand, n, p int, exp func(i int) int) *deferred.Packed {
	packed := deferred.NewPacked(n, p)
	z := numbers.Number{Class: numbers.Finite, Words: make([]uint64, (p+63)/64)}
	for i := range n {
		for h := range z.Words {
			z.Words[h] = r.Uint64()
		}
		switch r.IntN(8) {
		case 0: // ones alone
			for h := range z.Words {
				z.Words[h] = ^uint64(0)
			}
		case 1:
			clear(z.Words)
		}
		z.Class = numbers.Finite
		last := len(z.Words) - 1
		if z.Words[last] == 0 {
			z.Class = numbers.Zero
		}
		if extra := 64*len(z.Words) - p; extra > 0 {
			z.Words[last] = z.Words[last]>>extra | 1<<(63-extra)
		} else {
			z.Words[last] |= 1 << 63
		}
		z.Neg, z.Exp = r.IntN(2) == 1, exp(i)
		if err := packed.Set(i, &z); err != nil {
			panic(err)
		}
	}
	return packed
}

// sameSum compares the device's sum with the CPU's, exactly where their extent allows it and otherwise rounded.
func sameSum(t *testing.T, name string, p *deferred.Packed, prec uint) *deferred.Windows {
	t.Helper()
	s, err := deferredgpu.NewPackedSum(gputest.Device(t), p)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Free()
	got, times, err := s.Sum(false)
	if err != nil {
		t.Fatal(err)
	}
	if times.Kernel < 0 || times.Download < 0 {
		t.Errorf("%s: times %+v", name, times)
	}
	g, w := got.Round(new(big.Float), prec), p.Sum(1).Round(new(big.Float), prec)
	if (g == nil) != (w == nil) || g != nil && (g.Cmp(w) != 0 || g.Signbit() != w.Signbit()) {
		// hexadecimal, which is quick for all exponents
		t.Errorf("%s: got %s, want %s", name, g.Text('p', 20), w.Text('p', 20))
	}
	return s.Windows()
}

func TestPackedSum(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	lengths := []int{0, 1, 2, 31, 32, 33, 511, 512, 513, 2000}
	if !gputest.Emulated() {
		lengths = append(lengths, 100_001, 1_000_000)
	}
	for _, p := range []int{1, 24, 53, 64, 65, 106, 128, 170, 212, 424, 848, 1000, 1696, 2047, 4096, 4160} {
		for _, n := range lengths {
			if gputest.Emulated() && n > 600 && p > 424 {
				continue
			}
			for _, spread := range []int{1, 30, 200} {
				packed := packedNumbers(r, n, p, func(int) int { return r.IntN(spread) - 700 })
				sameSum(t, fmt.Sprintf("%d numbers of %d bits, %d exponents", n, p, spread), packed, uint(p+spread+40))
			}
		}
	}
}

// So many numbers that each warp takes several tiles of them, the last of which is not full.
func TestPackedSumTiles(t *testing.T) {
	gputest.Sanitize(t)
	r := rand.New(rand.NewPCG(5, 5))
	for _, c := range []struct{ bits, n int }{{53, 9001}, {106, 9001}, {212, 9001}, {424, 9001}, {848, 4003},
		{1696, 2001}, {3000, 1001}, {8000, 301}} {
		for _, spread := range []int{1, 50} {
			packed := packedNumbers(r, c.n, c.bits, func(int) int { return r.IntN(spread) - 100 })
			sameSum(t, fmt.Sprintf("%d numbers of %d bits, %d exponents", c.n, c.bits, spread), packed, uint(c.bits+spread+40))
		}
	}
}

// Significands longer than a window, exponents in clusters and scattered ones, far apart.
func TestPackedSumWindows(t *testing.T) {
	gputest.Sanitize(t)
	r := rand.New(rand.NewPCG(2, 2))
	n := 9000
	for _, c := range []struct {
		name   string
		bits   int
		exp    func(i int) int
		passes int
		left   bool // some numbers are scattered
	}{
		{"longer than a window", 20_000, func(int) int { return r.IntN(5) }, 3, false},
		{"longer than a window, spread as far", 20_000, func(int) int { return r.IntN(20_000) }, 5, false},
		{"two clusters", 106, func(i int) int { return i % 2 * 1_000_000 }, 2, false},
		{"two clusters near the ends", 106, func(i int) int { return (i%2*2 - 1) * 1_000_000_000 }, 2, false},
		{"a cluster and scattered numbers", 212, func(i int) int {
			if i%2 == 0 {
				return r.IntN(20)
			}
			return r.IntN(1 << 24)
		}, 1, true},
		{"scattered numbers alone", 64, func(int) int { return r.IntN(1 << 24) }, 0, true},
		{"a wide range, all in use", 53, func(int) int { return r.IntN(1500) }, 8, false},
	} {
		count := n
		if c.bits > 1000 {
			count = 300
		}
		packed := packedNumbers(r, count, c.bits, c.exp)
		w := sameSum(t, c.name, packed, 40_100)
		if got, left := len(w.Passes), w.Scattered(); got != c.passes || left > 0 != c.left {
			t.Errorf("%s: %d passes, want %d; %d numbers scattered", c.name, got, c.passes, left)
		}
	}
}

// Exact cancellation, and what the device does not see: infinities and NaN.
func TestPackedSumSpecial(t *testing.T) {
	gputest.Sanitize(t)
	r := rand.New(rand.NewPCG(3, 3))
	n := 700
	for _, classes := range [][]numbers.Number{
		nil,
		{{Class: numbers.Infinite}},
		{{Class: numbers.Infinite, Neg: true}, {Class: numbers.Infinite, Neg: true}},
		{{Class: numbers.Infinite, Neg: true}, {Class: numbers.Infinite}},
		{{Class: numbers.NaN}},
	} {
		half := packedNumbers(r, n/2, 212, func(int) int { return r.IntN(2000) })
		both := deferred.NewPacked(n, 212)
		var z numbers.Number
		for i := range n {
			half.Read(&z, i%(n/2))
			z.Neg = z.Neg != (i >= n/2)
			if err := both.Set(i, &z); err != nil {
				t.Fatal(err)
			}
		}
		for i := range classes {
			if err := both.Set(13*i, &classes[i]); err != nil {
				t.Fatal(err)
			}
		}
		sameSum(t, fmt.Sprint(classes), both, 5000)
	}
}

// BenchmarkPackedSum times sums of 10^6 numbers with full significands by events, with cold caches: exponents as those
// of uniform numbers, and spread over several windows.
func BenchmarkPackedSum(b *testing.B) {
	d := realDevice(b)
	r := rand.New(rand.NewPCG(4, 4))
	const n = 1_000_000
	for _, p := range []int{106, 212, 424, 848, 1696} {
		for _, spread := range []int{1, 20, 10_000} {
			b.Run(fmt.Sprintf("precision=%d/exponents=%d", p, spread), func(b *testing.B) {
				packed := packedNumbers(r, n, p, func(int) int { return -p - r.IntN(spread) })
				s, err := deferredgpu.NewPackedSum(d, packed)
				if err != nil {
					b.Fatal(err)
				}
				defer s.Free()
				var times []float64
				for range 43 {
					_, t, err := s.Sum(true)
					if err != nil {
						b.Fatal(err)
					}
					times = append(times, float64(t.Kernel)/1e3)
				}
				times = times[3:]
				slices.Sort(times)
				median := times[len(times)/2]
				b.ReportMetric(median, "µs")
				b.ReportMetric(times[0], "least-µs")
				b.ReportMetric(times[len(times)-1], "greatest-µs")
				b.ReportMetric(float64(packed.Bytes())/median/1e3, "GB/s")
				b.ReportMetric(float64(len(s.Windows().Passes)), "windows")
				b.ReportMetric(float64(s.Windows().Scattered()), "scattered")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}
