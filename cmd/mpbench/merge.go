package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mpbench/datasets"
	"mpbench/pkg/exact"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
	"mpbench/pkg/partial"
	"mpbench/pkg/report"
)

// stateFiles is the ending of partial results.
var stateFiles = []string{".mps"}

// unreadable is an error of a file, of which errors.Is finds the cause.
type unreadable struct {
	error
	cause error
}

func (e *unreadable) Unwrap() []error { return []error{e.error, e.cause} }

// readState reads a partial result.
func readState(path string) (*partial.State, error) {
	fail := func(err error) (*partial.State, error) {
		return nil, &unreadable{inputOutputf("%s: %v", path, cause(err)), err}
	}
	f, err := openFile(path, "a partial result")
	if err != nil {
		return nil, &unreadable{err, existence(path)}
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		if err := datasets.CheckMemory(3 * info.Size()); err != nil {
			return fail(err)
		}
	}
	b, err := io.ReadAll(f)
	if err != nil {
		return fail(err)
	}
	s := new(partial.State)
	if err := s.UnmarshalBinary(b); err != nil {
		return nil, inputOutputf("%s: is %s", path, strings.TrimPrefix(err.Error(), "partial: "))
	}
	return s, nil
}

// existence returns why a file is not there.
func existence(path string) error {
	_, err := os.Stat(path)
	return err
}

// writeState writes a partial result.
func writeState(ctx context.Context, path string, s *partial.State) error {
	b, err := s.MarshalBinary()
	if err != nil {
		return err
	}
	return writeTo(ctx, path, func() error { return save(path, b) })
}

// checkState finds what would make the writing of a partial result fail.
func checkState(flag, path string) error {
	if !report.IsDirect(path) && !slices.Contains(stateFiles, strings.ToLower(filepath.Ext(path))) {
		return usagef("--%s %s: want a name that ends with .mps", flag, path)
	}
	return report.CheckWritable(path)
}

// mergeOptions are the flags of merge.
type mergeOptions struct {
	output, saveResult string
	digits             int
	verbose            bool
}

func newMerge() *cobra.Command {
	var o mergeOptions
	cmd := &cobra.Command{
		Use:   "merge PART...",
		Short: "Merge partial results into the result",
		Long: `Merges partial results of mpbench partial, or of other programs that write the format of docs/scale.md, in
any order and grouping, and prints the exact result rounded once, as mpbench sum FILE does: the same bits as
those of one process. With --output it writes a partial result again, of which rows may be missing.

Parts of other data, of another operation or length, of rows that another part has, and damaged ones are
refused, and so is a result while rows are missing.`,
		Example: "  mpbench merge part-*.mps\n  mpbench merge part-*.mps --save-result y.npy\n" +
			"  mpbench merge 'node1/*.mps' -o node1.mps",
		ValidArgsFunction: completeArguments(stateFiles),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("merge: name the partial results, as mpbench merge part-*.mps")
			}
			return o.run(cmd, args)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&o.output, "output", "o", "", "write a partial result into `file`, and print none")
	f.IntVar(&o.digits, "digits", 0, "significant digits of the result (default: those of the nearest float64)")
	f.StringVar(&o.saveResult, "save-result", "",
		"write the result into `file`: .txt (exactly, hexadecimal) or .npy (float64)")
	f.BoolVar(&o.verbose, "verbose", false, "the whole answer into pipes, too")
	completeFiles(cmd, "output", stateFiles)
	completeFiles(cmd, "save-result", vectorFiles)
	return cmd
}

func (o *mergeOptions) run(cmd *cobra.Command, args []string) error {
	if cmd.Flags().Changed("digits") && (o.digits < 1 || o.digits > maxDigits) {
		return usagef("--digits %d: want a number from 1 to %d", o.digits, maxDigits)
	}
	if err := o.checkFiles(); err != nil {
		return err
	}
	s, err := mergeFiles(args)
	if err != nil {
		return err
	}
	if o.output != "" {
		return writeState(cmd.Context(), o.output, s)
	}
	var missing *partial.MissingError
	if values, err := s.Values(); errors.As(err, &missing) {
		p := s.Problem()
		return inputOutputf("%s of %d are missing in %s", missing.List(), rowCount(p), named(args))
	} else if err != nil {
		return err
	} else {
		r := resultOf(s.Problem(), values)
		return printResult(cmd, r, named(args), o.digits, o.verbose, o.saveResult)
	}
}

