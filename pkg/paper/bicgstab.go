package paper

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"mpbench/datasets"
	"mpbench/pkg/device"
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

// slidesMatrix is a matrix of the slides, and their figures.
type slidesMatrix struct {
	name           string
	rows, nonZeros int
	double, quad   int
	ratio          string
}

// matricesOfSlides are the matrices with the figures of the slides: sizes, and iterations in double and quadruple
// precision.
var matricesOfSlides = []slidesMatrix{
	{"add20", 2395, 17319, 822, 743, "0.90"}, {"coupled", 11341, 98523, 3916, 2474, "0.63"},
	{"adder_trans_01", 1814, 14579, 299, 205, "0.69"}, {"circuit_2", 4510, 21199, 741, 469, "0.63"},
	{"dc2", 116835, 766396, 2539, 1607, "0.63"}, {"Pd", 8081, 13036, 229, 161, "0.70"},
	{"dw2048", 2048, 10114, 2495, 1774, "0.71"}, {"TSOPF_RS_b9_c6", 7224, 54082, 1319, 488, "0.37"},
}

// slidesPage is the page as it grows from matrix to matrix.
type slidesPage struct {
	*Result
	counts, times, shares, rates, says Group
}

func runBiCGStab(ctx context.Context, lab *Lab, r *Result) error {
	parts := []string{"SpMV", "dot", "norm", "rest"}
	p := &slidesPage{
		Result: r,
		counts: Group{Title: "iterations", Quantities: []string{"rows", "non-zeros", "double", "quadruple", "ratio"}},
		times:  Group{Title: "time of quadruple over double precision", Quantities: append([]string{"ratio"}, parts[:2]...)},
		shares: Group{Title: "shares of the time", Quantities: parts},
		rates: Group{Title: "SpMV in GFlop/s, sorted by that of double precision",
			Quantities: []string{"double", "quadruple", "ratio"}},
		says: Group{Title: "what the slides say", Quantities: []string{"holds"}, Statements: true},
	}
	for _, m := range matricesOfSlides {
		path := filepath.Join(lab.Matrices, m.name+".mtx")
		_, err := os.Stat(path)
		if errors.Is(err, os.ErrNotExist) || lab.Matrices == "" {
			p.absent(m)
			continue
		}
		for _, set := range lab.Devices {
			if set.Kind() == device.Hybrid {
				continue
			}
			pair, err := lab.solveTwice(ctx, path, set)
			if err != nil || ctx.Err() != nil {
				return err
			}
			p.add(m, pair)
		}
	}
	r.Groups = append(r.Groups, p.counts)
	if len(p.times.Rows) > 0 {
		slices.SortStableFunc(p.rates.Rows, func(a, b Row) int { return cmp.Compare(firstFigure(a), firstFigure(b)) })
		r.Groups = append(r.Groups, p.times, p.shares, p.rates, p.says)
		r.note("times", "Times are of one solution each; the slides' are of a Tesla M2050, 1.0 to 2.2 for an iteration. "+
			"GFlop/s count a multiplication and an addition for each non-zero, in the format's numbers.")
	}
	return nil
}

// firstFigure is the first one of a row of measurements.
func firstFigure(r Row) float64 {
	x, _ := strconv.ParseFloat(r.Cells[0].Here, 64)
	return x
}

// printed are the figures of the slides.
func (m slidesMatrix) printed() []string {
	return []string{
		strconv.Itoa(m.rows), strconv.Itoa(m.nonZeros), strconv.Itoa(m.double), strconv.Itoa(m.quad), m.ratio,
	}
}

// absent adds a matrix that is not at hand.
func (p *slidesPage) absent(m slidesMatrix) {
	key := p.note("absent", "The matrix is not at hand: no .mtx file of that name in the folder of matrices.")
	row := Row{Label: m.name}
	for _, text := range m.printed() {
		row.Cells = append(row.Cells, Cell{Paper: text, Verdict: Missing, Note: key})
	}
	p.counts.Rows = append(p.counts.Rows, row)
}

