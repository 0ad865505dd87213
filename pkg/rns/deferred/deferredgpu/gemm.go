package deferredgpu

import (
	"context"
	"errors"
	"fmt"
	"time"

	"mpbench/pkg/exact"
	"mpbench/pkg/gpu"
	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
	"mpbench/pkg/rns/bytemod"
	"mpbench/pkg/rns/deferred"
)

// NewGemm is the method deferred for products of matrices on a GPU with tensor cores: by planes of bytes, or
// column by column, as products of a matrix and a vector, where there are few columns, the numbers are too
// long, or the GPU is older than compute capability 8.0.
func NewGemm(c method.Config) (method.Engine, error) {
	device, err := gpu.Open(c.GPU())
	if err != nil {
		return nil, err
	}
	return &gemm{config: c, device: device}, nil
}

const (
	// gemmFewColumns is up to how many columns of op(B) a product is computed column by column: each reads A once, as
	// limbs or residues of 28 bits, about as many bytes as planes of bytes, of which a tile has 64 columns. On an H200
	// two columns took 1.1 to 1.6 times as long one by one, but for 53 and 106 bits and n = 4096 (0.7 and 0.8).
	gemmFewColumns = 1
	// gemmRedo is how many products of bytes, for all terms of an entry, take as long as computing it again on the
	// host: some 60 ns a term and 16 threads against 2 operations of some 500e12 a second.
	gemmRedo = 1_000_000
)

// gemm is alpha*op(A)*op(B) + beta*C.
type gemm struct {
	config  method.Config
	device  *gpu.Device
	problem *op.Problem
	shape   op.Shape
	special []exact.Value
	columns *gemmColumns // nil where product is not
	limits  gemmOptions  // room, tile and turns are for tests

	scalars    *deferred.Scalars
	plan       *deferred.GemmPlan
	product    *gemmProduct
	numbers    [3]*Numbers // A, B, C on the device, C nil without beta
	open       []int       // entries that the last run computed again
	again      *deferred.Packed
	times      method.Times
	conversion time.Duration
	redone     time.Duration
	fetched    *deferred.Packed // the results of the last run; nil if they were not asked for
}

// Prepare copies the matrices to the device, and makes planes of them unless they have to be made in panels.
func (e *gemm) Prepare(ctx context.Context, p *op.Problem) error {
	if err := e.Close(); err != nil {
		return err
	}
	shape, err := p.Op.Shape(p)
	if err != nil {
		return err
	}
	tight := *p // what is copied to the device
	tight.A, tight.X, tight.Y = p.A.Tight(), p.X.Tight(), p.Y.Tight()
	*e = gemm{config: e.config, device: e.device, limits: e.limits, problem: &tight, shape: shape}
	if e.suits() {
		err := e.load()
		if err == nil {
			return nil
		}
		if err = errors.Join(err, e.Close()); !errors.Is(err, errNoProduct) {
			return err
		}
	}
	e.columns = &gemmColumns{config: e.config}
	return e.columns.prepare(ctx, p)
}

// suits reports whether the problem is one for tensor cores, but for the length of its numbers, and reads alpha and
// beta. Without a finite alpha no entry is finite.
func (e *gemm) suits() bool {
	p := e.problem
	if e.device.Info().Major < 8 || !p.Multiplies() || e.shape.Components == 0 || p.Right().Cols <= gemmFewColumns {
		return false
	}
	e.scalars = deferred.NewScalars(p, 0)
	return e.scalars.Denominator == nil && e.scalars.Alpha.Sign() != 0
}

// load makes the product.
func (e *gemm) load() error {
	p := e.problem
	met := p.Adds() && !(p.Beta.AllFinite() && p.Y.AllFinite())
	sources := []numbers.Source{p.A.Source, p.X.Source}
	if e.scalars.Beta.Sign() != 0 {
		sources = append(sources, p.Y.Source)
	}
	packed := make([]*deferred.Packed, len(sources))
	start := time.Now()
	for i, x := range sources {
		var err error
		if packed[i], err = packed64(x); err != nil {
			return err
		}
	}
	for i, a := range []numbers.Array{p.A, p.X} { // binary64 numbers are looked at on the device
		met = met || packed[i] != nil && !a.AllFinite()
	}
	e.times.Convert = time.Since(start)
	return e.device.Do(func() error {
		special, err := e.prepareOnDevice(sources, packed)
		if err == nil && (met || special) {
			e.special = op.Specials(p, e.shape.Components)
		}
		return e.outOfMemory(err)
	})
}

