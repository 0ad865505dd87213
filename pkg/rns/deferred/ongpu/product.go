package ongpu

import (
	"fmt"
	"math/big"

	"mpbench/pkg/gpu"
	"mpbench/pkg/rns/deferred"
)

// Shape says how a product is launched. It never changes a result.
type Shape struct {
	Kernel   string // one of Shapes
	Parts    int    // of the columns, for matrices of few rows
	Separate bool   // finish rows in a second kernel
}

// shapeOf describes a kernel of cuda/deferred.cu: rows and threads of a block.
var shapeOf = map[string]struct{ rows, threads, columnWarps int }{
	"product1x8": {8, 256, 1},
	"product2x4": {8, 128, 1},
	"product2x8": {16, 256, 1},
	"product4x4": {16, 128, 1},
	"product1x1": {1, 256, 8},
}

// Shapes lists the kernels of a product.
func Shapes() []string {
	return []string{"product1x8", "product2x4", "product2x8", "product4x4", "product1x1"}
}

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

	sums     *gpu.Buffer[uint64]
	arrivals *gpu.Buffer[uint32]
	rowExp   *gpu.Buffer[int64]
	alpha    scalar
	beta     scalar
	y        *Numbers
	out      *gpu.Buffer[uint64]
	heads    *gpu.Buffer[int64]
	width    int // words of a result

	parameters productParameters
	kernel     *gpu.Kernel[productParameters]
	launch     gpu.Launch

	finish           *gpu.Kernel[productParameters] // with Shape.Separate
	finishLaunch     gpu.Launch
	finishParameters productParameters
}

type productParameters struct {
	P planesParameters
	F finishParameters
}

type planesParameters struct {
	A, X, Delta            gpu.Pointer[uint32]
	Sums                   gpu.Pointer[uint64]
	Arrivals               gpu.Pointer[uint32]
	XStride                uint64
	Rows, LD, Moduli       uint32
	Parts, PartColumns     uint32
	Group, FinishRows, pad uint32
}

type finishParameters struct {
	Delta, Weight, CRT                     gpu.Pointer[uint32]
	Reciprocal                             gpu.Pointer[float64]
	RowExp                                 gpu.Pointer[int64]
	Alpha, Beta                            gpu.Pointer[uint32]
	YWords                                 gpu.Pointer[uint64]
	YHeads                                 gpu.Pointer[int64]
	Out                                    gpu.Pointer[uint64]
	OutHeads                               gpu.Pointer[int64]
	AlphaExp, BetaExp                      int64
	Moduli, Lanes                          uint32
	AlphaLimbs, BetaLimbs, YLimbs          uint32
	AlphaNegative, BetaNegative            uint32
	YWidth, OutWidth                       uint32
	Precision                              uint32
	ProductLimbs, AddendLimbs, WindowLimbs uint32
	UnitAlpha                              uint32
}

// rowLimbs is the shared memory of a row while it is finished, in words of 32 bits, as in cuda/finish.cuh.
func (f *finishParameters) rowLimbs() int {
	return int(max(f.ProductLimbs, f.Moduli+1) + f.Moduli + f.YLimbs + f.AddendLimbs + f.WindowLimbs)
}

// NewProduct prepares alpha*A*x + beta*y.
func NewProduct(a *Matrix, x *Vector, o Options) (*Product, error) {
	if x.planes.tables != a.planes.tables || x.planes.columns != a.Columns() {
		panic(fmt.Sprintf("ongpu: a vector of %d elements for a matrix of %d columns", x.planes.columns, a.Columns()))
	}
	p := &Product{device: a.planes.device, a: a, x: x, options: o, width: (o.Precision + 63) / 64}
	if err := p.allocate(); err != nil {
		p.Free()
		return nil, err
	}
	p.setParameters()
	return p, p.SetShape(p.defaultShape())
}

