package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mpbench/datasets"
	"mpbench/internal/suggest"
	"mpbench/pkg/advise"
	"mpbench/pkg/measure"
	"mpbench/pkg/op"
	"mpbench/pkg/record"
	"mpbench/pkg/report"
	"mpbench/pkg/sampling"
)

func newAdvise() *cobra.Command {
	o := newAdviseOptions()
	var output documentOptions
	cmd := &cobra.Command{
		Use:   "advise",
		Short: "Recommend the cheapest method that gives a wanted accuracy on given data",
		Long: `Measures the condition number of the data and the spread of their exponents, runs the methods that may do,
compares each with the exact result and with the wish, measures its time, and recommends the cheapest that
meets the wish. Its result is then computed once more and must hold.

"proved" means that the method's bound promises the accuracy for all data of this condition and length;
"here only" that it has it on these data, though its bound does not promise it: bounds are
pessimistic. With --proved only the former are recommended. The cost is the time of one operation and its
share of the conversion to the method's numbers, which --reuse sets. Methods that are estimated to cost more
than 8 times the cheapest are not run; --exhaustive runs all, at many precisions, and says what the
recommendation costs beside the cheapest of them.

Exit code 1: nothing meets the wish, the recommendation does not hold when it is run again, or, with
--exhaustive, it costs more than twice the cheapest.`,
		Example: `  mpbench advise --input data.npy --digits 30
  mpbench advise --dataset gensum:cond=1e40 --correct-bits 100
  mpbench advise --op dot --input-x x.npy --input-y y.npy --digits 15 --proved
  mpbench advise --op gemv --dataset gengemv:n=200,cond=1e30 --digits 20 --reuse 100`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("advise: %q stands alone; files are named by --input, or as --op dot --input-x x.npy "+
					"--input-y y.npy", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := output.check(); err != nil {
				return err
			}
			return o.run(cmd, &output)
		},
	}
	o.addFlags(cmd)
	output.addFlags(cmd, true)
	return cmd
}

// maxWishBits bounds a wish: no method has more bits.
const maxWishBits = 65000

type adviseOptions struct {
	op                  string
	operands            // of the operation, once it is known
	digits, bits, reuse int
	proved, exhaustive  bool
	device              string
	threads             int
}

func newAdviseOptions() *adviseOptions {
	return &adviseOptions{operands: newOperands(op.Sum), reuse: 1, device: "all"}
}

// inputFlag is the name of the flag for an array of an operation.
func inputFlag(o *op.Operation, array string) string {
	if len(o.Arrays()) == 1 {
		return "input"
	}
	return "input-" + array
}

func (o *adviseOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.op, "op", o.op, "what to compute: "+strings.Join(op.Names(), ", ")+" (default by the inputs: sum)")
	f.IntVar(&o.digits, "digits", o.digits, "wanted number of correct decimal digits")
	f.IntVar(&o.bits, "correct-bits", o.bits, "wanted number of correct bits, instead")
	for _, operation := range op.All() {
		for _, a := range inputsOf(operation) {
			name, short := inputFlag(operation, a.Name), ""
			if f.Lookup(name) != nil {
				continue
			}
			if name == "input" {
				short = "i"
			}
			f.VarP(&filesFlag{files: o.files, name: name, many: name == "input"}, name, short,
				takers(name)+": "+a.Usage+", in `file` ("+strings.Join(endingsOf(operation, a), " ")+")")
			completeFiles(cmd, name, endingsOf(operation, a))
		}
	}
	f.VarP(&listFlag{text: &o.dataset}, "dataset", "d",
		"a data set instead: name or name:key=value,...; see mpbench datasets")
	f.StringVarP(&o.n, "n", "n", "", "number of terms, or columns, of a data set that leaves it open")
	f.Uint64Var(&o.seed, "seed", o.seed, "seed of random data")
	f.StringVar(&o.reading, "reading", o.reading, "decimals of at most 17 digits in a text file: double or exact")
	f.BoolVarP(&o.transpose, "transpose", "t", false, "multiply by the transpose of a matrix")
	f.IntVar(&o.reuse, "reuse", o.reuse, "how often converted data will be used")
	f.BoolVar(&o.proved, "proved", false, "recommend only methods whose bound promises the wish")
	f.BoolVar(&o.exhaustive, "exhaustive", false,
		"run all methods at many precisions, and say what the recommendation costs beside the cheapest")
	f.Var(&listFlag{text: &o.device}, "device", "devices, a list, or all that there are")
	addThreads(f, &o.threads)
	complete(cmd, "op", op.Names())
	complete(cmd, "reading", []string{"double", "exact"})
	completeList(cmd, "device", []string{"all", "cpu", "cuda:0"})
	completeSets(cmd, "dataset", datasets.Families()...)
}

