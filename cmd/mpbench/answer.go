package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mpbench/datasets"
	"mpbench/internal/parallel"
	"mpbench/pkg/answer"
	"mpbench/pkg/exact"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
	"mpbench/pkg/outofcore"
	"mpbench/pkg/partial"
	"mpbench/pkg/record"
	"mpbench/pkg/report"
)

// aboutAnswers is what help says of answers, in front of what it says of benchmarks.
const aboutAnswers = `With files (- is standard input) and no flag that is about methods, it answers and
times nothing: the exact result rounded once, the condition number, how many digits plain float64 gets right on these
numbers and how many at least in any order of addition, and which method to use. A pipe gets the bare number; of a
vector the answer is a summary, and --save-result has all of it.

Otherwise it measures. Under mpirun ranks share the files, or each problem, with the bits of one process; the
first one prints and writes (docs/ranks.md).

`

// exampleOf is the first example of an operation, of files.
func exampleOf(o *op.Operation) string {
	text := "  mpbench " + o.Name
	for _, a := range o.Arrays() {
		switch {
		case a.Optional:
		case a.Kind == op.Matrix:
			text += " " + strings.ToUpper(a.Name) + ".npy"
		default:
			text += " " + a.Name + ".npy"
		}
	}
	return text + "\n"
}

// answerOptions are the flags of an answer: the result of the user's own numbers, without any timing.
type answerOptions struct {
	digits int
	bench  bool
}

func (a *answerOptions) addFlags(f *pflag.FlagSet) {
	f.BoolVar(&a.bench, "bench", a.bench, "measure the methods on these files, as every flag that is about methods does")
	f.IntVar(&a.digits, "digits", a.digits, "significant digits of an answer (default: those of the nearest float64)")
}

// takeArguments takes the files that are named without a flag, in the order of the operands.
func (o *operands) takeArguments(args []string) error {
	arrays := o.op.Arrays()
	if len(args) == 0 {
		return nil
	}
	for _, a := range arrays {
		if len(o.files[a.Name]) > 0 {
			return usagef("%s and --%s both name files; name all in one way", args[0], inputFlag(o.op, a.Name))
		}
	}
	if len(arrays) == 1 {
		o.files[arrays[0].Name] = args
		return o.checkArguments(args)
	}
	least := 0
	for _, a := range arrays {
		if !a.Optional {
			least++
		}
	}
	if len(args) < least || len(args) > len(arrays) {
		return usagef("%s takes the files %s; these are %d", o.op.Name, argumentsOf(o.op), len(args))
	}
	for i, path := range args {
		o.files[arrays[i].Name] = []string{path}
		if arrays[i].Optional && !o.scaled() {
			return usagef("%s is not read with the default factors; give it one of them, as --beta 1", path)
		}
	}
	return o.checkArguments(args)
}

// scaled tells whether a factor is not the default one.
func (o *operands) scaled() bool {
	return slices.ContainsFunc(o.op.Operands, func(x op.Operand) bool {
		return x.Kind == op.Number && o.factors[x.Name] != x.Default
	})
}

// checkArguments finds words that are no files but mean something else, and standard input for two arrays.
func (o *operands) checkArguments(args []string) error {
	stdin := 0
	for _, arg := range args {
		_, err := os.Stat(arg)
		if arg == datasets.Stdin {
			stdin++
			continue
		}
		_, isNumber := datasets.ParseNumber(arg, datasets.Double)
		_, isSet := o.family().Parse(arg)
		switch {
		case arg == "":
			return usagef("an argument is empty: want a file")
		case !errors.Is(err, os.ErrNotExist):
		case isNumber == nil:
			return usagef("%s: no such file; for numbers: echo %s | mpbench %s -", arg, strings.Join(args, " "), o.op.Name)
		case isSet == nil:
			return usagef("%s: no such file; for the data set: --dataset %s", arg, arg)
		}
	}
	if stdin > 1 {
		return usagef("only one of the files can be standard input")
	}
	return nil
}

// argumentsOf writes the files that an operation takes: "A x [y]".
func argumentsOf(o *op.Operation) string {
	var list []string
	for _, a := range o.Arrays() {
		name := a.Name
		if a.Kind == op.Matrix {
			name = strings.ToUpper(name)
		}
		if a.Optional {
			name = "[" + name + "]"
		}
		list = append(list, name)
	}
	if len(list) == 1 {
		return list[0] + "..."
	}
	return strings.Join(list, " ")
}

