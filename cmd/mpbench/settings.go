package main

import (
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"mpbench/datasets"
	"mpbench/internal/suggest"
	"mpbench/pkg/gemv"
	"mpbench/pkg/reduce"
	"mpbench/pkg/rns"
	"mpbench/pkg/sampling"
)

// settings are the flags that all measuring commands share and -L can scan.
type settings struct {
	precision  string
	method     string
	dataset    string
	seed       uint64
	device     string
	threads    int
	moduliBits int
	rounding   string
	alignment  string
	sampler    sampling.Sampler

	tried map[string]bool // methods with options that are known to work together
}

func defaultSettings() settings {
	s := sampling.DefaultSampler()
	s.MinTime, s.Timeout = 200*time.Millisecond, 2*time.Second
	return settings{precision: "240", method: "all", seed: 1, device: "cpu", rounding: "truncate", alignment: "2018", sampler: s, tried: map[string]bool{}}
}

// addChoices declares the flags that say what is measured, with s's present values as defaults; sets describes the default data sets.
func (s *settings) addChoices(f *pflag.FlagSet, sets string) {
	f.StringVarP(&s.precision, "precision", "p", s.precision, "precision in `bits`, a list; formats of fixed precision ignore it")
	f.StringVarP(&s.method, "method", "m", s.method, "methods, a list, or all; see mpbench methods")
	f.StringVarP(&s.dataset, "dataset", "d", s.dataset, "data sets, a list of name or name:key=value,...; see mpbench datasets\n(default "+sets+")")
}

// addFlags declares the other flags.
func (s *settings) addFlags(f *pflag.FlagSet) {
	f.Uint64Var(&s.seed, "seed", s.seed, "seed of random data")
	f.StringVar(&s.device, "device", s.device, "devices, a list: cpu, cuda:0, ..., cpu+cuda:0 for both together, or all")
	f.IntVar(&s.threads, "threads", s.threads, "goroutines of parallel methods, 0 for all processors; never changes a result")
	f.IntVar(&s.moduliBits, "moduli-bits", s.moduliBits, "width of the RNS moduli in bits, 0 for "+strconv.Itoa(rns.DefaultModuliBits)+"; the 2018 paper has 16")
	f.StringVar(&s.rounding, "rounding", s.rounding, "rounding of RNS numbers: truncate or nearest")
	f.StringVar(&s.alignment, "alignment", s.alignment, "alignment of RNS exponents: 2018 or blas")
	f.IntVar(&s.sampler.Warmup, "warmup", s.sampler.Warmup, "runs before the first sample")
	f.IntVar(&s.sampler.Runs, "runs", s.sampler.Runs, "samples at least")
	f.DurationVar(&s.sampler.MinTime, "min-time", s.sampler.MinTime, "time of all samples at least")
	f.DurationVar(&s.sampler.Timeout, "timeout", s.sampler.Timeout, "time of a case at most; 0 for no limit")
	f.Float64Var(&s.sampler.MaxNoise, "max-noise", s.sampler.MaxNoise, "go on sampling while the relative MAD is above this")
}

// arithmetic checks the settings and returns rounding and alignment of RNS numbers.
func (s *settings) arithmetic() (rns.Rounding, rns.Alignment, error) {
	if s.threads < 0 {
		return 0, 0, usagef("--threads %d: want 0 for all processors, or a positive number", s.threads)
	}
	rounding, err := rns.ParseRounding(s.rounding)
	if err != nil {
		return 0, 0, usagef("%v", err)
	}
	alignment, err := rns.ParseAlignment(s.alignment)
	if err != nil {
		return 0, 0, usagef("%v", err)
	}
	if err := s.sampler.Validate(); err != nil {
		return 0, 0, usagef("%v", err)
	}
	return rounding, alignment, nil
}

// try calls the constructor of a method once for each key, to find out whether it works with its options.
func (s *settings) try(key string, construct func() error) error {
	if s.tried[key] {
		return nil
	}
	s.tried[key] = true
	return construct()
}

// precisions returns the list of --precision.
func (s *settings) precisions() ([]int, error) {
	var list []int
	for _, item := range strings.Split(s.precision, ",") {
		p, err := strconv.Atoi(strings.TrimSpace(item))
		if err != nil {
			return nil, usagef("precision %q: want a number of bits, or a list such as 30,60,120,240", item)
		}
		list = append(list, p)
	}
	return list, nil
}

// The methods that each command knows.
var (
	sumMethods  = reduce.Methods
	dotMethods  = reduce.DotMethods
	gemvMethods = gemv.Methods
)

// checkRatios is how check compares times.
var checkRatios sampling.RatioSampler

// chooseMethods returns the methods of --method among all of a command.
func chooseMethods[M any](list string, all []M, name func(M) string) ([]M, error) {
	if list == "all" {
		return all, nil
	}
	var chosen []M
	for _, item := range strings.Split(list, ",") {
		item = strings.TrimSpace(item)
		found := false
		for _, m := range all {
			if name(m) == item {
				chosen, found = append(chosen, m), true
			}
		}
		if !found {
			return nil, usagef("%s", suggest.Unknown("method", item, namesOf(all, name)))
		}
	}
	return chosen, nil
}

func namesOf[M any](all []M, name func(M) string) []string {
	var names []string
	for _, m := range all {
		names = append(names, name(m))
	}
	return names
}

// parseSpecs reads a list of data sets of one kind.
func parseSpecs(text string, parse func(string) (datasets.Spec, error)) ([]datasets.Spec, error) {
	var specs []datasets.Spec
	for _, item := range datasets.SplitList(text) {
		s, err := parse(item)
		if err != nil {
			return nil, err
		}
		specs = append(specs, s)
	}
	return specs, nil
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
