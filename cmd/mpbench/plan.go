package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"mpbench/datasets"
	"mpbench/pkg/bench"
	"mpbench/pkg/reduce"
	"mpbench/pkg/rns"
)

// sumOptions are the flags of sum that -L can scan: they say what is measured and how.
type sumOptions struct {
	precision  string
	method     string
	dataset    string
	input      []string
	reading    string
	n          string
	seed       uint64
	device     string
	threads    int
	blocks     int
	blockSize  int
	moduliBits int
	rounding   string
	alignment  string
	sampler    bench.Sampler
}

// defaultDatasets are the sets of the 2018 paper and its timing data.
const defaultDatasets = "mcnamee1,mcnamee2,mcnamee3,uniform01:n=1000000"

func defaultSumOptions() sumOptions {
	s := bench.DefaultSampler()
	s.MinTime, s.Timeout = 200*time.Millisecond, 2*time.Second
	return sumOptions{
		precision: "240", method: "all", reading: "double", seed: 1, device: "cpu",
		blocks: reduce.DefaultBlocks, blockSize: reduce.DefaultBlockSize, rounding: "truncate", alignment: "2018", sampler: s,
	}
}

// addFlags declares the flags with o's present values as defaults.
func (o *sumOptions) addFlags(f *pflag.FlagSet) {
	f.StringVarP(&o.precision, "precision", "p", o.precision, "precision in `bits`, a list; formats of fixed precision ignore it")
	f.StringVarP(&o.method, "method", "m", o.method, "methods, a list, or all; see mpbench methods")
	f.StringVarP(&o.dataset, "dataset", "d", o.dataset, "data sets, a list of name or name:key=value,...; see mpbench datasets\n(default "+defaultDatasets+")")
	f.StringArrayVarP(&o.input, "input", "i", o.input, "sum the numbers in `file` (.npy .txt .csv); repeatable")
	f.StringVar(&o.reading, "reading", o.reading, "decimals of at most 17 digits in a text file: double or exact")
	f.StringVarP(&o.n, "n", "n", o.n, "number of terms of the data sets that leave it open, as 1000000, 1e6 or 2^20")
	f.Uint64Var(&o.seed, "seed", o.seed, "seed of random data")
	f.StringVar(&o.device, "device", o.device, "device: cpu")
	f.IntVar(&o.threads, "threads", o.threads, "goroutines of parallel methods, 0 for all processors; never changes a result")
	f.IntVar(&o.blocks, "blocks", o.blocks, "reduce3: number of blocks")
	f.IntVar(&o.blockSize, "block-size", o.blockSize, "reduce3: threads of a block, a power of two")
	f.IntVar(&o.moduliBits, "moduli-bits", o.moduliBits, "width of the RNS moduli in bits, 0 for "+strconv.Itoa(rns.DefaultModuliBits)+"; the 2018 paper has 16")
	f.StringVar(&o.rounding, "rounding", o.rounding, "rounding of RNS numbers: truncate or nearest")
	f.StringVar(&o.alignment, "alignment", o.alignment, "alignment of RNS exponents: 2018 or blas")
	f.IntVar(&o.sampler.Warmup, "warmup", o.sampler.Warmup, "runs before the first sample")
	f.IntVar(&o.sampler.Runs, "runs", o.sampler.Runs, "samples at least")
	f.DurationVar(&o.sampler.MinTime, "min-time", o.sampler.MinTime, "time of all samples at least")
	f.DurationVar(&o.sampler.Timeout, "timeout", o.sampler.Timeout, "time of a case at most; 0 for no limit")
	f.Float64Var(&o.sampler.MaxNoise, "max-noise", o.sampler.MaxNoise, "go on sampling while the relative MAD is above this")
}

// source is what makes the terms of a case: a data set with its options, or a file.
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

// sumCase is one row of the results to be.
type sumCase struct {
	source  source
	method  reduce.Method
	options reduce.Options
	sampler bench.Sampler
}

