package rnsgpu

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"mpbench/pkg/gpu/gputest"
	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
	"mpbench/pkg/rns"
)

// Times of kernels by the device's events, with cold caches; medians. Those of the emulator mean nothing, and it gets
// little to do.

// medianOf returns the median of durations in microseconds.
func medianOf(list []time.Duration) float64 {
	slices.Sort(list)
	return float64(list[len(list)/2]) / 1e3
}

// spread fills terms with a thousand different numbers of p bits, over and over.
func spread(e *sumEngine, p int) {
	rng := rand.New(rand.NewPCG(9, uint64(p)))
	terms := e.operands.X
	x := e.context.Base().NewFloat()
	wide := wideNumbers(rng, min(1000, terms.Len()), p-8).Source.(numbers.Bigs)
	for i := range terms.Len() {
		if i < len(wide) {
			e.context.SetBig(x, wide[i])
			terms.Set(i, x)
			continue
		}
		var v rns.Float
		terms.View(&v, i%len(wide))
		terms.Set(i, &v)
	}
}

// benchmarkSum reports the median time of the kernels of a sum of n numbers with full significands.
func benchmarkSum(b *testing.B, name, variant string, c method.Config, n int) {
	e := engineOn(b, op.Sum, name, variant, c).(*sumEngine)
	if err := e.Prepare(context.Background(),
		&op.Problem{Op: op.Sum, X: numbers.Vector(make(numbers.Float64s, n))}); err != nil {
		b.Fatal(err)
	}
	spread(e, c.Precision)
	if err := e.device.Do(func() error { return e.terms.Upload(e.host.Vector) }); err != nil {
		b.Fatal(err)
	}
	var kernel, host []time.Duration
	for range b.N + 1 {
		if err := e.RunTimed(context.Background()); err != nil {
			b.Fatal(err)
		}
		kernel, host = append(kernel, e.Times().Kernel), append(host, e.Times().Host)
	}
	median := medianOf(kernel)
	b.ReportMetric(median, "kernel-µs")
	b.ReportMetric(medianOf(host), "host-µs")
	b.ReportMetric(1e3*median/float64(n), "ns/elem")
}

// BenchmarkGPUBlocks times reduce3 and reduce3p on 10^6 numbers with full significands, for grids of several shapes.
func BenchmarkGPUBlocks(b *testing.B) {
	n := 1_000_000
	if gputest.Emulated() {
		n = 1000
	}
	grids := []grid{{256, 64}, {528, 64}, {1056, 64}, {2112, 64}, {1056, 32}, {4224, 32}, {528, 128}, {264, 256}}
	for _, p := range []int{106, 212, 424, 848, 1696} {
		for _, variant := range []string{"reduce3", "reduce3p"} {
			for _, g := range grids {
				name := fmt.Sprintf("method=%s/precision=%d/blocks=%d/blocksize=%d", variant, p, g.blocks, g.size)
				b.Run(name, func(b *testing.B) {
					benchmarkSum(b, "reduce3", variant, options(p, "blocks", g.blocks, "block-size", g.size), n)
				})
			}
		}
	}
}

// BenchmarkGPUOrders times the reductions of one thread and of one block.
func BenchmarkGPUOrders(b *testing.B) {
	n := 20_000
	if gputest.Emulated() {
		n = 100
	}
	for _, p := range []int{120, 240, 480, 1696} {
		for _, name := range []string{"reduce1", "reduce2"} {
			for _, suffix := range []string{"s", "p"} {
				b.Run(fmt.Sprintf("method=%s/precision=%d", name+suffix, p), func(b *testing.B) {
					benchmarkSum(b, name, name+suffix, options(p, "moduli-bits", 16), n)
				})
			}
		}
	}
}

// BenchmarkGPU times products of 1000 x 1000 matrices of full significands, and prints every kernel's share.
func BenchmarkGPU(b *testing.B) {
	gputest.Device(b)
	b.Setenv("MPBENCH_TUNE_CACHE", b.TempDir()+"/tune.json")
	size := 1000
	if gputest.Emulated() {
		size = 10
	}
	for _, precision := range []int{106, 212, 424, 848, 1696} {
		for _, trans := range []bool{false, true} {
			p := fullProduct(trans, size, size, precision)
			letter := map[bool]string{false: "N", true: "T"}[trans]
			for _, name := range []string{"rns-split", "rns-basic"} {
				for _, tune := range []string{"off", "force"} {
					if name == "rns-basic" && tune != "off" {
						continue
					}
					b.Run(fmt.Sprintf("%s/p=%d/%s/tune=%s", name, precision, letter, tune), func(b *testing.B) {
						benchmarkProduct(b, name, options(precision, "tune", tune), p)
					})
				}
			}
		}
	}
}

func benchmarkProduct(b *testing.B, name string, c method.Config, p *op.Problem) {
	e := engineOn(b, op.Gemv, name, name, c)
	timed := e.(method.Timed)
	start := time.Now()
	if err := e.Prepare(context.Background(), p); err != nil {
		b.Fatal(err)
	}
	prepared := time.Since(start)
	var times []time.Duration
	for b.Loop() {
		if err := timed.RunTimed(context.Background()); err != nil {
			b.Fatal(err)
		}
		times = append(times, timed.Times().Kernel)
	}
	x := timed.Times()
	b.ReportMetric(medianOf(times)/1e3, "kernel-ms")
	var text strings.Builder // one message: a benchmark prints ten at most
	fmt.Fprintf(&text, "median of %d runs; prepared in %v (conversion %v, copy in %v)\n", len(times), prepared, x.Convert,
		x.CopyIn)
	if s, ok := e.(*split); ok {
		fmt.Fprintf(&text, "shape %+v\n", s.shape)
	}
	for _, k := range x.Kernels {
		share := float64(k.Bytes) / max(k.Time.Seconds(), 1e-9) / max(k.Bandwidth, 1)
		fmt.Fprintf(&text,
			"%-18s %-16s %10.1f us %5.1f %% of peak bandwidth, occupancy %3.0f %%, %3d registers, %d local, %d x %d\n",
			k.Name, k.Stage, float64(k.Time)/1e3, 100*share, 100*k.Occupancy, k.Registers, k.Local, k.Blocks, k.Threads)
	}
	b.Log(text.String())
}
