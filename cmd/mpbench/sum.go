package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mpbench/datasets"
	"mpbench/pkg/bench"
	"mpbench/pkg/record"
	"mpbench/pkg/reduce"
	"mpbench/pkg/sampling"
)

// newSum builds the command sum.
func newSum() *cobra.Command {
	options := defaultSumOptions()
	var run runOptions
	cmd := &cobra.Command{
		Use:   "sum",
		Short: "Sum numbers by many methods and compare with the exact sum",
		Long: `Sums each data set by each method at each precision. Every result is compared with the exact sum
of the same numbers and with the method's proved error bound, and timed.

A row's error is |value - exact| / |exact|, never capped; correct bits are -log2 of it. The
time is that of the summation alone, of numbers converted to the method's format beforehand; the
conversion is shown apart.`,
		Example: `  mpbench sum --precision 240
  mpbench sum --precision 30,60,120,240 --moduli-bits 16 --dataset mcnamee1,mcnamee2,mcnamee3
  mpbench sum --input data.npy --method float64,kahan,reduce2 --export run.jsonl
  mpbench sum --dataset gensum --method neumaier,reduce1 -L cond=1e0..1e60:x1e10
  mpbench sum --dataset uniform01 --method reduce1,reduce2 -L n=2^10..2^20:x4 --format csv`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return run.run(cmd, options.plan) },
	}
	options.addFlags(cmd.Flags())
	run.addFlags(cmd)
	completeSettings(cmd, namesOf(reduce.Methods(), methodName), datasets.Names())
	completeFiles(cmd, "input", numberFiles)
	complete(cmd, "reading", []string{"double", "exact"})
	return cmd
}

func methodName(m reduce.Method) string { return m.Name }

// defaultDatasets are the sets of the 2018 paper and its timing data.
const defaultDatasets = "mcnamee1,mcnamee2,mcnamee3,uniform01:n=1000000"

// sumOptions are the flags of sum that -L can scan: they say what is measured and how.
type sumOptions struct {
	settings
	input     []string
	stream    bool
	reading   string
	n         string
	blocks    int
	blockSize int
}

func defaultSumOptions() sumOptions {
	return sumOptions{settings: defaultSettings(), reading: "double", blocks: reduce.DefaultBlocks, blockSize: reduce.DefaultBlockSize}
}

// addFlags declares the flags with o's present values as defaults.
func (o *sumOptions) addFlags(f *pflag.FlagSet) {
	o.addChoices(f, defaultDatasets)
	f.StringArrayVarP(&o.input, "input", "i", o.input, "sum the numbers in `file` (.npy .txt .csv); repeatable")
	f.BoolVar(&o.stream, "stream", o.stream, "read .npy files piece by piece, in constant memory, with method deferred")
	o.addReduceFlags(f)
}

// addReduceFlags declares what sum and dot have in common.
func (o *sumOptions) addReduceFlags(f *pflag.FlagSet) {
	f.StringVar(&o.reading, "reading", o.reading, "decimals of at most 17 digits in a text file: double or exact")
	f.StringVarP(&o.n, "n", "n", o.n, "number of terms of the data sets that leave it open, as 1000000, 1e6 or 2^20")
	f.IntVar(&o.blocks, "blocks", o.blocks, "reduce3, reduce3p: number of blocks")
	f.IntVar(&o.blockSize, "block-size", o.blockSize, "reduce3, reduce3p: terms that a block adds side by side, a power of two")
	o.settings.addFlags(f)
}

func (o sumOptions) plan(scans []scan) ([]job, error) {
	return planAll(o, scans, sumOptions.with, sumOptions.jobs)
}

// with returns the options with a flag, or else a parameter of the data sets, set to a value.
func (o sumOptions) with(name, value string) (sumOptions, error) {
	specs, err := o.specs()
	if err == nil {
		err = setByScan(o.addFlags, specs, &o.dataset, name, value)
	}
	return o, err
}

func (o sumOptions) specs() ([]datasets.Spec, error) {
	if o.dataset == "" && len(o.input) > 0 {
		return nil, nil
	}
	if o.dataset == "" {
		o.dataset = defaultDatasets
	}
	return parseSpecs(o.dataset, datasets.Parse)
}

