package selftest

import (
	"fmt"
	"math/big"
	"strings"

	"mpbench/pkg/bench"
	"mpbench/pkg/exact"
	"mpbench/pkg/gemv"
	"mpbench/pkg/reduce"
	"mpbench/pkg/rns"
)

// variant is a choice of options that a method is tested with.
type variant struct {
	precision, moduliBits int
	rounding              rns.Rounding
	alignment             rns.Alignment
}

func (v variant) String() string {
	text := fmt.Sprintf("%d bits", v.precision)
	if v.moduliBits != 0 {
		text += fmt.Sprintf(", moduli of %d bits", v.moduliBits)
	}
	if v.rounding != rns.Truncate {
		text += fmt.Sprintf(", %s, %s", v.rounding, v.alignment)
	}
	return text
}

// variants lists what a method of a format is tested with.
func variants(format string, fixed, least, most int) []variant {
	if fixed != 0 {
		return []variant{{precision: fixed}}
	}
	list := []variant{{precision: 60}, {precision: 113}, {precision: 240}, {precision: 848}}
	if format == "rns" {
		list = append(list, variant{precision: 60, moduliBits: 16}, variant{precision: 240, rounding: rns.Nearest, alignment: rns.AlignBLAS})
	}
	var able []variant
	for _, v := range list {
		if v.precision >= least && v.precision <= most {
			able = append(able, v)
		}
	}
	return able
}

// blocks and blockSize are the grid that block reductions are tested with: several passes, and blocks without terms.
const blocks, blockSize = 4, 8

// arithmeticOf returns the model of a format, nil for one that is not modelled.
func arithmeticOf(format string, v variant) arithmetic {
	switch format {
	case "binary32":
		return binary32()
	case "binary64":
		return binary64()
	case "big.Float":
		return bigFloat(v.precision)
	case "rns":
		if m, err := newResidueModel(v.precision, v.moduliBits, v.rounding, v.alignment); err == nil {
			return m
		}
	}
	return nil
}

// order is the name of a method without the letter of a GPU version.
func order(method string) string {
	for _, name := range []string{"reduce1", "reduce2", "reduce3"} {
		if strings.HasPrefix(method, name) {
			return name
		}
	}
	return method
}

// modelSum returns what a method must give, bit for bit; ok is false for a method that is not modelled.
func modelSum(m reduce.Method, v variant, a arithmetic, c sumCase) (sum number, ok bool) {
	if a == nil || c.long && m.FixedBits == 0 || m.Format == "binary32" && c.summary.SumAbs.Float64() > 0x1p127 {
		return zero, false // the last: it overflows
	}
	terms := make([]number, len(c.terms.Float64))
	for i, x := range c.terms.Float64 {
		terms[i] = a.load(x)
	}
	b, _ := a.(binary)
	switch order(m.Name) {
	case "float32", "float64", "bigfloat", "reduce1":
		return recursiveSum(a, terms), true
	case "kahan":
		return kahanSum(b, terms), true
	case "neumaier":
		return neumaierSum(b, terms), true
	case "reduce2":
		return pairwiseSum(a, terms), true
	case "reduce3":
		return blockSum(a, terms, blocks, blockSize), true
	}
	return zero, false
}

// modelDot returns what a method must give for a dot product.
func modelDot(m reduce.Method, v variant, a arithmetic, c dotCase) (sum number, ok bool) {
	if a == nil || c.long && m.FixedBits == 0 {
		return zero, false
	}
	x, y := loadAll(a, c.x), loadAll(a, c.y)
	b, _ := a.(binary)
	switch order(m.Name) {
	case "float64":
		return dot64(b, x, y), true
	case "dot2":
		return dot2(b, x, y), true
	case "bigfloat", "reduce1":
		return recursiveSum(a, products(a, x, y)), true
	case "reduce2":
		return pairwiseSum(a, products(a, x, y)), true
	case "reduce3":
		return blockSum(a, products(a, x, y), blocks, blockSize), true
	}
	return zero, false
}