// wanted tells whether an answer is wanted: there are files, and no flag that is about methods, times or records.
func (a *answerOptions) wanted(flags *pflag.FlagSet, o *operationOptions) (bool, error) {
	about := pflag.NewFlagSet("answer", pflag.ContinueOnError)
	o.operands.addFlags(about)
	a.addFlags(about)
	names := []string{"save-result", "quiet", "color", "verbose"}
	if outofcore.Supports(o.op) && len(o.files) > 0 {
		names = append(names, "stream")
	}
	for _, name := range names {
		about.Bool(name, false, "")
	}
	benchmark := ""
	flags.Visit(func(f *pflag.Flag) {
		if about.Lookup(f.Name) == nil || f.Name == "bench" && a.bench {
			benchmark = "--" + f.Name
		}
	})
	files := len(o.files) > 0
	switch {
	case o.state != "" && !o.stream:
		return false, usagef("--state %s goes with --stream", o.state)
	case o.state != "" && (benchmark != "" || !files):
		return false, usagef("--state %s goes with the answer about files, as mpbench %s FILE --stream", o.state, o.op.Name)
	case flags.Changed("digits") && benchmark != "":
		return false, usagef("--digits goes with the answer about files, and %s asks for a benchmark", benchmark)
	case flags.Changed("digits") && !files:
		return false, usagef("--digits goes with the answer about files: name them, as mpbench %s FILE", o.op.Name)
	case flags.Changed("digits") && (a.digits < 1 || a.digits > maxDigits):
		return false, usagef("--digits %d: want a number from 1 to %d", a.digits, maxDigits)
	}
	return files && benchmark == "", nil
}

// maxDigits bounds --digits: the exact sum of float64 has at most 2098 digits in all.
const maxDigits = 100_000

// run answers about each problem.
func (a *answerOptions) run(cmd *cobra.Command, o *operationOptions, save string, verbose, quiet bool) error {
	if o.stream || o.team != nil {
		return a.stream(cmd, o, save, verbose, quiet)
	}
	sources, err := o.operands.sources(53)
	if err != nil {
		return err
	}
	if save != "" && len(sources) != 1 {
		return usagef("--save-result writes one result; these are %d", len(sources))
	}
	ctx := cmd.Context()
	var list []*answer.Answer
	var names []string
	for _, s := range sources {
		one, name, err := answerOf(ctx, s, cmd.ErrOrStderr())
		if ctx.Err() != nil {
			return &statusError{exitInterrupted, "interrupted"}
		}
		if err != nil {
			return err
		}
		list, names = append(list, one), append(names, name)
	}
	out := cmd.OutOrStdout()
	print := func() error { return a.print(out, list, names, verbose || isTerminal(out)) }
	if err := writeTo(ctx, os.Stdout.Name(), print); err != nil {
		return outputError(err)
	}
	if save == "" {
		return nil
	}
	return writeTo(ctx, save, func() error { return saveAnswer(save, list[0]) })
}

// stream prints the exact result of files that are read once, run by run.
func (a *answerOptions) stream(cmd *cobra.Command, o *operationOptions, save string, verbose, quiet bool) error {
	if !outofcore.Supports(o.op) {
		return usagef("%s of files is not shared by ranks; name a method for a benchmark, which is", o.op.Name)
	}
	arrays := o.op.Arrays()
	if len(arrays) > 1 {
		return a.streamOne(cmd, o, &o.operands, save, verbose, quiet)
	}
	files := o.files[arrays[0].Name]
	if len(files) > 1 && (save != "" || o.state != "") {
		return usagef("--save-result and --state are of one result; these are %d: one vector has a pattern in quotes, "+
			"or a list of names, @FILE", len(files))
	}
	for _, file := range files {
		one := o.operands.clone()
		one.files[arrays[0].Name] = []string{file}
		if err := a.streamOne(cmd, o, &one, save, verbose, quiet); err != nil {
			return err
		}
	}
	return nil
}