func (c sumCase) label() string {
	label := c.source.key + " " + c.method.Name
	if c.method.FixedBits == 0 {
		label += fmt.Sprintf(" %d bits", c.options.Precision)
	}
	return label
}

// key is the same for cases that would give the same record.
func (c sumCase) key() string {
	o := c.options
	fields := []any{c.source.key, c.method.Name, c.sampler}
	if c.method.FixedBits == 0 {
		fields = append(fields, o.Precision)
	}
	if c.method.Format == "rns" {
		fields = append(fields, o.ModuliBits, o.Rounding, o.Alignment)
	}
	if c.method.Name == "reduce3" {
		fields = append(fields, o.Blocks, o.BlockSize, o.Threads)
	}
	return fmt.Sprint(fields...)
}

// planSum lists the cases of all combinations of the scans' values, those with the same terms together, each case once. Everything
// that can be wrong with the options is found here.
func planSum(o sumOptions, scans []scan) ([]sumCase, error) {
	combinations, err := combine(o, scans)
	if err != nil {
		return nil, err
	}
	var cases []sumCase
	seen := map[string]bool{}
	for _, c := range combinations {
		more, err := c.cases()
		if err != nil {
			return nil, err
		}
		for _, c := range more {
			if !seen[c.key()] {
				seen[c.key()] = true
				cases = append(cases, c)
			}
		}
	}
	return groupBySource(cases), nil
}

// groupBySource brings cases with the same terms together, in the order in which the terms come first.
func groupBySource(cases []sumCase) []sumCase {
	order := map[string]int{}
	for _, c := range cases {
		if _, ok := order[c.source.key]; !ok {
			order[c.source.key] = len(order)
		}
	}
	slices.SortStableFunc(cases, func(a, b sumCase) int { return order[a.source.key] - order[b.source.key] })
	return cases
}

// combine returns the options for every combination of the scans' values; the last scan varies fastest.
func combine(o sumOptions, scans []scan) ([]sumOptions, error) {
	list := []sumOptions{o}
	for _, s := range scans {
		var next []sumOptions
		for _, base := range list {
			for _, value := range s.values {
				c, err := base.with(s.name, value)
				if err != nil {
					return nil, err
				}
				next = append(next, c)
			}
		}
		if list = next; len(list) > maxScanValues {
			return nil, usagef("the scans make more than %d combinations", maxScanValues)
		}
	}
	return list, nil
}

// with returns the options with a flag, or else a parameter of the data sets, set to a value.
func (o sumOptions) with(name, value string) (sumOptions, error) {
	flags := pflag.NewFlagSet("scan", pflag.ContinueOnError)
	o.input = slices.Clone(o.input)
	o.addFlags(flags)
	if f := flags.Lookup(name); f != nil {
		if err := flags.Set(name, value); err != nil {
			return o, usagef("-L %s=%s: want %s", name, value, wanted(f.Value.Type()))
		}
		return o, nil
	}
	specs, err := o.specs()
	if err != nil {
		return o, err
	}
	var texts, names []string
	found := false
	flags.VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	for _, s := range specs {
		text := s.String()
		for _, p := range s.Set().Params {
			names = append(names, p.Name)
			if p.Name == name {
				found = true
				text = withParameter(text, name, value)
			}
		}
		texts = append(texts, text)
	}
	if !found {
		return o, usagef("-L: %s", unknown("flag or data set parameter", name, names))
	}
	o.dataset = strings.Join(texts, ",")
	return o, nil
}

// withParameter adds key=value to a spec, in place of an earlier value.
func withParameter(spec, key, value string) string {
	name, list, _ := strings.Cut(spec, ":")
	pairs := []string{key + "=" + value}
	for _, pair := range strings.Split(list, ",") {
		if pair != "" && !strings.HasPrefix(pair, key+"=") {
			pairs = append(pairs, pair)
		}
	}
	return name + ":" + strings.Join(pairs, ",")
}

