package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mpbench/datasets"
	"mpbench/pkg/bench"
	"mpbench/pkg/record"
	"mpbench/pkg/reduce"
	"mpbench/pkg/sampling"
)

// newDot builds the command dot.
func newDot() *cobra.Command {
	options := dotOptions{sumOptions: defaultSumOptions()}
	var run runOptions
	cmd := &cobra.Command{
		Use:   "dot",
		Short: "Multiply vectors by many methods and compare with the exact dot product",
		Long: `Computes the dot product of each pair of vectors by each method at each precision. Every result is
compared with the exact dot product of the same numbers and with the method's proved error bound, and
timed. The condition number is 2 sum|x_i y_i| / |sum x_i y_i|.`,
		Example: `  mpbench dot --precision 120
  mpbench dot --dataset gendot --method float64,dot2,deferred -L cond=1e5..1e100:x1e5
  mpbench dot --input-x x.npy --input-y y.npy --precision 106,212`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return run.run(cmd, options.plan) },
	}
	options.addFlags(cmd.Flags())
	run.addFlags(cmd)
	completeSettings(cmd, namesOf(reduce.DotMethods(), methodName), datasets.PairNames())
	completeFiles(cmd, "input-x", numberFiles)
	completeFiles(cmd, "input-y", numberFiles)
	complete(cmd, "reading", []string{"double", "exact"})
	return cmd
}

// defaultPairs are a well-conditioned pair of a million numbers and an ill-conditioned one.
const defaultPairs = "uniform11:n=1000000,gendot:cond=1e20"

// dotOptions are the flags of dot that -L can scan.
type dotOptions struct {
	sumOptions
	inputX, inputY string
}

func (o *dotOptions) addFlags(f *pflag.FlagSet) {
	o.addChoices(f, defaultPairs)
	f.StringVar(&o.inputX, "input-x", o.inputX, "multiply the vector in `file` (.npy .txt .csv) ...")
	f.StringVar(&o.inputY, "input-y", o.inputY, "... by that in `file`")
	o.addReduceFlags(f)
}

func (o dotOptions) plan(scans []scan) ([]job, error) {
	return planAll(o, scans, dotOptions.with, dotOptions.jobs)
}

func (o dotOptions) with(name, value string) (dotOptions, error) {
	specs, err := o.specs()
	if err == nil {
		err = setByScan(o.addFlags, specs, &o.dataset, name, value)
	}
	return o, err
}

func (o dotOptions) specs() ([]datasets.Spec, error) {
	if o.dataset == "" && o.inputX != "" {
		return nil, nil
	}
	if o.dataset == "" {
		o.dataset = defaultPairs
	}
	return parseSpecs(o.dataset, datasets.ParsePair)
}

// pairSource is what makes a pair of vectors.
type pairSource struct {
	key      string
	fromFile bool
	load     func() (any, error)
}

func (o dotOptions) pairSources() ([]pairSource, error) {
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
	var list []pairSource
	for _, s := range specs {
		list = append(list, pairSource{specKey(s, o.n, o.seed), false, func() (any, error) {
			pair, err := datasets.GeneratePair(s, options)
			if err != nil {
				return nil, err
			}
			return bench.NewDotInput(pair), nil
		}})
	}
	if (o.inputX == "") != (o.inputY == "") {
		return nil, usagef("--input-x and --input-y go together")
	}
	if o.inputX != "" {
		list = append(list, pairSource{o.inputX + "*" + o.inputY + readingSuffix(reading), true, func() (any, error) {
			return loadPair(o.inputX, o.inputY, reading)
		}})
	}
	return list, nil
}

func loadPair(pathX, pathY string, reading datasets.Reading) (any, error) {
	x, err := datasets.Load(pathX, reading)
	if err != nil {
		return nil, err
	}
	y, err := datasets.Load(pathY, reading)
	if err != nil {
		return nil, err
	}
	if x.N != y.N {
		return nil, inputOutputf("%s holds %d numbers and %s holds %d; a dot product needs as many of each", pathX, x.N, pathY, y.N)
	}
	return bench.NewDotInputFromFiles(x, y), nil
}

// jobs lists the jobs of one combination.
func (o dotOptions) jobs() ([]job, error) {
	options, err := o.reduceOptions()
	if err != nil {
		return nil, err
	}
	sources, err := o.pairSources()
	if err != nil {
		return nil, err
	}
	methods, err := chooseMethods(o.method, dotMethods(), methodName)
	if err != nil {
		return nil, err
	}
	construct := func(m reduce.Method, options reduce.Options) error { _, err := m.NewDot(options); return err }
	places, err := o.place(methods, reduce.Method.RunsDotOn, func(m reduce.Method) []string { return m.DotDevices })
	if err != nil {
		return nil, err
	}
	return reduceJobs(o.sumOptions, places, options, sources, construct, o.dotJob)
}

func (o dotOptions) dotJob(s pairSource, m reduce.Method, options reduce.Options) job {
	sampler := o.sampler
	return job{
		label: label(s.key, m, options), key: s.key + fmt.Sprint(reduceKey(m, options), sampler), data: s.key, fromFile: s.fromFile, bits: bitsOf(m, options), load: s.load,
		measure: func(ctx context.Context, data any, progress func(sampling.SampleStatus)) (record.Record, bool, error) {
			sampler.Progress = progress
			return bench.MeasureDot(ctx, sampler, m, options, data.(bench.DotInput))
		},
		prepare: func(data any) (bench.Operation, error) { return bench.PrepareDot(m, options, data.(bench.DotInput)) },
	}
}
