package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mpbench/datasets"
	"mpbench/pkg/device"
	"mpbench/pkg/method"
	"mpbench/pkg/methods"
	"mpbench/pkg/op"
	"mpbench/pkg/outofcore"
	"mpbench/pkg/peer"
	"mpbench/pkg/ranks"
)

var catalog = methods.All()

// newOperation builds the command of an operation: its flags follow from its operands and from its methods' options.
func newOperation(o *op.Operation) *cobra.Command {
	options := newOperationOptions(o)
	var run runOptions
	var details details
	var allOrders ordersOption
	var answer answerOptions
	guide := guideOf(o)
	cmd := &cobra.Command{
		Use: o.Name + " [" + argumentsOf(o) + "]", Short: guide.short, Long: aboutAnswers + guide.long,
		Example: exampleOf(o) + guide.example, ValidArgsFunction: completeArguments(numberFiles),
		Annotations: map[string]string{overRanks: "yes"},
	}
	work := func(cmd *cobra.Command, args []string) error {
		err := cmp.Or(options.takeArguments(args), details.check(run))
		wanted, about := answer.wanted(cmd.Flags(), &options)
		if err = options.team.agree(cmd.Context(), cmp.Or(err, about)); err != nil {
			return err
		}
		run.details, run.notices = &details, options.notices
		switch {
		case allOrders.on && options.team != nil:
			return usagef("--orders is of one process; start it without a launcher")
		case allOrders.on:
			return allOrders.run(cmd, run, options.plan)
		case wanted:
			return answer.run(cmd, &options, details.saveResult, run.output.verbose, run.quiet)
		}
		if err := run.run(cmd, options.plan); err != nil || options.team.worker() {
			return err
		}
		return details.write(cmd)
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		if options.team, err = startTeam(cmd.Context()); err != nil {
			return err
		}
		run.team = options.team
		return options.team.finish(cmd, work(cmd, args))
	}
	answer.addFlags(cmd.Flags())
	options.addFlags(cmd.Flags())
	details.addFlags(cmd.Flags(), o.Scalar)
	completeFiles(cmd, "save-result", vectorFiles)
	allOrders.addFlags(cmd.Flags(), o)
	run.addFlags(cmd)
	options.complete(cmd)
	return cmd
}

// operationOptions are the flags of an operation that -L can scan: they say what is measured and how.
type operationOptions struct {
	settings
	operands
	choices  map[string]string // by the name of a method's option
	baseline string            // the method that times are divided by

	tried map[string]bool // cases that are known to work
	team  *team           // ranks that share the problems, nil for one process
}

func newOperationOptions(o *op.Operation) operationOptions {
	options := operationOptions{
		settings: defaultSettings(), operands: newOperands(o), choices: map[string]string{}, tried: map[string]bool{},
	}
	options.precision = guideOf(o).precision
	for _, c := range methodOptions(o) {
		options.choices[c.Name] = c.Default
	}
	return options
}

// methodOptions lists the options of the methods of an operation, each once.
func methodOptions(o *op.Operation) (list []method.Option) {
	for _, m := range catalog.Of(o) {
		for _, c := range m.Options {
			if !slices.ContainsFunc(list, func(d method.Option) bool { return d.Name == c.Name }) {
				list = append(list, c)
			}
		}
	}
	return list
}

// addFlags declares the flags with o's present values as defaults.
func (o *operationOptions) addFlags(f *pflag.FlagSet) {
	o.addChoices(f)
	f.VarP(&listFlag{text: &o.dataset}, "dataset", "d",
		"data sets, a list of name or name:key=value,...; see mpbench datasets\n(default "+o.standard().sets+")")
	o.operands.addFlags(f)
	if usage := o.streamUsage(); usage != "" {
		f.BoolVar(&o.stream, "stream", o.stream, usage)
	}
	for _, c := range methodOptions(o.op) {
		kind := "int"
		if c.Values != nil {
			kind = "string"
		}
		f.Var(&entryFlag[string]{o.choices, c.Name, kind, parseText}, c.Name, c.Usage)
	}
	f.Uint64Var(&o.seed, "seed", o.seed, "seed of random data")
	f.StringVar(&o.baseline, "baseline", o.baseline,
		"`method` that is measured in turn with each other one; tables show the ratio\nof the times, with an interval")
	o.settings.addFlags(f)
}

