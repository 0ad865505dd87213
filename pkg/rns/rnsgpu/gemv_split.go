package rnsgpu

import (
	"context"

	"mpbench/cuda"
	"mpbench/pkg/gpu"
	"mpbench/pkg/method"
	"mpbench/pkg/op"
	"mpbench/pkg/rns"
	"mpbench/pkg/rns/rnsop"
)

// NewSplit is rns-split on a GPU: the paper's ten kernels (cuda/gemv.cu), three for each of d = alpha*x, y = beta*y
// and the matrix B, and one for the sums, with the operations and the order of the CPU's.
func NewSplit(c method.Config) (method.Engine, error) {
	r, err := newProduct("rns-split", c)
	if err != nil {
		return nil, err
	}
	return &split{product: r, blockSize: c.Int("block-size")}, nil
}

type split struct {
	product
	blockSize int
	shape     splitShape

	dB    *Vector
	slots *gpu.Buffer[uint32] // residues of the slots of all blocks, where they do not fit in shared memory
}

func (e *split) Prepare(_ context.Context, p *op.Problem) error {
	if err := e.Close(); err != nil {
		return err
	}
	further := int64(p.A.Len()) * int64(e.context.Base().TermBytes())
	return e.load(p, further, func() (err error) {
		if e.multiplies {
			if e.dB, err = e.base.NewVector(e.A.Len()); err != nil {
				return err
			}
			e.own.Keep(e.dB)
		}
		e.shape = e.defaultShape()
		if e.multiplies && e.tune() != "off" {
			if err := e.tuneShape(); err != nil {
				return err
			}
		}
		e.steps, err = e.makeSteps(e.shape)
		return err
	})
}

// used is the number of slots of a component.
func (e *split) used() int { return min(e.blockSize, e.Shape.Length) }

func (e *split) makeSteps(s splitShape) (steps []step, err error) {
	add := func(more []step, failed error) {
		steps = append(steps, more...)
		if err == nil {
			err = failed
		}
	}
	if err := e.reserve(s); err != nil {
		return nil, err
	}
	if e.multiplies {
		add(e.productSteps(s, "d", scaled(e.dD, e.factors[0], e.dX), rnsop.VectorFields, rnsop.VectorResidues))
	}
	if e.scaleY {
		add(e.productSteps(s, "y", scaled(e.dResult, e.factors[1], e.dY), rnsop.VectorFields, rnsop.VectorResidues))
	}
	if e.multiplies {
		add(e.productSteps(s, "B", e.matrixProducts(e.dB.Parameter()), rnsop.MatrixFields, rnsop.MatrixResidues))
		sums, failed := e.sumsStep(s)
		add([]step{sums}, failed)
	}
	return steps, err
}

// reserve makes scratch memory for every kernel of a shape: memory that a step refers to must not move.
func (e *split) reserve(s splitShape) error {
	longest := int64(e.Shape.Rows)
	if e.multiplies {
		longest = max(longest, int64(e.Shape.Length), int64(e.dB.Len()))
		l, err := e.sumsLaunch(s)
		if err != nil {
			return err
		}
		if err := e.ensureScratch(l.groups); err != nil {
			return err
		}
	}
	_, groups, err := e.roundLaunch(s, longest)
	if err != nil {
		return err
	}
	return e.ensureScratch(groups)
}

// productSteps are the three kernels of the products that an array consists of.
func (e *split) productSteps(s splitShape, array string, p cuda.Products, fields, residues int) ([]step, error) {
	first, err := e.fieldsStep(p, rnsop.SplitStages[fields].Name, array)
	if err != nil {
		return nil, err
	}
	second, err := e.residuesStep(s, p, rnsop.SplitStages[residues].Name, array)
	if err != nil {
		return nil, err
	}
	third, err := e.roundStep(s, p, array)
	return []step{first, second, third}, err
}

const (
	fieldBytes   = 8 + 8 + 8 + 4 + 1 // of a number's sign, exponent and interval
	fieldThreads = 128
	mostColumns  = 65535 // of a grid
)

func ceilDiv(a, b int) int { return (a + b - 1) / b }

func (e *split) fieldsStep(p cuda.Products, stage, array string) (step, error) {
	l := gpu.Launch{
		Grid:  gpu.Dim{X: ceilDiv(int(p.Rows), fieldThreads), Y: min(int(p.Columns), mostColumns)},
		Block: gpu.Dim{X: fieldThreads},
	}
	return newStep(&e.product, stage, "gemvFields", array, l, cuda.GemvFieldsArgs{Base: e.base.Parameter(), P: p},
		2*productCount(p)*fieldBytes)
}

