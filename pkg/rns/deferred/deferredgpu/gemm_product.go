package deferredgpu

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"time"

	"mpbench/cuda"
	"mpbench/pkg/gpu"
	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
	"mpbench/pkg/rns/bytemod"
	"mpbench/pkg/rns/deferred"
)

const (
	stageTerms  = 128 // that terms are padded to, of cuda/byte_products.cu
	groupTerms  = 64  // of a row that a warp of cuda/byte_planes.cu converts
	planesBlock = 128 // threads of a block of bytePlanes and of byteProducts
	wordPitch   = 66  // words between words of an integer of cuda/byte_planes.cu
	entryPitch  = 36  // words between words of a lane of cuda/round_entries.cu
	// of shared memory that blocks of bytePlanes and roundEntries take if one block can do with less
	sharedAtMost = 48 << 10
)

// errNoProduct says that the numbers are too long for the kernels: another way has to be taken.
var errNoProduct = errors.New("deferredgpu: numbers too long for a product of planes of bytes")

// gemmProduct is C = alpha*A*B + beta*C on a device, by planes of bytes (cuda/byte_planes.cu, byte_products.cu,
// round_entries.cu). Rows of A and columns of B are processed in panels; where one panel is the whole, its
// planes are made once, otherwise anew in each run. Methods are called on the device's thread.
type gemmProduct struct {
	device            *gpu.Device
	own               *gpu.Owner
	plan              *deferred.GemmPlan
	moduli            *bytemod.Plan
	rows, cols, terms int // terms padded
	precision, width  int
	tile              int         // of byteProducts; panels are multiples
	sides             [2]gemmSide // A and B
	turns             int         // stages between reductions

	multiply  *gpu.Kernel[cuda.ByteProductsArgs]
	round     *gpu.Kernel[cuda.RoundEntriesArgs]
	list      *gpu.Buffer[cuda.ByteModulus]
	residues  *gpu.Buffer[uint8] // of a panel of the product
	rounding  cuda.EntryRounding
	out       *gpu.Buffer[uint64]
	exponents *gpu.Buffer[int64]
	uncertain *gpu.Buffer[uint32] // nil where nothing is truncated
	addend    *Numbers            // C, nil without beta
	events    [4]*gpu.Event       // before the conversion, the products, the rounding; after
	times     gemmTimes
}

// gemmTimes are the device's times of a run, together for all panels.
type gemmTimes struct{ convert, multiply, round time.Duration }

// gemmSide is A, or the transpose of B: vectors of terms.
type gemmSide struct {
	numbers  *Numbers
	layout   numbers.Layout
	lines    []deferred.GemmLine
	low      *gpu.Buffer[int32]
	convert  *gpu.Kernel[cuda.BytePlanesArgs]
	weights  bytemod.Weights
	table    *gpu.Buffer[uint32]
	residues *gpu.Buffer[cuda.ByteResidue]
	rowBits  int                // a block of bytePlanes has 2^rowBits rows
	planes   *gpu.Buffer[uint8] // of a panel
	panel    int                // vectors, padded
	held     int                // the first vector of the panel that the planes have, -1 for none
}

// gemmOptions are what a product needs beside the matrices.
type gemmOptions struct {
	Options
	c      *Numbers // nil without beta
	layout numbers.Layout
	room   int64 // for planes; 0 for what the device has
	tile   int   // 0 for the better one
	turns  int   // 0 for as many as fit
}

// newGemmProduct makes everything but the planes. The product owns none of the numbers.
func newGemmProduct(
	d *gpu.Device, plan *deferred.GemmPlan, a, b *Numbers, al, bl numbers.Layout, o gemmOptions,
) (p *gemmProduct, err error) {
	p = &gemmProduct{device: d, own: d.NewOwner(), plan: plan, addend: o.c, precision: o.Precision, rows: al.Rows,
		cols: bl.Rows, terms: roundUp(al.Cols, stageTerms), width: (o.Precision + 63) / 64}
	aBits, bBits := plan.Widths()
	p.moduli = bytemod.NewPlan(aBits, bBits, al.Cols)
	rows, cols := plan.Lines()
	p.sides = [2]gemmSide{{numbers: a, layout: al, lines: rows}, {numbers: b, layout: bl, lines: cols}}
	if p.turns = o.turns; p.turns == 0 {
		p.turns = bytemod.StageTerms / stageTerms
	}
	if p.tile = o.tile; p.tile == 0 {
		if p.tile, err = p.bestTile(); err != nil {
			return nil, err
		}
	}
	for s, bits := range []int{aBits, bBits} {
		p.prepareSide(s, bits)
	}
	p.prepareRounding(o)
	if err := p.allocate(o.room); err != nil {
		p.free()
		return nil, err
	}
	return p, nil
}