func (o sumOptions) specs() ([]datasets.Spec, error) {
	text := o.dataset
	if text == "" && len(o.input) == 0 {
		text = defaultDatasets
	}
	if text == "" {
		return nil, nil
	}
	return datasets.ParseList(text)
}

// cases lists the cases of one combination.
func (o sumOptions) cases() ([]sumCase, error) {
	base, err := o.reduceOptions()
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
	precisions, err := parsePrecisions(o.precision)
	if err != nil {
		return nil, err
	}
	var cases []sumCase
	for _, m := range methods {
		for _, p := range precisions {
			options := base
			options.Precision = p
			if err := checkMethod(m, options); err != nil {
				return nil, err
			}
			for _, s := range sources {
				cases = append(cases, sumCase{s, m, options, o.sampler})
			}
			if m.FixedBits != 0 {
				break
			}
		}
	}
	return cases, nil
}

// checkMethod finds out whether a method can work with the options.
func checkMethod(m reduce.Method, o reduce.Options) error {
	if err := m.Accepts(o.Precision); err != nil {
		return err
	}
	_, err := m.New(o)
	return err
}

func (o sumOptions) reduceOptions() (reduce.Options, error) {
	if o.device != "cpu" {
		return reduce.Options{}, &statusError{exitUnavailable, fmt.Sprintf("device %q is not available; this version measures on: cpu", o.device)}
	}
	if o.threads < 0 {
		return reduce.Options{}, usagef("--threads %d: want 0 for all processors, or a positive number", o.threads)
	}
	if o.blocks == 0 || o.blockSize == 0 {
		return reduce.Options{}, usagef("--blocks %d --block-size %d: want positive numbers", o.blocks, o.blockSize)
	}
	rounding, err := rns.ParseRounding(o.rounding)
	if err != nil {
		return reduce.Options{}, usagef("%v", err)
	}
	alignment, err := rns.ParseAlignment(o.alignment)
	if err != nil {
		return reduce.Options{}, usagef("%v", err)
	}
	if err := o.sampler.Validate(); err != nil {
		return reduce.Options{}, usagef("%v", err)
	}
	return reduce.Options{
		ModuliBits: o.moduliBits, Rounding: rounding, Alignment: alignment, Blocks: o.blocks, BlockSize: o.blockSize, Threads: o.threads,
	}, nil
}

func (o sumOptions) sources() ([]source, error) {
	options := datasets.Options{Seed: o.seed}
	if o.n != "" {
		n, err := datasets.ParseCount(o.n)
		if err != nil {
			return nil, err
		}
		options.N = &n
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
		key := s.String()
		if o.n != "" {
			key = withParameter(key, "n", o.n)
		}
		if s.Set().Seeded && o.seed != 1 {
			key = withParameter(key, "seed", strconv.FormatUint(o.seed, 10))
		}
		list = append(list, source{key: key, spec: s, options: options})
	}
	for _, path := range o.input {
		list = append(list, source{key: path, path: path, reading: reading})
	}
	return list, nil
}

func (o sumOptions) methods() ([]reduce.Method, error) {
	if o.method == "all" {
		return reduce.Methods(), nil
	}
	var list []reduce.Method
	for _, name := range strings.Split(o.method, ",") {
		m, ok := reduce.Lookup(strings.TrimSpace(name))
		if !ok {
			return nil, usagef("%s", unknown("method", name, methodNames()))
		}
		list = append(list, m)
	}
	return list, nil
}

func methodNames() []string {
	var names []string
	for _, m := range reduce.Methods() {
		names = append(names, m.Name)
	}
	return names
}

func parsePrecisions(text string) ([]int, error) {
	var list []int
	for _, item := range strings.Split(text, ",") {
		p, err := strconv.Atoi(strings.TrimSpace(item))
		if err != nil {
			return nil, usagef("precision %q: want a number of bits, or a list such as 30,60,120,240", item)
		}
		list = append(list, p)
	}
	return list, nil
}
