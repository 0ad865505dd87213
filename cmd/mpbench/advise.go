package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mpbench/datasets"
	"mpbench/internal/suggest"
	"mpbench/pkg/advise"
	"mpbench/pkg/bench"
	"mpbench/pkg/gemv"
	"mpbench/pkg/record"
	"mpbench/pkg/reduce"
	"mpbench/pkg/report"
	"mpbench/pkg/sampling"
)

// newAdvise builds the command advise.
func newAdvise() *cobra.Command {
	o := adviseOptions{seed: 1, reading: "double", reuse: 1, device: "all"}
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
		Args: noArguments,
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

// adviseOptions are the flags of advise.
type adviseOptions struct {
	op                     string
	input                  []string
	inputX, inputY, inputA string
	dataset, n, reading    string
	seed                   uint64
	transpose              bool
	digits, bits, reuse    int
	proved, exhaustive     bool
	device                 string
	threads                int
}

var operations = []string{"sum", "dot", "gemv"}

func (o *adviseOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.op, "op", o.op, "what to compute: sum, dot or gemv (default by the inputs: sum)")
	f.IntVar(&o.digits, "digits", o.digits, "wanted number of correct decimal digits")
	f.IntVar(&o.bits, "correct-bits", o.bits, "wanted number of correct bits, instead")
	f.StringArrayVarP(&o.input, "input", "i", nil, "sum: the numbers in `file` (.npy .txt .csv)")
	f.StringVar(&o.inputX, "input-x", "", "dot, gemv: the vector x in `file`")
	f.StringVar(&o.inputY, "input-y", "", "dot: the vector y in `file`")
	f.StringVar(&o.inputA, "input-a", "", "gemv: the matrix in `file` (.npy of two dimensions)")
	f.StringVarP(&o.dataset, "dataset", "d", "", "a data set instead: name or name:key=value,...; see mpbench datasets")
	f.StringVarP(&o.n, "n", "n", "", "number of terms, or columns, of a data set that leaves it open")
	f.Uint64Var(&o.seed, "seed", o.seed, "seed of random data")
	f.StringVar(&o.reading, "reading", o.reading, "decimals of at most 17 digits in a text file: double or exact")
	f.BoolVarP(&o.transpose, "transpose", "t", false, "gemv: multiply by the transpose of A")
	f.IntVar(&o.reuse, "reuse", o.reuse, "how often converted data will be used")
	f.BoolVar(&o.proved, "proved", false, "recommend only methods whose bound promises the wish")
	f.BoolVar(&o.exhaustive, "exhaustive", false, "run all methods at many precisions, and say what the recommendation costs beside the cheapest")
	f.StringVar(&o.device, "device", o.device, "devices, a list, or all that there are")
	f.IntVar(&o.threads, "threads", 0, "goroutines of parallel methods, 0 for all processors; never changes a result")
	complete(cmd, "op", operations)
	complete(cmd, "reading", []string{"double", "exact"})
	completeList(cmd, "device", []string{"all", "cpu", "cuda:0"})
	complete(cmd, "dataset", allSetNames())
	completeFiles(cmd, "input", numberFiles)
	completeFiles(cmd, "input-x", numberFiles)
	completeFiles(cmd, "input-y", numberFiles)
	completeFiles(cmd, "input-a", matrixFiles)
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

// operation resolves --op.
func (o *adviseOptions) operation() (string, error) {
	switch {
	case o.op == "" && o.inputA != "":
		return "gemv", nil
	case o.op == "" && (o.inputX != "" || o.inputY != ""):
		return "dot", nil
	case o.op == "":
		return "sum", nil
	}
	for _, name := range operations {
		if o.op == name {
			return name, nil
		}
	}
	return "", usagef("%s", suggest.Unknown("operation", o.op, operations))
}

// task is what is to be computed: the operation for the search, the name of the data, the flags that name them in a command, and a measurement
// of a candidate as the other commands make it.
type task struct {
	op      advise.Operation
	data    string
	flags   []string
	measure func(ctx context.Context, c advise.Candidate) (record.Record, bool, error)
}

// adviseSampler is that of the recommendation's record.
var adviseSampler = sampling.Sampler{Warmup: 1, Runs: 5, MinTime: 50 * time.Millisecond, Timeout: 5 * time.Second}

// task loads the data.
func (o *adviseOptions) task(op string) (*task, error) {
	files := len(o.input)
	for _, path := range []string{o.inputX, o.inputY, o.inputA} {
		if path != "" {
			files++
		}
	}
	switch {
	case files == 0 && o.dataset == "":
		return nil, usagef("name the data: a file, with --input (sum), --input-x and --input-y (dot) or --input-a and --input-x (gemv), or --dataset")
	case files > 0 && o.dataset != "":
		return nil, usagef("--dataset and files do not go together: advice is for one problem")
	}
	s := defaultSettings()
	s.dataset, s.seed = o.dataset, o.seed
	switch op {
	case "dot":
		return o.dotTask(s)
	case "gemv":
		return o.gemvTask(s)
	}
	return o.sumTask(s)
}

// flags names the data in a command.
func (o *adviseOptions) flags(files ...string) []string {
	var list []string
	for i := 0; i+1 < len(files); i += 2 {
		if files[i+1] != "" {
			list = append(list, files[i], files[i+1])
		}
	}
	if o.dataset != "" {
		list = append(list, "--dataset", o.dataset)
	}
	if o.n != "" {
		list = append(list, "--n", o.n)
	}
	if o.seed != 1 {
		list = append(list, "--seed", strconv.FormatUint(o.seed, 10))
	}
	if o.reading != "double" {
		list = append(list, "--reading", o.reading)
	}
	return list
}

// misplaced refuses inputs of another operation.
func misplaced(op string, pairs ...string) error {
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			return usagef("%s does not go with --op %s", pairs[i], op)
		}
	}
	return nil
}

