package deferredgpu

import (
	"fmt"

	"mpbench/pkg/gpu"
	"mpbench/pkg/numbers"
)

// PanelOptions say how a matrix in host memory is cut. They never change a result; zeros stand for what suits the
// device.
type PanelOptions struct {
	Columns int // of A in a panel
	Chunk   int // bytes that are copied at once, a multiple of 8, at most gpu.StageBytes
}

// Sizes of panels, unless the device's memory is too small for them.
const (
	// of the numbers: 0.6 ms on a bus of 55 GB/s, thirty times what starting the kernels takes; more takes longer to
	// reserve and to finish
	panelBytes   = 32 << 20
	residueBytes = 1 << 30 // of their residues
	wholeReads   = 512     // columns that sumProducts reads at once
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

// residues returns the bytes of the residues of so many columns, and, where a panel has its own, of their elements of
// x.
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

// choose returns how many columns a panel has on a device with so much free memory.
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
	p := &panels{columns: columns, count: max(1, (g.columns+columns-1)/columns)}
	if err := p.allocate(d, a, g); err != nil {
		p.free()
		return nil, err
	}
	return p, nil
}

func (p *panels) allocate(d *gpu.Device, a *Host, g geometry) (err error) {
	_, exponents, width := a.words()
	for range g.buffers(p.columns) {
		n := &Numbers{device: d, n: g.rows * p.columns}
		p.numbers = append(p.numbers, n)
		if n.values, err = gpu.Alloc[uint64](d, n.n*width); err != nil {
			return err
		}
		if exponents != nil {
			n.width = width
			if n.exponents, err = gpu.Alloc[int64](d, n.n); err != nil {
				return err
			}
		}
	}
	residues, x := g.residues(p.columns)
	if p.residues, err = gpu.Alloc[uint32](d, int(residues/4)); err != nil {
		return err
	}
	if p.x, err = gpu.Alloc[uint32](d, int(x/4)); err != nil {
		return err
	}
	for _, events := range []struct {
		list  *[]*gpu.Event
		count int
	}{{&p.copied, len(p.numbers)}, {&p.used, len(p.numbers)}, {&p.begin, p.count}, {&p.between, p.count},
		{&p.end, p.count}} {
		for range events.count {
			event, err := d.NewEvent()
			if err != nil {
				return err
			}
			*events.list = append(*events.list, event)
		}
	}
	return nil
}

func (p *panels) free() {
	if p == nil {
		return
	}
	for _, n := range p.numbers {
		n.Free()
	}
	p.residues.Free()
	p.x.Free()
	for _, list := range [][]*gpu.Event{p.copied, p.used, p.begin, p.between, p.end} {
		for _, event := range list {
			event.Free()
		}
	}
}

// bytes returns the device memory in use.
func (p *panels) bytes() int64 {
	bytes := p.residues.Bytes() + p.x.Bytes()
	for _, n := range p.numbers {
		bytes += n.Bytes()
	}
	return bytes
}

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

// put starts the copy of the piece to the panel's place.
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
