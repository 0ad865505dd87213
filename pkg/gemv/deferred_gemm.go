package gemv

import (
	"context"
	"fmt"

	"mpbench/pkg/device"
	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
	"mpbench/pkg/rns/deferred"
)

// fewColumns is up to how many columns of op(B) a product of matrices is computed column by column, as gemv, with
// residues of A that are made once: the blocks of the other way have 16 columns or more (BenchmarkColumns).
const fewColumns = 4

// deferredGemm is the deferred engine for products of matrices; m is that for gemv.
func deferredGemm(m method.Method) method.Method {
	m.Operation, m.Streams = op.Gemm, nil
	m.On = map[device.Kind]method.New{device.CPU: func(c method.Config) (method.Engine, error) {
		return &gemmEngine{deferredEngine: deferredEngine{config: c}}, nil
	}}
	return m
}

// gemmEngine multiplies all columns at once, or one by one where there are few, or where the numbers are too long or
// too far spread for deferred.Gemm.
type gemmEngine struct {
	deferredEngine
	gemm    *deferred.Gemm    // nil for column by column
	scalars *deferred.Scalars // alpha and beta
	c       numbers.Array
	entries *deferred.Packed // the result, row by row
	times   deferred.GemmTimes
}

func (e *gemmEngine) Prepare(ctx context.Context, p *op.Problem) error {
	shape, err := p.Op.Shape(p)
	if err != nil {
		return err
	}
	e.deferredEngine = deferredEngine{config: e.config, problem: p, shape: shape}
	e.gemm = nil
	if p.Multiplies() && shape.Components > 0 && p.Right().Cols > fewColumns {
		e.special = op.Specials(p, shape.Components)
		if done, err := e.prepareGemm(p); done || err != nil {
			return err
		}
	}
	return e.deferredEngine.Prepare(ctx, p)
}

// prepareGemm converts the matrices, unless their numbers are too long or too far spread, or quotients. Where many
// entries turn out to be computed again after truncation, it goes over to exact products if moduli and memory suffice.
func (e *gemmEngine) prepareGemm(p *op.Problem) (done bool, err error) {
	if e.scalars = deferred.NewScalars(p, 0); e.scalars.Denominator != nil {
		return false, nil
	}
	g := deferred.NewGemm(e.finite(p.Matrix()), e.finite(p.Right()), e.config.Precision, e.config.Threads)
	if g == nil {
		return false, nil
	}
	e.c, e.entries = p.Y, deferred.NewPacked(e.shape.Components, e.config.Precision)
	if err := e.convertGemm(g); err != nil {
		return true, err
	}
	if g.Truncated() {
		e.multiplyGemm()
		if exact := g.Exact(); exact != nil && g.Reconsider() && e.checkMemory(exact) == nil {
			return true, e.convertGemm(exact)
		}
	}
	return true, nil
}

// finite returns an array with 0 in place of infinities and NaN.
func (e *gemmEngine) finite(a numbers.Array) numbers.Array {
	if e.special == nil {
		return a
	}
	return a.Finite()
}

func (e *gemmEngine) convertGemm(g *deferred.Gemm) error {
	if err := e.checkMemory(g); err != nil {
		return err
	}
	e.gemm = g
	g.Convert()
	return nil
}

// checkMemory makes panels of the matrices where they do not fit as a whole.
func (e *gemmEngine) checkMemory(g *deferred.Gemm) error {
	results, room := e.entries.Bytes(), int64(0)
	if e.config.MaxBytes > 0 {
		room = max(1, e.config.MaxBytes-results)
	}
	if g.Fit(room) {
		return nil
	}
	detail := fmt.Sprintf("panels of %d moduli of 2 bytes per element", g.Moduli())
	return e.config.CheckMemory("deferred", e.shape, g.LeastBytes()+results, detail)
}

func (e *gemmEngine) Run(ctx context.Context) error {
	if e.gemm == nil {
		return e.deferredEngine.Run(ctx)
	}
	e.multiplyGemm()
	return nil
}

func (e *gemmEngine) multiplyGemm() {
	e.times = e.gemm.Multiply(e.entries, e.scalars.Alpha, e.scalars.Beta, e.c)
}

func (e *gemmEngine) Result() (numbers.Source, error) {
	if e.gemm == nil {
		return e.deferredEngine.Result()
	}
	list := make(numbers.Values, e.shape.Components)
	for i := range list {
		if list[i] = numbers.At(e.entries, i); e.special != nil && !e.special[i].IsFinite() {
			list[i] = e.special[i]
		}
	}
	return list, nil
}

func (e *gemmEngine) Stages() []method.Stage {
	if e.gemm == nil {
		return e.deferredEngine.Stages()
	}
	e.accumulate, e.round = e.times.Products, e.times.Reconstruct
	list := e.deferredEngine.Stages()
	if e.gemm.Panels() > 1 {
		list = append(list, method.Stage{
			Name: "convert", Summary: "residues of panels of the matrices", Time: e.times.Convert,
		})
	}
	return list
}

func (e *gemmEngine) Info() method.Info {
	info := e.deferredEngine.Info()
	if e.gemm == nil {
		if e.matrix != nil {
			info.Variant = join("column by column", info.Variant)
		}
		return info
	}
	info.Moduli, info.ModuliBits = e.gemm.Moduli(), deferred.GemmModulusBits
	info.NumberBytes = 2 * info.Moduli
	info.WorkspaceBytes = e.gemm.WorkspaceBytes()
	info.Variant = "blocks, " + e.gemm.Kernel()
	if n := e.gemm.Panels(); n > 1 {
		info.Variant += fmt.Sprintf(", %d panels", n)
	}
	if e.gemm.Truncated() {
		info.Variant = join(info.Variant, deferred.TruncatedEntries(e.gemm.Recomputed()))
	}
	return info
}

func join(first, second string) string {
	if second == "" {
		return first
	}
	return first + "; " + second
}
