package deferredgpu_test

import (
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"mpbench/cuda/testkernels"
	"mpbench/pkg/gpu"
	"mpbench/pkg/gpu/gputest"
	"mpbench/pkg/numbers"
	"mpbench/pkg/rns/deferred"
	"mpbench/pkg/rns/deferred/deferredgpu"
)

// Times of products on a GPU, complete (sums, reconstruction, alpha, beta, rounding), by events around the one launch,
// with cold caches: medians of 40 runs. An empty launch measures what events cost. On the emulator they say nothing
// and are skipped.
//
//	MPBENCH_TEST_DEVICE=cuda:0 deferredgpu.test -test.run '^$' -test.bench .

// fullNumbers returns n numbers of p random bits, all with the exponent -p.
func fullNumbers(b *testing.B, r *rand.Rand, n, p int) *deferred.Packed {
	packed := deferred.NewPacked(n, p)
	z := numbers.Number{Class: numbers.Finite, Exp: -p, Words: make([]uint64, (p+63)/64)}
	for i := range n {
		for k := range z.Words {
			z.Words[k] = r.Uint64()
		}
		last := &z.Words[len(z.Words)-1]
		top := uint((p - 1) % 64)
		*last = *last&(1<<top-1) | 1<<top
		z.Words[0] |= 1
		z.Neg = r.IntN(2) == 0
		if err := packed.Set(i, &z); err != nil {
			b.Fatal(err)
		}
	}
	return packed
}

// medianTime returns the median of the device's times of launch, in microseconds, and the least and greatest. launch
// gets the number of the run, so that it can take other memory each time.
func medianTime(d *gpu.Device, runs int, launch func(i int) error) (median, least, greatest float64, err error) {
	from, err := d.NewEvent()
	if err != nil {
		return 0, 0, 0, err
	}
	defer from.Free()
	to, err := d.NewEvent()
	if err != nil {
		return 0, 0, 0, err
	}
	defer to.Free()
	spin, err := newSpin(d)
	if err != nil {
		return 0, 0, 0, err
	}
	var times []float64
	for i := range runs + 5 {
		for _, step := range []func() error{
			spin, func() error { return from.Record(nil) }, func() error { return launch(i) },
			func() error { return to.Record(nil) }, to.Sync,
		} {
			if err := step(); err != nil {
				return 0, 0, 0, err
			}
		}
		elapsed, err := gpu.Elapsed(from, to)
		if err != nil {
			return 0, 0, 0, err
		}
		if i >= 5 {
			times = append(times, float64(elapsed)/float64(time.Microsecond))
		}
	}
	slices.Sort(times)
	return times[len(times)/2], times[0], times[len(times)-1], nil
}

// newSpin returns what keeps the device busy for about 30 µs.
func newSpin(d *gpu.Device) (func() error, error) {
	m, err := d.ModuleOf(testkernels.Kernels, "selftest")
	if err != nil {
		return nil, err
	}
	k, err := gpu.Function[testkernels.SpinArgs](m, "spin")
	if err != nil {
		return nil, err
	}
	out, err := gpu.Alloc[uint64](d, 1) // as long as the process
	return func() error {
		return k.Launch(gpu.Launch{Block: gpu.Dim{X: 1}}, testkernels.SpinArgs{Out: out.Pointer(), Steps: 5000})
	}, err
}

func realDevice(b *testing.B) *gpu.Device {
	if gputest.Emulated() {
		b.Skip("times of the emulator say nothing")
	}
	return gputest.Device(b)
}

// report makes the benchmark's result that of the device's events.
func report(b *testing.B, d *gpu.Device, bytes float64, launch func(i int) error) error {
	median, least, greatest, err := medianTime(d, 40, launch)
	if err != nil {
		return err
	}
	b.ReportMetric(median, "µs")
	b.ReportMetric(least, "least-µs")
	b.ReportMetric(greatest, "greatest-µs")
	if bytes > 0 {
		b.ReportMetric(bytes/median/1e3, "GB/s")
	}
	b.ReportMetric(0, "ns/op")
	return nil
}

