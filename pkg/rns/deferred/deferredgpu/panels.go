package deferredgpu

import (
	"fmt"

	"mpbench/cuda"
	"mpbench/pkg/gpu"
	"mpbench/pkg/numbers"
)

// PanelOptions say how a matrix in host memory is cut. They never change a result; 0 is what suits the device.
type PanelOptions struct {
	Columns int  // of A in a panel
	Chunk   int  // bytes that are copied at once, a multiple of 8, at most gpu.StageBytes
	Staged  bool // through pinned memory also where pages can be locked
}

// Sizes of panels, unless the device's memory is too small for them.
const (
	panelBytes   = 32 << 20 // of the numbers (docs/design/gpu.md)
	residueBytes = 1 << 30  // of their residues
	wholeReads   = 512      // columns that sumProducts reads at once
)

// usable returns how much of so much free memory is taken at most.
func usable(free int64) int64 { return free - free/16 }

// TooSmallError says that not even one column of a matrix and its residues fit the device's memory.
type TooSmallError struct{ Need, Free int64 }

func (e *TooSmallError) Error() string {
	return fmt.Sprintf("deferredgpu: a column and its residues take %d bytes of device memory; %d are free", e.Need,
		e.Free)
}

// geometry is what the memory of a panel depends on.
type geometry struct {
	rows, columns, numberWords int // of A
	moduli                     int
	trans                      bool
}

// raw returns the bytes of the numbers of so many columns.
func (g geometry) raw(columns int) int64 {
	return 8 * int64(g.rows) * int64(columns) * int64(g.numberWords)
}

// residues returns the bytes of residues of so many columns, and of their elements of x where a panel has its own.
func (g geometry) residues(columns int) (a, x int64) {
	if g.trans {
		return 4 * int64(g.moduli) * int64(columns) * int64(leadingDimension(g.rows)), 0
	}
	x = 4 * int64(g.moduli) * int64(leadingDimension(columns))
	return x * int64(g.rows), x
}

// buffers is how many panels' numbers are on the device: one is filled while the other is used, unless one is all.
func (g geometry) buffers(columns int) int {
	if columns < g.columns {
		return 2
	}
	return 1
}

// bytes returns all the memory that panels of so many columns take.
func (g geometry) bytes(columns int) int64 {
	a, x := g.residues(columns)
	return int64(g.buffers(columns))*g.raw(columns) + a + x
}

func (g geometry) choose(free int64) (int, error) {
	if g.columns == 0 {
		return 1, nil
	}
	budget := usable(free)
	fits := func(columns int) bool {
		residues, _ := g.residues(columns)
		return g.bytes(columns) <= budget && g.raw(columns) <= panelBytes && residues <= residueBytes
	}
	low, high := 1, g.columns+1 // low fits, or nothing does; high does not
	for low+1 < high {
		if middle := low + (high-low)/2; fits(middle) {
			low = middle
		} else {
			high = middle
		}
	}
	if need := g.bytes(low); need > budget {
		return 0, &TooSmallError{need, free}
	}
	for _, multiple := range []int{wholeReads, columnMultiple} {
		if low < g.columns && low > multiple {
			return low / multiple * multiple, nil
		}
	}
	return low, nil
}

// panels are device memory for parts of a matrix in host memory: whole columns of A.
type panels struct {
	own            *gpu.Owner
	columns, count int
	numbers        []*Numbers   // panel k is in numbers[k%len(numbers)]
	copied, used   []*gpu.Event // for each of them: its numbers are there; are not needed any more
	residues       *gpu.Buffer[uint32]
	x              *gpu.Buffer[uint32] // residues of the panel's elements of x; nil for the transpose
	begin, between []*gpu.Event        // for each panel: before its kernels, and between conversion and sums
	end            []*gpu.Event
}