// allocate makes the buffers: sums and arrivals are zero, as kernels leave them.
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
	try(func() error { p.sums, err = gpu.Upload(d, make([]uint64, rows*p.a.Moduli())); return err })
	try(func() error { p.arrivals, err = gpu.Upload(d, make([]uint32, rows)); return err })
	try(func() error { p.rowExp, err = gpu.Upload(d, exps); return err })
	try(func() error { p.out, err = gpu.Alloc[uint64](d, rows*p.width); return err })
	try(func() error { p.heads, err = gpu.Alloc[int64](d, rows); return err })
	try(func() error { p.alpha, err = newScalar(d, p.options.Alpha); return err })
	if p.options.Beta.Sign() != 0 {
		try(func() error { p.beta, err = newScalar(d, p.options.Beta); return err })
		try(func() error { p.y, err = UploadPacked(d, p.options.Y); return err })
	}
	return err
}

func (p *Product) setParameters() {
	t, a := p.a.planes.tables, p.a.planes
	p.parameters.P = planesParameters{
		A: a.residues.Pointer(), X: p.x.planes.residues.Pointer(), Delta: t.delta.Pointer(), Sums: p.sums.Pointer(), Arrivals: p.arrivals.Pointer(),
		XStride: uint64(p.x.planes.ld), Rows: uint32(a.rows), LD: uint32(a.ld), Moduli: uint32(t.n),
	}
	f := finishParameters{
		Delta: t.delta.Pointer(), Weight: t.weight.Pointer(), CRT: t.crt.Pointer(), Reciprocal: t.reciprocal.Pointer(), RowExp: p.rowExp.Pointer(),
		Alpha: p.alpha.limbs.Pointer(), Out: p.out.Pointer(), OutHeads: p.heads.Pointer(), AlphaExp: p.alpha.exp,
		Moduli: uint32(t.n), Lanes: uint32(t.lanes), AlphaLimbs: p.alpha.count(), AlphaNegative: boolToUint32(p.alpha.negative),
		OutWidth: uint32(p.width), Precision: uint32(p.options.Precision), ProductLimbs: uint32(t.n),
	}
	if p.alpha.isUnit(p.options.Alpha) {
		f.UnitAlpha = 1
	} else {
		f.ProductLimbs += f.AlphaLimbs
	}
	if p.y != nil {
		f.Beta, f.BetaExp, f.BetaLimbs, f.BetaNegative = p.beta.limbs.Pointer(), p.beta.exp, p.beta.count(), boolToUint32(p.beta.negative)
		f.YWords, f.YHeads, f.YWidth = p.y.values.Pointer(), p.y.heads.Pointer(), uint32(p.y.width)
		f.YLimbs = uint32((64*p.y.width + limbBits - 1) / limbBits)
		f.AddendLimbs = f.BetaLimbs + f.YLimbs
	}
	f.WindowLimbs = (limbBits*max(f.ProductLimbs, f.AddendLimbs)+f.Precision+60+limbBits-1)/limbBits + 2
	p.parameters.F = f
}

func boolToUint32(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}

// defaultShape is a kernel for many rows or for few, with parts such that every multiprocessor has some blocks.
func (p *Product) defaultShape() Shape {
	s := Shape{Kernel: "product2x4", Parts: 1}
	mps := max(p.device.Info().Multiprocessors, 1)
	if p.a.Rows()*p.a.Moduli() < 64*mps {
		s.Kernel = "product1x1"
	}
	k := shapeOf[s.Kernel]
	blocks := (p.a.Rows() + k.rows - 1) / k.rows * p.a.Moduli()
	least := 512 * k.columnWarps // columns of a part: four reads of 16 bytes a thread
	s.Parts = max(1, min(8*mps/max(blocks, 1), p.a.planes.ld/least))
	return s
}

