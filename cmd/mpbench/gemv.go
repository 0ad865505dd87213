package main

import (
	"context"
	"fmt"
	"math/big"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mpbench/datasets"
	"mpbench/pkg/bench"
	"mpbench/pkg/gemv"
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
converted matrix can be used again. deferred keeps A in 4 bytes times the number of moduli per element.`,
		Example: `  mpbench gemv --n 1000 --transpose
  mpbench gemv --n 500 --precision 106,212,424 --full --method rns-split,deferred --profile
  mpbench gemv --n 100 --dataset gengemv --method float64,rns-basic,deferred -L cond=1e10..1e60:x1e10
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
	options := gemv.Options{ModuliBits: o.moduliBits, Rounding: rounding, Alignment: alignment, BlockSize: o.blockSize, Threads: o.threads}
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
		measure: func(ctx context.Context, data any, progress func(bench.SampleStatus)) (bench.Record, bool, error) {
			sampler.Progress = progress
			in := data.(bench.GemvInput)
			result, ok, err := bench.MeasureGemv(ctx, sampler, m, options, in)
			if ok {
				details.add(result, in)
			}
			return result.Record, ok, err
		},
		prepare: func(data any) (func(), error) { return bench.PrepareGemv(m, options, data.(bench.GemvInput)) },
	}
}

// matrixSource is what makes a problem.
type matrixSource struct {
	key      string
	fromFile bool
	load     func() (any, error)
}

// matrixSources returns the problems for a precision, which matters with --full only.
func (o gemvOptions) matrixSources(precision int) ([]matrixSource, error) {
	general, err := o.matrixOptions(precision)
	if err != nil {
		return nil, err
	}
	shape, err := o.shape()
	if err != nil {
		return nil, err
	}
	specs, err := o.specs()
	if err != nil {
		return nil, err
	}
	var list []matrixSource
	for _, s := range specs {
		list = append(list, matrixSource{o.matrixKey(s, general), false, func() (any, error) {
			d, err := datasets.GenerateMatrix(s, general)
			if err != nil {
				return nil, err
			}
			return shape.input(d)
		}})
	}
	if o.inputA == "" && (o.inputX != "" || o.inputY != "") {
		return nil, usagef("--input-x and --input-y go with --input-a")
	}
	if o.inputA != "" && o.inputX == "" {
		return nil, usagef("--input-a needs --input-x, the vector to multiply by")
	}
	if o.inputA != "" {
		list = append(list, matrixSource{o.inputA + "*" + o.inputX + o.suffix(), true, func() (any, error) {
			d, err := o.loadFiles()
			if err != nil {
				return nil, err
			}
			return shape.input(d)
		}})
	}
	return list, nil
}

func (o gemvOptions) matrixOptions(precision int) (datasets.MatrixOptions, error) {
	general := datasets.MatrixOptions{Seed: o.seed, Trans: o.transpose}
	if o.full {
		general.Bits = precision
	}
	var err error
	if o.m != "" {
		if general.M, err = datasets.ParseCount(o.m); err != nil {
			return general, usagef("--m %s: want an integer of at least 1", o.m)
		}
	}
	if o.n != "" {
		if general.N, err = datasets.ParseCount(o.n); err != nil {
			return general, usagef("--n %s: want an integer of at least 1", o.n)
		}
	}
	return general, nil
}

// matrixKey names a data set with the general options.
func (o gemvOptions) matrixKey(s datasets.Spec, general datasets.MatrixOptions) string {
	key := s.String()
	for _, p := range []struct {
		name  string
		value int
	}{{"n", general.N}, {"m", general.M}, {"bits", general.Bits}} {
		if p.value != 0 {
			key = withParameter(key, p.name, strconv.Itoa(p.value))
		}
	}
	if o.seed != 1 {
		key = withParameter(key, "seed", strconv.FormatUint(o.seed, 10))
	}
	return key + o.suffix()
}

// suffix says what a problem has beside its data.
func (o gemvOptions) suffix() string {
	text := ""
	if o.inputY != "" {
		text = " + " + o.inputY
	}
	if o.transpose {
		text += " T"
	}
	if o.alpha != "1" || o.beta != "0" {
		text += " alpha=" + o.alpha + " beta=" + o.beta
	}
	if o.lda != 0 || o.incX != 1 || o.incY != 1 {
		text += fmt.Sprintf(" lda=%d incx=%d incy=%d", o.lda, o.incX, o.incY)
	}
	return text
}

