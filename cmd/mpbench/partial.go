package main

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"mpbench/datasets"
	"mpbench/pkg/op"
	"mpbench/pkg/outofcore"
	"mpbench/pkg/partial"
	"mpbench/pkg/report"
)

const aboutPartial = `Adds some rows of data exactly and writes what it has as a partial result, which mpbench
merge merges with those of other rows, in any order and grouping, to the bits of one process. Rows are
counted from 0; the last one that is named is not taken. Files are read run by run, in constant memory.

Several files, a pattern in quotes ('part-*.npy', part-2 before part-10) and a list of names in a file (@list)
are one vector, or a matrix with their rows below each other.

Which part: --rows FROM:TO of the files; --share K/M, the rows of share K of M; where the files are only some
rows of all data, --at says which row their first one is, and --of how many there are; where nobody counts
rows, --piece K/M takes the whole files as piece K of M. K begins at 0.

docs/scale.md describes the file, and shows job arrays, Spark, Dask and services.`

func newPartial() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "partial",
		Short: "Compute a part of an exact sum, dot product or matrix-vector product",
		Long:  aboutPartial,
		Example: `  mpbench partial sum data.npy --rows 0:1e9 -o part-0.mps
  mpbench partial dot x.npy y.npy --share 3/64 -o part-3.mps
  mpbench partial gemv A.npy x.npy --rows 500:1000 -o part-1.mps
  mpbench merge part-*.mps`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("partial: unknown operation %q; want %s", args[0], strings.Join(partialNames(), ", "))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	for _, o := range op.All() {
		if outofcore.Supports(o) {
			cmd.AddCommand(newPartialOf(o))
		}
	}
	cmd.AddCommand(newPartialShow())
	return cmd
}

func partialNames() (names []string) {
	for _, o := range op.All() {
		if outofcore.Supports(o) {
			names = append(names, o.Name)
		}
	}
	return append(names, "show")
}

// partialOptions are the flags of a part of an operation.
type partialOptions struct {
	operands
	rows, share, piece string
	at, of             string
	id, output         string
	resume, quiet      bool
	threads            int
}

func newPartialOf(o *op.Operation) *cobra.Command {
	p := partialOptions{operands: newOperands(o)}
	var names []string
	for _, a := range p.required() {
		names = append(names, a.Name)
	}
	files := strings.Join(names, " ")
	if len(names) == 1 {
		files += "..."
	}
	cmd := &cobra.Command{
		Use: o.Name + " [" + files + "]", Short: "Compute a part of " + o.Summary,
		Long: aboutPartial, ValidArgsFunction: completeArguments(numberFiles),
		Example: exampleOfPart(p.required(), o),
		RunE:    func(cmd *cobra.Command, args []string) error { return p.run(cmd, args) },
	}
	f := cmd.Flags()
	f.StringVar(&p.rows, "rows", "", "the rows `from:to` of the files, as 0:1e9, 1e9:2e9, 2e9: (default all)")
	f.StringVar(&p.share, "share", "", "the rows of share `k/m`, k from 0 to m-1, of all rows of the files")
	f.StringVar(&p.at, "at", "", "the `row` that the first one of the files is among all; needs --of and --id")
	f.StringVar(&p.of, "of", "", "how many rows there are in all `rows`; needs --at and --id")
	f.StringVar(&p.piece, "piece", "", "the files are piece `k/m` of all, k from 0 to m-1; needs --id")
	f.StringVar(&p.id, "id", "", "`text` that tells the data from others (default: made of a sample of them)")
	f.StringVarP(&p.output, "output", "o", "", "write the partial result into `file`")
	f.BoolVar(&p.resume, "resume", false,
		"write what there is every 10 s, and add to what --output has: a part that was stopped goes on")
	f.IntVar(&p.threads, "threads", 0, "goroutines that add; 0 for all processors")
	f.StringVar(&p.reading, "reading", p.reading, "decimals of at most 17 digits in a text file: double or exact")
	if o.Has(op.Matrix) {
		f.BoolVarP(&p.transpose, "transpose", "t", false, "multiply by the transpose of A")
	}
	p.addRaw(f)
	addQuiet(cmd, &p.quiet)
	completeFiles(cmd, "output", stateFiles)
	complete(cmd, "reading", []string{"double", "exact"})
	if f.Lookup("dtype") != nil {
		complete(cmd, "dtype", datasets.RawTypes())
	}
	return cmd
}