func BenchmarkEmptyLaunch(b *testing.B) {
	d := realDevice(b)
	err := d.Do(func() error {
		m, err := d.ModuleOf(testkernels.Kernels, "selftest")
		if err != nil {
			return err
		}
		k, err := gpu.Function[struct{}](m, "empty")
		if err != nil {
			return err
		}
		return report(b, d, 0, func(int) error { return k.Launch(gpu.Launch{Block: gpu.Dim{X: 32}}, struct{}{}) })
	})
	if err != nil {
		b.Fatal(err)
	}
}

// BenchmarkCopy is the bandwidth of a copy in device memory, bytes read and written.
func BenchmarkCopy(b *testing.B) {
	d := realDevice(b)
	err := d.Do(func() error {
		const n = 1 << 32
		from, err := gpu.Alloc[byte](d, n)
		if err != nil {
			return err
		}
		defer from.Free()
		to, err := gpu.Alloc[byte](d, n)
		if err != nil {
			return err
		}
		defer to.Free()
		if err := from.Clear(nil); err != nil {
			return err
		}
		return report(b, d, 2*n, func(int) error { return to.CopyAsync(nil, from) })
	})
	if err != nil {
		b.Fatal(err)
	}
}

// fullProduct makes one product of rows x columns at p bits, every number with p random bits. Element (i, j) is number
// i + j: no two rows are the same, and little crosses the bus.
func fullProduct(
	d *gpu.Device, r *rand.Rand, source *deferredgpu.Numbers, y *deferred.Packed, rows, columns, p int, residues bool,
	shape deferredgpu.Shape,
) (*deferredgpu.Product, int64, func(), error) {
	extent := numbers.Extent{Low: -p, Top: 0}
	extents := make([]numbers.Extent, rows)
	for i := range extents {
		extents[i] = extent
	}
	plan, err := deferred.PlanExtents(extents, columns, extent, deferred.Options{})
	if err != nil {
		return nil, 0, nil, err
	}
	newMatrix := deferredgpu.NewMatrix
	if residues {
		newMatrix = deferredgpu.NewResidueMatrix
	}
	a, err := newMatrix(d, plan, source, numbers.Layout{Rows: rows, Cols: columns, RowStride: 1, ColStride: 1})
	if err != nil {
		return nil, 0, nil, err
	}
	x, err := a.NewVector(source, numbers.Strided(columns, 1), extent)
	if err != nil {
		return nil, 0, nil, err
	}
	o := deferredgpu.Options{Precision: p, Alpha: big.NewFloat(1), Beta: new(big.Float)}
	if y != nil {
		o.Alpha, o.Beta, o.Y = randomBig(r, p, 1), randomBig(r, p, 1), y
	}
	product, err := deferredgpu.NewProduct(a, x, o)
	if err == nil && shape != (deferredgpu.Shape{}) {
		err = product.SetShape(shape)
	}
	bytes := a.Bytes()
	if rows == 1 {
		bytes *= 2 // x is as long
	}
	return product, bytes, func() { product.Free(); x.Free(); a.Free() }, err
}