// loadFiles reads the matrix and the vectors.
func (o gemvOptions) loadFiles() (*datasets.Matrix, error) {
	d, err := datasets.LoadMatrix(o.inputA)
	if err != nil {
		return nil, err
	}
	d.Trans = o.transpose
	rows, terms := d.M, d.N
	if o.transpose {
		rows, terms = terms, rows
	}
	d.X, d.SHA256X, err = loadVector(o.inputX, "x", terms, d)
	if err != nil {
		return nil, err
	}
	d.Y = make([]float64, rows)
	if o.inputY != "" {
		d.Y, d.SHA256Y, err = loadVector(o.inputY, "y", rows, d)
	}
	return d, err
}

func loadVector(path, name string, n int, d *datasets.Matrix) ([]float64, string, error) {
	v, err := datasets.Load(path, datasets.Double)
	switch {
	case err != nil:
		return nil, "", err
	case v.Wide != nil:
		return nil, "", inputOutputf("%s holds decimals wider than float64; a matrix from a file goes with float64 vectors", path)
	case v.N != n:
		return nil, "", inputOutputf("%s holds %d numbers; %s needs %d for the %d x %d matrix %s", path, v.N, name, n, d.M, d.N, d.Name)
	}
	return v.Float64, v.SHA256, nil
}

// problemShape is how a problem is laid out in memory, and its factors.
type problemShape struct {
	op              gemv.Op
	lda, incX, incY int
	alpha, beta     gemv.Scalar
}

func (o gemvOptions) shape() (problemShape, error) {
	s := problemShape{lda: o.lda, incX: o.incX, incY: o.incY}
	if o.transpose {
		s.op = gemv.Trans
	}
	var err error
	if s.alpha, err = parseScalar("alpha", o.alpha); err != nil {
		return s, err
	}
	if s.beta, err = parseScalar("beta", o.beta); err != nil {
		return s, err
	}
	if o.incX == 0 || o.incY == 0 {
		return s, usagef("--incx %d --incy %d: want increments that are not 0", o.incX, o.incY)
	}
	return s, nil
}

// parseScalar reads a factor: the nearest float64.
func parseScalar(name, text string) (gemv.Scalar, error) {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return gemv.Scalar{}, usagef("--%s %s: want a number in the range of float64", name, text)
	}
	return gemv.Number(x), nil
}

// input lays the data out and computes the reference.
func (s problemShape) input(d *datasets.Matrix) (any, error) {
	lda := s.lda
	if lda == 0 {
		lda = max(1, d.M)
	}
	if lda < max(1, d.M) {
		return nil, usagef("--lda %d: want at least the %d rows of A", lda, d.M)
	}
	return bench.NewGemvInput(d, gemv.Problem{
		Op: s.op, M: d.M, N: d.N, LDA: lda, IncX: s.incX, IncY: s.incY, Alpha: s.alpha, Beta: s.beta,
		A: gemv.Numbers{Float64: columnsApart(d.A, d.M, lda), Wide: columnsApart(d.WideA, d.M, lda)},
		X: gemv.Numbers{Float64: apart(d.X, s.incX), Wide: apart(d.WideX, s.incX)},
		Y: gemv.Numbers{Float64: apart(d.Y, s.incY), Wide: apart(d.WideY, s.incY)},
	})
}

// columnsApart lays out a matrix of m rows, stored by columns, with the leading dimension lda. Numbers between the columns are 0,
// or missing.
func columnsApart[T float64 | *big.Float](a []T, m, lda int) []T {
	if a == nil || lda == m || m == 0 {
		return a
	}
	wide := make([]T, len(a)/m*lda)
	for j := 0; j*m < len(a); j++ {
		copy(wide[j*lda:], a[j*m:(j+1)*m])
	}
	return wide
}

// apart lays out a vector with an increment.
func apart[T float64 | *big.Float](x []T, inc int) []T {
	if x == nil || inc == 1 {
		return x
	}
	step := max(inc, -inc)
	wide := make([]T, (len(x)-1)*step+1)
	for i, v := range x {
		if inc < 0 {
			i = len(x) - 1 - i
		}
		wide[i*step] = v
	}
	return wide
}