// add adds what was measured of a matrix on a device.
func (p *slidesPage) add(m slidesMatrix, s solvedTwice) {
	here := []string{
		strconv.Itoa(s.data.M), strconv.Itoa(s.data.Pattern.Len()), strconv.Itoa(s.double.Iterations),
		strconv.Itoa(s.quad.Iterations), ratio(float64(s.quad.Iterations), float64(max(1, s.double.Iterations))),
	}
	row := Row{Label: m.name, Device: s.device}
	for i, text := range m.printed() {
		c := Cell{Paper: text, Here: here[i], Verdict: Agrees}
		switch {
		case text == here[i]:
		case i < 2:
			c.Verdict = Differs
		default:
			c.Verdict = Explained
			c.Note = p.note("rounding", "The numbers of iterations depend on rounding errors, and so on the order of sums: "+
				"on the slides' GPU it is another one. On the CPU, double precision adds from the first term to the last here.")
		}
		row.Cells = append(row.Cells, c)
	}
	p.counts.Rows = append(p.counts.Rows, row)
	p.addTimes(m, s)
	verdict := Agrees
	if s.quad.Status != krylov.Converged || s.quad.Iterations >= s.double.Iterations {
		verdict = Fails
	}
	p.says.Rows = append(p.says.Rows, Row{
		Label: m.name + ": quadruple precision takes fewer iterations", Device: s.device,
		Cells: []Cell{{Here: fmt.Sprintf("%d of %d", s.quad.Iterations, s.double.Iterations), Verdict: verdict}},
	})
	if s.double.Status == krylov.Deceived {
		p.note("deceived "+m.name+s.device, fmt.Sprintf("%s in double precision, %s: the residual of the recurrence lies; "+
			"the true one is %.1e of b.", m.name, s.device, s.double.True))
	}
}

// addTimes adds ratios, shares and rates.
func (p *slidesPage) addTimes(m slidesMatrix, s solvedTwice) {
	cells := func(list ...string) (cells []Cell) {
		for _, text := range list {
			cells = append(cells, Cell{Here: text})
		}
		return cells
	}
	part := func(r krylov.Result, p krylov.Phase) float64 {
		return float64(r.Shares[p]) / float64(max(1, r.Iterations))
	}
	quotient := func(p krylov.Phase) string { return ratio(part(s.quad, p), part(s.double, p)) }
	p.times.Rows = append(p.times.Rows,
		Row{Label: m.name + ", an iteration", Device: s.device, Cells: cells(
			ratio(perIteration(s.quad), perIteration(s.double)), quotient(krylov.Product), quotient(krylov.Dot))},
		Row{Label: m.name + ", in all", Device: s.device,
			Cells: cells(ratio(float64(s.quad.Time), float64(s.double.Time)), "-", "-")})
	for _, x := range []struct {
		name string
		krylov.Result
	}{{"double", s.double}, {"quadruple", s.quad}} {
		var list []string
		for _, phase := range []krylov.Phase{krylov.Product, krylov.Dot, krylov.Norm, krylov.Rest} {
			list = append(list, fmt.Sprintf("%.0f %%", 100*float64(x.Shares[phase])/float64(max(1, x.Time))))
		}
		p.shares.Rows = append(p.shares.Rows, Row{Label: m.name + ", " + x.name, Device: s.device, Cells: cells(list...)})
	}
	double, quad := s.rate(s.double), s.rate(s.quad)
	p.rates.Rows = append(p.rates.Rows, Row{Label: m.name, Device: s.device, Cells: cells(
		fmt.Sprintf("%.3g", double), fmt.Sprintf("%.3g", quad), ratio(quad, double))})
}

func perIteration(r krylov.Result) float64 { return float64(r.Time) / float64(max(1, r.Iterations)) }

func ratio(a, b float64) string {
	if b == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", a/b)
}

// solvedTwice is a system solved in double and in quadruple precision.
type solvedTwice struct {
	double, quad krylov.Result
	data         *datasets.Data
	device       string
}

// rate returns the GFlop/s of products in a solution.
func (s *solvedTwice) rate(r krylov.Result) float64 {
	return 2 * float64(s.data.Pattern.Len()) * float64(r.Products) / float64(max(1, r.Shares[krylov.Product]))
}

// solveTwice solves a system on a device; in double precision on a GPU with sums in the order for many threads.
func (l *Lab) solveTwice(ctx context.Context, path string, set device.Set) (s solvedTwice, err error) {
	if s.data, err = datasets.LoadSparse(path, datasets.Double); err != nil {
		return s, err
	}
	system := krylov.System{A: numbers.Sparse(s.data.A.Source, s.data.N, s.data.Pattern), B: krylov.Ones(s.data.M)}
	find := func(name string) krylov.Solver {
		return l.Solvers[slices.IndexFunc(l.Solvers, func(s krylov.Solver) bool { return s.Name == name })]
	}
	double := find("float64")
	if !double.On(set.Kind()) {
		double = find(double.Parallel)
	}
	o := krylov.Options{Tolerance: 1e-12, Iterations: 10_000, Devices: set}
	for _, x := range []struct {
		krylov.Solver
		to *krylov.Result
	}{{double, &s.double}, {find("dd"), &s.quad}} {
		if l.Progress != nil {
			l.Progress(s.data.Name + " " + x.Name)
		}
		if *x.to, err = x.Solve(ctx, x.Bits, system, o); err != nil {
			return s, fmt.Errorf("%s: %w", path, err)
		}
	}
	s.device = cmp.Or(s.quad.Device, set.String())
	return s, nil
}
