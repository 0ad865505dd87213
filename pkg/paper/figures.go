package paper

import (
	"cmp"
	"context"
	"fmt"

	"mpbench/pkg/measure"
	"mpbench/pkg/op"
)

// times2018 is the number of terms of Figures 6 and 7, uniform in [0, 1).
const times2018 = 1_000_000

// moduli2018 are where times are measured: the moduli of Table 2 from 8 on, and 64 (480 bits), which the text names.
var moduli2018 = []int{8, 16, 32, 64}

// bitsOf returns the precision that n moduli just above 2^15 give.
func bitsOf(moduli int) int { return moduli * 15 / 2 }

const drawn = "The figure draws the times; only those that the text names are known."

var figure6 = Experiment{
	Name:   "mpres2018-fig6",
	Title:  "Time of sums on the CPU (Reduce1 and Reduce2) and of the hybrid algorithm (Reduce3)",
	Source: paper2018 + ", Figure 6 and the text below it",
	Sizes:  "10^6 terms uniform in [0, 1); 60 to 480 bits (8 to 64 moduli of 16 bits); Reduce3 with 256 blocks",
	Needs:  "10 seconds; a GPU for Reduce3",
	run:    runFigure6,
}

var figure7 = Experiment{
	Name:   "mpres2018-fig7",
	Title:  "Time of sums on the GPU",
	Source: paper2018 + ", Figure 7 and the text below it",
	Sizes:  "10^6 terms uniform in [0, 1); 60 to 480 bits (8 to 64 moduli of 16 bits)",
	Needs:  "a GPU, and there some minutes; without one, 10 seconds for the CPU's times",
	run:    runFigure7,
}

// timing runs methods on the terms of the figures and remembers the times.
type timing struct {
	lab   *Lab
	r     *Result
	in    measure.Input
	times map[operand]float64 // ns
}

func newTiming(lab *Lab, r *Result) (*timing, error) {
	in, err := lab.terms("uniform01", cmp.Or(lab.N, times2018))
	r.note(drawn, drawn)
	return &timing{lab, r, in, map[operand]float64{}}, err
}

func (t *timing) group() Group {
	g := Group{Title: t.in.Dataset.Name, Facts: []string{fmt.Sprintf("n = %d", t.in.Dataset.N)},
		Quantities: []string{"time"}}
	if t.in.Dataset.N != times2018 {
		g.Facts = append(g.Facts, fmt.Sprintf("the paper has %d", times2018))
	}
	return g
}

// add measures a method, of a fixed format if moduli is 0, and adds its rows to g. printed is the time in the text.
func (t *timing) add(ctx context.Context, g *Group, method, label string, moduli int, gpu bool, printed string) error {
	c := options2018(bitsOf(moduli))
	for _, p := range t.lab.places(op.Sum, method, gpu) {
		row := Row{Bits: bitsOf(moduli), Label: label, Device: p.name, Cells: []Cell{{Paper: printed}}}
		if p.name == "" {
			row.Cells[0].Verdict, row.Cells[0].Note = Missing, t.r.note(p.why, p.why)
			g.Rows = append(g.Rows, row)
			continue
		}
		c.Devices = p.set
		record, ok, err := t.lab.measure(ctx, t.lab.Sampler, method, c, t.in)
		if err != nil || !ok {
			return err
		}
		t.times[operand{method, moduli, gpu}] = record.Time.Median
		row.Cells[0].Here = duration(record.Time.Median)
		if printed != "" {
			row.Cells[0].Verdict = Other
		}
		g.Rows = append(g.Rows, row)
	}
	return nil
}

func (t *timing) addAll(ctx context.Context, g *Group, gpu bool, methods ...string) error {
	for _, method := range methods {
		for _, n := range moduli2018 {
			if err := t.add(ctx, g, method, method, n, gpu, ""); err != nil {
				return err
			}
		}
	}
	return nil
}

// operand is what a time in a statement is the time of.
type operand struct {
	method string
	moduli int
	gpu    bool
}