// wideTile is the tile of byteProducts256 (cuda/wide_products.cuh), which a cluster of two blocks computes.
const wideTile = 256

// bestTile is wideTile on devices that have it, where its tiles occupy most clusters and are not padded much more than
// others; otherwise 128, or 64 where tiles would not occupy all multiprocessors (docs/design/gemm.md has times).
func (p *gemmProduct) bestTile() (int, error) {
	module, err := p.device.Module("byte_products")
	if err != nil {
		return 0, err
	}
	tiles := func(tile int) int {
		return len(p.moduli.Moduli) * (roundUp(p.rows, tile) / tile) * (roundUp(p.cols, tile) / tile)
	}
	most := p.device.Info().Multiprocessors
	switch {
	case module.Has(multiplyName(wideTile)) && tiles(wideTile) >= most/3 && 16*tiles(wideTile) <= 5*tiles(128):
		return wideTile, nil
	case min(p.rows, p.cols) <= 64 || tiles(128) < most:
		return 64, nil
	}
	return 128, nil
}

// multiplyName is the name of byteProducts for a tile.
func multiplyName(tile int) string { return fmt.Sprintf("byteProducts%d", tile) }

// prepareSide uploads the tables of a side.
func (p *gemmProduct) prepareSide(side, bits int) {
	s := &p.sides[side]
	s.weights, s.held = p.moduli.Weights(side, bytemod.Words(bits)), -1
	for s.rowBits = 3; s.rowShared()<<s.rowBits > sharedAtMost && s.rowBits > 0; {
		s.rowBits--
	}
	low := make([]int32, len(s.lines))
	for i, x := range s.lines {
		low[i] = int32(x.Low)
	}
	s.low, s.table = gpu.TakeCopy(p.own, low), gpu.TakeCopy(p.own, s.weights.Fragments)
	list := make([]cuda.ByteResidue, 16*s.weights.ByteTiles+8*s.weights.DigitTiles)
	for i := range list {
		list[i].Plane = math.MaxUint32
	}
	for k, m := range p.moduli.Moduli {
		at := k
		if m.Digits == 2 {
			at += 16*s.weights.ByteTiles - p.moduli.Bytes
		}
		r := m.Remainder()
		list[at] = cuda.ByteResidue{M: m.M, Plane: uint32(m.In), Start: r.Start, Again: r.Again, Inverse: r.Inverse,
			Rounder: r.Rounder, Magic: uint32(m.Magic), Shift: uint32(m.Shift)}
	}
	s.residues = gpu.TakeCopy(p.own, list)
}

func modulusOf(m bytemod.Modulus) cuda.ByteModulus {
	return cuda.ByteModulus{M: m.M, Magic: m.Magic, Shift: m.Shift, Gamma: m.Gamma, In: uint32(m.In), Out: uint32(m.Out),
		Passes: uint32(2*m.Digits - 1)}
}

// prepareRounding uploads what rounding takes beside the residues.
func (p *gemmProduct) prepareRounding(o gemmOptions) {
	alpha := newScalar(p.own, o.Alpha)
	integer, _ := oddInteger(o.Alpha)
	table := p.moduli.Reconstruction(integer)
	f := cuda.EntryRounding{
		Table: gpu.TakeCopy(p.own, table.Fragments).Pointer(), Starts: gpu.TakeCopy(p.own, table.Starts).Pointer(),
		Negative: gpu.TakeCopy(p.own, table.Negative).Pointer(), Words: uint32(table.Words),
		AlphaExp: alpha.exp, AlphaNegative: boolToUint32(alpha.negative), Inverse: table.Inverse,
		RankWord: uint32(table.RankWord), Planes: uint32(table.Planes), Steps: uint32(table.Steps),
		Chunks: uint32(table.Chunks), OutColumns: uint32(p.cols), OutWidth: uint32(p.width),
		Precision: uint32(p.precision), TermBits: uint32(bits.Len(uint(max(p.sides[0].layout.Cols, 1) - 1))),
	}
	if !alpha.isUnit(o.Alpha) {
		f.AlphaBits = uint32(o.Alpha.MinPrec())
	}
	if o.c != nil {
		beta, exp := oddInteger(o.Beta)
		list := bytemod.IntegerWords(beta, (beta.BitLen()+31)/32)
		f.Beta, f.BetaExp, f.BetaWords = gpu.TakeCopy(p.own, list).Pointer(), int64(exp), uint32(len(list))
		f.BetaNegative, f.Width = boolToUint32(o.Beta.Signbit()), uint32(o.c.width)
		f.RowStride, f.ColumnStride = int64(o.layout.RowStride), int64(o.layout.ColStride)
		f.Source = o.c.values.Pointer().At(o.layout.Offset * max(1, o.c.width))
		f.Exponents = o.c.exponents.Pointer().At(o.layout.Offset)
		f.AddendWords = f.BetaWords + uint32(2*max(1, o.c.width))
		f.WindowWords = (32*max(f.Words, f.AddendWords)+f.Precision+64+31)/32 + 2
	}
	f.Scratch, f.ScratchEnd = f.WindowWords, max(4*f.Chunks, f.AddendWords)
	if f.Steps > 4 { // fewer are in registers
		f.Scratch = max(f.Scratch, 8*f.Steps)
	}
	f.ScratchEnd = max(f.ScratchEnd, uint32((64*p.width+entryPitch-1)/entryPitch))
	if p.plan.Truncated() {
		f.RowBits, f.ColumnBits = p.lineBits(0), p.lineBits(1)
	}
	p.rounding = f
}