func (o *operationOptions) complete(cmd *cobra.Command) {
	completeList(cmd, "method", append(catalog.Of(o.op).Names(), "all", peer.Group))
	complete(cmd, "baseline", catalog.Of(o.op).Names())
	completeSets(cmd, "dataset", o.family())
	completeList(cmd, "device", []string{"cpu"})
	scanned := o.family().Parameters()
	flags := pflag.NewFlagSet("scan", pflag.ContinueOnError)
	o.addFlags(flags)
	flags.VisitAll(func(f *pflag.Flag) { scanned = append(scanned, f.Name+"=") })
	noSpace := cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	register(cmd, "scan", cobra.FixedCompletions(scanned, noSpace))
	for _, c := range methodOptions(o.op) {
		if c.Values != nil {
			complete(cmd, c.Name, c.Values)
		}
	}
	if cmd.Flags().Lookup("state") != nil {
		completeFiles(cmd, "state", stateFiles)
	}
	for _, a := range o.op.Arrays() {
		completeFiles(cmd, inputFlag(o.op, a.Name), endingsOf(o.op, a))
	}
	for flag, values := range map[string][]string{
		"reading": {"double", "exact"}, "uplo": {"U", "L"}, "diag": {"N", "U"}, "dtype": datasets.RawTypes(),
	} {
		if cmd.Flags().Lookup(flag) != nil {
			complete(cmd, flag, values)
		}
	}
}

// streamUsage says what --stream does, "" where it does nothing.
func (o *operationOptions) streamUsage() string {
	var parts []string
	if outofcore.Supports(o.op) {
		parts = append(parts, "answer: read the files once, run by run, in constant memory")
	}
	switch streams := o.streaming(); {
	case streams == "":
	case o.op.Has(op.Matrix):
		parts = append(parts, "benchmark: leave the matrix in host memory and stream it through the GPU in every run,\n"+
			"with "+streams+"; done by itself where the GPU's memory is too small")
	default:
		parts = append(parts, "benchmark: read .npy files run by run, in constant memory, with method "+streams)
	}
	return strings.Join(parts, ";\n")
}

// streaming names the methods that can work on arrays outside their memory.
func (o *operationOptions) streaming() string {
	var names []string
	for _, m := range catalog.Of(o.op) {
		if m.Streams != nil {
			names = append(names, m.Name)
		}
	}
	return strings.Join(names, ", ")
}

// with returns the options with a flag, or else a parameter of the data sets, set to a value.
func (o operationOptions) with(name, value string) (operationOptions, error) {
	o.operands, o.choices = o.operands.clone(), maps.Clone(o.choices)
	specs, err := o.specs()
	if err == nil {
		err = setByScan(o.addFlags, specs, &o.dataset, name, value)
	}
	return o, err
}

func (o operationOptions) jobs() ([]job, error) {
	if err := cmp.Or(checkThreads(o.threads), checkSampler(o.sampler), o.checkChoices()); err != nil {
		return nil, err
	}
	precisions, err := o.precisions()
	if err != nil {
		return nil, err
	}
	places, err := o.places()
	if err != nil {
		return nil, err
	}
	sources := map[int][]source{}
	for _, p := range precisions {
		if sources[p], err = o.sources(p); err != nil {
			return nil, err
		}
	}
	if err := o.checkPrecisions(precisions, places); err != nil {
		return nil, err
	}
	sampler := o.sampler
	if o.usual() && o.method == "all" {
		sampler = o.overview()
	}
	var jobs []job
	for _, on := range places {
		for _, p := range precisions {
			if err := on.method.Accepts(p); err != nil && namesAll(o.method) {
				o.notices.add("%v", err)
				continue
			}
			c, err := o.config(on, p)
			if err != nil {
				return nil, err
			}
			for _, s := range sources[p] {
				j := newJob(s, on.method, c, sampler).beside(o.baseline).over(o.team)
				switch err := j.checkOutline(); {
				case err == nil:
					jobs = append(jobs, j)
				case namesAll(o.method):
					o.notices.add("%v", err)
				default:
					return nil, err
				}
			}
		}
	}
	return jobs, nil
}