func loadAll(a arithmetic, x []float64) []number {
	list := make([]number, len(x))
	for i := range x {
		list[i] = a.load(x[i])
	}
	return list
}

// rounded returns the exact result rounded once to nearest even: what method deferred must give.
func rounded(v exact.Value, precision int) *exact.Value {
	r := exact.FromBig(v.Round(uint(precision)))
	return &r
}

// modelled returns the expected value of a finite case as an expectation has it.
func modelled(n number, ok bool) *exact.Value {
	if !ok {
		return nil
	}
	v := n.value()
	return &v
}

func within(bound *big.Rat) boundOf {
	if bound == nil {
		return boundOf{}
	}
	return boundOf{func(e exact.Errors) bool { return e.Within(bound) }}
}

// model sets what the models of a method of that format give, of which run is the algorithm in an arithmetic.
func (e *expectation) model(format string, v variant, run func(arithmetic) (number, bool)) {
	switch {
	case !e.summary.Sum.IsFinite():
	case format == "exact":
		e.modelled = rounded(e.summary.Sum, v.precision)
	default:
		e.modelled = modelled(run(arithmeticOf(format, v)))
		if format == "binary64" {
			e.faulty = func(b binary) (number, bool) { return run(b) }
		}
	}
}

func (t *tester) testSum(m reduce.Method, device string, cases []sumCase) {
	for _, v := range variants(m.Format, m.FixedBits, m.MinPrecision, m.MaxPrecision) {
		s, err := m.New(reduceOptions(v, device))
		t.check(err == nil, func() (string, string) { return fmt.Sprintf("%v: %v", v, err), adviceReport })
		if err != nil {
			continue
		}
		d, onDevice := s.(reduce.DeviceSummer)
		defer func() { _ = bench.CloseDevice(s) }()
		for _, c := range cases {
			what := c.name + ", " + v.String()
			t.guarded(what, func() {
				err := s.Load(c.terms)
				if err == nil {
					s.Sum()
				}
				if err == nil && onDevice {
					err = d.Err()
				}
				t.check(err == nil, func() (string, string) { return fmt.Sprintf("%s: %v", what, err), adviceReport })
				if err != nil {
					return
				}
				e := expectation{what: what, summary: c.summary, nothing: c.integer, bound: func(x exact.Summary) boundOf { return within(s.ErrorBound(x)) }}
				e.model(m.Format, v, func(a arithmetic) (number, bool) { return modelSum(m, v, a, c) })
				t.compare(s.Value(), e)
			})
		}
		if onDevice {
			err := d.Close()
			t.check(err == nil, func() (string, string) { return fmt.Sprintf("%v: %v", v, err), adviceReport })
		}
	}
}

// worked fails a check if a method on a device did not do its last operation.
func (t *tester) worked(what string, method any) bool {
	err := bench.DeviceError(method)
	if err == nil {
		return true
	}
	t.check(false, func() (string, string) { return fmt.Sprintf("%s: %v", what, err), adviceGPU })
	return false
}

func reduceOptions(v variant, device string) reduce.Options {
	return reduce.Options{
		Precision: v.precision, ModuliBits: v.moduliBits, Rounding: v.rounding, Alignment: v.alignment, Blocks: blocks, BlockSize: blockSize, Device: device,
	}
}

