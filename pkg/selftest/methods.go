package selftest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
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
func rounded(s exact.Summary, precision int) *exact.Value {
	r := exact.FromBig(s.Round(uint(precision)))
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
	if beyond := new(method.RangeError); errors.As(err, &beyond) && top(c.problem) >= narrowest {
		return
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
		e := expectation{what: what, summary: c.exact.Component(i)}
		e.nothing = c.integer && e.summary.Square == nil
		if !m.Operation.Scalar {
			e.what = what + ", " + numbers.ComponentName(i, c.exact.Shape.K)
		}
		e.bound = bounds.Of(e.summary)
		e.model(m, v, c, i)
		t.compare(numbers.At(y, i), e)
	}
}

// narrowest is the exponent from which on a format may have no number: ds-native computes with numbers below 2^100.
const narrowest = 100

// top returns the exponent of the largest number of a problem.
func top(p *op.Problem) int {
	most := math.MinInt
	for _, a := range []numbers.Array{p.A, p.X, p.Y} {
		for i := range a.Rows {
			row := a.Row(i)
			for j := range row.Rows {
				if s := row.SpanAt(j, 0); s.Class == numbers.Finite {
					most = max(most, s.Top)
				}
			}
		}
	}
	return most
}

// model sets what the models of a method give for component i of a case.
func (e *expectation) model(m method.Method, v variant, c testCase, i int) {
	arithmetic, known := arithmetics[m.Format]
	run := models[m.Operation][m.Name]
	switch {
	case !e.summary.Sum.IsFinite(), !known:
	case arithmetic == nil:
		e.modelled = rounded(e.summary, v.precision)
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
var models = cascades(map[*op.Operation]map[string]model{
	op.Sum: {
		"float32": sumBy(recursiveSum), "float64": sumBy(recursiveSum), "bigfloat": sumBy(recursiveSum),
		"kahan": sumBy(in64(kahanSum)), "neumaier": sumBy(in64(neumaierSum)),
		"reduce1": sumBy(recursiveSum), "reduce1s": sumBy(recursiveSum), "reduce1p": sumBy(recursiveSum),
		"reduce2": sumBy(pairwiseSum), "reduce2s": sumBy(pairwiseSum), "reduce2p": sumBy(pairwiseSum),
		"reduce3": sumBy(inBlocks), "reduce3p": sumBy(inBlocks), "dd": sumBy(laneSum),
		"pairwise": sumBy(numpySum),
	},
	op.Dot: {
		"float32": dotBy(recursiveSum), "float64": dotIn64(dot64), "dot2": dotIn64(dot2), "pairwise": dotBy(numpySum),
		"bigfloat": dotBy(recursiveSum), "dd": dotBy(laneSum),
		"reduce1": dotBy(recursiveSum), "reduce2": dotBy(pairwiseSum), "reduce3": dotBy(inBlocks),
	},
	op.Axpy: {"float32": axpy, "float64": axpy, "bigfloat": axpy, "dd": axpy},
	op.Scal: {"float32": scal, "float64": scal, "bigfloat": scal, "dd": scal},
	op.Asum: {
		"float32": asumBy(recursiveSum), "float64": asumBy(recursiveSum), "bigfloat": asumBy(recursiveSum),
		"dd": asumBy(laneSum),
	},
	op.Nrm2: {
		"float32": nrm2By(recursiveSum), "float64": nrm2By(recursiveSum), "bigfloat": nrm2By(recursiveSum),
		"dd": nrm2By(laneSum),
	},
	op.Gemv: {
		"float32": gemvBy(recursiveSum), "dd": gemvBy(laneSum),
		"bigfloat": gemvBy(recursiveSum), "rns-basic": gemvBy(recursiveSum), "rns-split": gemvBy(inRow),
	},
	op.Spmv: {
		"float32": gemvBy(recursiveSum), "float64": gemvBy(recursiveSum), "bigfloat": gemvBy(recursiveSum),
		"dd": gemvBy(recursiveSum),
	},
	op.Symv: {
		"float32": gemvBy(recursiveSum), "float64": gemvBy(recursiveSum), "dd": gemvBy(laneSum),
		"bigfloat": gemvBy(recursiveSum),
	},
	op.Trmv: {
		"float32": trmvBy(recursiveSum), "float64": trmvBy(recursiveSum), "bigfloat": trmvBy(recursiveSum),
		"dd": trmvBy(laneSum),
	},
	op.Gemm: {
		"float32": gemvBy(recursiveSum), "float64": gemvBy(recursiveSum), "dd": gemvBy(laneSum),
		"bigfloat": gemvBy(recursiveSum),
	},
})

// cascades adds the models of sumk:K and dotk:K.
func cascades(models map[*op.Operation]map[string]model) map[*op.Operation]map[string]model {
	for k := 2; k <= 8; k++ {
		sum := func(b binary, terms []number) number { return sumK(b, k, terms) }
		dot := func(b binary, x, y []number) number { return dotK(b, k, x, y) }
		models[op.Sum][fmt.Sprint("sumk:", k)], models[op.Dot][fmt.Sprint("dotk:", k)] = sumBy(in64(sum)), dotIn64(dot)
	}
	return models
}

func dot2(b binary, x, y []number) number { return dotK(b, 2, x, y) }

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

// scal is alpha*x_i, for an alpha that is there and not 0.
func scal(a arithmetic, p *op.Problem, i int) number {
	return a.mul(load(a, p.Alpha)[0], load(a, p.X.Part(i, i+1))[0])
}

// asumBy adds magnitudes.
func asumBy(sum order) model {
	return func(a arithmetic, p *op.Problem, _ int) number {
		terms := load(a, p.X)
		for i, x := range terms {
			terms[i] = x.magnitude()
		}
		return sum(a, terms)
	}
}

// nrm2By is the root of the sum of squares, of numbers scaled by a power of two where squares leave the range.
func nrm2By(sum order) model {
	return func(format arithmetic, p *op.Problem, _ int) number {
		a := format.(rooted)
		terms, k := load(a, p.X), 0
		top := math.MinInt
		for _, x := range terms {
			if x.sig.Sign() != 0 {
				top = max(top, x.top())
			}
		}
		if most := a.most(); most > 0 && top > math.MinInt && (top < -most/4 || top > most/4) {
			k = max(2-most, min(top, most-1))
		}
		for i, x := range terms {
			if k != 0 {
				terms[i] = a.mul(number{big.NewInt(1), -k}, x)
			}
		}
		root := a.sqrt(sum(a, products(a, terms, terms)))
		if k != 0 {
			root = a.mul(number{big.NewInt(1), k}, root)
		}
		return root
	}
}

// gemvBy computes d = alpha*x first, then the sum of a_ij*d_j, of stored elements, which is added to beta*y_i; for
// columns of x and y.
func gemvBy(sum order) model {
	return func(a arithmetic, p *op.Problem, i int) number {
		columns := p.X.Cols
		row, column := i/columns, i%columns
		x := p.X.Column(column)
		if m := p.Matrix(); m.Pattern != nil {
			x = numbers.Pick(x, m.Pattern.Row(row))
		}
		d := load(a, x)
		alpha := load(a, p.Alpha)[0]
		for j, x := range d {
			d[j] = a.mul(alpha, x)
		}
		total := sum(a, products(a, load(a, p.Matrix().Row(row)), d))
		return a.add(a.mul(load(a, p.Beta)[0], load(a, p.Y.Part(row, row+1).Column(column))[0]), total)
	}
}

// trmvBy is the sum of a_ij*x_j; zeros beside the triangle change nothing.
func trmvBy(sum order) model {
	return func(a arithmetic, p *op.Problem, i int) number {
		return sum(a, products(a, load(a, p.Matrix().Row(i)), load(a, p.X)))
	}
}

func load(a arithmetic, x numbers.Array) []number {
	list := make([]number, x.Rows)
	for i := range list {
		list[i] = a.load(element(x, i).float())
	}
	return list
}