// lineBits uploads 2*bits + truncated of each row or column.
func (p *gemmProduct) lineBits(side int) gpu.Pointer[int32] {
	list := make([]int32, len(p.sides[side].lines))
	for i, x := range p.sides[side].lines {
		if list[i] = int32(2 * x.Bits); x.Truncated {
			list[i]++
		}
	}
	return gpu.TakeCopy(p.own, list).Pointer()
}

// allocate makes the buffers that depend on the matrices' size, in panels that fit the room.
func (p *gemmProduct) allocate(room int64) error {
	if p.entryShared() > p.device.Info().SharedPerBlock {
		return errNoProduct
	}
	p.list = gpu.TakeCopy(p.own, p.moduliList())
	p.out = gpu.Take[uint64](p.own, p.rows*p.cols*p.width)
	p.exponents = gpu.Take[int64](p.own, p.rows*p.cols)
	if p.plan.Truncated() {
		p.uncertain = gpu.Take[uint32](p.own, p.rows*((p.cols+31)/32)) // panels have multiples of 32 columns
	}
	p.own.Events(p.events[:])
	for i := range p.sides {
		name := "bytePlanes"
		if steps := p.sides[i].weights.Steps; steps <= 2 {
			name += strconv.Itoa(steps)
		}
		p.sides[i].convert = gpu.FindKernel[cuda.BytePlanesArgs](p.own, "byte_planes", name)
	}
	p.multiply = gpu.FindKernel[cuda.ByteProductsArgs](p.own, "byte_products", multiplyName(p.tile))
	steps := []string{"", "1", "2", "4", "4", ""}[min(p.rounding.Steps, 5)]
	p.round = gpu.FindKernel[cuda.RoundEntriesArgs](p.own, "round_entries", "roundEntries"+steps)
	if err := p.own.Err(); err != nil {
		return err
	}
	if room == 0 {
		free, err := p.device.Free()
		if err != nil {
			return err
		}
		room = free - 3*int64(p.device.Info().L2Bytes) // what ColdCache takes
	}
	if need := p.fit(room); need > room {
		return &TooSmallError{need + p.own.Bytes(), room + p.own.Bytes()}
	}
	in, out := p.moduli.Planes()
	for i := range p.sides {
		p.sides[i].planes = gpu.Take[uint8](p.own, in*p.sides[i].panel*p.terms)
	}
	p.residues = gpu.Take[uint8](p.own, out*p.sides[0].panel*p.sides[1].panel)
	return p.own.Err()
}

// moduliList has the moduli that take longest first.
func (p *gemmProduct) moduliList() (list []cuda.ByteModulus) {
	for i := len(p.moduli.Moduli) - 1; i >= 0; i-- {
		list = append(list, modulusOf(p.moduli.Moduli[i]))
	}
	return list
}

// fit chooses panels that take no more than room, if that is possible, and returns what they take.
func (p *gemmProduct) fit(room int64) int64 {
	in, out := p.moduli.Planes()
	a, b := &p.sides[0].panel, &p.sides[1].panel
	*a, *b = roundUp(p.rows, p.tile), roundUp(p.cols, p.tile)
	for {
		need := int64(in)*int64(p.terms)*int64(*a+*b) + int64(out)*int64(*a)*int64(*b)
		larger := a
		if *b > *a {
			larger = b
		}
		if need <= room || *larger == p.tile {
			return need
		}
		*larger = roundUp(*larger/2, p.tile)
	}
}

// panels returns how many panels the result has.
func (p *gemmProduct) panels() int {
	count := func(n, panel int) int { return (n + panel - 1) / panel }
	return count(p.rows, p.sides[0].panel) * count(p.cols, p.sides[1].panel)
}

