// Package deferredgpu is the deferred engine on a GPU: y = alpha*A*x + beta*y from planes of residues, or of limbs, in
// device memory, exact, rounded once, with the same bits as package deferred.
//
// A [Matrix] holds the planes of op(A), rows of op(A) next to each other, so that A and its transpose are read in the
// same way. The numbers cross the bus as they are, float64 or packed words, and become residues on the device. Where
// aligned elements of A and x have at most 112 bits they become limbs of 28 bits instead, which take half the bytes
// and need no reconstruction: a float64 matrix of similar exponents is one of two limbs. A [Product] holds a matrix, a
// vector and the memory for results; [Product.Launch] is two kernels: sums of products; and reconstruction, alpha,
// beta and rounding (cuda/deferred.cu, cuda/limb_products.cu, cuda/round_rows.cuh).
//
// Factors may be truncated ([deferred.KeepBits]). Then the last kernel tests for each row whether what was left out
// could change its rounding (Ziv's test, cuda/round_rows.cuh), and [Product.Recompute] computes the rows that it marks
// again, from the numbers on the device with the moduli that exact sums of them take. Rows for which
// deferred.MaxModuli or the device's memory do not suffice are the host's.
//
// A [HostProduct] leaves the matrix in host memory and copies it in panels of columns, each of which becomes residues
// and is multiplied while the next is on its way.
//
// Products of matrices ([NewGemm]) take residues of bytes instead, for tensor cores: planes of A and B, products of
// them, and results with one rounding are a kernel each (package bytemod; cuda/byte_planes.cu, byte_products.cu,
// round_entries.cu). Entries that truncation leaves open are the host's.
//
// Everything here must be called on the device's thread ([gpu.Device.Do]), but for what says otherwise.
package deferredgpu

import (
	"fmt"
	"math/big"

	"mpbench/cuda"
	"mpbench/internal/parallel"
	"mpbench/pkg/gpu"
	"mpbench/pkg/numbers"
	"mpbench/pkg/rns/deferred"
)

// Options are what a product needs beside A and x.
type Options struct {
	Precision   int              // bits of a result
	Alpha, Beta *big.Float       // finite; Alpha not zero
	Y           *deferred.Packed // the y of beta*y; nil if Beta is zero
}

// Product is y = alpha*A*x + beta*y made ready: launch it as often as wanted.
type Product struct {
	device  *gpu.Device
	own     *gpu.Owner
	a       *Matrix
	x       *Vector
	options Options
	shape   Shape

	truncated bool // factors are, so that rows may have to be computed again

	sums      *gpu.Buffer[uint64]
	rowExp    *gpu.Buffer[int64]
	alpha     scalar
	beta      scalar
	y         *Numbers
	out       *gpu.Buffer[uint64]
	exponents *gpu.Buffer[int64]
	width     int // words of a result

	errorExp      *gpu.Buffer[int64]  // nil where all sums are exact
	uncertain     *gpu.Buffer[uint32] // nil likewise
	recomputation recomputation

	planes      cuda.Planes     // of residues
	limbs       cuda.LimbPlanes // of limbs
	rounding    rounding
	table       *gpu.Buffer[uint32] // alpha times the table of reconstruction
	addend      *gpu.Buffer[uint32] // beta*y
	add, round  work
	addLaunch   gpu.Launch
	roundLaunch gpu.Launch
}

// work is a kernel with its parameters, those of residues or of limbs.
type work struct {
	launch   func(gpu.Launch) error
	describe func(l gpu.Launch, bytes int64) (Kernel, error)
}

// workOf finds a kernel. parameters is called for each launch.
func workOf[P any](d *gpu.Device, module, name string, parameters func() P) (work, error) {
	k, err := gpu.KernelOf[P](d, module, name)
	return work{
		launch:   func(l gpu.Launch) error { return k.Launch(l, parameters()) },
		describe: func(l gpu.Launch, bytes int64) (Kernel, error) { return describe(k, l, bytes) },
	}, err
}

func (p *Product) sumArgs() cuda.SumProductsArgs {
	return cuda.SumProductsArgs{P: p.planes, F: p.rounding.Rounding}
}

func (p *Product) roundArgs() cuda.RoundRowsArgs { return cuda.RoundRowsArgs(p.sumArgs()) }

// rounding says how the results are made of the sums.
type rounding struct{ cuda.Rounding }

// rowLimbs is the shared memory of a row while it is rounded, in words of 32 bits, as in cuda/round_rows.cuh.
func (f *rounding) rowLimbs() int { return int(f.Moduli + 1 + f.ProductLimbs + f.WindowLimbs) }

// hasTable tells whether there is a table of alpha times that of reconstruction.
func (f *rounding) hasTable() bool { return f.UnitAlpha == 0 && f.LimbSums == 0 }