// jobs lists the jobs of one combination.
func (o sumOptions) jobs() ([]job, error) {
	options, err := o.reduceOptions()
	if err != nil {
		return nil, err
	}
	sources, err := o.sources()
	if err != nil {
		return nil, err
	}
	methods, err := o.methods()
	if err != nil {
		return nil, err
	}
	construct := func(m reduce.Method, options reduce.Options) error { _, err := m.New(options); return err }
	places, err := o.place(methods, reduce.Method.RunsOn, func(m reduce.Method) []string { return m.Devices })
	if err != nil {
		return nil, err
	}
	return reduceJobs(o, places, options, sources, construct, o.job)
}

// place puts the methods on the devices of --device.
func (o sumOptions) place(methods []reduce.Method, runs func(reduce.Method, string) bool, kinds func(reduce.Method) []string) ([]placement[reduce.Method], error) {
	devices, err := chooseDevices(o.device)
	if err != nil {
		return nil, err
	}
	return place(methods, o.method != "all", devices, methodName, runs, kinds)
}

// reduceJobs lists the jobs of all methods, precisions and sources; construct finds out whether a method works with its options.
func reduceJobs[S any](
	o sumOptions, places []placement[reduce.Method], options reduce.Options, sources []S,
	construct func(reduce.Method, reduce.Options) error, newJob func(S, reduce.Method, reduce.Options) job,
) ([]job, error) {
	precisions, err := o.precisions()
	if err != nil {
		return nil, err
	}
	var jobs []job
	for _, on := range places {
		m := on.method
		options.Device = on.device
		for _, p := range precisions {
			options.Precision = p
			if err := m.Accepts(p); err != nil {
				return nil, err
			}
			if err := o.try(fmt.Sprint(reduceKey(m, options)), func() error { return construct(m, options) }); err != nil {
				return nil, err
			}
			for _, s := range sources {
				jobs = append(jobs, newJob(s, m, options))
			}
			if m.FixedBits != 0 {
				break
			}
		}
	}
	return jobs, nil
}

// methods returns the methods of --method; with --stream those that can.
func (o sumOptions) methods() ([]reduce.Method, error) {
	methods, err := chooseMethods(o.method, sumMethods(), methodName)
	if err != nil || !o.stream {
		return methods, err
	}
	if len(o.input) == 0 || o.dataset != "" {
		return nil, usagef("--stream reads files: name them with --input, without --dataset")
	}
	var able []reduce.Method
	for _, m := range methods {
		if m.NewStream != nil {
			able = append(able, m)
		} else if o.method != "all" {
			return nil, usagef("%s needs all numbers at once; --stream goes with --method deferred", m.Name)
		}
	}
	return able, nil
}

// job is one method at one precision on one source.
func (o sumOptions) job(s source, m reduce.Method, options reduce.Options) job {
	sampler := o.sampler
	j := job{label: label(s.key, m, options), key: s.key + fmt.Sprint(reduceKey(m, options), sampler), data: s.key, fromFile: s.path != ""}
	if o.stream {
		j.key += " stream"
		j.load = func() (any, error) { return datasets.OpenStream(s.path) }
		var in *bench.StreamInput
		j.measure = func(ctx context.Context, data any, progress func(sampling.SampleStatus)) (record.Record, bool, error) {
			if in == nil {
				reference, err := bench.NewStreamInput(ctx, data.(*datasets.Stream))
				if err != nil {
					return record.Record{}, false, ignoreCancel(ctx, err)
				}
				in = &reference
			}
			sampler.Progress = progress
			return bench.MeasureStream(ctx, sampler, m, options, *in)
		}
		return j
	}
	return o.inMemory(j, s, m, options)
}