// keep makes the planes of those matrices that are one panel, which runs then find.
func (p *gemmProduct) keep() error {
	for i := range p.sides {
		if s := &p.sides[i]; s.panel >= len(s.lines) {
			if err := p.load(s, 0); err != nil {
				return err
			}
		}
	}
	return nil
}

// load sees to it that a side's planes are those of the panel from a vector on.
func (p *gemmProduct) load(s *gemmSide, first int) error {
	if s.held == first {
		return nil
	}
	s.held = first
	w, l := s.weights, s.layout
	at := l.Offset + first*l.RowStride
	count := min(s.panel, l.Rows-first)
	c := cuda.ByteConversion{
		Source: s.numbers.values.Pointer().At(at * max(1, s.numbers.width)), Low: s.low.Pointer().At(first),
		Exponents: s.numbers.exponents.Pointer().At(at), Width: uint32(s.numbers.width), Planes: s.planes.Pointer(),
		PlaneStride: uint64(s.panel) * uint64(p.terms), Weights: s.table.Pointer(), Residues: s.residues.Pointer(),
		RowStride: int64(l.RowStride), ColumnStride: int64(l.ColStride), Rows: uint32(count), Columns: uint32(l.Cols),
		PaddedRows: uint32(roundUp(count, p.tile)), Pitch: uint32(p.terms), Words: uint32(w.Words), Steps: uint32(w.Steps),
		ByteTiles: uint32(w.ByteTiles), DigitTiles: uint32(w.DigitTiles), RowBits: uint32(s.rowBits),
	}
	blocks := p.terms / groupTerms * (int(c.PaddedRows) >> s.rowBits)
	launch := gpu.Launch{Grid: gpu.Dim{X: blocks}, Block: gpu.Dim{X: planesBlock}, Shared: s.rowShared() << s.rowBits}
	return s.convert.Launch(launch, cuda.BytePlanesArgs{C: c})
}

// rowShared is the shared memory of a row of 64 elements in bytePlanes.
func (s *gemmSide) rowShared() int { return (roundUp(wordPitch*s.weights.Words-2, 16) + 2) * 8 }

// open returns the entries of the last run of which truncation left the rounding open, ascending in each panel.
func (p *gemmProduct) open() (entries []int, err error) {
	if p.uncertain == nil {
		return nil, nil
	}
	words := make([]uint32, p.uncertain.Len())
	if err := p.uncertain.Download(words); err != nil {
		return nil, err
	}
	err = p.eachPanel(func(q gemmPanel) error {
		across := (q.cols + 31) / 32
		for k, w := range words[q.word : q.word+q.rows*across] {
			for ; w != 0; w &= w - 1 {
				row, col := q.row+k/across, q.col+k%across*32+bits.TrailingZeros32(w)
				entries = append(entries, row*p.cols+col)
			}
		}
		return nil
	})
	return entries, err
}

// results returns the entries of the last run, row by row.
func (p *gemmProduct) results() (*deferred.Packed, error) {
	words, exponents := make([]uint64, p.out.Len()), make([]int64, p.exponents.Len())
	if err := p.out.Download(words); err != nil {
		return nil, err
	}
	err := p.exponents.Download(exponents)
	return deferred.PackedNumbers(p.precision, words, exponents), err
}

// kernels describes the kernels of a run, without times, and those that make a panel's planes if runs do.
func (p *gemmProduct) kernels(profile func(stage string, k Kernel) method.Kernel) (list []method.Kernel, err error) {
	a, b := &p.sides[0], &p.sides[1]
	planes, numbers := a.planes.Bytes()+b.planes.Bytes(), a.numbers.Bytes()+b.numbers.Bytes()
	results := p.out.Bytes() + p.exponents.Bytes()
	if p.addend != nil {
		results += p.addend.Bytes()
	}
	multiply, err := describe(p.multiply, p.multiplyLaunch(a.panel, b.panel), planes+p.residues.Bytes())
	if err != nil {
		return nil, err
	}
	round, err := describe(p.round, p.roundLaunch(min(a.panel, p.rows), min(b.panel, p.cols)),
		p.residues.Bytes()+results)
	if err != nil {
		return nil, err
	}
	if p.panels() > 1 {
		launch := gpu.Launch{Grid: gpu.Dim{X: p.terms / groupTerms * (a.panel / 8)}, Block: gpu.Dim{X: planesBlock}}
		convert, err := describe(a.convert, launch, planes+numbers)
		if err != nil {
			return nil, err
		}
		list = append(list, profile("convert", convert))
	}
	return append(list, profile("multiply", multiply), profile("round", round)), nil
}

func (p *gemmProduct) free() {
	if p != nil {
		p.own.Free()
	}
}

func roundUp(x, multiple int) int { return (x + multiple - 1) / multiple * multiple }