// required are the arrays that a part is computed of.
func (p *partialOptions) required() (list []op.Operand) {
	for _, a := range p.op.Arrays() {
		if !a.Optional {
			list = append(list, a)
		}
	}
	return list
}

func exampleOfPart(arrays []op.Operand, o *op.Operation) string {
	var files string
	for _, a := range arrays {
		files += " " + a.Name + ".npy"
	}
	return fmt.Sprintf("  mpbench partial %s%s --rows 0:1000 -o part-0.mps\n  mpbench partial %s%s --share 3/64 "+
		"-o part-3.mps", o.Name, files, o.Name, files)
}

func (p *partialOptions) run(cmd *cobra.Command, args []string) error {
	if err := p.check(args); err != nil {
		return err
	}
	reading, err := datasets.ParseReading(p.reading)
	if err != nil {
		return err
	}
	data, err := p.openData(reading)
	if err != nil {
		return err
	}
	defer data.Close()
	a := additions{data: data, threads: p.threads, file: p.output, resume: p.resume, quiet: p.quiet}
	total, err := p.place(&a)
	if err != nil {
		return err
	}
	q, err := outofcore.ProblemOf(data.problem, total, p.piece != "", cmp.Or(p.id, data.identity))
	if err == nil {
		err = q.Check()
	}
	if err != nil {
		return usagef("%s", strings.TrimPrefix(err.Error(), "partial: "))
	}
	_, err = a.run(cmd, q)
	return err
}

// check finds what is wrong about the flags, and takes the files.
func (p *partialOptions) check(args []string) error {
	arrays := p.required()
	switch {
	case p.output == "":
		return usagef("partial %s: name the file for the partial result, as -o part-0.mps", p.op.Name)
	case len(args) == 0 || len(arrays) > 1 && len(args) != len(arrays):
		return usagef("partial %s takes the files %s", p.op.Name, strings.Join(mapped(arrays,
			func(a op.Operand) string { return a.Name }), " "))
	case p.share != "" && p.rows != "":
		return usagef("--share %s and --rows %s both say which rows; leave one out", p.share, p.rows)
	case p.piece != "" && (p.rows != "" || p.share != "" || p.at != "" || p.of != ""):
		return usagef("--piece %s takes whole files; leave --rows, --share, --at and --of out", p.piece)
	case (p.at == "") != (p.of == ""):
		return usagef("--at and --of go together: the first row of the files, and how many rows there are in all")
	case p.id == "" && (p.piece != "" || p.of != ""):
		return usagef("--piece, --at and --of need --id, as files of a part do not show which data all parts are of")
	case p.piece != "" && p.op.Has(op.Matrix) && !p.transpose:
		return usagef("--piece does not go with rows that are components; name them by --at and --of")
	}
	if err := cmp.Or(checkThreads(p.threads), p.checkArguments(args), checkState("output", p.output)); err != nil {
		return err
	}
	for i, a := range arrays {
		p.files[a.Name] = []string{args[i]}
	}
	if len(arrays) == 1 {
		p.files[arrays[0].Name] = args
	}
	return nil
}