func one[T any](list []T, what string) (T, error) {
	if len(list) != 1 {
		var none T
		return none, usagef("advice is for one problem; these are %d %s", len(list), what)
	}
	return list[0], nil
}

func (o *adviseOptions) sumTask(s settings) (*task, error) {
	if err := misplaced("sum", "--input-x", o.inputX, "--input-y", o.inputY, "--input-a", o.inputA); err != nil {
		return nil, err
	}
	sources, err := sumOptions{settings: s, input: o.input, reading: o.reading, n: o.n}.sources()
	if err != nil {
		return nil, err
	}
	source, err := one(sources, "data sets")
	if err != nil {
		return nil, err
	}
	data, err := source.load()
	if err != nil {
		return nil, err
	}
	in, input := bench.NewSumInput(data), ""
	if len(o.input) == 1 {
		input = o.input[0]
	}
	return &task{advise.Sum(in, reduce.Methods()), source.key, o.flags("--input", input), func(ctx context.Context, c advise.Candidate) (record.Record, bool, error) {
		m, _ := reduce.Lookup(c.Method)
		return bench.MeasureSum(ctx, adviseSampler, m, o.reduceOptions(c), in)
	}}, nil
}

func (o *adviseOptions) reduceOptions(c advise.Candidate) reduce.Options {
	return reduce.Options{
		Precision: c.Precision, Device: c.Device, Threads: o.threads, Blocks: reduce.DefaultBlocks, BlockSize: reduce.DefaultBlockSize,
	}
}

func (o *adviseOptions) dotTask(s settings) (*task, error) {
	if err := misplaced("dot", "--input", strings.Join(o.input, ","), "--input-a", o.inputA); err != nil {
		return nil, err
	}
	sources, err := dotOptions{sumOptions: sumOptions{settings: s, reading: o.reading, n: o.n}, inputX: o.inputX, inputY: o.inputY}.pairSources()
	if err != nil {
		return nil, err
	}
	source, err := one(sources, "pairs of vectors")
	if err != nil {
		return nil, err
	}
	data, err := source.load()
	if err != nil {
		return nil, err
	}
	in := data.(bench.DotInput)
	return &task{advise.Dot(in, reduce.DotMethods()), source.key, o.flags("--input-x", o.inputX, "--input-y", o.inputY), func(ctx context.Context, c advise.Candidate) (record.Record, bool, error) {
		m, _ := reduce.Lookup(c.Method)
		return bench.MeasureDot(ctx, adviseSampler, m, o.reduceOptions(c), in)
	}}, nil
}

