package ongpu

import "mpbench/pkg/gpu"

// panelSums adds products of panels to the sums of a Product, whose planes need not be in memory.
type panelSums struct {
	product       *Product
	rows, fewRows *gpu.Kernel[productParameters]
	prepareBlocks int // of the first launch
	prepareShared int
}

func newPanelSums(p *Product) (s *panelSums, err error) {
	// A second kernel finishes the rows when all panels are added.
	if err := p.SetShape(Shape{BlockRows: panelBlockRows, Together: p.Shape().Together}); err != nil {
		return nil, err
	}
	s = &panelSums{product: p, prepareBlocks: int(p.planes.PrepareBlocks), prepareShared: p.addLaunch.Shared}
	if s.rows, err = kernel[productParameters](p.device, "deferred", "sumProducts"); err != nil {
		return nil, err
	}
	s.fewRows, err = kernel[productParameters](p.device, "deferred", "sumProductsFew")
	return s, err
}

const panelBlockRows = 16

// launch puts into the stream: add the products of a and x to the sums of the rows from first on. With prepare it also prepares what finishing
// needs, which one launch must do.
func (s *panelSums) launch(stream *gpu.Stream, a, x *planes, first int, prepare bool) error {
	p := s.product
	parameters := productParameters{p.planes, p.rounding}
	q := &parameters.P
	moduli := a.tables.n
	q.A, q.X, q.Sums = a.residues.Pointer(), x.residues.Pointer(), p.sums.Pointer().At(first*moduli)
	q.XStride, q.Rows, q.LD, q.Add = uint64(x.ld), uint32(a.rows), uint32(a.ld), 1
	k, blocks := s.rows, (a.rows+panelBlockRows-1)/panelBlockRows
	if part := partColumns(p.device, a.rows, moduli, a.ld); part > 0 {
		k, blocks = s.fewRows, a.rows*((a.ld+part-1)/part)
		q.PartColumns = uint32(part)
	}
	launch := gpu.Launch{Grid: gpu.Dim{X: blocks * moduli}, Block: gpu.Dim{X: sumThreads}, Stream: stream}
	if a.ld == 0 {
		launch.Grid.X = 0 // sums of nothing
	}
	q.PrepareBlocks = 0
	if prepare {
		q.PrepareBlocks, launch.Shared = uint32(s.prepareBlocks), s.prepareShared
		launch.Grid.X += s.prepareBlocks
	}
	if launch.Grid.X == 0 {
		return nil
	}
	return k.Launch(launch, parameters)
}