func (a *answerOptions) streamOne(
	cmd *cobra.Command, all *operationOptions, o *operands, save string, verbose, quiet bool,
) error {
	start, t := time.Now(), all.team
	add, s, err := o.part(cmd, t, quiet)
	took := time.Since(start)
	if add != nil {
		defer add.data.Close()
	}
	if s, err = t.merged(cmd.Context(), s, err); err != nil || t.worker() {
		return err
	}
	values, err := s.Values()
	if err == nil {
		values, err = scaled(add.data.problem, add.factors, values)
	}
	if err != nil {
		return err
	}
	data := add.data
	r := resultOf(s.Problem(), values)
	if !data.problem.A.Absent() {
		r.What = strings.Replace(r.What, "op(A)*x", o.op.Summary, 1)
	}
	if t == nil {
		r.More = [][2]string{{"read", rateText(add.bytes, took)}}
	} else {
		r.More = [][2]string{{"ranks", t.describe(data.rows(), took, time.Since(start))}}
	}
	return printResult(cmd, r, strings.Join(data.names, " * "), a.digits, verbose, save)
}

// part adds the rows of the files, of a team those of this rank.
func (o *operands) part(cmd *cobra.Command, t *team, quiet bool) (*additions, *partial.State, error) {
	reading, err := datasets.ParseReading(o.reading)
	if err != nil {
		return nil, nil, err
	}
	factors, err := o.parseFactors(reading)
	if err == nil {
		err = o.checkFilesSize()
	}
	if err == nil && o.state != "" {
		err = checkState("state", o.state)
	}
	if err != nil {
		return nil, nil, err
	}
	data, err := o.openData(reading)
	if err != nil {
		return nil, nil, err
	}
	add := &additions{
		data: data, rows: partial.Range{To: data.rows()}, file: o.state, resume: o.state != "", quiet: quiet,
		factors: factors,
	}
	t.share(add)
	q, err := outofcore.ProblemOf(data.problem, 0, false, data.identity)
	if err != nil {
		return add, nil, err
	}
	s, err := add.run(cmd, q)
	return add, s, err
}

// rateText says how fast bytes were read.
func rateText(n int64, d time.Duration) string {
	return fmt.Sprintf("%s in %.2g s, %s/s", record.Bytes(n), d.Seconds(), record.Bytes(int64(float64(n)/d.Seconds())))
}

// answerOf answers about a problem, of which it also returns the name.
func answerOf(ctx context.Context, s source, warnings io.Writer) (*answer.Answer, string, error) {
	in, err := s.load(ctx)
	if err != nil {
		return nil, "", err
	}
	for _, w := range in.Warnings {
		fmt.Fprintln(warnings, "warning:", w.Text)
	}
	one, err := answer.Of(ctx, in.Input, catalog, memoryLimit())
	return one, s.key, errors.Join(err, in.Close())
}

// print writes answers, whole or as bare numbers, one a line.
func (a *answerOptions) print(out io.Writer, list []*answer.Answer, names []string, whole bool) error {
	scalar := list[0].Input.Problem.Op.Scalar
	opts := report.Options{Width: columns(out)}
	switch {
	case scalar && !whole:
		for _, one := range list {
			if _, err := fmt.Fprintln(out, report.Number(one.Value(0), a.digits)); err != nil {
				return err
			}
		}
		return nil
	case scalar && len(list) > 1:
		return report.Answers(out, list, names, a.digits, opts)
	}
	for i, one := range list {
		if i > 0 {
			fmt.Fprintln(out)
		}
		if err := report.Answer(out, one, names[i], a.digits, opts); err != nil {
			return err
		}
	}
	return nil
}

// saveExactly writes a result of n components into text.
func saveExactly(path string, n int, text func(int) string) error {
	lines := make([]string, n)
	parallel.Ranges(0, n, 1<<8, func(_, from, to int) {
		for i := from; i < to; i++ {
			lines[i] = text(i)
		}
	})
	return saveLines(path, lines)
}

// saveAnswer writes a result: exactly into text, each number rounded once to float64 into .npy.
func saveAnswer(path string, a *answer.Answer) error {
	if isNPY(path) {
		return saveVector(path, a.Float64s())
	}
	return saveExactly(path, a.Components(), func(i int) string {
		if x := a.Big(i); x != nil {
			return x.Text('x', -1)
		}
		return exactText(a.Value(i))
	})
}

// saveValues does the same for a list.
func saveValues(path string, list []exact.Summary) error {
	if !isNPY(path) {
		return saveExactly(path, len(list), func(i int) string { return exactText(list[i]) })
	}
	y := make(numbers.Float64s, len(list))
	for i, s := range list {
		y[i] = s.Sum.Float64() // of a root that is cut off too: it is nearer to no tie than its last bit
	}
	return saveVector(path, y)
}
