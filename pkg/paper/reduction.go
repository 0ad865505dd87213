package paper

import (
	"context"
	"fmt"
	"strings"

	"mpbench/pkg/primer"
)

var reductionPage = Experiment{
	Name:  "reduction-page",
	Title: "Reduction in OpenMP, CUDA and Peril-L: 512 elements in 9 steps, and the ladder of kernels measured",
	Source: "the Ukrainian Wikipedia's page \"Reduction (parallel programming)\", of which this is the example; the " +
		"ladder is that of M. Harris, \"Optimizing Parallel Reduction in CUDA\", NVIDIA 2007",
	Sizes: "512 elements; 2^20 int32 for the times",
	Needs: "seconds; a GPU for the times of its kernels",
	run:   runReductionPage,

	NoRecords: true,
}

const (
	pageBlock    = 512
	reductionLen = 1 << 20
)

func runReductionPage(ctx context.Context, lab *Lab, r *Result) error {
	for _, p := range primer.Patterns {
		r.Groups = append(r.Groups, pageSteps(p))
	}
	r.Groups = append(r.Groups, pageStatements(r))
	return lab.ladder(ctx, r)
}

// found is a figure that is not printed.
func found(x any) Cell { return Cell{Here: fmt.Sprint(x), Verdict: Unprinted} }

// pageSteps shows a kernel step by step.
func pageSteps(p primer.Pattern) Group {
	g := Group{
		Title: fmt.Sprintf("%s (%s on the page): %s", p.Name, p.Page, p.Summary),
		Facts: []string{
			fmt.Sprintf("elements 0 to %d, a block of %d threads, %d warps", pageBlock-1, pageBlock, pageBlock/32),
		},
		Quantities: []string{"threads", "divergent", "conflicts", "data[0]"},
	}
	for i, s := range p.Steps(pageBlock) {
		g.Rows = append(g.Rows, Row{
			Label: fmt.Sprintf("%d: %s", i+1, s.Text),
			Cells: []Cell{found(s.Threads), found(s.Divergent), found(s.Conflicts), found(s.First)},
		})
	}
	return g
}

// most returns the largest figure of a kernel's steps, and the first step with a figure that is not 0.
func most(p primer.Pattern, figure func(primer.PageStep) int) (largest, first int) {
	for i, s := range p.Steps(pageBlock) {
		if figure(s) > 0 && first == 0 {
			first = i + 1
		}
		largest = max(largest, figure(s))
	}
	return largest, first
}

// pageStatements compares what the page says with what the indices give.
func pageStatements(r *Result) Group {
	g := Group{Title: "what the page says", Quantities: []string{"figure"}, Statements: true}
	add := func(text, printed, here, note string) {
		c := Cell{Paper: printed, Here: here, Verdict: Agrees}
		if note != "" {
			c.Verdict, c.Note = Explained, r.note(note, note)
		} else if printed != here {
			c.Verdict = Differs
		}
		g.Rows = append(g.Rows, Row{Label: text, Cells: []Cell{c}})
	}
	divergent := func(s primer.PageStep) int { return s.Divergent }
	strided := primer.Patterns[1].Steps(pageBlock)
	add("steps of a block of 512 elements", "9", fmt.Sprint(len(strided)), "")
	largest, _ := most(primer.Patterns[1], divergent)
	add("reduce2: warps that diverge in a step, at most", "1", fmt.Sprint(largest), "")
	order, _ := most(primer.Patterns[2], func(s primer.PageStep) int { return s.Order - 1 })
	add("reduce3: conflicts", "0", fmt.Sprint(order), "")
	add("reduce2: order of the conflicts at s = 2, s = 4", "2, 4",
		fmt.Sprintf("%d, %d", strided[1].Order, strided[2].Order),
		"The words of neighbouring threads are 2s apart, so that conflicts begin with order 2 at s = 1 and have order 2s "+
			"until fewer threads are left; memory has 32 banks since compute capability 2.0, and serves a warp at a time.")
	add("threads of a block in a dimension, at most", "65535", "1024",
		"65535 is the limit of a grid's dimensions (of the first one 2^31 - 1 since compute capability 3.0). A block has "+
			"at most 1024 threads; larger ones are refused. Grids of two and three dimensions are numbered through.")
	add("elements must fill whole blocks", "yes", "no",
		"The page's kernels read inData[i] without asking whether i < n. Here elements beyond n are the operation's "+
			"identity.")
	return g
}

// ladder adds the measured ways, a group for each device.
func (l *Lab) ladder(ctx context.Context, r *Result) error {
	n := reductionLen
	if l.N != 0 {
		n = l.N
	}
	if len(l.gpus()) == 0 {
		why := "none was asked for"
		if l.NoGPU != "" {
			why = l.NoGPU
		}
		r.note("ladder", "The ladder of kernels needs a GPU: "+why+".")
	}
	if l.Reductions == nil {
		return nil
	}
	rows, err := l.Reductions(ctx, n)
	if err != nil {
		return err
	}
	for i, row := range rows {
		if i == 0 || row.Device != rows[i-1].Device {
			r.Groups = append(r.Groups, Group{
				Title: fmt.Sprintf("%d int32 by + on %s", n, row.Device), Quantities: []string{
					"time, µs", "GB/s", "% of copy", "faster by", "divergent", "conflicts",
				},
			})
		}
		g := &r.Groups[len(r.Groups)-1]
		g.Rows = append(g.Rows, Row{Label: row.Way, Cells: []Cell{
			figure(row.TimeNs / 1e3), figure(row.GBPerS), figure(100 * row.CopyShare), figure(row.Speedup),
			total(row.Divergent), total(row.Conflicts),
		}})
		if !row.Right {
			g.Rows[len(g.Rows)-1].Cells = append(g.Rows[len(g.Rows)-1].Cells[:5], Cell{
				Here: row.Value, Verdict: Differs, Note: r.note("wrong", "A result that is not the exact one."),
			})
		}
	}
	return nil
}

// figure is a measured figure, if there is one.
func figure(x float64) Cell {
	if x == 0 {
		return Cell{}
	}
	return found(fmt.Sprintf("%.3g", x))
}

// total is the sum of the counts of all steps.
func total(counts string) Cell {
	if counts == "" {
		return Cell{}
	}
	sum := 0
	for _, text := range strings.Fields(counts) {
		var n int
		fmt.Sscan(text, &n)
		sum += n
	}
	return found(sum)
}