// checkPrecisions finds a precision that no method whose precision can be chosen could work with.
func (o operationOptions) checkPrecisions(list []int, places []placement) error {
	for _, p := range list {
		var first error
		accepted := false
		for _, on := range places {
			err := on.method.Accepts(p)
			accepted = accepted || err == nil && on.method.Bits == 0
			first = cmp.Or(first, err)
		}
		if first != nil && !accepted {
			return first
		}
	}
	return nil
}

// checkChoices finds a choice that no method could work with.
func (o operationOptions) checkChoices() error {
	accepted, wrong := map[string]bool{}, map[string]error{}
	for _, m := range catalog.Of(o.op) {
		for _, c := range m.Options {
			if err := c.Check(o.choices[c.Name]); err != nil {
				wrong[c.Name] = err
			} else {
				accepted[c.Name] = true
			}
		}
	}
	for _, c := range methodOptions(o.op) {
		if !accepted[c.Name] {
			return usagef("--%s %s: %v", c.Name, o.choices[c.Name], wrong[c.Name])
		}
	}
	return nil
}

type placement struct {
	method method.Method
	set    device.Set
}

// places puts each method on each of the devices that it runs on. Where methods were asked for by name, one that
// runs on none of the devices, or cannot do what --stream asks for, is an error.
func (o operationOptions) places() ([]placement, error) {
	names := o.method
	if o.baseline != "" {
		if one, err := chooseMethods(o.baseline, catalog.Of(o.op)); err != nil {
			return nil, err
		} else if len(one) != 1 || one[0].Name != o.baseline {
			return nil, usagef("--baseline %s: want the name of one method", o.baseline)
		}
		names += "," + o.baseline
	}
	list, err := chooseMethods(names, catalog.Of(o.op))
	if err != nil {
		return nil, err
	}
	if o.team != nil {
		if list, err = o.shareable(list); err != nil {
			return nil, err
		}
	}
	devices, err := chooseDevices(o.device, o.team)
	if err != nil {
		return nil, err
	}
	var places []placement
	for _, m := range list {
		before := len(places)
		for _, set := range devices {
			if m.Runs(set) && (!o.stream || slices.Contains(m.Streams, set.Kind())) {
				places = append(places, placement{m, set})
			}
		}
		if len(places) > before || namesAll(o.method) || !listsMethod(names, m.Name) {
			continue
		}
		if o.stream {
			return nil, o.noStream(m.Name+" does not stream", devices)
		}
		want := m.Kinds()[0]
		if want == string(device.CUDA) {
			want = device.GPU(0).String()
		}
		return nil, usagef("%s does not run on %s; use --device %s", m.Name, joined(devices), want)
	}
	if len(places) == 0 && o.stream {
		return nil, o.noStream("no method streams", devices)
	}
	return places, nil
}

// shareable returns the methods of which ranks can share the problems; one that was asked for by name has to be.
func (o operationOptions) shareable(list method.Catalog) (method.Catalog, error) {
	able := slices.DeleteFunc(slices.Clone(list), func(m method.Method) bool { return !ranks.Supports(m) })
	for _, m := range list {
		if !namesAll(o.method) && !ranks.Supports(m) {
			return nil, usagef("the bits of %s depend on how ranks share the terms; over ranks %s is computed by %s", m.Name,
				o.op.Name, strings.Join(slices.DeleteFunc(catalog.Of(o.op), func(m method.Method) bool {
					return !ranks.Supports(m)
				}).Names(), ", "))
		}
	}
	return able, nil
}

// noStream is the error about --stream; what names methods with a verb.
func (o operationOptions) noStream(what string, devices []device.Set) error {
	var able []string
	for _, m := range catalog.Of(o.op) {
		if kinds := mapped(m.Streams, func(k device.Kind) string { return string(k) }); len(kinds) > 0 {
			able = append(able, fmt.Sprintf("--method %s on %s", m.Name, strings.Join(kinds, ", ")))
		}
	}
	if len(able) == 0 {
		return usagef("--stream goes with the answer about files, as mpbench %s FILE; no method streams", o.op.Name)
	}
	return usagef("--stream goes with %s; %s on %s", strings.Join(able, ", "), what, joined(devices))
}

