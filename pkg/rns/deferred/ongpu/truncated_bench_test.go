package ongpu_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"mpbench/pkg/gpu"
	"mpbench/pkg/rns/deferred"
	"mpbench/pkg/rns/deferred/ongpu"
)

// cancellingRows returns a matrix and a vector of numbers of all exponents, of which the products in the first open rows add up to exactly zero.
func cancellingRows(size, open int) (a, x []float64) {
	r := rand.New(rand.NewPCG(5, 6))
	number := func() float64 { return math.Ldexp(r.Float64()-0.5, r.IntN(2000)-1000) }
	a, x = make([]float64, size*size), make([]float64, size)
	for k := range a {
		if a[k] = number(); k < open*size && k%2 == 1 {
			a[k] = -a[k-1]
		}
	}
	for j := range x {
		if x[j] = number(); j%2 == 1 {
			x[j] = x[j-1]
		}
	}
	return a, x
}

// BenchmarkRepaired times products of float64 numbers of all exponents, rounded to 53 bits, by the clock: exact ones, and truncated ones of which so
// many rows have to be computed again, at the first launch, with all that has to be prepared for it, and at later ones.
func BenchmarkRepaired(b *testing.B) {
	d := realDevice(b)
	const size = 1000
	l, xl := deferred.RowMajor(size, size, size), deferred.Strided(size, 1)
	for _, open := range []int{0, size / 16, size / 8, size / 4, size / 2, size} {
		a, x := cancellingRows(size, open)
		for _, exact := range []bool{false, true} {
			if exact && open > 0 {
				continue
			}
			plan, extent, err := planFloats(a, l, x, xl, exact)
			if err != nil {
				b.Fatal(err)
			}
			err = d.Do(func() error {
				product, free, err := productOf(d, plan, a, l, x, xl, extent)
				if err != nil {
					return err
				}
				defer free()
				name := fmt.Sprintf("truncated/open=%d", open)
				if exact {
					name = "exact"
				}
				return timeRepairs(b, d, name, plan, product)
			})
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}

func planFloats(a []float64, l deferred.Layout, x []float64, xl deferred.Layout, exact bool) (*deferred.Plan, deferred.Extent, error) {
	extent, err := deferred.Measure(deferred.Float64s(x), xl)
	if err != nil {
		return nil, extent, err
	}
	if exact {
		plan, err := deferred.NewPlan(deferred.Float64s(a), l, deferred.NoTrans, extent, deferred.Options{})
		return plan, extent, err
	}
	plan, err := deferred.NewPlanFor(deferred.Float64s(a), l, deferred.NoTrans, deferred.Float64s(x), xl, 53, deferred.Options{})
	return plan, extent, err
}

func productOf(d *gpu.Device, plan *deferred.Plan, a []float64, l deferred.Layout, x []float64, xl deferred.Layout, extent deferred.Extent) (*ongpu.Product, func(), error) {
	an, err := ongpu.UploadFloat64(d, a)
	if err != nil {
		return nil, nil, err
	}
	matrix, err := ongpu.NewMatrix(d, plan, an, l)
	if err != nil {
		return nil, nil, err
	}
	xn, err := ongpu.UploadFloat64(d, x)
	if err != nil {
		return nil, nil, err
	}
	vector, err := matrix.NewVector(xn, xl, extent)
	if err != nil {
		return nil, nil, err
	}
	product, err := ongpu.NewProduct(matrix, vector, ongpu.Options{Precision: 53, Alpha: big.NewFloat(1), Beta: new(big.Float)})
	return product, func() { product.Free(); vector.Free(); matrix.Free(); an.Free(); xn.Free() }, err
}

// timeRepairs makes two benchmarks: of the first launch and of later ones, with cold caches.
func timeRepairs(b *testing.B, d *gpu.Device, name string, plan *deferred.Plan, product *ongpu.Product) error {
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
		if err := product.Repair(); err != nil {
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
	repaired, onHost := product.Repaired()
	for i, list := range [][]float64{{first}, times} {
		part := []string{"first", "later"}[i]
		b.Run(name+"/"+part, func(b *testing.B) {
			b.ReportMetric(list[len(list)/2], "µs")
			b.ReportMetric(list[0], "least-µs")
			b.ReportMetric(list[len(list)-1], "greatest-µs")
			b.ReportMetric(float64(plan.Moduli()), "moduli")
			b.ReportMetric(float64(repaired), "repaired")
			b.ReportMetric(float64(onHost), "on-host")
			b.ReportMetric(0, "ns/op")
		})
	}
	return nil
}