func (o *adviseOptions) gemvTask(s settings) (*task, error) {
	if err := misplaced("gemv", "--input", strings.Join(o.input, ","), "--input-y", o.inputY); err != nil {
		return nil, err
	}
	s.precision = "53"
	sources, err := gemvOptions{settings: s, n: o.n, transpose: o.transpose, alpha: "1", beta: "0", incX: 1, incY: 1, inputA: o.inputA, inputX: o.inputX}.matrixSources(53)
	if err != nil {
		return nil, err
	}
	source, err := one(sources, "matrices")
	if err != nil {
		return nil, err
	}
	data, err := source.load()
	if err != nil {
		return nil, err
	}
	in, have := data.(bench.GemvInput), datasets.MemoryBytes()
	flags := o.flags("--input-a", o.inputA, "--input-x", o.inputX)
	if o.transpose {
		flags = append(flags, "--transpose")
	}
	return &task{advise.Gemv(in, gemv.Methods(), have-have/8), source.key, flags, func(ctx context.Context, c advise.Candidate) (record.Record, bool, error) {
		m, _ := gemv.Lookup(c.Method)
		options := gemv.Options{Precision: c.Precision, Device: c.Device, Threads: o.threads, BlockSize: gemv.DefaultBlockSize}
		result, ok, err := bench.MeasureGemv(ctx, adviseSampler, m, options, in)
		return result.Record, ok, err
	}}, nil
}

// command is the command line that runs a candidate.
func command(op string, flags []string, c advise.Candidate) string {
	words := append([]string{"mpbench", op}, flags...)
	words = append(words, "--method", c.Method)
	if !c.Fixed {
		words = append(words, "--precision", strconv.Itoa(c.Precision))
	}
	if c.Device != "cpu" {
		words = append(words, "--device", c.Device)
	}
	for i, w := range words {
		words[i] = quoted(w)
	}
	return strings.Join(words, " ")
}

// quoted writes a word for a shell.
func quoted(word string) string {
	if word != "" && strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,:/@%^") == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// run finds the advice and prints it.
func (o *adviseOptions) run(cmd *cobra.Command, output *documentOptions) error {
	wish, err := o.wish(cmd)
	if err != nil {
		return err
	}
	op, err := o.operation()
	if err != nil {
		return err
	}
	devices, err := chooseDevices(o.device)
	if err != nil {
		return err
	}
	switch {
	case o.reuse < 1:
		return usagef("--reuse %d: want a number of at least 1", o.reuse)
	case o.threads < 0:
		return usagef("--threads %d: want 0 for all processors, or a positive number", o.threads)
	}
	t, err := o.task(op)
	if err != nil {
		return err
	}
	options := advise.Options{Wish: wish, Devices: devices, Threads: o.threads, Reuse: o.reuse, Proved: o.proved, Exhaustive: o.exhaustive}
	if !output.quiet {
		options.Progress = func(what string) { fmt.Fprintln(cmd.ErrOrStderr(), what) }
	}
	result, err := advise.Find(cmd.Context(), t.op, options)
	if err != nil {
		return err
	}
	return finishAdvise(cmd, result, t, output)
}

// finishAdvise prints the advice and exports the recommendation's record.
func finishAdvise(cmd *cobra.Command, r *advise.Result, t *task, output *documentOptions) error {
	env := captureEnvironment()
	run := &record.Run{Environments: []record.Environment{env}}
	line := ""
	if r.Best != nil {
		line = command(r.Operation, t.flags, *r.Best)
		if len(output.export) > 0 && cmd.Context().Err() == nil {
			record, ok, err := t.measure(cmd.Context(), *r.Best)
			if err != nil {
				return err
			}
			if ok {
				record.EnvID = env.ID
				run.Records = append(run.Records, record)
			}
		}
	}
	d := report.Advise(r, t.data, line)
	d.Environment = &env
	if err := output.print(cmd, d, run); err != nil {
		return err
	}
	switch {
	case cmd.Context().Err() != nil:
		return &statusError{exitInterrupted, "interrupted; what was found until then is above"}
	case r.Best == nil && r.Options.Proved:
		return &statusError{exitCheckFailed, "no method's bound promises the wish; without --proved, methods that meet it on these data count too"}
	case r.Best == nil:
		return &statusError{exitCheckFailed, "no method meets the wish"}
	case !r.Check.Holds:
		return &statusError{exitCheckFailed, fmt.Sprintf("the recommendation, %s, does not hold when it is run again", r.Best.Method)}
	case r.Ratio > 2:
		return &statusError{exitCheckFailed, fmt.Sprintf("the recommendation costs %.2f times as much as %s at %d bits", r.Ratio, r.Cheapest.Method, r.Cheapest.Precision)}
	}
	return nil
}