// prepare returns how many warps have work before rows are rounded, and the shared memory of each in words of 32 bits.
func (f *rounding) prepare() (items, limbs int) {
	if f.hasTable() {
		items, limbs = int(f.Moduli+1), int(f.ProductLimbs)
	}
	if f.BetaLimbs > 0 {
		items, limbs = items+int(f.Rows), max(limbs, int(f.YLimbs+f.AddendLimbs))
	}
	return items, limbs
}

// NewProduct prepares alpha*A*x + beta*y.
func NewProduct(a *Matrix, x *Vector, o Options) (*Product, error) {
	if x.planes.tables != a.planes.tables || x.planes.limbs != a.planes.limbs || x.planes.columns != a.Columns() {
		panic(fmt.Sprintf("deferredgpu: a vector of %d elements for a matrix of %d columns", x.planes.columns, a.Columns()))
	}
	d := a.planes.device
	p := &Product{device: d, own: d.NewOwner(), a: a, x: x, options: o, width: (o.Precision + 63) / 64}
	if err := p.allocate(); err != nil {
		p.Free()
		return nil, err
	}
	p.setParameters()
	if err := p.allocatePrepared(); err != nil {
		p.Free()
		return nil, err
	}
	return p, p.SetShape(p.defaultShape())
}

// allocate makes the buffers: sums are zero, as kernels leave them where they add to them.
func (p *Product) allocate() (err error) {
	rows := p.a.Rows()
	exps := make([]int64, rows)
	for i, low := range p.a.low {
		exps[i] = int64(low + p.x.low)
	}
	p.sums = gpu.TakeCopy(p.own, make([]uint64, rows*p.sumWords()))
	p.rowExp = gpu.TakeCopy(p.own, exps)
	p.out, p.exponents = gpu.Take[uint64](p.own, rows*p.width), gpu.Take[int64](p.own, rows)
	p.alpha = newScalar(p.own, p.options.Alpha)
	if p.options.Beta.Sign() != 0 {
		p.beta = newScalar(p.own, p.options.Beta)
		if err := p.own.Err(); err != nil {
			return err
		}
		if p.y, err = UploadPacked(p.device, p.options.Y); err != nil {
			return err
		}
	}
	p.allocateErrors()
	return p.own.Err()
}

// sumWords is how many words the sum of a row has: residues, or words of limbs.
func (p *Product) sumWords() int {
	if limbs := p.a.planes.limbs; limbs > 0 {
		return 2*limbs + 1
	}
	return p.a.planes.tables.n
}

// allocatePrepared makes the buffers of what is prepared for rounding.
func (p *Product) allocatePrepared() error {
	f := &p.rounding
	if f.hasTable() {
		p.table = gpu.Take[uint32](p.own, int((f.Moduli+1)*f.ProductLimbs))
	}
	p.addend = gpu.Take[uint32](p.own, p.a.Rows()*int(f.AddendLimbs))
	f.Table, f.Addend = p.table.Pointer(), p.addend.Pointer()
	return p.own.Err()
}

func (p *Product) setParameters() {
	a, words := p.a.planes, uint32(p.sumWords())
	f := cuda.Rounding{
		RowExp: p.rowExp.Pointer(), Alpha: p.alpha.limbs.Pointer(), Out: p.out.Pointer(),
		OutExponents: p.exponents.Pointer(), AlphaExp: p.alpha.exp,
		Moduli: words, AlphaLimbs: p.alpha.count(), AlphaNegative: boolToUint32(p.alpha.negative),
		ErrorExp: p.errorExp.Pointer(), Uncertain: p.uncertain.Pointer(),
		OutWidth: uint32(p.width), Precision: uint32(p.options.Precision), ProductLimbs: words, Rows: uint32(a.rows),
	}
	if a.limbs > 0 {
		f.LimbSums, f.ProductLimbs = 1, words+1
	} else {
		t := a.tables
		p.planes = cuda.Planes{
			A: a.residues.Pointer(), X: p.x.planes.residues.Pointer(), Delta: t.delta.Pointer(), Sums: p.sums.Pointer(),
			XStride: uint64(p.x.planes.ld), Rows: uint32(a.rows), Ld: uint32(a.ld), Moduli: words,
		}
		f.Delta, f.Weight, f.Crt, f.Reciprocal, f.Lanes = t.delta.Pointer(), t.weight.Pointer(), t.crt.Pointer(),
			t.reciprocal.Pointer(), uint32(t.lanes)
	}
	if p.alpha.isUnit(p.options.Alpha) {
		f.UnitAlpha = 1
	} else {
		f.ProductLimbs += f.AlphaLimbs
	}
	if p.y != nil {
		f.Beta, f.BetaExp, f.BetaLimbs, f.BetaNegative = p.beta.limbs.Pointer(), p.beta.exp, p.beta.count(),
			boolToUint32(p.beta.negative)
		f.YWords, f.YExponents, f.YWidth = p.y.values.Pointer(), p.y.exponents.Pointer(), uint32(p.y.width)
		f.YLimbs = uint32((64*p.y.width + limbBits - 1) / limbBits)
		f.AddendLimbs = f.BetaLimbs + f.YLimbs
	}
	f.WindowLimbs = (limbBits*max(f.ProductLimbs, f.AddendLimbs)+f.Precision+60+limbBits-1)/limbBits + 2
	p.rounding = rounding{f}
}

