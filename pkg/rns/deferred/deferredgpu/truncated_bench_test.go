package deferredgpu_test

import (
	"fmt"
	"math/big"
	"slices"
	"testing"
	"time"

	"mpbench/pkg/gpu"
	"mpbench/pkg/numbers"
	"mpbench/pkg/rns/deferred/deferredgpu"
	"mpbench/pkg/rns/internal/operands"
)

// BenchmarkRecomputed times products of float64 numbers of all exponents, rounded to 53 bits, by the clock: exact
// ones, and truncated ones of which so many rows have to be computed again, at the first launch, with all that has to
// be prepared for it, and at later ones.
func BenchmarkRecomputed(b *testing.B) {
	d := realDevice(b)
	const size = 1000
	run := func(name string, open int, truncate bool) {
		a, x := operands.CancellingRows(size, open)
		p := &problem{
			a: numbers.Float64s(a), x: numbers.Float64s(x), layout: numbers.RowMajor(size, size, size),
			xLayout: numbers.Strided(size, 1),
			alpha:   big.NewFloat(1), beta: new(big.Float), prec: 53, truncate: truncate,
		}
		err := d.Do(func() error {
			product, free, err := p.prepare(d, a, x)
			if err != nil {
				return err
			}
			defer free()
			return timeRecomputing(b, d, name, product)
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	run("exact", 0, false)
	for _, open := range []int{0, size / 16, size / 8, size / 4, size / 2, size} {
		run(fmt.Sprintf("truncated/open=%d", open), open, true)
	}
}

// timeRecomputing makes two benchmarks: of the first launch and of later ones, with cold caches.
func timeRecomputing(b *testing.B, d *gpu.Device, name string, product *deferredgpu.Product) error {
	run := func() (float64, error) {
		if err := d.ColdCache(nil); err != nil {
			return 0, err
		}
		if err := d.Sync(); err != nil {
			return 0, err
		}
		start := time.Now()
		if err := product.Launch(nil); err != nil {
			return 0, err
		}
		if err := product.Recompute(); err != nil {
			return 0, err
		}
		err := d.Sync()
		return float64(time.Since(start)) / float64(time.Microsecond), err
	}
	first, err := run()
	if err != nil {
		return err
	}
	var times []float64
	for range 20 {
		t, err := run()
		if err != nil {
			return err
		}
		times = append(times, t)
	}
	slices.Sort(times)
	recomputed, onHost := product.Recomputed()
	for i, list := range [][]float64{{first}, times} {
		part := []string{"first", "later"}[i]
		b.Run(name+"/"+part, func(b *testing.B) {
			b.ReportMetric(list[len(list)/2], "µs")
			b.ReportMetric(list[0], "least-µs")
			b.ReportMetric(list[len(list)-1], "greatest-µs")
			b.ReportMetric(float64(product.Moduli()), "moduli")
			b.ReportMetric(float64(recomputed), "recomputed")
			b.ReportMetric(float64(onHost), "on-host")
			b.ReportMetric(0, "ns/op")
		})
	}
	return nil
}
