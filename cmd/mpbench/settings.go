package main

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"mpbench/internal/suggest"
	"mpbench/pkg/method"
	"mpbench/pkg/sampling"
)

// settings are the flags of every operation that say by which methods, where and how often it is measured.
type settings struct {
	precision string
	method    string
	device    string
	threads   int
	sampler   sampling.Sampler
}

func defaultSettings() settings {
	s := sampling.DefaultSampler()
	s.MinTime, s.Timeout, s.Prefix = 200*time.Millisecond, 2*time.Second, "--"
	return settings{method: "all", device: "cpu", sampler: s}
}

// addChoices declares the flags that say what is measured, with s's present values as defaults.
func (s *settings) addChoices(f *pflag.FlagSet) {
	f.StringVarP(&s.precision, "precision", "p", s.precision,
		"precision in `bits`, a list; formats of fixed precision ignore it")
	f.StringVarP(&s.method, "method", "m", s.method, "methods, a list, or all; see mpbench methods")
}

func (s *settings) addFlags(f *pflag.FlagSet) {
	f.StringVar(&s.device, "device", s.device,
		"devices, a list: cpu, cuda:0, ..., cpu+cuda:0 for both together, or all")
	addThreads(f, &s.threads)
	f.IntVar(&s.sampler.Warmup, "warmup", s.sampler.Warmup, "runs before the first sample")
	f.IntVar(&s.sampler.Runs, "runs", s.sampler.Runs, "samples at least")
	f.DurationVar(&s.sampler.MinTime, "min-time", s.sampler.MinTime, "time of all samples at least")
	f.DurationVar(&s.sampler.Timeout, "timeout", s.sampler.Timeout, "time of a case at most; 0 for no limit")
	f.Float64Var(&s.sampler.MaxNoise, "max-noise", s.sampler.MaxNoise,
		"go on sampling while the relative MAD is above this")
}

func addThreads(f *pflag.FlagSet, threads *int) {
	f.IntVar(threads, "threads", *threads,
		"goroutines of parallel methods, 0 for all processors; never changes a result")
}

func checkThreads(threads int) error {
	if threads < 0 {
		return usagef("--threads %d: want 0 for all processors, or a positive number", threads)
	}
	return nil
}

func checkSampler(s sampling.Sampler) error {
	if err := s.Validate(); err != nil {
		return usagef("%v", err)
	}
	return nil
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

var checkRatios sampling.RatioSampler

// chooseMethods returns the methods of a list among all of an operation.
func chooseMethods(list string, all method.Catalog) (method.Catalog, error) {
	if list == "all" {
		return all, nil
	}
	var chosen method.Catalog
	for _, item := range strings.Split(list, ",") {
		item = strings.TrimSpace(item)
		i := slices.IndexFunc(all, func(m method.Method) bool { return m.Name == item })
		if i < 0 {
			return nil, usagef("%s", suggest.Unknown("method", item, all.Names()))
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}