// checkFiles finds out whether files can be written.
func (o *mergeOptions) checkFiles() error {
	if o.output != "" {
		if o.saveResult != "" {
			return usagef("--output writes a partial result and no result; leave --save-result out")
		}
		return checkState("output", o.output)
	}
	if o.saveResult != "" {
		return checkSave(o.saveResult)
	}
	return nil
}

// mergeFiles merges partial results.
func mergeFiles(args []string) (*partial.State, error) {
	var parts []*partial.State
	var paths []string
	for _, arg := range args {
		list, err := datasets.Expand(arg)
		if err != nil {
			return nil, err
		}
		paths = append(paths, list...)
	}
	for _, path := range paths {
		s, err := readState(path)
		if err != nil {
			return nil, err
		}
		parts = append(parts, s)
	}
	s, err := partial.Merged(parts...)
	if wrong := (*partial.PartError)(nil); errors.As(err, &wrong) {
		return nil, inputOutputf("%s: %s", paths[wrong.Part], partText(err, paths[wrong.With]))
	}
	return s, err
}

// partText says why a part does not go with another one.
func partText(err error, other string) string {
	var mismatch *partial.MismatchError
	var overlap *partial.OverlapError
	switch {
	case errors.As(err, &mismatch):
		return fmt.Sprintf("its %s is %s, and that of %s is %s", mismatch.What, mismatch.Have, other, mismatch.Want)
	case errors.As(err, &overlap):
		return fmt.Sprintf("%s are in %s, too", overlap.Rows, other)
	}
	return err.Error()
}

// named names files: the first and how many there are.
func named(paths []string) string {
	if len(paths) == 1 {
		return paths[0]
	}
	return fmt.Sprintf("%s and %d more", paths[0], len(paths)-1)
}

// rowCount returns how many rows, or pieces, there are in all.
func rowCount(p partial.Problem) int {
	if p.RowsAreTerms {
		return p.Terms
	}
	return p.Components
}

// scaled returns alpha*values + beta*y for a product of a matrix, the values of other operations as they are.
func scaled(p *op.Problem, factors map[string]numbers.Array, values []exact.Value) ([]exact.Value, error) {
	if p.A.Absent() {
		return values, nil
	}
	q := &op.Problem{Op: p.Op, X: numbers.Scalar(1), Y: p.Y}
	q.A = numbers.Array{Source: numbers.Values(values), Layout: numbers.ColMajor(len(values), 1, len(values))}
	for name, x := range factors {
		*q.Operand(name) = x
	}
	if q.Y.Absent() {
		q.Y = numbers.Vector(make(numbers.Float64s, len(values)))
	}
	r, err := op.Exact(q)
	if err != nil {
		return nil, err
	}
	list := make([]exact.Value, len(values))
	for i := range list {
		list[i] = r.Component(i).Sum
	}
	return list, nil
}

// resultOf returns what is printed of a complete partial result.
func resultOf(p partial.Problem, values []exact.Value) report.Result {
	r := report.Result{What: p.Operation, Scalar: p.RowsAreTerms && p.Components == 1}
	shape := fmt.Sprintf("n = %d", p.Terms)
	if p.Pieces {
		shape = fmt.Sprintf("in %d pieces", p.Terms)
	}
	if o, ok := op.Lookup(p.Operation); ok {
		r.What, r.Scalar = o.Summary, o.Scalar
		if o.Has(op.Matrix) {
			r.What = "op(A)*x"
			shape = fmt.Sprintf("op(A) is %d x %d", p.Components, p.Terms)
		}
	}
	r.What += ", " + shape
	for _, v := range values {
		r.Values = append(r.Values, exact.Summary{Sum: v})
	}
	return r
}

// printResult prints a result, whole or as a bare number, and saves it.
func printResult(cmd *cobra.Command, r report.Result, name string, digits int, verbose bool, saveTo string) error {
	out, ctx := cmd.OutOrStdout(), cmd.Context()
	err := writeTo(ctx, os.Stdout.Name(), func() error {
		if r.Scalar && !verbose && !isTerminal(out) {
			_, err := fmt.Fprintln(out, report.Number(r.Values[0], digits))
			return err
		}
		return r.Write(out, name, digits, report.Options{Width: columns(out)})
	})
	if err != nil {
		return outputError(err)
	}
	if saveTo == "" {
		return nil
	}
	return writeTo(ctx, saveTo, func() error {
		return saveValues(saveTo, r.Values)
	})
}
