package rnsgpu

import (
	"fmt"

	"mpbench/pkg/gpu"
)

// Groups are the numbers of lanes that can work on one number: 1, 8, 16 or 32 threads of a warp, or Block for a whole block.
var Groups = []int{1, 8, 16, 32, Block}

// Block stands for a group of all threads of a block.
const Block = 0

// PartialBytes is the shared memory that a group of a whole block needs, sizeof(Block::Partial) of cuda/group.cuh.
const PartialBytes = 2 * 32 * (8 + 4)

// BlockThreads returns the threads of a block that works on one number: one for each residue, rounded up to whole warps, at most 1024.
func (b *Base) BlockThreads() int { return min((b.base.Stride()+31)/32*32, 1024) }

// operation is the enum Operation of cuda/rns.cu.
type operation uint32

const (
	add operation = iota
	sub
	mul
	scale
	fromFloat64
	fromResidues
)

// vectorParameters are those of the kernels rnsVectorG.
type vectorParameters struct {
	Base      BaseParameter
	Scratch   ScratchParameter
	Operation operation
	Z, X, Y   VectorParameter
	From      gpu.Pointer[float64]
	N         uint64
}

// Arithmetic does operations on vectors with groups of one size. It is not safe for concurrent use.
type Arithmetic struct {
	base    *Base
	kernel  *gpu.Kernel[vectorParameters]
	launch  gpu.Launch
	scratch *Scratch
}

// vectorThreads is the number of threads of a block where a block works on several numbers.
const vectorThreads = 128

// NewArithmetic prepares operations by groups of so many lanes, one of Groups.
func (b *Base) NewArithmetic(group int) (*Arithmetic, error) {
	name := fmt.Sprintf("rnsVector%d", group)
	blocks := 8 * max(b.device.Info().Multiprocessors, 1)
	a := &Arithmetic{base: b, launch: gpu.Launch{Grid: gpu.Dim{X: blocks}, Block: gpu.Dim{X: vectorThreads}}}
	groups := blocks
	if group == Block {
		name = "rnsVectorBlock"
		a.launch.Block.X, a.launch.Shared = b.BlockThreads(), PartialBytes
	} else {
		groups *= vectorThreads / group
	}
	module, err := b.device.Module("rns")
	if err != nil {
		return nil, err
	}
	if a.kernel, err = gpu.Function[vectorParameters](module, name); err != nil {
		return nil, err
	}
	a.scratch, err = b.NewScratch(groups)
	return a, err
}

// Free gives the scratch memory back.
func (a *Arithmetic) Free() { a.scratch.Free() }

func (a *Arithmetic) run(o operation, z, x, y *Vector, from gpu.Pointer[float64]) error {
	p := vectorParameters{
		Base: a.base.parameter, Scratch: a.scratch.parameter, Operation: o, Z: z.parameter, X: z.parameter, Y: z.parameter, From: from, N: uint64(z.n),
	}
	if x != nil {
		p.X = x.parameter
	}
	if y != nil {
		p.Y = y.parameter
	}
	return a.kernel.Launch(a.launch, p)
}

// Add puts z_i = x_i + y_i into the default stream; all vectors have one length, and z may be x or y.
func (a *Arithmetic) Add(z, x, y *Vector) error { return a.run(add, z, x, y, 0) }

// Sub puts z_i = x_i - y_i into the default stream, as Add.
func (a *Arithmetic) Sub(z, x, y *Vector) error { return a.run(sub, z, x, y, 0) }

// Mul puts z_i = x_i * y_i into the default stream, as Add.
func (a *Arithmetic) Mul(z, x, y *Vector) error { return a.run(mul, z, x, y, 0) }

// Scale puts z_i = alpha * x_i into the default stream, where alpha is the first number of a vector; z may be x.
func (a *Arithmetic) Scale(z, alpha, x *Vector) error { return a.run(scale, z, x, alpha, 0) }

// SetFloat64s makes z the finite numbers x, exactly.
func (a *Arithmetic) SetFloat64s(z *Vector, x *gpu.Buffer[float64]) error {
	return a.run(fromFloat64, z, nil, nil, x.Pointer())
}

// Normalize makes numbers of z whose residues, exponents and signs alone are set: it computes their intervals, and rounds those of more
// than F - 4 bits, as rns.Context.SetResidues does.
func (a *Arithmetic) Normalize(z *Vector) error { return a.run(fromResidues, z, nil, nil, 0) }