// statement adds a row for a sentence: slow takes longer than fast, in the text printed times as long ("" for no
// figure).
func (t *timing) statement(g *Group, text, printed string, slow, fast operand) {
	a, okA := t.times[slow]
	b, okB := t.times[fast]
	g.Rows = append(g.Rows, ratioRow(t.r, text, printed, a, b, okA && okB))
}

// ratioRow is the row of a statement about the ratio a/b of two times.
func ratioRow(r *Result, text, printed string, a, b float64, known bool) Row {
	c := Cell{Paper: printed, Here: ratioText(a / b), Verdict: Fails}
	switch {
	case !known:
		c = r.missing(printed, "One of the two times could not be measured here.")
	case a > b:
		c.Verdict = Agrees
	}
	return Row{Label: text, Cells: []Cell{c}}
}

// statements starts the group of the text's statements; where is "", or begins with a comma.
func statements(where string) Group {
	return Group{
		Title:      "statements of the text" + where + ": ratios of times, which hold if above 1",
		Quantities: []string{"ratio"}, Statements: true,
	}
}

func runFigure6(ctx context.Context, lab *Lab, r *Result) error {
	t, err := newTiming(lab, r)
	if err != nil {
		return err
	}
	g := t.group()
	if err := t.add(ctx, &g, "float64", "float64", 0, false, "1 ms"); err != nil {
		return err
	}
	if err := t.addAll(ctx, &g, false, "reduce1", "reduce2"); err != nil {
		return err
	}
	if err := t.addAll(ctx, &g, true, "reduce3"); err != nil {
		return err
	}
	r.Groups = append(r.Groups, g)
	s := statements("")
	cpu := func(method string, moduli int) operand { return operand{method, moduli, false} }
	for _, method := range []string{"1", "2"} {
		t.statement(&s, "Reduce3 with 256 blocks at 480 bits is faster than Reduce"+method+" on the CPU", "2",
			cpu("reduce"+method, 64), operand{"reduce3", 64, true})
	}
	t.statement(&s, "with 8 moduli pairwise summation is much faster than recursive summation", "",
		cpu("reduce1", 8), cpu("reduce2", 8))
	t.statement(&s, "recursive summation is slower with 8 moduli than with 16, for it rounds more often", "",
		cpu("reduce1", 8), cpu("reduce1", 16))
	r.Groups = append(r.Groups, s)
	return nil
}

func runFigure7(ctx context.Context, lab *Lab, r *Result) error {
	t, err := newTiming(lab, r)
	if err != nil {
		return err
	}
	g := t.group()
	if err := t.add(ctx, &g, "float64", "float64, one thread", 0, true, "191 ms"); err != nil {
		return err
	}
	if err := t.addAll(ctx, &g, true, "reduce1s", "reduce1p", "reduce2s", "reduce2p", "reduce3"); err != nil {
		return err
	}
	r.Groups = append(r.Groups, g)
	s := statements("")
	on := func(method string) operand { return operand{method, 64, true} }
	t.statement(&s, "Reduce3 with 256 blocks at 480 bits is faster than Reduce1P", "62", on("reduce1p"), on("reduce3"))
	t.statement(&s, "Reduce3 with 256 blocks at 480 bits is faster than Reduce2P", "48", on("reduce2p"), on("reduce3"))
	t.statement(&s, "at 480 bits a thread for each residue makes Reduce1 faster", "11", on("reduce1s"), on("reduce1p"))
	t.statement(&s, "at 480 bits a thread for each residue makes Reduce2 faster", "13", on("reduce2s"), on("reduce2p"))
	r.Groups = append(r.Groups, s)
	return t.hostTimes(ctx, r)
}

// hostTimes adds the times of the same algorithms on the CPU, which the figure does not have.
func (t *timing) hostTimes(ctx context.Context, r *Result) error {
	if !t.lab.hasCPU() {
		return nil
	}
	g := t.group()
	g.Title = "the same algorithms on the CPU, beside the figure"
	if err := t.addAll(ctx, &g, false, "reduce1", "reduce2", "reduce3"); err != nil {
		return err
	}
	r.Groups = append(r.Groups, g)
	return nil
}