// newPanels takes memory for panels of so many columns, 0 for as many as suit the device.
func newPanels(d *gpu.Device, a *Host, g geometry, columns int) (*panels, error) {
	if columns <= 0 {
		free, err := d.Free()
		if err != nil {
			return nil, err
		}
		if columns, err = g.choose(free); err != nil {
			return nil, err
		}
	}
	columns = max(1, min(columns, g.columns))
	p := &panels{own: d.NewOwner(), columns: columns, count: max(1, (g.columns+columns-1)/columns)}
	_, exponents, width := a.words()
	for range g.buffers(columns) {
		n := &Numbers{device: d, n: g.rows * columns}
		n.values = gpu.Take[uint64](p.own, n.n*width)
		if exponents != nil {
			n.width, n.exponents = width, gpu.Take[int64](p.own, n.n)
		}
		p.numbers = append(p.numbers, n)
	}
	residues, x := g.residues(columns)
	p.residues, p.x = gpu.Take[uint32](p.own, int(residues/4)), gpu.Take[uint32](p.own, int(x/4))
	for _, list := range []*[]*gpu.Event{&p.copied, &p.used} {
		*list = make([]*gpu.Event, len(p.numbers))
		p.own.Events(*list)
	}
	for _, list := range []*[]*gpu.Event{&p.begin, &p.between, &p.end} {
		*list = make([]*gpu.Event, p.count)
		p.own.Events(*list)
	}
	return p, p.own.Err()
}

func (p *panels) free() {
	if p != nil {
		p.own.Free()
	}
}

// bytes returns the device memory in use.
func (p *panels) bytes() int64 { return p.own.Bytes() }

// piece is a stretch of words of a panel, without those between columns: of its numbers' words, or of their exponents.
type piece struct {
	exponents bool
	from, to  int
}

// pieces cuts a panel into pieces of at most so many bytes, at least one.
func pieces(a *Host, columns, bytes int) []piece {
	if bytes <= 0 || bytes > gpu.StageBytes {
		bytes = gpu.StageBytes
	}
	_, exponents, width := a.words()
	var list []piece
	cut := func(exponents bool, words int) {
		for from := 0; from < words; from += bytes / 8 {
			list = append(list, piece{exponents, from, min(from+bytes/8, words)})
		}
	}
	cut(false, a.Rows*columns*width)
	if exponents != nil {
		cut(true, a.Rows*columns)
	}
	if len(list) == 0 {
		list = []piece{{}}
	}
	return list
}

// within returns the part of the piece that a panel of fewer columns has.
func (q piece) within(a *Host, columns int) piece {
	words := a.Rows * columns
	if !q.exponents {
		_, _, width := a.words()
		words *= width
	}
	return piece{q.exponents, min(q.from, words), min(q.to, words)}
}

// fill copies the piece of the panel that begins at column first to pinned memory and returns its bytes.
func (q piece) fill(a *Host, first int, pinned []byte) int {
	words, exponents, width := a.words()
	if q.exponents {
		words, width = exponents, 1
	}
	bytes := 8 * (q.to - q.from)
	copyColumns(pinned[:bytes], words, first, q.from, a.Rows, a.LD, width)
	return bytes
}

func (q piece) put(x *Numbers, pinned []byte, s *gpu.Stream) error {
	if q.exponents {
		return x.exponents.Bytewise().UploadAsync(s, 8*q.from, pinned)
	}
	return x.values.Bytewise().UploadAsync(s, 8*q.from, pinned)
}

// panelLayout is that of op(A) in a panel.
func panelLayout(a *Host, columns int, trans bool) numbers.Layout {
	l := columnMajor(a.Rows, columns, a.Rows, trans)
	if a.Rows == 1 && !trans {
		l.RowStride = 0 // kernels read along the dimension whose stride is 1
	}
	return l
}

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
	if s.rows, err = gpu.KernelOf[cuda.SumProductsArgs](p.device, "deferred", "sumProducts"); err != nil {
		return nil, err
	}
	s.fewRows, err = gpu.KernelOf[cuda.SumProductsArgs](p.device, "deferred", "sumProductsFew")
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
