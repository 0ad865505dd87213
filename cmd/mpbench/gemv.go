package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mpbench/datasets"
	"mpbench/pkg/bench"
	"mpbench/pkg/gemv"
	"mpbench/pkg/record"
	"mpbench/pkg/sampling"
)

// newGemv builds the command gemv.
func newGemv() *cobra.Command {
	options := defaultGemvOptions()
	var run runOptions
	var details gemvDetails
	cmd := &cobra.Command{
		Use:   "gemv",
		Short: "Multiply a matrix by a vector by many methods and compare with the exact result",
		Long: `Computes y = alpha*op(A)*x + beta*y for an M x N matrix A, op(A) = A or its transpose, by each method at
each precision. Every component is compared with the exact one and with the method's proved error
bound. A row shows the component with the largest relative error.

The numbers of a data set are float64, or, with --full, of as many bits as the precision. The time is
that of the product alone; converting A and x to the method's format is a phase of its own, and a
converted matrix can be used again. deferred keeps A in 4 bytes times the number of moduli per element.

On a GPU, deferred leaves a matrix in host memory that does not fit the GPU's in this form, or with
--stream any: every run copies it in panels of columns, while others become residues and are multiplied.
Its time is then by the clock, bounded by the bus.`,
		Example: `  mpbench gemv --n 1000 --transpose
  mpbench gemv --n 500 --precision 106,212,424 --full --method rns-split,deferred --profile
  mpbench gemv --n 100 --dataset gengemv --method float64,rns-basic,deferred -L cond=1e10..1e60:x1e10
  mpbench gemv --n 20000 --method deferred --precision 53 --device cuda:0 --stream --profile
  mpbench gemv --input-a A.npy --input-x x.npy --method deferred --precision 53 --save-result y.npy`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := details.check(options, run); err != nil {
				return err
			}
			options.details = &details
			if err := run.run(cmd, options.plan); err != nil {
				return err
			}
			return details.write(cmd)
		},
	}
	options.addFlags(cmd.Flags())
	details.addFlags(cmd.Flags())
	run.addFlags(cmd)
	completeSettings(cmd, namesOf(gemv.Methods(), gemvName), datasets.MatrixNames())
	complete(cmd, "tune", []string{"auto", "force", "off"})
	completeFiles(cmd, "input-a", matrixFiles)
	completeFiles(cmd, "input-x", numberFiles)
	completeFiles(cmd, "input-y", numberFiles)
	completeFiles(cmd, "save-result", vectorFiles)
	return cmd
}

func gemvName(m gemv.Method) string { return m.Name }

// defaultMatrix is the timing data of the 2020 paper.
const defaultMatrix = "uniform11"

// gemvOptions are the flags of gemv that -L can scan.
type gemvOptions struct {
	settings
	m, n                   string
	transpose, full        bool
	lda, incX, incY        int
	alpha, beta            string
	blockSize              int
	tune                   string
	stream                 bool
	inputA, inputX, inputY string

	details *gemvDetails
}

func defaultGemvOptions() gemvOptions {
	o := gemvOptions{settings: defaultSettings(), alpha: "1", beta: "0", incX: 1, incY: 1, blockSize: gemv.DefaultBlockSize, tune: gemv.TuneAuto.String()}
	o.precision = "106"
	return o
}

func (o *gemvOptions) addFlags(f *pflag.FlagSet) {
	o.addChoices(f, defaultMatrix)
	f.StringVar(&o.m, "m", o.m, "rows of A (default as many as columns)")
	f.StringVarP(&o.n, "n", "n", o.n, "columns of A (default 1000)")
	f.BoolVarP(&o.transpose, "transpose", "t", o.transpose, "multiply by the transpose of A")
	f.BoolVar(&o.full, "full", o.full, "numbers of as many bits as the precision, in data sets that have them")
	f.StringVar(&o.alpha, "alpha", o.alpha, "factor of op(A)*x")
	f.StringVar(&o.beta, "beta", o.beta, "factor of y; with 0, y is overwritten")
	f.IntVar(&o.lda, "lda", o.lda, "leading dimension of A, which is stored by columns; 0 for m")
	f.IntVar(&o.incX, "incx", o.incX, "increment of x; negative from the end")
	f.IntVar(&o.incY, "incy", o.incY, "increment of y; negative from the end")
	f.StringVar(&o.inputA, "input-a", o.inputA, "multiply the matrix in `file` (.npy of two dimensions) ...")
	f.StringVar(&o.inputX, "input-x", o.inputX, "... by the vector in `file` (.npy .txt .csv)")
	f.StringVar(&o.inputY, "input-y", o.inputY, "... and add beta times that in `file`")
	f.IntVar(&o.blockSize, "block-size", o.blockSize, "rns-split: numbers of a row that are added side by side")
	f.BoolVar(&o.stream, "stream", o.stream, "leave the matrix in host memory and stream it through the GPU in every run, with deferred;\ndone by itself where the GPU's memory is too small")
	f.StringVar(&o.tune, "tune", o.tune, "launch parameters on a GPU: auto finds them at first use and keeps them, force finds them anew,\noff takes defaults; never changes a result")
	o.settings.addFlags(f)
}