func boolToUint32(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}

// Launch puts the product into the stream: LaunchSums and then LaunchRounding.
func (p *Product) Launch(s *gpu.Stream) error {
	return gpu.InTurn(func() error { return p.LaunchSums(s) }, func() error { return p.LaunchRounding(s) })
}

// LaunchSums puts the sums of products into the stream, one kernel.
func (p *Product) LaunchSums(s *gpu.Stream) error {
	l := p.addLaunch
	if l.Grid.X == 0 {
		return nil
	}
	l.Stream = s
	return p.add.launch(l)
}

// LaunchRounding puts what makes results of the sums into the stream, one kernel.
func (p *Product) LaunchRounding(s *gpu.Stream) error {
	l := p.roundLaunch
	if l.Grid.X == 0 {
		return nil
	}
	l.Stream, l.Early = s, p.shape.Early
	p.recomputation.due = p.truncated
	return p.round.launch(l)
}

// Kernel describes a kernel of a product.
type Kernel struct {
	Name       string
	Launch     gpu.Launch
	Attributes gpu.Attributes
	Occupancy  float64 // share of a multiprocessor's threads that are resident
	Bytes      int64   // read and written in device memory, each number once
}

// Kernels describes the kernels of LaunchSums and LaunchRounding.
func (p *Product) Kernels() ([]Kernel, error) {
	sumBytes, roundBytes := p.bytes()
	sumBytes += p.a.Bytes() + p.x.planes.residues.Bytes()
	sums, err := p.add.describe(p.addLaunch, sumBytes)
	if err != nil {
		return nil, err
	}
	round, err := p.round.describe(p.roundLaunch, roundBytes)
	return []Kernel{sums, round}, err
}

// bytes returns what the two kernels read and write beside A and x.
func (p *Product) bytes() (sums, round int64) {
	sums = p.sums.Bytes()
	round = sums + p.out.Bytes() + p.exponents.Bytes()
	if p.a.planes.limbs == 0 {
		round += p.a.planes.tables.crt.Bytes()
	}
	if p.y != nil {
		round += p.y.Bytes()
	}
	return sums, round
}

func describe[P any](k *gpu.Kernel[P], l gpu.Launch, bytes int64) (Kernel, error) {
	d := Kernel{Name: k.Name(), Launch: l, Bytes: bytes}
	var err error
	if d.Attributes, err = k.Attributes(); err != nil {
		return d, err
	}
	d.Occupancy, err = k.Occupancy(l.Block.X, l.Shared)
	return d, err
}

// Results waits, recomputed if that was not done, and sets y to the results, exactly: numbers of Precision bits.
func (p *Product) Results(y []*big.Float) error {
	if err := p.Recompute(); err != nil {
		return err
	}
	if err := p.results(y); err != nil {
		return err
	}
	for k, i := range p.recomputation.rows {
		y[i].SetPrec(0).Set(p.recomputation.values[k])
	}
	return nil
}

// Moduli returns the number of moduli, 0 for limbs.
func (p *Product) Moduli() int { return p.a.Moduli() }

// Bytes returns the device memory that the product takes beside A and x.
func (p *Product) Bytes() int64 {
	bytes := p.own.Bytes()
	if p.y != nil {
		bytes += p.y.Bytes()
	}
	for _, b := range p.recomputation.batches {
		bytes += b.bytes()
	}
	return bytes
}

// Free gives the memory back, but for that of A and x; a nil product has none.
func (p *Product) Free() {
	if p == nil {
		return
	}
	p.own.Free()
	p.y.Free()
	p.recomputation.free()
}

// Shape says how a product is launched. It never changes a result.
type Shape struct {
	// BlockRows is the rows of a block, and PartColumns its columns if it does not take whole rows, a multiple of 16.
	BlockRows, PartColumns int
	// Together is how many rows a block rounds together, with one read of the tables: 2 or 4; 0 for a warp for each row.
	Together int
	// RowWarps is how many warps take a row, or a part of one, of a matrix of limbs: 1, 2, 4 or 8. Then BlockRows and
	// Together do not count.
	RowWarps int
	// Early lets the rounding kernel begin while sums are still added, where the device can do so.
	Early bool
}

