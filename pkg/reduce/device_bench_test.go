package reduce

import (
	"context"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"mpbench/pkg/gpu/gputest"
)

// deviceTerms loads n numbers of p bits, of which a thousand differ.
func deviceTerms(b *testing.B, s *deviceSum, n, p int) {
	b.Helper()
	if err := s.Load(Terms{Float64: make([]float64, n)}); err != nil {
		b.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(9, uint64(p)))
	x := s.context.Base().NewFloat()
	for i := range n {
		if i < 1000 {
			significand := new(big.Int)
			for range p/64 + 1 {
				significand.Lsh(significand, 64).Or(significand, new(big.Int).SetUint64(rng.Uint64()))
			}
			significand.SetBit(significand.Rsh(significand, uint(significand.BitLen()-p)), 0, 1)
			s.context.SetInt(x, significand, -p-rng.IntN(3))
		} else {
			s.residues.terms.View(x, i%1000)
		}
		s.residues.terms.Set(i, x)
	}
}

// benchmarkDevice reports the median kernel time of sums on the device under test.
func benchmarkDevice(b *testing.B, method string, o Options, n int) {
	m, _ := Lookup(method)
	o.Device = gputest.Name(b)
	summer, err := m.New(o)
	if err != nil {
		b.Fatal(err)
	}
	s := summer.(*deviceSum)
	defer s.Close()
	deviceTerms(b, s, n, o.Precision)
	var kernel, host []time.Duration
	for range b.N + 1 {
		p, err := s.SumPhases(context.Background())
		if err != nil {
			b.Fatal(err)
		}
		kernel, host = append(kernel, p.Kernel), append(host, p.Host)
	}
	slices.Sort(kernel)
	slices.Sort(host)
	b.ReportMetric(float64(kernel[len(kernel)/2])/1e3, "kernel-µs")
	b.ReportMetric(float64(host[len(host)/2])/1e3, "host-µs")
	b.ReportMetric(float64(kernel[len(kernel)/2])/float64(n), "ns/elem")
}

// BenchmarkGPUBlocks times reduce3 and reduce3p on 10^6 numbers with full significands, for grids of several shapes.
func BenchmarkGPUBlocks(b *testing.B) {
	n := 1_000_000
	if gputest.Emulated() {
		n = 1000
	}
	for _, p := range []int{106, 212, 424, 848, 1696} {
		for _, method := range []string{"reduce3", "reduce3p"} {
			for _, g := range []grid{{256, 64}, {528, 64}, {1056, 64}, {2112, 64}, {1056, 32}, {4224, 32}, {528, 128}, {264, 256}} {
				b.Run(fmt.Sprintf("method=%s/precision=%d/blocks=%d/blocksize=%d", method, p, g.Blocks, g.BlockSize), func(b *testing.B) {
					benchmarkDevice(b, method, Options{Precision: p, Blocks: g.Blocks, BlockSize: g.BlockSize}, n)
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
		for _, method := range []string{"reduce1s", "reduce1p", "reduce2s", "reduce2p"} {
			b.Run(fmt.Sprintf("method=%s/precision=%d", method, p), func(b *testing.B) {
				benchmarkDevice(b, method, Options{Precision: p, ModuliBits: 16}, n)
			})
		}
	}
}
