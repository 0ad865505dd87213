package paper

import (
	"context"
	"fmt"
	"slices"

	"mpbench/datasets"
	"mpbench/pkg/measure"
	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
)

// A slide is a plot of the slides: execution time in number formats against n, relative to single precision.
type slide struct {
	operation *op.Operation
	sizes     []int
	memory    bool // what the slides say limits it; otherwise arithmetic does
}

const slidesBLAS = "Mukunoki, triple and quadruple precision BLAS and BiCGStab on GPUs, slides, "

// The plots. All formats add in the same order, so that nothing but the format differs.
var (
	tripleAxpy = slide{op.Axpy, []int{10_000, 100_000, 1_000_000, 10_000_000}, true}.experiment(
		"tripleblas-axpy", slidesBLAS+"page 11", "10^4 to 10^7 terms", "half a minute and 2 GB of memory")
	tripleGemv = slide{op.Gemv, []int{1000, 2000, 4000, 6000, 8000}, true}.experiment(
		"tripleblas-gemv", slidesBLAS+"page 12", "1000 x 1000 to 8000 x 8000", "two minutes and 4 GB of memory")
	tripleGemm = slide{op.Gemm, []int{500, 1000, 1500, 2000}, false}.experiment(
		"tripleblas-gemm", slidesBLAS+"page 13", "500 x 500 to 2000 x 2000",
		"a quarter of an hour on a CPU, most of it for the exact results; less for smaller n")
)

// formatOfSlides is a format with what a number of it takes: bytes, and instructions for a product and its addition
// to a sum, of which those of binary64, and conversions, count twice, as twice as many numbers of binary32 are
// computed with at a time. printed is the relative time that the slides state where memory limits it.
type formatOfSlides struct {
	method, label       string
	bytes, instructions float64
	printed             string
}

// formatsOfSlides, the first of which the others are compared with. Page 5's other variant of D+S computes with the
// lower parts in binary32.
var formatsOfSlides = []formatOfSlides{
	{"float32-lanes", "single", 4, 2, "1"},
	{"float64-lanes", "double", 8, 2 * 2, ""},
	{"ds", "triple, D+S", 12, 28 * 2, "3"},
	{"di", "triple, D+I", 12, 28 * 2, "3"},
	{"ds-native", "triple, D+S in mixed precision", 12, 22*2 + 6, ""},
	{"dd", "quadruple", 16, 28 * 2, "4"},
}

func (s slide) experiment(name, source, sizes, needs string) Experiment {
	return Experiment{
		Name: name, Title: "Execution time of " + s.operation.Name + " relative to single precision", Source: source,
		Sizes: sizes + ", numbers uniform in [-1, 1)", Needs: needs, run: s.run,
	}
}

// upTo returns the sizes up to n, and n itself if it is smaller than all; all for 0.
func (s slide) upTo(n int) []int {
	if n == 0 {
		return s.sizes
	}
	list := slices.DeleteFunc(slices.Clone(s.sizes), func(k int) bool { return k > n })
	if len(list) == 0 {
		return []int{n}
	}
	return list
}

func (s slide) run(ctx context.Context, lab *Lab, r *Result) error {
	sizes := s.upTo(lab.N)
	places := lab.places(s.operation, formatsOfSlides[0].method, false)
	places = append(places, lab.places(s.operation, formatsOfSlides[0].method, true)...)
	times := make([]map[string][]float64, len(places)) // by place and method, for all sizes
	for i := range times {
		times[i] = map[string][]float64{}
	}
	for k, n := range sizes {
		ok, err := s.measure(ctx, lab, places, times, n)
		if err != nil {
			return err
		}
		if !ok { // what was measured before is reported
			sizes = sizes[:k]
			break
		}
	}
	if len(sizes) == 0 {
		return nil
	}
	for i, p := range places {
		s.report(r, p, sizes, times[i])
	}
	return nil
}

