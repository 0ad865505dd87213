package deferredgpu

import (
	"mpbench/cuda"
	"mpbench/pkg/gpu"
)

// panelSums adds products of panels to the sums of a Product, whose planes need not be in memory.
type panelSums struct {
	product       *Product
	rows, fewRows *gpu.Kernel[cuda.SumProductsArgs]
}

func newPanelSums(p *Product) (s *panelSums, err error) {
	// A second kernel rounds the rows when all panels are added.
	if err := p.SetShape(Shape{BlockRows: panelBlockRows, Together: p.Shape().Together}); err != nil {
		return nil, err
	}
	s = &panelSums{product: p}
	if s.rows, err = kernel[cuda.SumProductsArgs](p.device, "deferred", "sumProducts"); err != nil {
		return nil, err
	}
	s.fewRows, err = kernel[cuda.SumProductsArgs](p.device, "deferred", "sumProductsFew")
	return s, err
}

const panelBlockRows = 16

// launch puts into the stream: add the products of a and x to the sums of the rows from first on. With prepare it also
// prepares what rounding needs, which one launch must do.
func (s *panelSums) launch(stream *gpu.Stream, a, x *planes, first int, prepare bool) error {
	k, launch := s.choose(a, prepare)
	if launch.Grid.X == 0 {
		return nil
	}
	launch.Stream = stream
	p := s.product
	parameters := p.sumArgs()
	q := &parameters.P
	q.A, q.X, q.Sums = a.residues.Pointer(), x.residues.Pointer(), p.sums.Pointer().At(first*a.tables.n)
	q.XStride, q.Rows, q.Ld, q.Add = uint64(x.ld), uint32(a.rows), uint32(a.ld), 1
	q.PartColumns = uint32(s.partColumns(a))
	if !prepare {
		q.PrepareBlocks = 0
	}
	return k.Launch(launch, parameters)
}

func (s *panelSums) partColumns(a *planes) int {
	return partColumns(s.product.device, a.rows, a.tables.n)
}

// choose returns the kernel for a panel and its launch.
func (s *panelSums) choose(a *planes, prepare bool) (*gpu.Kernel[cuda.SumProductsArgs], gpu.Launch) {
	k, blocks := s.rows, (a.rows+panelBlockRows-1)/panelBlockRows
	if part := s.partColumns(a); part > 0 {
		k, blocks = s.fewRows, a.rows*((a.ld+part-1)/part)
	}
	if a.ld == 0 { // sums of nothing
		blocks = 0
	}
	l := gpu.Launch{Grid: gpu.Dim{X: blocks * a.tables.n}, Block: gpu.Dim{X: sumThreads}}
	if prepare {
		l.Grid.X += int(s.product.planes.PrepareBlocks)
		l.Shared = s.product.addLaunch.Shared
	}
	return k, l
}
