package rnsgpu_test

import (
	"fmt"

	"mpbench/cuda/testkernels"
	"mpbench/pkg/gpu"
	"mpbench/pkg/rns/rnsgpu"
)

// groups are the numbers of lanes that can work on one number: 1, 8, 16 or 32 threads of a warp, or those of a block.
var groups = []int{1, 8, 16, 32, wholeBlock}

// wholeBlock stands for a group of all threads of a block.
const wholeBlock = 0

// operation is the enum Operation of cuda/testkernels/rns_vectors.cu.
type operation uint32

const (
	opAdd operation = iota
	opSub
	opMul
	opScale
	opFromFloat64
	opFromResidues
)

// arithmetic does operations on vectors with groups of one size. It is not safe for concurrent use.
type arithmetic struct {
	base    *rnsgpu.Base
	kernel  *gpu.Kernel[testkernels.RnsVectorArgs]
	launch  gpu.Launch
	scratch *rnsgpu.Scratch
}

// vectorThreads is the number of threads of a block where a block works on several numbers.
const vectorThreads = 128

// newArithmetic prepares operations by groups of so many lanes, one of groups.
func newArithmetic(b *rnsgpu.Base, group int) (*arithmetic, error) {
	name := fmt.Sprintf("rnsVector%d", group)
	blocks := 8 * max(b.Device().Info().Multiprocessors, 1)
	a := &arithmetic{base: b, launch: gpu.Launch{Grid: gpu.Dim{X: blocks}, Block: gpu.Dim{X: vectorThreads}}}
	count := blocks
	if group == wholeBlock {
		name = "rnsVectorBlock"
		a.launch.Block.X, a.launch.Shared = b.BlockThreads(), rnsgpu.PartialBytes
	} else {
		count *= vectorThreads / group
	}
	module, err := b.Device().ModuleOf(testkernels.Kernels, "rns_vectors")
	if err != nil {
		return nil, err
	}
	if a.kernel, err = gpu.Function[testkernels.RnsVectorArgs](module, name); err != nil {
		return nil, err
	}
	a.scratch, err = b.NewScratch(count)
	return a, err
}

// free gives the scratch memory back.
func (a *arithmetic) free() { a.scratch.Free() }

func (a *arithmetic) run(o operation, z, x, y *rnsgpu.Vector, from gpu.Pointer[float64]) error {
	p := testkernels.RnsVectorArgs{
		Base: a.base.Parameter(), Memory: a.scratch.Parameter(), Operation: uint32(o),
		Z: z.Parameter(), X: z.Parameter(), Y: z.Parameter(), From: from, N: uint64(z.Len()),
	}
	if x != nil {
		p.X = x.Parameter()
	}
	if y != nil {
		p.Y = y.Parameter()
	}
	return a.kernel.Launch(a.launch, p)
}

// add puts z_i = x_i + y_i into the default stream; all vectors have one length, and z may be x or y.
func (a *arithmetic) add(z, x, y *rnsgpu.Vector) error { return a.run(opAdd, z, x, y, 0) }

// sub puts z_i = x_i - y_i into the default stream, as add.
func (a *arithmetic) sub(z, x, y *rnsgpu.Vector) error { return a.run(opSub, z, x, y, 0) }

// mul puts z_i = x_i * y_i into the default stream, as add.
func (a *arithmetic) mul(z, x, y *rnsgpu.Vector) error { return a.run(opMul, z, x, y, 0) }

// scale puts z_i = alpha * x_i into the default stream, where alpha is the first number of a vector; z may be x.
func (a *arithmetic) scale(z, alpha, x *rnsgpu.Vector) error { return a.run(opScale, z, x, alpha, 0) }

// setFloat64s makes z the finite numbers x, exactly.
func (a *arithmetic) setFloat64s(z *rnsgpu.Vector, x *gpu.Buffer[float64]) error {
	return a.run(opFromFloat64, z, nil, nil, x.Pointer())
}

// normalize makes numbers of z whose residues, exponents and signs alone are set: it computes their intervals, and
// rounds those of more than F - 4 bits, as rns.Context.SetResidues does.
func (a *arithmetic) normalize(z *rnsgpu.Vector) error { return a.run(opFromResidues, z, nil, nil, 0) }
