package deferredgpu

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"mpbench/pkg/gpu/gputest"
	"mpbench/pkg/numbers"
	"mpbench/pkg/rns/bytemod"
	"mpbench/pkg/rns/deferred"
)

// BenchmarkGemm times products of n x n matrices on a GPU, from numbers in its memory to rounded results, by
// events, one after the other without a pause: medians, the parts of the median run, rates of the parts, and
// for how long the runs went on, as power limits sustained rates. "full": all numbers have one exponent;
// "uniform": in (-1, 1); "columns": 16 columns of B.
//
//	MPBENCH_TEST_DEVICE=cuda:0 deferredgpu.test -test.run '^$' -test.bench 'Gemm$'
func BenchmarkGemm(b *testing.B) {
	if gputest.Emulated() {
		b.Skip("times of the emulator say nothing")
	}
	for _, n := range []int{512, 1024, 2048, 4096} {
		for _, p := range []int{53, 106, 212, 424} {
			for _, c := range []gemmCase{
				{"full", n, n, p, 0, 64}, {"full", n, n, p, 0, 128}, {"full", n, n, p, 0, wideTile},
				{"uniform", n, n, p, 20, 0}, {"columns", n, 16, p, 0, 64},
			} {
				b.Run(fmt.Sprintf("n=%d/bits=%d/tile=%d/%s", n, p, c.tile, c.name), c.run)
			}
		}
	}
}

// gemmCase is a product of an n x n matrix and one of so many columns.
type gemmCase struct {
	name                     string
	n, cols, p, spread, tile int
}

func (c gemmCase) run(b *testing.B) {
	d, rng := gputest.Device(b), rand.New(rand.NewPCG(uint64(c.n), uint64(c.p)))
	var matrices [2]numbers.Array
	for i, cols := range []int{c.n, c.cols} {
		matrices[i] = numbers.Array{Source: packedNumbers(b, rng, c.n*cols, c.p, c.spread),
			Layout: numbers.RowMajor(c.n, cols, cols)}
	}
	plan := deferred.NewGemmPlan(matrices[0], matrices[1], nil, nil, c.p, 0,
		deferred.GemmCost{Products: bytemod.Products, Most: bytemod.MaxProducts - 1, Redo: gemmRedo})
	err := d.Do(func() error {
		var on [2]*Numbers
		for i, m := range matrices {
			var err error
			if on[i], err = UploadPacked(d, m.Source.(*deferred.Packed)); err != nil {
				return err
			}
			defer on[i].Free()
		}
		o := gemmOptions{Options: Options{Precision: c.p, Alpha: big.NewFloat(1), Beta: new(big.Float)}, tile: c.tile}
		product, err := newGemmProduct(d, plan, on[0], on[1], matrices[0].Layout, matrices[1].Transposed().Layout, o)
		if err != nil {
			return err
		}
		defer product.free()
		return timeGemm(b, product, c)
	})
	if err != nil {
		b.Fatal(err)
	}
}

func timeGemm(b *testing.B, p *gemmProduct, c gemmCase) error {
	const runs, warmup = 30, 5
	var times []gemmTimes
	start := time.Now()
	for i := range warmup + runs {
		p.sides[0].held, p.sides[1].held = -1, -1
		if err := p.run(true); err != nil {
			return err
		}
		if i >= warmup {
			times = append(times, p.times)
		}
	}
	length := time.Since(start)
	total := func(t gemmTimes) time.Duration { return t.convert + t.multiply + t.round }
	slices.SortFunc(times, func(s, t gemmTimes) int { return int(total(s) - total(t)) })
	median := times[runs/2]
	in, _ := p.moduli.Planes()
	read := p.sides[0].numbers.Bytes() + p.sides[1].numbers.Bytes()
	planes := p.sides[0].planes.Bytes() + p.sides[1].planes.Bytes()
	for _, m := range []struct {
		value float64
		unit  string
	}{
		{total(median).Seconds() * 1e3, "ms"}, {total(times[0]).Seconds() * 1e3, "least-ms"},
		{total(times[runs-1]).Seconds() * 1e3, "greatest-ms"}, {median.convert.Seconds() * 1e3, "convert-ms"},
		{median.multiply.Seconds() * 1e3, "multiply-ms"}, {median.round.Seconds() * 1e3, "round-ms"},
		{float64(in) * 2 * float64(c.n) * float64(c.n) * float64(c.cols) / median.multiply.Seconds() / 1e12, "TOPS"},
		{float64(read+planes) / median.convert.Seconds() / 1e9, "convert-GB/s"},
		{float64(p.residues.Bytes()+p.out.Bytes()+p.exponents.Bytes()) / median.round.Seconds() / 1e9, "round-GB/s"},
		{float64(in), "products"}, {length.Seconds() * 1e3, "length-ms"}, {0, "ns/op"},
	} {
		b.ReportMetric(m.value, m.unit)
	}
	return nil
}