// ignoreCancel returns nil for the error of an interruption, which is reported elsewhere.
func ignoreCancel(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// inMemory completes a job on terms that are held in memory.
func (o sumOptions) inMemory(j job, s source, m reduce.Method, options reduce.Options) job {
	sampler := o.sampler
	return job{
		label: j.label, key: j.key, data: j.data, fromFile: j.fromFile, bits: bitsOf(m, options),
		load: func() (any, error) {
			data, err := s.load()
			if err != nil {
				return nil, err
			}
			return bench.NewSumInput(data), nil
		},
		measure: func(ctx context.Context, data any, progress func(sampling.SampleStatus)) (record.Record, bool, error) {
			sampler.Progress = progress
			return bench.MeasureSum(ctx, sampler, m, options, data.(bench.SumInput))
		},
		prepare: func(data any) (bench.Operation, error) { return bench.PrepareSum(m, options, data.(bench.SumInput)) },
	}
}

func label(data string, m reduce.Method, o reduce.Options) string {
	if m.FixedBits != 0 {
		return data + " " + m.Name + onDevice(o.Device)
	}
	return fmt.Sprintf("%s %s %d bits%s", data, m.Name, o.Precision, onDevice(o.Device))
}

// bitsOf returns the precision that a method is asked for, 0 for a format of fixed precision.
func bitsOf(m reduce.Method, o reduce.Options) int {
	if m.FixedBits != 0 {
		return 0
	}
	return o.Precision
}

// reduceKey is what a result of the method depends on.
func reduceKey(m reduce.Method, o reduce.Options) []any {
	fields := []any{m.Name, " ", o.Device, " "}
	if m.FixedBits == 0 {
		fields = append(fields, o.Precision)
	}
	if m.Format == "rns" {
		fields = append(fields, o.ModuliBits, o.Rounding, o.Alignment)
	}
	switch m.Name {
	case "reduce3", "reduce3p":
		fields = append(fields, o.Blocks, o.BlockSize, o.Threads)
	case "deferred":
		fields = append(fields, o.Threads)
	}
	return fields
}

func (o sumOptions) reduceOptions() (reduce.Options, error) {
	if o.blocks == 0 || o.blockSize == 0 {
		return reduce.Options{}, usagef("--blocks %d --block-size %d: want positive numbers", o.blocks, o.blockSize)
	}
	rounding, alignment, err := o.arithmetic()
	return reduce.Options{
		ModuliBits: o.moduliBits, Rounding: rounding, Alignment: alignment, Blocks: o.blocks, BlockSize: o.blockSize, Threads: o.threads,
	}, err
}

// source is what makes the terms of a job: a data set with its options, or a file.
type source struct {
	key     string // the same for the same terms
	spec    datasets.Spec
	options datasets.Options
	path    string
	reading datasets.Reading
}

func (s source) load() (*datasets.Data, error) {
	if s.path != "" {
		return datasets.Load(s.path, s.reading)
	}
	return datasets.Generate(s.spec, s.options)
}

func (o sumOptions) sources() ([]source, error) {
	options, err := generalOptions(o.n, o.seed)
	if err != nil {
		return nil, err
	}
	reading, err := datasets.ParseReading(o.reading)
	if err != nil {
		return nil, err
	}
	specs, err := o.specs()
	if err != nil {
		return nil, err
	}
	var list []source
	for _, s := range specs {
		list = append(list, source{key: specKey(s, o.n, o.seed), spec: s, options: options})
	}
	for _, path := range o.input {
		list = append(list, source{key: path + readingSuffix(reading), path: path, reading: reading})
	}
	return list, nil
}

// readingSuffix tells data that are read exactly from those read as usual.
func readingSuffix(r datasets.Reading) string {
	if r == datasets.Exact {
		return " read exactly"
	}
	return ""
}

// generalOptions are the options that all data sets take.
func generalOptions(n string, seed uint64) (datasets.Options, error) {
	options := datasets.Options{Seed: seed}
	if n != "" {
		count, err := datasets.ParseCount(n)
		if err != nil {
			return options, err
		}
		options.N = &count
	}
	return options, nil
}

// specKey names a spec with its general options.
func specKey(s datasets.Spec, n string, seed uint64) string {
	key := s.String()
	if n != "" {
		key = withParameter(key, "n", n)
	}
	if s.Set().Seeded && seed != 1 {
		key = withParameter(key, "seed", strconv.FormatUint(seed, 10))
	}
	return key
}