// prepareOnDevice copies the numbers, plans and makes the product. It reports whether there are infinities or
// NaN among binary64 numbers of A and B.
func (e *gemm) prepareOnDevice(sources []numbers.Source, packed []*deferred.Packed) (special bool, err error) {
	start := time.Now()
	for i, x := range sources {
		if e.numbers[i], err = uploadNumbers(e.device, x, packed[i]); err != nil {
			return false, err
		}
	}
	e.times.CopyIn = time.Since(start)
	start = time.Now()
	left, right := e.problem.Matrix(), e.problem.Right()
	var lines [2][]numbers.Extent
	for i, l := range []numbers.Layout{left.Layout, right.Transposed().Layout} {
		if packed[i] == nil {
			var met bool
			if lines[i], met, err = e.numbers[i].Extents(l); err != nil {
				return false, err
			}
			special = special || met
		}
	}
	e.plan = deferred.NewGemmPlan(left, right, lines[0], lines[1], e.config.Precision, e.config.Threads,
		deferred.GemmCost{Products: bytemod.Products, Most: bytemod.MaxProducts - 1, Redo: gemmRedo})
	if e.plan == nil {
		return special, errNoProduct
	}
	if err := e.make(e.plan); err != nil {
		return special, err
	}
	if e.plan.Truncated() {
		if err := e.reconsider(); err != nil {
			return special, err
		}
	}
	err = e.device.Sync()
	e.conversion = time.Since(start)
	return special, err
}

// uploadNumbers copies float64 numbers, or packed ones if there are any.
func uploadNumbers(d *gpu.Device, x numbers.Source, p *deferred.Packed) (*Numbers, error) {
	if p != nil {
		return UploadPacked(d, p)
	}
	return UploadFloat64(d, x.(numbers.Float64s))
}

// make replaces the product by that of a plan.
func (e *gemm) make(plan *deferred.GemmPlan) (err error) {
	e.product.free()
	o := e.limits
	o.Options = Options{Precision: e.config.Precision, Alpha: e.scalars.Alpha, Beta: e.scalars.Beta}
	o.c, o.layout = e.numbers[2], e.problem.Y.Layout
	e.product, err = newGemmProduct(e.device, plan, e.numbers[0], e.numbers[1], e.problem.Matrix().Layout,
		e.problem.Right().Transposed().Layout, o)
	if err == nil {
		e.plan = plan
		err = e.product.keep()
	}
	return err
}

// reconsider runs truncated products once, and goes over to exact ones if so many entries had to be computed
// again that those are faster, and memory suffices.
func (e *gemm) reconsider() error {
	if err := e.run(false); err != nil {
		return err
	}
	truncated, exact := e.plan, e.plan.Exact()
	if exact == nil || !e.plan.Reconsider(len(e.open)) {
		return nil
	}
	err := e.make(exact)
	var small *TooSmallError
	if errors.As(err, &small) || errors.Is(err, gpu.ErrOutOfMemory) || errors.Is(err, errNoProduct) {
		err = e.make(truncated)
	}
	return err
}

// outOfMemory makes an error about the device's memory one of the method's.
func (e *gemm) outOfMemory(err error) error {
	small := new(TooSmallError)
	switch {
	case errors.As(err, &small):
	case errors.Is(err, gpu.ErrOutOfMemory):
		free, failed := e.device.Free()
		if failed != nil {
			return err
		}
		small.Free, small.Need = free, free+1
	default:
		return err
	}
	return &method.MemoryError{Method: "deferred", Shape: e.shape, Need: small.Need, Have: small.Free,
		Device: e.device.Name(), Detail: "planes of bytes, in panels"}
}

func (e *gemm) Run(ctx context.Context) error { return e.runOnDevice(ctx, false) }

func (e *gemm) RunTimed(ctx context.Context) error { return e.runOnDevice(ctx, true) }

func (e *gemm) runOnDevice(ctx context.Context, timed bool) error {
	e.fetched, e.times.Kernel, e.times.Kernels = nil, 0, nil
	if e.columns != nil {
		return e.columns.run(ctx, timed)
	}
	return e.outOfMemory(e.device.Do(func() error { return e.run(timed) }))
}