// measure adds the times for one size; ok is false if it was interrupted.
func (s slide) measure(
	ctx context.Context, lab *Lab, places []place, times []map[string][]float64, n int,
) (ok bool, err error) {
	if !slices.ContainsFunc(places, func(p place) bool { return p.name != "" }) {
		return true, nil
	}
	in, err := lab.slideInput(s.operation, n)
	if err != nil {
		return false, err
	}
	for i, p := range places {
		for _, f := range formatsOfSlides {
			if p.name == "" {
				continue
			}
			record, ok, err := lab.measure(ctx, lab.Sampler, f.method, method.Config{Devices: p.set}, in)
			if err != nil || !ok {
				return false, err
			}
			times[i][f.method] = append(times[i][f.method], record.Time.Median)
		}
	}
	return true, nil
}

// slideInput makes numbers, all factors of which there are.
func (l *Lab) slideInput(o *op.Operation, n int) (measure.Input, error) {
	l.begin("%s, n = %d", o.Name, n)
	spec, err := datasets.For(o).Parse("uniform11")
	if err != nil {
		return measure.Input{}, err
	}
	options := datasets.Options{N: n, Seed: l.Seed}
	if o.Has(op.Matrix) {
		options.M = n
	}
	d, err := datasets.Generate(spec, options)
	if err != nil {
		return measure.Input{}, err
	}
	p := d.Problem(o)
	p.Alpha = numbers.Scalar(1.1)
	return measure.NewInput(d.Record(), p)
}

// report adds the ratios on one device, and what the slides say of them.
func (s slide) report(r *Result, p place, sizes []int, times map[string][]float64) {
	g := Group{Title: "time relative to single precision, " + p.name}
	if p.name == "" {
		g.Title += "GPU"
	}
	for _, n := range sizes {
		g.Quantities = append(g.Quantities, fmt.Sprintf("n = %d", n))
	}
	g.Quantities = append(g.Quantities, "by bytes", "by operations")
	first := formatsOfSlides[0]
	for k, n := range sizes {
		if p.name != "" {
			g.Facts = append(g.Facts, fmt.Sprintf("single, n = %d: %s", n, duration(times[first.method][k])))
		}
	}
	for _, f := range formatsOfSlides {
		row := Row{Label: f.label, Device: p.name}
		for k, n := range sizes {
			printed := ""
			if s.memory && n == s.sizes[len(s.sizes)-1] {
				printed = f.printed
			}
			switch {
			case p.name == "":
				row.Cells = append(row.Cells, r.missing(printed, p.why))
				continue
			case printed == "":
				row.Cells = append(row.Cells, Cell{})
			default:
				row.Cells = append(row.Cells, Cell{Paper: printed, Verdict: Other})
			}
			row.Cells[k].Here = ratioText(times[f.method][k] / times[first.method][k])
		}
		row.Cells = append(row.Cells, Cell{Here: ratioText(f.bytes / first.bytes)},
			Cell{Here: ratioText(f.instructions / first.instructions)})
		g.Rows = append(g.Rows, row)
	}
	r.Groups = append(r.Groups, g)
	if p.name != "" {
		r.Groups = append(r.Groups, s.statements(r, p, times))
	}
	r.note("predicted", "By bytes: what is read and written, if memory limits the time. By operations: instructions "+
		"for a product and its addition, if arithmetic does; those of binary64 count twice.")
}

// statements compares what the slides say of the largest problems with the times there.
func (s slide) statements(r *Result, p place, times map[string][]float64) Group {
	g := statements(", largest n, on " + p.name)
	n := len(times[formatsOfSlides[len(formatsOfSlides)-1].method]) // sizes that all formats were measured for
	last := func(method string) float64 { return times[method][n-1] }
	add := func(text, printed, slow, fast string) {
		g.Rows = append(g.Rows, ratioRow(r, text, printed, last(slow), last(fast), true))
	}
	if s.memory {
		add("quadruple precision takes four times as long as single", "4", "dd", "float32-lanes")
		add("triple precision, D+S, takes three times as long as single", "3", "ds", "float32-lanes")
		add("triple precision, D+I, takes three times as long as single", "3", "di", "float32-lanes")
		add("quadruple precision takes longer than triple, D+I", "1.33", "dd", "di")
	} else {
		c := Cell{Paper: "1", Here: ratioText(last("di") / last("dd")), Verdict: Other}
		g.Rows = append(g.Rows, Row{Label: "triple precision takes as long as quadruple", Cells: []Cell{c}})
	}
	add("D+S in mixed precision takes longer than quadruple precision", "", "ds-native", "dd")
	return g
}