// benchmarkProduct times rows x columns at p bits in one shape; the zero Shape is the default one. Runs take turns
// over matrices that together are several times as large as the caches.
func benchmarkProduct(
	b *testing.B, rows, columns, p int, plain, residues bool, shape deferredgpu.Shape,
	launch func(*deferredgpu.Product) error,
) {
	d := realDevice(b)
	r := rand.New(rand.NewPCG(1, 1))
	err := d.Do(func() error {
		numbers, err := deferredgpu.UploadPacked(d, fullNumbers(b, r, rows+columns, p))
		if err != nil {
			return err
		}
		defer numbers.Free()
		var y *deferred.Packed
		if !plain {
			y = fullNumbers(b, r, rows, p)
		}
		var products []*deferredgpu.Product
		var bytes int64
		for total := int64(0); total <= 4*int64(d.Info().L2Bytes); total += bytes {
			product, size, free, err := fullProduct(d, r, numbers, y, rows, columns, p, residues, shape)
			if err != nil {
				return err
			}
			defer free()
			products, bytes = append(products, product), size
		}
		b.Logf("%+v, %d matrices", products[0].Shape(), len(products))
		return report(b, d, float64(bytes), func(i int) error { return launch(products[i%len(products)]) })
	})
	if err != nil {
		b.Fatal(err)
	}
}

// Parts of a product to be timed.
func whole(p *deferredgpu.Product) error     { return p.Launch(nil) }
func sums(p *deferredgpu.Product) error      { return p.LaunchSums(nil) }
func roundRows(p *deferredgpu.Product) error { return p.LaunchRounding(nil) }

var targetPrecisions = []int{53, 106, 212, 424, 848, 1696}

func BenchmarkGemv(b *testing.B) {
	for _, p := range targetPrecisions {
		b.Run(fmt.Sprintf("n=1000/p=%d/alpha,beta", p), func(b *testing.B) {
			benchmarkProduct(b, 1000, 1000, p, false, false, deferredgpu.Shape{}, whole)
		})
		b.Run(fmt.Sprintf("n=1000/p=%d/plain", p), func(b *testing.B) {
			benchmarkProduct(b, 1000, 1000, p, true, false, deferredgpu.Shape{}, whole)
		})
	}
	b.Run("n=8000/p=424", func(b *testing.B) {
		benchmarkProduct(b, 8000, 8000, 424, false, false, deferredgpu.Shape{}, whole)
	})
}

// BenchmarkParts times sums of residues and rounding apart, and other shapes.
func BenchmarkParts(b *testing.B) {
	for _, p := range targetPrecisions {
		run := func(name string, shape deferredgpu.Shape, launch func(*deferredgpu.Product) error) {
			b.Run(fmt.Sprintf("p=%d/%s", p, name), func(b *testing.B) {
				benchmarkProduct(b, 1000, 1000, p, false, true, shape, launch)
			})
		}
		run("sums", deferredgpu.Shape{}, sums)
		for _, rows := range []int{16, 32, 64} {
			run(fmt.Sprintf("sums/rows=%d", rows), deferredgpu.Shape{BlockRows: rows}, sums)
		}
		for _, early := range []bool{false, true} {
			for _, together := range []int{0, 2} {
				run(fmt.Sprintf("whole/together=%d/early=%v", together, early), deferredgpu.Shape{BlockRows: 16,
					Together: together, Early: early}, whole)
			}
		}
		run("roundRows", deferredgpu.Shape{BlockRows: 64}, roundRows)
		for _, together := range []int{2, 4} {
			run(fmt.Sprintf("roundRows/together=%d", together), deferredgpu.Shape{BlockRows: 64, Together: together}, roundRows)
		}
	}
}

// BenchmarkDot is a product of one row: both factors are read.
func BenchmarkDot(b *testing.B) {
	for _, p := range targetPrecisions {
		b.Run(fmt.Sprintf("n=1000000/p=%d", p), func(b *testing.B) {
			benchmarkProduct(b, 1, 1000000, p, true, false, deferredgpu.Shape{}, whole)
		})
	}
}