func (t *tester) testDot(m reduce.Method, device string, cases []dotCase) {
	for _, v := range variants(m.Format, m.FixedBits, m.MinPrecision, m.MaxPrecision) {
		d, err := m.NewDot(reduceOptions(v, device))
		t.check(err == nil, func() (string, string) { return fmt.Sprintf("%v: %v", v, err), adviceReport })
		if err != nil {
			continue
		}
		defer func() { _ = bench.CloseDevice(d) }()
		for _, c := range cases {
			what := c.name + ", " + v.String()
			t.guarded(what, func() {
				err := d.Load(reduce.Terms{Float64: c.x}, reduce.Terms{Float64: c.y})
				t.check(err == nil, func() (string, string) { return fmt.Sprintf("%s: %v", what, err), adviceReport })
				if err != nil {
					return
				}
				d.Dot()
				if !t.worked(what, d) {
					return
				}
				e := expectation{what: what, summary: c.summary, nothing: c.integer, bound: func(x exact.Summary) boundOf { return within(d.ErrorBound(x)) }}
				e.model(m.Format, v, func(a arithmetic) (number, bool) { return modelDot(m, v, a, c) })
				t.compare(d.Value(), e)
			})
		}
	}
}

func (t *tester) testGemv(m gemv.Method, device string, cases []gemvCase) {
	for _, v := range variants(m.Format, m.FixedBits, m.MinPrecision, m.MaxPrecision) {
		engine, err := m.New(gemv.Options{
			Precision: v.precision, ModuliBits: v.moduliBits, Rounding: v.rounding, Alignment: v.alignment, BlockSize: blockSize, Device: device,
		})
		t.check(err == nil, func() (string, string) { return fmt.Sprintf("%v: %v", v, err), adviceReport })
		if err != nil {
			continue
		}
		defer func() { _ = bench.CloseDevice(engine) }()
		a := arithmeticOf(m.Format, v)
		for _, c := range cases {
			if c.long && m.Format == "big.Float" { // nothing that the shorter problems do not show
				continue
			}
			what := c.name + ", " + v.String()
			t.guarded(what, func() {
				err := engine.Load(c.problem)
				t.check(err == nil, func() (string, string) { return fmt.Sprintf("%s: %v", what, err), adviceReport })
				if err != nil {
					return
				}
				engine.Run()
				if !t.worked(what, engine) {
					return
				}
				t.compareVector(m, v, a, c, what, engine)
			})
		}
	}
}

// compareVector compares every component.
func (t *tester) compareVector(m gemv.Method, v variant, a arithmetic, c gemvCase, what string, engine gemv.Engine) {
	y := engine.Result()
	t.check(len(y) == len(c.exact.Y), func() (string, string) {
		return fmt.Sprintf("%s: %d components, want %d", what, len(y), len(c.exact.Y)), adviceReport
	})
	for i := range min(len(y), len(c.exact.Y)) {
		e := expectation{
			what: fmt.Sprintf("%s, y[%d]", what, i), summary: c.exact.Summary(i), nothing: c.integer,
			bound: func(x exact.Summary) boundOf { return within(engine.ErrorBound(i, x)) },
		}
		switch {
		case m.Format == "residues":
			e.modelled = rounded(c.exact.Y[i], v.precision)
		case !c.long && a != nil:
			e.modelled = modelled(modelComponent(m, a, c.problem, i))
		}
		t.compare(y[i], e)
	}
}

// modelComponent returns component i of alpha*op(A)*x + beta*y: d = alpha*x first, then the sum of a_ij*d_j, which is added to beta*y_i.
func modelComponent(m gemv.Method, a arithmetic, p gemv.Problem, i int) (y number, ok bool) {
	terms := make([]number, p.Terms())
	for j := range terms {
		at := j*p.LDA + i
		if p.Op == gemv.Trans {
			at = i*p.LDA + j
		}
		d := a.mul(a.load(p.Alpha.Float64), a.load(p.X.Float64[j]))
		terms[j] = a.mul(a.load(p.A.Float64[at]), d)
	}
	var sum number
	switch m.Name {
	case "bigfloat", "rns-basic":
		sum = recursiveSum(a, terms)
	case "rns-split":
		sum = rowSum(a, terms, blockSize)
	default:
		return zero, false
	}
	return a.add(a.mul(a.load(p.Beta.Float64), a.load(p.Y.Float64[i])), sum), true
}
