package deferredgpu

import (
	"fmt"
	"math/big"

	"mpbench/cuda"
	"mpbench/pkg/gpu"
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
	k, err := kernel[P](d, module, name)
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
func (f *rounding) rowLimbs() int {
	return int(f.Moduli + 1 + f.ProductLimbs + f.WindowLimbs)
}

// hasTable tells whether there is a table of alpha times that of reconstruction.
func (f *rounding) hasTable() bool { return f.UnitAlpha == 0 && f.LimbSums == 0 }

// prepare returns for how many warps there is work before rows are rounded, and the shared memory of each in words of
// 32 bits.
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
	p := &Product{device: a.planes.device, a: a, x: x, options: o, width: (o.Precision + 63) / 64}
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
func (p *Product) allocate() error {
	d, rows := p.device, p.a.Rows()
	exps := make([]int64, rows)
	for i, low := range p.a.low {
		exps[i] = int64(low + p.x.low)
	}
	var err error
	try := func(f func() error) {
		if err == nil {
			err = f()
		}
	}
	try(func() error { p.sums, err = gpu.Upload(d, make([]uint64, rows*p.sumWords())); return err })
	try(func() error { p.rowExp, err = gpu.Upload(d, exps); return err })
	try(func() error { p.out, err = gpu.Alloc[uint64](d, rows*p.width); return err })
	try(func() error { p.exponents, err = gpu.Alloc[int64](d, rows); return err })
	try(func() error { p.alpha, err = newScalar(d, p.options.Alpha); return err })
	if p.options.Beta.Sign() != 0 {
		try(func() error { p.beta, err = newScalar(d, p.options.Beta); return err })
		try(func() error { p.y, err = UploadPacked(d, p.options.Y); return err })
	}
	try(p.allocateErrors)
	return err
}

// sumWords is how many words the sum of a row has: residues, or words of limbs.
func (p *Product) sumWords() int {
	if limbs := p.a.planes.limbs; limbs > 0 {
		return 2*limbs + 1
	}
	return p.a.planes.tables.n
}

// allocatePrepared makes the buffers of what is prepared for rounding.
func (p *Product) allocatePrepared() (err error) {
	f := &p.rounding
	if f.hasTable() {
		if p.table, err = gpu.Alloc[uint32](p.device, int((f.Moduli+1)*f.ProductLimbs)); err != nil {
			return err
		}
	}
	if p.addend, err = gpu.Alloc[uint32](p.device, p.a.Rows()*int(f.AddendLimbs)); err != nil {
		return err
	}
	f.Table, f.Addend = p.table.Pointer(), p.addend.Pointer()
	return nil
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
	if err := p.LaunchSums(s); err != nil {
		return err
	}
	return p.LaunchRounding(s)
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
	bytes := p.sums.Bytes() + p.rowExp.Bytes() + p.out.Bytes() + p.exponents.Bytes()
	if p.y != nil {
		bytes += p.y.Bytes()
	}
	for _, b := range []*gpu.Buffer[uint32]{p.table, p.addend, p.uncertain} {
		if b != nil {
			bytes += b.Bytes()
		}
	}
	if p.errorExp != nil {
		bytes += p.errorExp.Bytes()
	}
	for _, b := range p.recomputation.batches {
		bytes += b.bytes()
	}
	return bytes
}

// Free gives the memory back, but for that of A and x.
func (p *Product) Free() {
	p.sums.Free()
	p.rowExp.Free()
	p.out.Free()
	p.exponents.Free()
	p.alpha.limbs.Free()
	p.beta.limbs.Free()
	p.y.Free()
	p.table.Free()
	p.addend.Free()
	p.errorExp.Free()
	p.uncertain.Free()
	p.recomputation.free()
}