// SetShape chooses the kernel and the parts.
func (p *Product) SetShape(s Shape) error {
	k, ok := shapeOf[s.Kernel]
	if !ok {
		panic("ongpu: unknown shape " + s.Kernel)
	}
	var err error
	if p.kernel, err = kernel[productParameters](p.device, "deferred", s.Kernel); err != nil {
		return err
	}
	p.shape = s
	ld := p.a.planes.ld
	columns := (ld/columnMultiple + s.Parts - 1) / s.Parts * columnMultiple
	q := &p.parameters.P
	q.PartColumns = uint32(max(columns, columnMultiple))
	q.Parts = uint32(max(1, (ld+int(q.PartColumns)-1)/int(q.PartColumns)))
	q.Group = uint32(k.rows)
	row := 4 * p.parameters.F.rowLimbs()
	const comfortable = 32 << 10 // bytes of shared memory that still let several blocks share a multiprocessor
	rows := max(1, min(k.rows, k.threads/32, comfortable/row))
	q.FinishRows = uint32(rows)
	groups := (p.a.Rows() + k.rows - 1) / k.rows
	p.launch = gpu.Launch{Grid: gpu.Dim{X: groups * int(q.Parts) * p.a.Moduli()}, Block: gpu.Dim{X: k.threads}, Shared: rows * row}
	p.finish = nil
	if s.Separate {
		return p.separate(row)
	}
	return nil
}

// separate prepares a second kernel that finishes rows, of so many bytes of shared memory each.
func (p *Product) separate(row int) error {
	const rows = 2 // of a block
	var err error
	if p.finish, err = kernel[productParameters](p.device, "deferred", "finish"); err != nil {
		return err
	}
	p.finishParameters = p.parameters
	p.finishParameters.P.Group, p.finishParameters.P.FinishRows = rows, rows
	p.finishLaunch = gpu.Launch{Grid: gpu.Dim{X: (p.a.Rows() + rows - 1) / rows}, Block: gpu.Dim{X: 32 * rows}, Shared: rows * row}
	p.parameters.P.FinishRows = 0
	p.launch.Shared = 0
	return nil
}

// Shape returns the shape in use.
func (p *Product) Shape() Shape { return p.shape }

// Launch puts the product into the stream: one kernel, or two.
func (p *Product) Launch(s *gpu.Stream) error {
	if p.a.Rows() == 0 {
		return nil
	}
	l := p.launch
	l.Stream = s
	if err := p.kernel.Launch(l, p.parameters); err != nil || p.finish == nil {
		return err
	}
	l = p.finishLaunch
	l.Stream = s
	return p.finish.Launch(l, p.finishParameters)
}

// Results waits and sets y to the results, exactly: numbers of Precision bits.
func (p *Product) Results(y []*big.Float) error {
	words, heads := make([]uint64, p.out.Len()), make([]int64, p.heads.Len())
	if err := p.out.Download(words); err != nil {
		return err
	}
	if err := p.heads.Download(heads); err != nil {
		return err
	}
	for i := range y {
		if y[i] == nil {
			y[i] = new(big.Float)
		}
		setPacked(y[i], words[i*p.width:(i+1)*p.width], heads[i], uint(p.options.Precision))
	}
	return nil
}

// setPacked sets z to a packed number of prec bits.
func setPacked(z *big.Float, words []uint64, head int64, prec uint) {
	buf := make([]byte, 8*len(words))
	for i, w := range words {
		for k := range 8 {
			buf[len(buf)-1-8*i-k] = byte(w >> (8 * k))
		}
	}
	x := new(big.Int).SetBytes(buf)
	z.SetPrec(0).SetPrec(prec).SetInt(x)
	z.SetMantExp(z, int(head>>1))
	if head&1 != 0 {
		z.Neg(z)
	}
}

// Bytes returns the device memory that the product takes beside A and x.
func (p *Product) Bytes() int64 {
	bytes := p.sums.Bytes() + p.arrivals.Bytes() + p.rowExp.Bytes() + p.out.Bytes() + p.heads.Bytes()
	if p.y != nil {
		bytes += p.y.Bytes()
	}
	return bytes
}

// Free gives the memory back, but for that of A and x.
func (p *Product) Free() {
	p.sums.Free()
	p.arrivals.Free()
	p.rowExp.Free()
	p.out.Free()
	p.heads.Free()
	p.alpha.limbs.Free()
	p.beta.limbs.Free()
	p.y.Free()
}