// config returns the complete configuration of a method, which is constructed once to find out whether it works.
func (o operationOptions) config(on placement, precision int) (method.Config, error) {
	c, err := on.method.Complete(method.Config{
		Precision: precision, Devices: on.set, Threads: o.threads, MaxBytes: memoryLimit(), Stream: o.stream,
		Options: o.choices,
	})
	if err != nil {
		return c, err
	}
	key := on.method.Case(c)
	if o.tried[key] {
		return c, nil
	}
	o.tried[key] = true
	engine, err := on.method.New(o.team.local(c))
	if err != nil {
		return c, err
	}
	return c, engine.Close()
}

// memoryLimit is what methods may take of this machine's memory: seven eighths, or 0 where its size is not known.
func memoryLimit() int64 {
	have := datasets.MemoryBytes()
	return have - have/8
}

// guide is what help says of an operation's command, and the precision that it begins with.
type guide struct{ short, long, example, precision string }

// guideOf returns the guide of an operation; of one without its own, what holds for all.
func guideOf(o *op.Operation) guide {
	if g, ok := guides[o]; ok {
		return g
	}
	what := o.Summary
	if o.Scalar {
		what = "the " + what
	}
	if strings.Contains(what, ",") {
		what += ","
	}
	return guide{
		short: "Compute " + what + " by many methods and compare with the exact result",
		long: "Computes " + what + ` of each data set by each method at each precision. Every component is
compared with the exact one and with the method's proved error bound. A row shows the component with
the largest relative error.`,
		example:   "  mpbench " + o.Name + " --precision 106",
		precision: "106",
	}
}

var guides = map[*op.Operation]guide{
	op.Sum: {
		short: "Sum numbers by many methods and compare with the exact sum",
		long: `Sums each data set by each method at each precision. Every result is compared with the exact sum
of the same numbers and with the method's proved error bound, and timed.

A row's error is |value - exact| / |exact|, never capped; correct bits are -log2 of it. The
time is that of the summation alone, of numbers converted to the method's format beforehand; the
conversion is shown apart.`,
		example: `  seq 1 100 | mpbench sum -
  mpbench sum --precision 240
  mpbench sum --precision 30,60,120,240 --moduli-bits 16 --dataset mcnamee1,mcnamee2,mcnamee3
  mpbench sum --input data.npy --method float64,kahan,reduce2 --export run.jsonl
  mpbench sum --dataset gensum --method neumaier,reduce1 -L cond=1e0..1e60:x1e10
  mpbench sum --dataset uniform01 --method reduce1,reduce2 -L n=2^10..2^20:x4 --format csv`,
		precision: "240",
	},
	op.Dot: {
		short: "Multiply vectors by many methods and compare with the exact dot product",
		long: `Computes the dot product of each pair of vectors by each method at each precision. Every result is
compared with the exact dot product of the same numbers and with the method's proved error bound, and
timed. The condition number is 2 sum|x_i y_i| / |sum x_i y_i|.`,
		example: `  mpbench dot --precision 120
  mpbench dot --dataset gendot --method float64,dot2,deferred -L cond=1e5..1e100:x1e5
  mpbench dot --input-x x.npy --input-y y.npy --precision 106,212`,
		precision: "240",
	},
	op.Gemv: {
		short: "Multiply a matrix by a vector by many methods and compare with the exact result",
		long: `Computes y = alpha*op(A)*x + beta*y for an M x N matrix A, op(A) = A or its transpose, by each method at
each precision. Every component is compared with the exact one and with the method's proved error
bound. A row shows the component with the largest relative error.

The numbers of a data set are float64, or, with --full, of as many bits as the precision. The time is
that of the product alone; converting A and x to the method's format is a phase of its own, and a
converted matrix can be used again. deferred keeps A in 4 bytes times the number of moduli per element.

On a GPU, deferred leaves a matrix in host memory that does not fit the GPU's in this form, or with
--stream any: every run copies it in panels of columns, while others become residues and are multiplied.
Its time is then by the clock, bounded by the bus.`,
		example: `  mpbench gemv --n 1000 --transpose
  mpbench gemv --n 500 --precision 106,212,424 --full --method rns-split,deferred --profile
  mpbench gemv --n 100 --dataset gengemv --method float64,rns-basic,deferred -L cond=1e10..1e60:x1e10
  mpbench gemv --n 20000 --method deferred --precision 53 --device cuda:0 --stream --profile
  mpbench gemv --input-a A.npy --input-x x.npy --method deferred --precision 53 --save-result y.npy`,
		precision: "106",
	},
}