// place finds out which rows are added, and how many there are in all: 0 for those of the files.
func (p *partialOptions) place(a *additions) (total int, err error) {
	n := a.data.rows()
	a.rows = partial.Range{To: n}
	switch {
	case p.piece != "":
		a.first, total, err = parseShare("piece", p.piece)
		return total, err
	case p.share != "":
		k, m, err := parseShare("share", p.share)
		if err != nil {
			return 0, err
		}
		if m > n {
			return 0, usagef("--share %s: there are %d rows, less than shares", p.share, n)
		}
		share := func(k int) int { return k*(n/m) + min(k, n%m) }
		a.rows = partial.Range{From: share(k), To: share(k + 1)}
	case p.rows != "":
		if a.rows, err = parseRows(p.rows, n, a.data.names[0]); err != nil {
			return 0, err
		}
	}
	if p.of == "" {
		return 0, nil
	}
	if total, err = parseRow(p.of); err != nil || total == 0 {
		return 0, usagef("--of %s: want a number of rows, as 10000000000 or 1e10", p.of)
	}
	if a.first, err = parseRow(p.at); err != nil {
		return 0, usagef("--at %s: want a row, as 0 or 3e9", p.at)
	}
	if a.first > total-n {
		return 0, usagef("--at %s --of %s: the %d rows of %s would end behind the last one", p.at, p.of, n,
			a.data.names[0])
	}
	return total, nil
}

// parseShare reads "3/64".
func parseShare(flag, text string) (k, m int, err error) {
	left, right, _ := strings.Cut(text, "/")
	k, err1 := strconv.Atoi(left)
	m, err2 := strconv.Atoi(right)
	if err1 != nil || err2 != nil || k < 0 || k >= m {
		return 0, 0, usagef("--%s %s: want K/M with K from 0 to M-1, as 0/64", flag, text)
	}
	return k, m, nil
}

// parseRows reads "0:1e9" of n rows of a file; one of the two may be left out.
func parseRows(text string, n int, file string) (r partial.Range, err error) {
	left, right, ok := strings.Cut(text, ":")
	wrong := usagef("--rows %s: want FROM:TO, as 0:1e9, with FROM less than TO", text)
	if !ok || left == "" && right == "" {
		return r, wrong
	}
	r.To = n
	if left != "" {
		if r.From, err = parseRow(left); err != nil {
			return r, wrong
		}
	}
	if right != "" {
		if r.To, err = parseRow(right); err != nil {
			return r, wrong
		}
	}
	switch {
	case r.To > n || r.From >= n:
		return r, usagef("--rows %s: %s has the rows 0:%d", text, file, n)
	case r.From >= r.To:
		return r, wrong
	}
	return r, nil
}

// parseRow reads a number of rows, "3000000000" or "3e9".
func parseRow(text string) (int, error) {
	if n, err := strconv.Atoi(text); err == nil && n >= 0 {
		return n, nil
	}
	if x, err := strconv.ParseFloat(text, 64); err == nil && x >= 0 && x <= 1<<53 && x == math.Trunc(x) {
		return int(x), nil
	}
	return 0, fmt.Errorf("%q is no number of rows", text)
}

func newPartialShow() *cobra.Command {
	return &cobra.Command{
		Use:   "show PART...",
		Short: "Print what partial results are of",
		Long: "Prints of each partial result which rows of which problem it has, and how many numbers or products\n" +
			"were added.",
		Example:           "  mpbench partial show part-*.mps",
		ValidArgsFunction: completeArguments(stateFiles),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("partial show: name the partial results, as mpbench partial show part-*.mps")
			}
			var rows [][]string
			for _, path := range args {
				s, err := readState(path)
				if err != nil {
					return err
				}
				p := s.Problem()
				var blocks []string
				for _, b := range s.Blocks() {
					blocks = append(blocks, p.Rows(b))
				}
				rows = append(rows, []string{path, p.Operation, strings.Join(blocks, ", "), strconv.Itoa(rowCount(p)),
					strconv.FormatUint(s.Terms(), 10), p.Data})
			}
			out := cmd.OutOrStdout()
			return report.List(out, []string{"part", "operation", "has", "of", "terms", "data"}, rows, columns(out))
		},
	}
}
