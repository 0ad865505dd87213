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
	return settings{method: "all", device: "cpu", threads: 1, sampler: s}
}

// overview is the sampler of all methods on the standard data, which are to take a few seconds: what the user left at
// its default is a fifth of that.
func (s *settings) overview() sampling.Sampler {
	quick, usual := s.sampler, defaultSettings().sampler
	for _, d := range []struct{ have, usual *time.Duration }{
		{&quick.MinTime, &usual.MinTime}, {&quick.Timeout, &usual.Timeout},
	} {
		if *d.have == *d.usual {
			*d.have /= 5
		}
	}
	return quick
}

// addChoices declares the flags that say what is measured, with s's present values as defaults.
func (s *settings) addChoices(f *pflag.FlagSet) {
	f.VarP(&listFlag{text: &s.precision}, "precision", "p",
		"precision in `bits`, a list; formats of fixed precision ignore it")
	f.VarP(&listFlag{text: &s.method}, "method", "m", "methods, a list, all, or peers; see mpbench methods")
}

func (s *settings) addFlags(f *pflag.FlagSet) {
	f.Var(&listFlag{text: &s.device}, "device",
		"devices, a list: cpu, cuda:0, ..., or all; cpu+cuda:0 and cuda:0+cuda:1 share one problem,\n"+
			"cuda:all is all GPUs together, cuda:local the GPU of a rank under mpirun")
	addThreads(f, &s.threads)
	addSampler(f, &s.sampler)
	f.Lookup("min-time").Usage += "; all methods on the\ndefault data take a fifth of it and of the timeout"
}

// addSampler declares the flags that say how often a case is run.
func addSampler(f *pflag.FlagSet, s *sampling.Sampler) {
	f.IntVar(&s.Warmup, "warmup", s.Warmup, "runs before the first sample")
	f.IntVar(&s.Runs, "runs", s.Runs, "samples at least")
	f.DurationVar(&s.MinTime, "min-time", s.MinTime, "time of all samples at least")
	f.DurationVar(&s.Timeout, "timeout", s.Timeout, "time of a case at most; 0 for no limit")
	f.Float64Var(&s.MaxNoise, "max-noise", s.MaxNoise, "go on sampling while the relative MAD is above this")
}

func addThreads(f *pflag.FlagSet, threads *int) {
	f.IntVar(threads, "threads", *threads,
		"goroutines of parallel methods, 0 for all processors; never changes a result")
}

// mostThreads is more than computers have processors; each thread takes memory of its own.
const mostThreads = 4096

func checkThreads(threads int) error {
	if threads < 0 || threads > mostThreads {
		return usagef("--threads %d: want 0 for all processors, or a number up to %d", threads, mostThreads)
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

// namesAll tells whether a list has the item all.
func namesAll(list string) bool {
	return slices.Contains(mapped(strings.Split(list, ","), strings.TrimSpace), "all")
}

// listsMethod tells whether a list has a method by its own name.
func listsMethod(list, name string) bool {
	return slices.Contains(mapped(strings.Split(list, ","), strings.TrimSpace), name)
}

// chooseMethods returns the methods of a list among all of an operation; all stands for the usual ones, and the name
// of a group for those of it that can run here.
func chooseMethods(list string, all method.Catalog) (method.Catalog, error) {
	var chosen method.Catalog
	for _, item := range strings.Split(list, ",") {
		item = strings.TrimSpace(item)
		found := all.Usual()
		if item != "all" {
			found = slices.DeleteFunc(slices.Clone(all), func(m method.Method) bool { return m.Name != item })
		}
		if group := all.Group(item); len(group) > 0 {
			if found = group.Present(); len(found) == 0 {
				return nil, group[0].Missing()
			}
		}
		if len(found) == 0 {
			return nil, usagef("%s", suggest.Unknown("method", item, all.Names()))
		}
		for _, m := range found {
			if !slices.Contains(chosen.Names(), m.Name) {
				chosen = append(chosen, m)
			}
		}
	}
	return chosen, nil
}