func (o gemvOptions) plan(scans []scan) ([]job, error) {
	jobs, err := planAll(o, scans, gemvOptions.with, gemvOptions.jobs)
	if err != nil {
		return nil, err
	}
	return jobs, o.details.checkJobs(len(jobs))
}

func (o gemvOptions) with(name, value string) (gemvOptions, error) {
	specs, err := o.specs()
	if err == nil {
		err = setByScan(o.addFlags, specs, &o.dataset, name, value)
	}
	return o, err
}

func (o gemvOptions) specs() ([]datasets.Spec, error) {
	if o.dataset == "" && o.inputA != "" {
		return nil, nil
	}
	if o.dataset == "" {
		o.dataset = defaultMatrix
	}
	return parseSpecs(o.dataset, datasets.ParseMatrix)
}

// jobs lists the jobs of one combination.
func (o gemvOptions) jobs() ([]job, error) {
	rounding, alignment, err := o.arithmetic()
	if err != nil {
		return nil, err
	}
	options := gemv.Options{ModuliBits: o.moduliBits, Rounding: rounding, Alignment: alignment, BlockSize: o.blockSize, Threads: o.threads, Stream: o.stream}
	if options.Tune, err = gemv.ParseTune(o.tune); err != nil {
		return nil, usagef("--tune: %v", err)
	}
	if o.blockSize < 1 {
		return nil, usagef("--block-size %d: want a positive number", o.blockSize)
	}
	methods, err := chooseMethods(o.method, gemvMethods(), gemvName)
	if err != nil {
		return nil, err
	}
	precisions, err := o.precisions()
	if err != nil {
		return nil, err
	}
	devices, err := chooseDevices(o.device)
	if err != nil {
		return nil, err
	}
	places, err := place(methods, o.method != "all", devices, gemvName, gemv.Method.RunsOn, func(m gemv.Method) []string { return m.Devices })
	if err != nil {
		return nil, err
	}
	var jobs []job
	for _, p := range precisions {
		sources, err := o.matrixSources(p)
		if err != nil {
			return nil, err
		}
		options.Precision = p
		for _, on := range places {
			m := on.method
			options.Device = on.device
			if err := o.checkStream(m, on.device); err != nil {
				return nil, err
			}
			if err := m.Accepts(p); err != nil {
				return nil, err
			}
			if err := o.try(fmt.Sprint(m.Name, options), func() error { _, err := m.New(options); return err }); err != nil {
				return nil, err
			}
			for _, s := range sources {
				jobs = append(jobs, o.gemvJob(s, m, options))
			}
		}
	}
	return jobs, nil
}

// checkStream refuses --stream for what keeps the matrix elsewhere.
func (o gemvOptions) checkStream(m gemv.Method, device string) error {
	if o.stream && (m.Name != "deferred" || device == "cpu") {
		return usagef("--stream goes with --method deferred on a GPU, such as --device cuda:0; not with %s on %s", m.Name, device)
	}
	return nil
}

func (o gemvOptions) gemvJob(s matrixSource, m gemv.Method, options gemv.Options) job {
	sampler, details := o.sampler, o.details
	fields := []any{s.key, m.Name, sampler, options.Threads, onDevice(options.Device)}
	name, bits := s.key+" "+m.Name, 0
	if m.FixedBits == 0 {
		bits = options.Precision
		fields = append(fields, options)
		name += fmt.Sprintf(" %d bits", options.Precision)
	}
	name += onDevice(options.Device)
	return job{
		label: name, key: fmt.Sprint(fields...), data: s.key, fromFile: s.fromFile, bits: bits, load: s.load,
		measure: func(ctx context.Context, data any, progress func(sampling.SampleStatus)) (record.Record, bool, error) {
			sampler.Progress = progress
			in := data.(bench.GemvInput)
			result, ok, err := bench.MeasureGemv(ctx, sampler, m, options, in)
			if ok {
				details.add(result, in)
			}
			return result.Record, ok, err
		},
		prepare: func(data any) (bench.Operation, error) { return bench.PrepareGemv(m, options, data.(bench.GemvInput)) },
	}
}
