package selftest

import (
	"context"
	"fmt"
	"strconv"

	"mpbench/pkg/device"
	"mpbench/pkg/exact"
	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
)

// variant is a choice of options that a method is tested with.
type variant struct {
	precision, moduliBits int
	nearest               bool // round to nearest and align as MPRES-BLAS does, instead of the defaults
}

func (v variant) String() string {
	text := fmt.Sprintf("%d bits", v.precision)
	if v.moduliBits != 0 {
		text += fmt.Sprintf(", moduli of %d bits", v.moduliBits)
	}
	if v.nearest {
		text += ", nearest, blas"
	}
	return text
}

func variants(m method.Method) []variant {
	if m.Bits != 0 {
		return []variant{{precision: m.Bits}}
	}
	list := []variant{{precision: 60}, {precision: 113}, {precision: 240}, {precision: 848}}
	if m.Format == "rns" {
		list = append(list, variant{precision: 60, moduliBits: 16}, variant{precision: 240, nearest: true})
	}
	var able []variant
	for _, v := range list {
		if m.Accepts(v.precision) == nil {
			able = append(able, v)
		}
	}
	return able
}

// blocks and blockSize are the grid that block reductions are tested with: several passes, and blocks without terms.
const blocks, blockSize = 4, 8

func (v variant) config(set device.Set) method.Config {
	options := map[string]string{
		"moduli-bits": strconv.Itoa(v.moduliBits), "blocks": strconv.Itoa(blocks), "block-size": strconv.Itoa(blockSize),
	}
	if v.nearest {
		options["rounding"], options["alignment"] = "nearest", "blas"
	}
	return method.Config{Precision: v.precision, Devices: set, Options: options}
}

// rounded returns the exact result rounded once to nearest even.
func rounded(v exact.Value, precision int) *exact.Value {
	r := exact.FromBig(v.Round(uint(precision)))
	return &r
}

func (t *tester) testMethod(ctx context.Context, m method.Method, set device.Set, cases []testCase) {
	for _, v := range variants(m) {
		engine, err := m.New(v.config(set))
		if !t.works(v.String(), err) {
			continue
		}
		for _, c := range cases {
			elementwise := !m.Operation.Scalar && !m.Operation.Has(op.Matrix)
			if c.long && (elementwise || m.Format == "big.Float" && !m.Operation.Scalar) {
				continue // nothing that shorter ones do not show
			}
			what := c.name + ", " + v.String()
			t.guarded(what, func() { t.testCase(ctx, m, v, engine, c, what) })
		}
		t.works(v.String(), engine.Close())
	}
}

func (t *tester) works(what string, err error) bool {
	t.check(err == nil, func() (string, string) {
		advice := adviceReport
		if t.row.Device != "cpu" {
			advice = adviceGPU
		}
		return fmt.Sprintf("%s: %v", what, err), advice
	})
	return err == nil
}

func (t *tester) testCase(
	ctx context.Context, m method.Method, v variant, engine method.Engine, c testCase, what string,
) {
	var y numbers.Source
	err := method.Run(ctx, engine, c.problem)
	if err == nil {
		y, err = engine.Result()
	}
	if !t.works(what, err) {
		return
	}
	n := c.exact.Shape.Components
	if !m.Operation.Scalar || y.Len() != n {
		t.check(y.Len() == n, func() (string, string) {
			return fmt.Sprintf("%s: %d components, want %d", what, y.Len(), n), adviceReport
		})
	}
	bounds := m.ErrorBound(engine.Info(), c.problem)
	for i := range min(y.Len(), n) {
		e := expectation{what: what, summary: c.exact.Component(i), nothing: c.integer}
		if !m.Operation.Scalar {
			e.what = fmt.Sprintf("%s, y[%d]", what, i)
		}
		e.bound = bounds.Of(e.summary)
		e.model(m, v, c, i)
		t.compare(numbers.At(y, i), e)
	}
}

// model sets what the models of a method give for component i of a case.
func (e *expectation) model(m method.Method, v variant, c testCase, i int) {
	arithmetic, known := arithmetics[m.Format]
	run := models[m.Operation][m.Name]
	switch {
	case !e.summary.Sum.IsFinite(), !known:
	case arithmetic == nil:
		e.modelled = rounded(e.summary.Sum, v.precision)
	case run == nil, c.long && m.Bits == 0, c.long && !m.Operation.Scalar:
	case e.summary.SumAbs.Float64() > overflows[m.Format] && overflows[m.Format] > 0:
	default:
		a := arithmetic(v)
		value := run(a, c.problem, i).value()
		e.modelled = &value
		if m.Format == "binary64" {
			e.faulty = func(b binary) (number, bool) { return run(b, c.problem, i), true }
		}
	}
}

