package primer

import "testing"

// BenchmarkScanners times the ways on one thread with numbers that the caches hold, in nanoseconds an element.
func BenchmarkScanners(b *testing.B) {
	b.Run("int32", benchmarkScanners[int32])
	b.Run("float32", benchmarkScanners[float32])
	b.Run("float64", benchmarkScanners[float64])
}

func benchmarkScanners[T Number](b *testing.B) {
	const n = 1 << 16
	o := Operations[0]
	c, x, y := CombinerOf[T](o), Data[T](o, n, 1), make([]T, n)
	for _, s := range Scanners[T](o) {
		b.Run(s.Name, func(b *testing.B) {
			for b.Loop() {
				s.Scan(c, y, x, false, 1)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/element")
			b.ReportMetric(0, "ns/op")
		})
	}
}