// residuesStep: one thread a residue, blocks of whole numbers.
func (e *split) residuesStep(s splitShape, p cuda.Products, stage, array string) (step, error) {
	stride := e.context.Base().Stride()
	numbers := max(1, s.ResidueThreads/stride) // of a block
	l := gpu.Launch{
		Grid:  gpu.Dim{X: ceilDiv(int(p.Rows), numbers*s.ResidueRows), Y: min(int(p.Columns), mostColumns)},
		Block: gpu.Dim{X: s.ResidueThreads},
	}
	return newStep(&e.product, stage, "gemvResidues", array, l, cuda.GemvResiduesArgs{Base: e.base.Parameter(), P: p},
		2*productCount(p)*int64(4*stride))
}

// roundLaunch is how n numbers are rounded, and by how many groups of lanes.
func (e *split) roundLaunch(s splitShape, n int64) (l gpu.Launch, groups int, err error) {
	blocks, err := residentBlocks[cuda.GemvRoundArgs](&e.product, s.Round, s.RoundThreads, 0)
	perBlock := s.RoundThreads / roundKernels[s.Round].lanes
	blocks = int(min(int64(blocks), (n+int64(perBlock)-1)/int64(perBlock)))
	return gpu.Launch{Grid: gpu.Dim{X: blocks}, Block: gpu.Dim{X: s.RoundThreads}}, blocks * perBlock, err
}

func (e *split) roundStep(s splitShape, p cuda.Products, array string) (step, error) {
	l, groups, err := e.roundLaunch(s, productCount(p))
	if err != nil {
		return step{}, err
	}
	if err := e.ensureScratch(groups); err != nil {
		return step{}, err
	}
	bytes := 2 * productCount(p) * int64(e.context.Base().TermBytes())
	args := cuda.GemvRoundArgs{Base: e.base.Parameter(), Memory: e.scratch.Parameter(), P: p,
		LowM: lowM(e.context.Base())}
	return newStep(&e.product, rnsop.SplitStages[rnsop.Rounding].Name, s.Round, array, l, args, bytes)
}

// lowM returns M mod 2^64.
func lowM(b *rns.Base) uint64 {
	low := uint64(1)
	for _, m := range b.Moduli() {
		low *= uint64(m)
	}
	return low
}

type sumsLaunch struct {
	gpu.Launch
	groups int // of lanes
	slots  int // residues of all slots, if they are in device memory
}

func (e *split) sumsLaunch(s splitShape) (l sumsLaunch, err error) {
	stride, count := e.context.Base().Stride(), s.SumsRows*e.used()
	shared := (fieldBytes*count + 7) / 8 * 8
	inShared := shared+4*stride*count <= e.device.Info().SharedPerBlock
	if inShared {
		shared += 4 * stride * count
	}
	blocks, err := residentBlocks[cuda.GemvSumsArgs](&e.product, s.sumsKernel(), s.SumsThreads, shared)
	blocks = min(blocks, ceilDiv(e.Shape.Rows, s.SumsRows))
	l.Launch = gpu.Launch{Grid: gpu.Dim{X: blocks}, Block: gpu.Dim{X: s.SumsThreads}, Shared: shared}
	l.groups = blocks * s.SumsThreads / s.SumsLanes
	if !inShared {
		l.slots = blocks * count * stride
	}
	return l, err
}

func (e *split) sumsStep(s splitShape) (step, error) {
	l, err := e.sumsLaunch(s)
	if err != nil {
		return step{}, err
	}
	if err := e.ensureScratch(l.groups); err != nil {
		return step{}, err
	}
	p := cuda.GemvSumsArgs{Base: e.base.Parameter(), Memory: e.scratch.Parameter()}
	if l.slots > 0 {
		if e.slots == nil || e.slots.Len() < l.slots {
			e.slots.Free()
			e.slots = gpu.Take[uint32](e.own, l.slots)
			if err := e.own.Err(); err != nil {
				return step{}, err
			}
		}
		p.S.Residues = e.slots.Pointer()
	}
	rows := e.Shape.Rows
	p.S.B, p.S.Y = e.dB.Parameter(), e.dResult.Parameter()
	p.S.Row, p.S.Term = 1, uint64(e.Shape.M)
	if e.Problem.Trans {
		p.S.Row, p.S.Term = uint64(e.Shape.M), 1
	}
	p.S.Rows, p.S.N, p.S.Used, p.S.BlockRows = uint32(rows), uint32(e.Shape.Length), uint32(e.used()), uint32(s.SumsRows)
	if e.scaleY {
		p.S.Add = 1
	}
	numbers := int64(e.dB.Len()) + int64(rows)*int64(1+p.S.Add)
	return newStep(&e.product, rnsop.SplitStages[rnsop.Sums].Name, s.sumsKernel(), "y", l.Launch, p,
		numbers*int64(e.context.Base().TermBytes()))
}

func (e *split) Stages() []method.Stage {
	list := rnsop.SplitStages
	for i := range list {
		list[i].Time = e.timeOf(list[i].Name)
	}
	return list[:]
}

func (e *split) Info() method.Info {
	info := e.product.Info()
	info.Bound = map[string]int{"B": e.blockSize}
	return info
}