// takers names the operations that have an input flag.
func takers(flag string) string {
	var names []string
	for _, o := range op.All() {
		if takes(o, flag) {
			names = append(names, o.Name)
		}
	}
	return strings.Join(names, ", ")
}

func takes(o *op.Operation, flag string) bool {
	return slices.ContainsFunc(inputsOf(o), func(a op.Operand) bool { return inputFlag(o, a.Name) == flag })
}

// wish checks --digits and --correct-bits.
func (o *adviseOptions) wish(cmd *cobra.Command) (advise.Wish, error) {
	digits, bits := cmd.Flags().Changed("digits"), cmd.Flags().Changed("correct-bits")
	switch most := int(maxWishBits * 0.3); {
	case digits == bits:
		return advise.Wish{}, usagef("say what is wanted: either --digits or --correct-bits")
	case digits && (o.digits < 1 || o.digits > most):
		return advise.Wish{}, usagef("--digits %d: want a number from 1 to %d", o.digits, most)
	case bits && (o.bits < 1 || o.bits > maxWishBits):
		return advise.Wish{}, usagef("--correct-bits %d: want a number from 1 to %d", o.bits, maxWishBits)
	case digits:
		return advise.Digits(o.digits), nil
	}
	return advise.CorrectBits(o.bits), nil
}

// resolve finds the operation, by name or else the first that has all inputs, and gives it its operands.
func (o *adviseOptions) resolve() error {
	var given []string
	for flag := range o.files {
		given = append(given, flag)
	}
	slices.Sort(given)
	operation, err := o.operation(given)
	if err != nil {
		return err
	}
	for _, flag := range given {
		if !takes(operation, flag) {
			return usagef("--%s does not go with --op %s", flag, operation.Name)
		}
	}
	switch {
	case len(given) == 0 && o.dataset == "":
		return usagef("name the data: a file, with --input (sum), --input-x and --input-y (dot) or --input-a and " +
			"--input-x (gemv), or --dataset")
	case len(given) > 0 && o.dataset != "":
		return usagef("--dataset and files do not go together: advice is for one problem")
	}
	chosen := newOperands(operation)
	chosen.dataset, chosen.n, chosen.seed = o.dataset, o.n, o.seed
	chosen.reading, chosen.transpose = o.reading, o.transpose
	for _, a := range operation.Arrays() {
		if list, ok := o.files[inputFlag(operation, a.Name)]; ok {
			chosen.files[a.Name] = list
		}
	}
	o.operands = chosen
	return nil
}

func (o *adviseOptions) operation(given []string) (*op.Operation, error) {
	if o.op != "" {
		operation, ok := op.Lookup(o.op)
		if !ok {
			return nil, usagef("%s", suggest.Unknown("operation", o.op, op.Names()))
		}
		return operation, nil
	}
	for _, operation := range op.All() {
		if !slices.ContainsFunc(given, func(flag string) bool { return !takes(operation, flag) }) {
			return operation, nil
		}
	}
	return nil, usagef("no operation takes all of --%s", strings.Join(given, ", --"))
}

// adviseSampler is that of the recommendation's record.
var adviseSampler = sampling.Sampler{Warmup: 1, Runs: 5, MinTime: 50 * time.Millisecond, Timeout: 5 * time.Second}

// source returns the one problem.
func (o *adviseOptions) source() (source, error) {
	list, err := o.sources(0)
	if err != nil {
		return source{}, err
	}
	if len(list) != 1 {
		return source{}, usagef("advice is for one problem; these are %d data sets", len(list))
	}
	return list[0], nil
}