// overflows are magnitudes beyond which sums of some formats may overflow: a model has no infinities.
var overflows = map[string]float64{"binary32": 0x1p127, "double-double": 0x1p1022}

// arithmetics are the models of formats; nil for those that round an exact result once, to nearest even.
var arithmetics = map[string]func(variant) arithmetic{
	"binary32":  func(variant) arithmetic { return binary32() },
	"binary64":  func(variant) arithmetic { return binary64() },
	"big.Float": func(v variant) arithmetic { return bigFloat(v.precision) },

	"double-double": func(variant) arithmetic { return doubleDouble{binary64()} },

	"rns":      func(v variant) arithmetic { return newResidueModel(v) },
	"exact":    nil,
	"residues": nil,
}

// model returns component i of a problem by an algorithm.
type model func(a arithmetic, p *op.Problem, i int) number

// models are those of the methods, by their names.
var models = map[*op.Operation]map[string]model{
	op.Sum: {
		"float32": sumBy(recursiveSum), "float64": sumBy(recursiveSum), "bigfloat": sumBy(recursiveSum),
		"kahan": sumBy(in64(kahanSum)), "neumaier": sumBy(in64(neumaierSum)),
		"reduce1": sumBy(recursiveSum), "reduce1s": sumBy(recursiveSum), "reduce1p": sumBy(recursiveSum),
		"reduce2": sumBy(pairwiseSum), "reduce2s": sumBy(pairwiseSum), "reduce2p": sumBy(pairwiseSum),
		"reduce3": sumBy(inBlocks), "reduce3p": sumBy(inBlocks), "dd": sumBy(recursiveSum),
	},
	op.Dot: {
		"float32": dotBy(recursiveSum), "float64": dotIn64(dot64), "dot2": dotIn64(dot2),
		"bigfloat": dotBy(recursiveSum), "dd": dotBy(recursiveSum),
		"reduce1": dotBy(recursiveSum), "reduce2": dotBy(pairwiseSum), "reduce3": dotBy(inBlocks),
	},
	op.Axpy: {"float32": axpy, "float64": axpy, "bigfloat": axpy, "dd": axpy},
	op.Gemv: {
		"float32": gemvBy(recursiveSum), "dd": gemvBy(recursiveSum),
		"bigfloat": gemvBy(recursiveSum), "rns-basic": gemvBy(recursiveSum), "rns-split": gemvBy(inRow),
	},
}

type order func(a arithmetic, terms []number) number

// in64 is an order of additions that exists in binary floating-point arithmetic only.
func in64(sum func(b binary, terms []number) number) order {
	return func(a arithmetic, terms []number) number { return sum(a.(binary), terms) }
}

func inBlocks(a arithmetic, terms []number) number { return blockSum(a, terms, blocks, blockSize) }

func inRow(a arithmetic, terms []number) number { return rowSum(a, terms, blockSize) }

func sumBy(sum order) model {
	return func(a arithmetic, p *op.Problem, _ int) number { return sum(a, load(a, p.X)) }
}

func dotBy(sum order) model {
	return func(a arithmetic, p *op.Problem, _ int) number {
		return sum(a, products(a, load(a, p.X), load(a, p.Y)))
	}
}

func dotIn64(dot func(b binary, x, y []number) number) model {
	return func(a arithmetic, p *op.Problem, _ int) number { return dot(a.(binary), load(a, p.X), load(a, p.Y)) }
}

// axpy is alpha*x_i + y_i; without alpha or with alpha 0, only one of its operations, or none.
func axpy(a arithmetic, p *op.Problem, i int) number {
	y := load(a, p.Y.Part(i, i+1))[0]
	if !p.Multiplies() {
		return y
	}
	x := load(a, p.X.Part(i, i+1))[0]
	if !p.Alpha.Absent() {
		x = a.mul(load(a, p.Alpha)[0], x)
	}
	return a.add(x, y)
}

// gemvBy computes d = alpha*x first, then the sum of a_ij*d_j, which is added to beta*y_i.
func gemvBy(sum order) model {
	return func(a arithmetic, p *op.Problem, i int) number {
		d := load(a, p.X)
		alpha := load(a, p.Alpha)[0]
		for j, x := range d {
			d[j] = a.mul(alpha, x)
		}
		total := sum(a, products(a, load(a, p.Matrix().Row(i)), d))
		return a.add(a.mul(load(a, p.Beta)[0], load(a, p.Y)[i]), total)
	}
}

func load(a arithmetic, x numbers.Array) []number {
	list := make([]number, x.Rows)
	for i := range list {
		list[i] = a.load(element(x, i).float())
	}
	return list
}
