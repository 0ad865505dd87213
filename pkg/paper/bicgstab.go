package paper

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"mpbench/datasets"
	"mpbench/pkg/krylov"
	"mpbench/pkg/numbers"
)

var bicgstabQuad = Experiment{
	Name:   "bicgstab-quad",
	Title:  "BiCGStab without preconditioner in double and quadruple precision, until ||r||_2 < 1e-12 ||b||_2",
	Source: "Mukunoki, triple and quadruple precision BLAS and BiCGStab on GPUs, slides, the table of 8 matrices",
	Sizes:  "1814 to 116835 unknowns, of the SuiteSparse Matrix Collection (Davis, Hu 2011, DOI 10.1145/2049662.2049663)",
	Needs:  "the matrices as .mtx files in one folder; some seconds",
	run:    runBiCGStab,
}

// matricesOfSlides are the matrices with the figures of the slides: sizes, and iterations in double and quadruple
// precision.
var matricesOfSlides = []struct {
	name           string
	rows, nonZeros int
	double, quad   int
	ratio          string
}{
	{"add20", 2395, 17319, 822, 743, "0.90"}, {"coupled", 11341, 98523, 3916, 2474, "0.63"},
	{"adder_trans_01", 1814, 14579, 299, 205, "0.69"}, {"circuit_2", 4510, 21199, 741, 469, "0.63"},
	{"dc2", 116835, 766396, 2539, 1607, "0.63"}, {"Pd", 8081, 13036, 229, 161, "0.70"},
	{"dw2048", 2048, 10114, 2495, 1774, "0.71"}, {"TSOPF_RS_b9_c6", 7224, 54082, 1319, 488, "0.37"},
}

func runBiCGStab(ctx context.Context, lab *Lab, r *Result) error {
	counts := Group{Title: "iterations", Quantities: []string{"rows", "non-zeros", "double", "quadruple", "ratio"}}
	times := Group{Title: "time of quadruple over double precision", Quantities: []string{"ratio"}}
	says := Group{Title: "what the slides say", Quantities: []string{"holds"}, Statements: true}
	for _, m := range matricesOfSlides {
		paper := []string{
			strconv.Itoa(m.rows), strconv.Itoa(m.nonZeros), strconv.Itoa(m.double), strconv.Itoa(m.quad), m.ratio,
		}
		row := Row{Label: m.name, Device: "cpu", Cells: make([]Cell, len(paper))}
		path := filepath.Join(lab.Matrices, m.name+".mtx")
		_, err := os.Stat(path)
		if missing := errors.Is(err, os.ErrNotExist); missing || lab.Matrices == "" {
			row.Device = ""
			key := r.note("absent", "The matrix is not at hand: no .mtx file of that name in the folder of matrices.")
			for i, text := range paper {
				row.Cells[i] = Cell{Paper: text, Verdict: Missing, Note: key}
			}
			counts.Rows = append(counts.Rows, row)
			continue
		}
		double, quad, d, err := lab.solveTwice(ctx, path)
		if err != nil || ctx.Err() != nil {
			return err
		}
		here := []string{
			strconv.Itoa(d.M), strconv.Itoa(d.Pattern.Len()), strconv.Itoa(double.Iterations), strconv.Itoa(quad.Iterations),
			fmt.Sprintf("%.2f", float64(quad.Iterations)/float64(max(1, double.Iterations))),
		}
		for i, text := range paper {
			c := Cell{Paper: text, Here: here[i], Verdict: Agrees}
			switch {
			case text == here[i]:
			case i < 2:
				c.Verdict = Differs
			default:
				c.Verdict = Explained
				c.Note = r.note("rounding", "The numbers of iterations depend on rounding errors, and so on the order of sums: "+
					"on a GPU it is another one. Double precision adds from the first term to the last here.")
			}
			row.Cells[i] = c
		}
		counts.Rows = append(counts.Rows, row)
		one, all := ratio(perIteration(quad), perIteration(double)), ratio(float64(quad.Time), float64(double.Time))
		times.Rows = append(times.Rows,
			Row{Label: m.name + ", an iteration", Device: "cpu", Cells: []Cell{{Here: one}}},
			Row{Label: m.name + ", in all", Device: "cpu", Cells: []Cell{{Here: all}}})
		verdict := Agrees
		if quad.Status != krylov.Converged || quad.Iterations >= double.Iterations {
			verdict = Fails
		}
		says.Rows = append(says.Rows, Row{
			Label:  m.name + ": quadruple precision takes fewer iterations",
			Device: "cpu", Cells: []Cell{{Here: fmt.Sprintf("%d of %d", quad.Iterations, double.Iterations), Verdict: verdict}},
		})
		if double.Status == krylov.Deceived {
			r.note("deceived "+m.name, fmt.Sprintf("%s in double precision: the residual of the recurrence lies; the true one "+
				"is %.1e of b.", m.name, double.True))
		}
	}
	r.Groups = append(r.Groups, counts)
	if len(times.Rows) > 0 {
		r.Groups = append(r.Groups, times, says)
		r.note("times", "Times are of one solution each, on the CPU; the slides' are of a Tesla M2050, 1.0 to 2.2 for an "+
			"iteration.")
	}
	return nil
}

func perIteration(r krylov.Result) float64 { return float64(r.Time) / float64(max(1, r.Iterations)) }

func ratio(a, b float64) string { return fmt.Sprintf("%.2f", a/max(b, float64(time.Nanosecond))) }

// solveTwice solves a system in double and in quadruple precision.
func (l *Lab) solveTwice(ctx context.Context, path string) (double, quad krylov.Result, d *datasets.Data, err error) {
	if d, err = datasets.LoadSparse(path, datasets.Double); err != nil {
		return double, quad, nil, err
	}
	system := krylov.System{A: numbers.Sparse(d.A.Source, d.N, d.Pattern), B: krylov.Ones(d.M)}
	for _, x := range []struct {
		name string
		to   *krylov.Result
	}{{"float64", &double}, {"dd", &quad}} {
		if l.Progress != nil {
			l.Progress(d.Name + " " + x.name)
		}
		i := slices.IndexFunc(l.Solvers, func(s krylov.Solver) bool { return s.Name == x.name })
		s := l.Solvers[i]
		*x.to, err = s.Solve(ctx, s.Bits, system, krylov.Options{Tolerance: 1e-12, Iterations: 10_000})
		if err != nil {
			return double, quad, d, fmt.Errorf("%s: %w", path, err)
		}
	}
	return double, quad, d, nil
}