// BenchmarkLimbs compares products of limbs, in several shapes, with those of residues.
func BenchmarkLimbs(b *testing.B) {
	for _, p := range []int{28, 53, 84, 106} {
		run := func(rows, columns int, name string, residues bool, shape deferredgpu.Shape,
			launch func(*deferredgpu.Product) error) {
			b.Run(fmt.Sprintf("%dx%d/p=%d/%s", rows, columns, p, name), func(b *testing.B) {
				benchmarkProduct(b, rows, columns, p, rows == 1, residues, shape, launch)
			})
		}
		for _, m := range []struct{ rows, columns int }{{1000, 1000}, {1, 1000000}, {100, 10000}, {8000, 8000}} {
			run(m.rows, m.columns, "residues", true, deferredgpu.Shape{}, whole)
			run(m.rows, m.columns, "limbs", false, deferredgpu.Shape{}, whole)
			for warps := 1; warps <= 8 && m.rows > 1; warps *= 2 {
				run(m.rows, m.columns, fmt.Sprintf("limbs/warps=%d", warps), false, deferredgpu.Shape{RowWarps: warps,
					Early: true}, whole)
			}
		}
		run(1000, 1000, "limbs/sums", false, deferredgpu.Shape{}, sums)
		run(1000, 1000, "limbs/roundLimbs", false, deferredgpu.Shape{}, roundRows)
	}
}

// BenchmarkOneShot times what a product of a binary64 matrix takes from its numbers in device memory to its results,
// by the clock: measuring, then in place, or by a conversion to planes.
func BenchmarkOneShot(b *testing.B) {
	d := gputest.Device(b)
	for _, n := range []int{1000, 4000, 16000} {
		r := rand.New(rand.NewPCG(1, 2))
		list, x := make([]float64, n*n), make([]float64, n)
		for _, to := range [][]float64{list, x} {
			for i := range to {
				to[i] = 2*r.Float64() - 1
			}
		}
		layout, column := numbers.RowMajor(n, n, n), numbers.Strided(n, 1)
		for name, newMatrix := range map[string]func(
			*gpu.Device, *deferred.Plan, *deferredgpu.Numbers, numbers.Layout) (*deferredgpu.Matrix, error){
			"planes": deferredgpu.NewMatrix, "in-place": deferredgpu.NewMatrixInPlace,
		} {
			b.Run(fmt.Sprintf("%d/%s", n, name), func(b *testing.B) {
				err := d.Do(func() error { return benchmarkOneShot(b, d, newMatrix, list, x, layout, column) })
				if err != nil {
					b.Fatal(err)
				}
			})
		}
	}
}

func benchmarkOneShot(
	b *testing.B, d *gpu.Device,
	newMatrix func(*gpu.Device, *deferred.Plan, *deferredgpu.Numbers, numbers.Layout) (*deferredgpu.Matrix, error),
	list, x []float64, layout, column numbers.Layout,
) error {
	a, err := deferredgpu.UploadFloat64(d, list)
	if err != nil {
		return err
	}
	defer a.Free()
	v, err := deferredgpu.UploadFloat64(d, x)
	if err != nil {
		return err
	}
	defer v.Free()
	extent, err := deferred.Measure(numbers.Float64s(x), column)
	if err != nil {
		return err
	}
	var run time.Duration
	for b.Loop() {
		rows, _, err := a.Extents(layout)
		if err != nil {
			return err
		}
		plan, err := deferred.PlanExtents(rows, layout.Cols, extent, deferred.Options{})
		if err != nil {
			return err
		}
		m, err := newMatrix(d, plan, a, layout)
		if err != nil {
			return err
		}
		y, err := m.NewVector(v, column, extent)
		if err != nil {
			return err
		}
		options := deferredgpu.Options{Precision: 53, Alpha: big.NewFloat(1), Beta: new(big.Float)}
		p, err := deferredgpu.NewProduct(m, y, options)
		if err != nil {
			return err
		}
		start := time.Now()
		if err := errors.Join(p.Launch(nil), d.Sync()); err != nil {
			return err
		}
		run += time.Since(start)
		p.Free()
		y.Free()
		m.Free()
	}
	elements := float64(b.N) * float64(layout.Rows*layout.Cols)
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/elements, "ns/elem")
	b.ReportMetric(8*elements/float64(run.Nanoseconds()), "run-GB/s")
	return nil
}