func (o *adviseOptions) flags() (list []string) {
	for _, a := range o.operands.op.Arrays() {
		for _, path := range o.files[a.Name] {
			list = append(list, "--"+inputFlag(o.operands.op, a.Name), path)
		}
	}
	for _, f := range []struct{ flag, value, otherwise string }{
		{"--dataset", o.dataset, ""}, {"--n", o.n, ""}, {"--seed", strconv.FormatUint(o.seed, 10), "1"},
		{"--reading", o.reading, "double"},
	} {
		if f.value != f.otherwise {
			list = append(list, f.flag, f.value)
		}
	}
	if o.transpose {
		list = append(list, "--transpose")
	}
	return list
}

// command is the command line that runs a candidate.
func command(op string, flags []string, o advise.Options, c advise.Candidate) string {
	words := append([]string{"mpbench", op}, flags...)
	words = append(words, "--method", c.Method)
	if !c.Fixed {
		words = append(words, "--precision", strconv.Itoa(c.Precision))
	}
	if c.Device != "cpu" {
		words = append(words, "--device", c.Device)
	}
	m, config := c.Choice(o)
	for _, option := range m.Options {
		if value, ok := config.Options[option.Name]; ok {
			words = append(words, "--"+option.Name, value)
		}
	}
	return strings.Join(mapped(words, quoted), " ")
}

// quoted writes a word for a shell.
func quoted(word string) string {
	if word != "" && strings.Trim(word,
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,:/@%^") == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

func (o *adviseOptions) run(cmd *cobra.Command, output *documentOptions) error {
	wish, err := o.wish(cmd)
	if err != nil {
		return err
	}
	if err := o.resolve(); err != nil {
		return err
	}
	devices, err := chooseDevices(o.device, nil)
	if err != nil {
		return err
	}
	if o.reuse < 1 {
		return usagef("--reuse %d: want a number of at least 1", o.reuse)
	}
	if err := checkThreads(o.threads); err != nil {
		return err
	}
	from, err := o.source()
	if err != nil {
		return err
	}
	in, err := from.load(cmd.Context())
	if err != nil {
		return err
	}
	for _, w := range in.Warnings {
		fmt.Fprintln(cmd.ErrOrStderr(), "warning:", w)
	}
	options := advise.Options{
		Wish: wish, Devices: devices, Threads: o.threads, Reuse: o.reuse, Proved: o.proved, Exhaustive: o.exhaustive,
		Progress: reporter(cmd, output.quiet),
	}
	result, err := advise.Find(cmd.Context(), advise.NewProblem(in.Input, catalog, memoryLimit()), options)
	if err != nil {
		return err
	}
	return o.finish(cmd, result, from.key, in, output)
}

// finish prints the advice and exports the recommendation's record.
func (o *adviseOptions) finish(
	cmd *cobra.Command, r *advise.Result, data string, in loaded, output *documentOptions,
) error {
	env := captureEnvironment(mapped(r.Candidates, func(c advise.Candidate) string { return c.Method })...)
	run := &record.Run{Environments: []record.Environment{env}}
	line := ""
	if r.Best != nil {
		line = command(r.Operation, o.flags(), r.Options, *r.Best)
		if len(output.export) > 0 && cmd.Context().Err() == nil {
			m, c := r.Best.Choice(r.Options)
			c.MaxBytes = memoryLimit()
			result, ok, err := measure.Measure(cmd.Context(), adviseSampler, m, c, in.Input)
			if err != nil {
				return err
			}
			if ok {
				result.Record.EnvID = env.ID
				run.Records = append(run.Records, result.Record)
			}
		}
	}
	d := report.Advise(r, data, line)
	d.Environment = &env
	if err := output.print(cmd, d, run); err != nil {
		return err
	}
	switch {
	case cmd.Context().Err() != nil:
		return &statusError{exitInterrupted, "interrupted; what was found until then is above"}
	case r.Best == nil && r.Options.Proved:
		return failedf("no method's bound promises the wish; without --proved, methods that meet it on these data " +
			"count too")
	case r.Best == nil:
		return failedf("no method meets the wish")
	case !r.Check.Holds:
		return failedf("the recommendation, %s, does not hold when it is run again", r.Best.Method)
	case r.Ratio > 2:
		return failedf("the recommendation costs %.2f times as much as %s at %d bits",
			r.Ratio, r.Cheapest.Method, r.Cheapest.Precision)
	}
	return nil
}
