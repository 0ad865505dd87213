package rnsgpu

import (
	"fmt"

	"mpbench/cuda"
	"mpbench/pkg/gpu"
)

type multiplication struct {
	base    *Base
	kernel  *gpu.Kernel[cuda.RnsProductsArgs]
	launch  gpu.Launch
	scratch *Scratch
}

const productThreads = 128

func newMultiplication(b *Base) (m *multiplication, err error) {
	lanes, blocks := groupFor(b.base.Len()), 8*max(b.device.Info().Multiprocessors, 1)
	m = &multiplication{base: b, launch: gpu.Launch{Grid: gpu.Dim{X: blocks}, Block: gpu.Dim{X: productThreads}}}
	m.kernel, err = gpu.KernelOf[cuda.RnsProductsArgs](b.device, "rns_products", fmt.Sprintf("rnsProducts%d", lanes))
	if err == nil {
		m.scratch, err = b.NewScratch(blocks * productThreads / lanes)
	}
	return m, err
}

// run puts z_i = x_i * y_i into the default stream; all vectors have one length.
func (m *multiplication) run(z, x, y *Vector) error {
	return m.kernel.Launch(m.launch, cuda.RnsProductsArgs{
		Base: m.base.parameter, Memory: m.scratch.parameter, Z: z.parameter, X: x.parameter, Y: y.parameter, N: uint64(z.n),
	})
}

// free gives the memory back. It does nothing for nil.
func (m *multiplication) free() {
	if m != nil {
		m.scratch.Free()
	}
}

// groupFor returns how many threads work on one number of n residues.
func groupFor(n int) int {
	switch {
	case n <= 8:
		return 8
	case n <= 16:
		return 16
	}
	return 32
}