// Threads of a block of sumProducts and sumProductsFew, and the columns that all its warps read at once.
const (
	sumThreads = 256
	sumColumns = sumThreads / 32 * 512
)

// defaultShape takes parts of columns where there are few rows. All numbers were found by BenchmarkParts on an H200.
func (p *Product) defaultShape() Shape {
	if p.a.planes.limbs > 0 {
		return p.defaultLimbShape()
	}
	rows, moduli := p.a.Rows(), p.a.Moduli()
	// two rows a warp: the blocks' ends, where less is read at once, are evenly spread
	s := Shape{BlockRows: 16, Early: true}
	byWarps := 16 // moduli up to which a warp for each row is faster
	if s.PartColumns = partColumns(p.device, rows, moduli); s.PartColumns > 0 {
		s.BlockRows, byWarps = 1, 32
	}
	if moduli > byWarps {
		s.Together = 2
	}
	return s
}

// partColumns returns how many columns a block takes where there are few rows, one round of reads; 0 for whole rows.
func partColumns(d *gpu.Device, rows, moduli int) int {
	if slots := 4 * max(d.Info().Multiprocessors, 1); rows*moduli >= 2*slots {
		return 0
	}
	return sumColumns
}

// SetShape chooses how the work is divided.
func (p *Product) SetShape(s Shape) error {
	if p.a.planes.limbs > 0 {
		return p.setLimbShape(s)
	}
	name := "sumProducts"
	if s.PartColumns > 0 {
		name = "sumProductsFew"
	}
	var err error
	if p.add, err = workOf(p.device, "deferred", name, p.roundArgs); err != nil {
		return err
	}
	p.shape = s
	rows, moduli, ld := p.a.Rows(), p.a.Moduli(), p.a.planes.ld
	p.planes.BlockRows, p.planes.PartColumns, p.planes.Clear = uint32(max(s.BlockRows, 1)), uint32(s.PartColumns), 0
	blocks := (rows + max(s.BlockRows, 1) - 1) / max(s.BlockRows, 1)
	if s.PartColumns > 0 {
		p.planes.Clear = 1
		blocks = rows * max(1, (ld+s.PartColumns-1)/s.PartColumns)
		if ld == 0 { // nothing to add to sums that are zero
			blocks = 0
		}
	}
	if err := p.sums.Clear(nil); err != nil {
		return err
	}
	items, limbs := p.rounding.prepare()
	const warps = sumThreads / 32
	p.planes.PrepareBlocks = uint32((items + warps - 1) / warps)
	p.addLaunch = gpu.Launch{Grid: gpu.Dim{X: int(p.planes.PrepareBlocks) + blocks*moduli}, Block: gpu.Dim{X: sumThreads},
		Shared: 4 * warps * limbs}
	return p.setRounding(s.Together)
}

func (p *Product) setRounding(together int) error {
	name, rows, threads := "roundRows", 4, 128 // of a block
	if together > 0 {
		name, rows = fmt.Sprintf("roundRows%d", together), together
		threads = min(max((int(p.rounding.ProductLimbs)+31)/32*32, 32*rows), 256)
	}
	shared := rows * 4 * p.rounding.rowLimbs()
	var err error
	p.round, err = workOf(p.device, "deferred", name, p.roundArgs)
	p.roundLaunch = gpu.Launch{Grid: gpu.Dim{X: (p.a.Rows() + rows - 1) / rows}, Block: gpu.Dim{X: threads},
		Shared: shared}
	return err
}

// Shape returns the shape in use.
func (p *Product) Shape() Shape { return p.shape }

// results waits and sets y to the results of the kernels, exactly: numbers of Precision bits.
func (p *Product) results(y []*big.Float) error {
	words, exponents := make([]uint64, p.out.Len()), make([]int64, p.exponents.Len())
	if err := p.out.Download(words); err != nil {
		return err
	}
	if err := p.exponents.Download(exponents); err != nil {
		return err
	}
	parallel.Ranges(0, len(y), 256, func(_, from, to int) {
		var x big.Int
		for i := from; i < to; i++ {
			if y[i] == nil {
				y[i] = new(big.Float)
			}
			setPacked(y[i], &x, words[i*p.width:(i+1)*p.width], exponents[i], uint(p.options.Precision))
		}
	})
	return nil
}

// setPacked sets z to a packed number of prec bits; x is overwritten.
func setPacked(z *big.Float, x *big.Int, words []uint64, exponent int64, prec uint) {
	z.SetPrec(0).SetPrec(prec).SetInt(x.SetBits(numbers.BigWords(x.Bits()[:0], words)))
	z.SetMantExp(z, int(exponent>>1))
	if exponent&1 != 0 {
		z.Neg(z)
	}
}
