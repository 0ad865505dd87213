package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mpbench/pkg/exact"
	"mpbench/pkg/measure"
	"mpbench/pkg/record"
	"mpbench/pkg/report"
)

// details are what commands can say beside the records: of vectors phases and components, the computed result.
type details struct {
	profile    bool
	rows       bool
	saveResult string

	results []measure.Result
	inputs  []measure.Input
}

func (d *details) addFlags(f *pflag.FlagSet, scalar bool) {
	if !scalar {
		f.BoolVar(&d.profile, "profile", false, "also print the phases of each method with their share of the time")
		f.BoolVar(&d.rows, "rows", false, "also print every component with its error and the bounds on it")
	}
	f.StringVar(&d.saveResult, "save-result", "",
		"write the answer, or what the one case of a benchmark computed, into `file`:\n"+
			".txt (exactly, hexadecimal) or .npy (float64)")
}

// check finds what would make the details fail, before anything is measured.
func (d *details) check(run runOptions) error {
	if (d.profile || d.rows) && run.output.format != "table" && run.output.format != "markdown" {
		return usagef("--profile and --rows go with --format table; the records hold the phases")
	}
	if run.resume && (d.profile || d.rows || d.saveResult != "") {
		return usagef("--profile, --rows and --save-result need what is not in the file that --resume continues; " +
			"leave one of them out")
	}
	if d.saveResult == "" {
		return nil
	}
	return checkSave(d.saveResult)
}

func (d *details) checkJobs(n int) error {
	if d != nil && d.saveResult != "" && n != 1 {
		return usagef("--save-result writes the result of one case; these are %d (choose one --method and one --precision)",
			n)
	}
	return nil
}

func (d *details) add(r measure.Result, in measure.Input) {
	if d != nil && (d.profile || d.rows || d.saveResult != "") {
		d.results = append(d.results, r)
		d.inputs = append(d.inputs, in)
	}
}

func (d *details) write(cmd *cobra.Command) error {
	out := cmd.OutOrStdout()
	for i, r := range d.results {
		if d.profile {
			if err := writeProfile(out, r); err != nil {
				return err
			}
		}
		if d.rows {
			if err := writeRows(out, r, d.inputs[i]); err != nil {
				return err
			}
		}
	}
	if d.saveResult == "" || len(d.results) == 0 {
		return nil
	}
	return writeTo(cmd.Context(), d.saveResult, func() error { return saveVector(d.saveResult, d.results[0].Y) })
}

func caseName(r record.Record) string {
	shape := fmt.Sprintf("n = %d", r.Shape.N)
	if r.Shape.M != 0 {
		shape = fmt.Sprintf("%d x %d %s", r.Shape.M, r.Shape.N, r.Shape.Trans)
		if r.Shape.K != 0 {
			shape += fmt.Sprintf(", %d columns", r.Shape.K)
		}
	}
	return fmt.Sprintf("%s, %s, %d bits, %s", r.Dataset.Name, r.Method, r.PrecisionBits, shape)
}

// writeProfile prints the phases as the 2020 paper's Table 3 does.
func writeProfile(w io.Writer, result measure.Result) error {
	r := result.Record
	variant := ""
	if r.Variant != "" {
		variant = ", " + r.Variant
	}
	title := fmt.Sprintf("%s: A takes %.1f MB%s, workspace %.1f MB", caseName(r), float64(r.MatrixBytes)/1e6, variant,
		float64(r.WorkspaceBytes)/1e6)
	fmt.Fprintf(w, "\n%s\n", strings.Join(report.BreakText(title, columns(w)), "\n"))
	total := 0.0
	for _, p := range result.Stages {
		total += r.Phases[p.Name]
	}
	var rows [][]string
	for _, p := range result.Stages {
		ns := r.Phases[p.Name]
		share := 0.0
		if total > 0 {
			share = 100 * ns / total
		}
		rows = append(rows, []string{p.Name, fmt.Sprintf("%10.1f", ns/1e3), fmt.Sprintf("%5.1f %%", share), p.Summary})
	}
	if err := report.List(w, []string{"phase", "time (us)", "share", "what it does"}, rows, columns(w)); err != nil {
		return err
	}
	return writeKernels(w, r)
}

// writeKernels prints the kernels of a device as the 2020 paper's Tables 3 and 4 do: share of time, occupancy,
// effective bandwidth and its part of the device's, registers and bytes of local memory of a thread.
func writeKernels(w io.Writer, r record.Record) error {
	if len(r.Kernels) == 0 {
		return nil
	}
	total := 0.0
	for _, k := range r.Kernels {
		total += k.TimeNs
	}
	var rows [][]string
	for _, k := range r.Kernels {
		bandwidth, share := "", ""
		if k.TimeNs > 0 {
			bandwidth = fmt.Sprintf("%7.1f", float64(k.Bytes)/k.TimeNs)
		}
		if k.BytesShare > 0 {
			share = fmt.Sprintf("%3.0f %%", 100*k.BytesShare)
		}
		rows = append(rows, []string{
			k.Name, k.Array, fmt.Sprintf("%9.1f", k.TimeNs/1e3), fmt.Sprintf("%5.1f %%", 100*k.TimeNs/max(total, 1)),
			fmt.Sprintf("%3.0f %%", 100*k.Occupancy),
			bandwidth, share, fmt.Sprintf("%4d", k.Registers), fmt.Sprintf("%5d", k.LocalBytes),
		})
	}
	fmt.Fprintln(w)
	heads := []string{"kernel", "of", "time (us)", "share", "occ.", "GB/s", "peak", "regs", "local"}
	return report.List(w, heads, rows, columns(w))
}

func writeRows(w io.Writer, result measure.Result, in measure.Input) error {
	fmt.Fprintf(w, "\n%s\n", caseName(result.Record))
	fmt.Fprintf(w, "norm error %s, bound (19) %s\n", result.Record.NormError, cmp.Or(result.Record.NormBound, "none"))
	var rows [][]string
	limit := in.NormLimit(result.Unit)
	for i := range in.Reference.Shape.Components {
		c, bound := in.Compare(result.Y, i, limit), "none"
		if c.Bound != nil && c.Exact.Sum.IsFinite() {
			bound = exact.FormatRat(c.Bound, 2)
		}
		rows = append(rows, []string{
			fmt.Sprint(i), c.Value.Text(17), in.Reference.Condition(i).Text(2), c.Errors.Rel.Text(2), c.Errors.Abs.Text(2),
			bound,
		})
	}
	return report.List(w, []string{"row", "value", "cond", "rel. error", "abs. error", "bound (15)"}, rows, columns(w))
}