// run computes the result, on the device's thread, and on the host what truncation left open.
func (e *gemm) run(timed bool) error {
	if timed {
		if err := e.device.ColdCache(nil); err != nil {
			return err
		}
	}
	if err := e.product.run(timed); err != nil {
		return err
	}
	start := time.Now()
	var err error
	if e.open, err = e.product.open(); err != nil {
		return err
	}
	if e.redone = 0; len(e.open) > 0 {
		if e.again == nil {
			e.again = deferred.NewPacked(e.shape.Components, e.config.Precision)
		}
		e.plan.Recompute(e.again, e.open, e.scalars.Alpha, e.scalars.Beta, e.problem.Y)
		e.redone = time.Since(start)
	}
	if timed {
		return e.takeTimes()
	}
	return nil
}

// takeTimes takes those of the last run.
func (e *gemm) takeTimes() error {
	t := e.product.times
	e.times.Kernel = t.convert + t.multiply + t.round + e.redone
	list, err := e.product.kernels(func(stage string, k Kernel) method.Kernel { return profile(e.device, stage, k) })
	if err != nil {
		return err
	}
	durations := []time.Duration{t.convert, t.multiply, t.round}[3-len(list):]
	for i := range list {
		list[i].Time = durations[i]
	}
	e.times.Kernels = list
	return nil
}

// Result copies the entries of the last run to the host.
func (e *gemm) Result() (numbers.Source, error) {
	if e.columns != nil {
		return e.columns.result()
	}
	if e.fetched == nil {
		start := time.Now()
		err := e.device.Do(func() (err error) {
			e.fetched, err = e.product.results()
			return err
		})
		if err != nil {
			e.fetched = nil
			return nil, err
		}
		if len(e.open) > 0 {
			e.fetched.Copy(e.again, e.open)
		}
		e.times.CopyOut = time.Since(start)
	}
	if e.special == nil {
		return e.fetched, nil
	}
	list := make(numbers.Values, e.shape.Components)
	for i := range list {
		if list[i] = numbers.At(e.fetched, i); !e.special[i].IsFinite() {
			list[i] = e.special[i]
		}
	}
	return list, nil
}

func (e *gemm) Times() method.Times {
	if e.columns != nil {
		return e.columns.times
	}
	return e.times
}

func (e *gemm) Stages() []method.Stage {
	if e.product == nil {
		return nil
	}
	t := e.product.times
	list := []method.Stage{
		{Name: "device-convert", Summary: "numbers to planes of residues, on the device, once", Time: e.conversion},
		{Name: "multiply", Summary: "products of matrices of residues on tensor cores", Time: t.multiply},
		{Name: "round", Summary: "integers from residues, times alpha, plus beta*C, rounded once", Time: t.round},
	}
	if e.product.panels() > 1 {
		list = append(list, method.Stage{
			Name: "convert", Summary: "planes of panels of the matrices", Time: t.convert,
		})
	}
	if e.plan.Truncated() {
		list = append(list, method.Stage{Name: "recomputation", Time: e.redone,
			Summary: fmt.Sprintf("on the host, by the clock: %d entries that truncation left open", len(e.open))})
	}
	return list
}

func (e *gemm) Cool() error { return e.device.Cool() }

func (e *gemm) Info() method.Info {
	info := method.Info{Format: "residues", Bits: e.config.Precision, Device: e.device.RecordName()}
	switch {
	case e.columns != nil:
		e.columns.describe(&info)
		return info
	case e.product == nil: // not prepared
		return info
	}
	p := e.product
	products, _ := p.moduli.Planes()
	info.Moduli, info.ModuliBits, info.NumberBytes = len(p.moduli.Moduli), 8, products
	if p.moduli.Pairs > 0 {
		info.ModuliBits = 14
	}
	info.WorkspaceBytes = p.own.Bytes()
	for _, x := range e.numbers {
		if x != nil {
			info.WorkspaceBytes += x.Bytes()
		}
	}
	info.Variant = fmt.Sprintf("tensor cores, %d products of bytes by %s", products, p.instruction())
	if n := p.panels(); n > 1 {
		info.Variant += fmt.Sprintf(", %d panels", n)
	}
	if e.plan.Truncated() {
		info.Variant += "; " + deferred.TruncatedEntries(len(e.open))
	}
	return info
}

func (e *gemm) Close() error {
	if e.columns != nil {
		err := e.columns.close()
		e.columns = nil
		return err
	}
	if e.product == nil && e.numbers[0] == nil {
		return nil
	}
	err := e.device.Do(func() error {
		e.product.free()
		for _, x := range e.numbers {
			x.Free()
		}
		return nil
	})
	e.product, e.numbers = nil, [3]*Numbers{}
	return err
}
