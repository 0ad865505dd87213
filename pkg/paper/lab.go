package paper

import (
	"context"
	"fmt"
	"strings"

	"mpbench/datasets"
	"mpbench/pkg/bench"
	"mpbench/pkg/gemv"
	"mpbench/pkg/record"
	"mpbench/pkg/reduce"
	"mpbench/pkg/sampling"
)

// A Lab is what experiments are run with: the methods, the devices, how times are measured. One Lab serves one run.
type Lab struct {
	Sums    []reduce.Method
	Gemvs   []gemv.Method
	Devices []string // to run on
	NoGPU   string   // why there is no GPU among the devices, in a few words
	Sampler sampling.Sampler
	Threads int
	Seed    uint64
	N       int // terms or rows of the timing experiments in place of the paper's, 0 for the paper's
	EnvID   string

	Progress func(what string) // called before each case, if not nil

	records []record.Record
}

// gpus returns the GPUs among the devices.
func (l *Lab) gpus() []string {
	var list []string
	for _, d := range l.Devices {
		if d != "cpu" {
			list = append(list, d)
		}
	}
	return list
}

func (l *Lab) hasCPU() bool { return bench.Offers(l.Devices, "cpu") }

// A place is where a figure can be measured: a method on a device. An empty device means that it cannot be; why says what is missing.
type place struct{ device, why string }

// places returns where a method that offers devices (nil if there is no such method) can run: on the CPU or on GPUs.
func (l *Lab) places(name string, devices []string, gpu bool) []place {
	if !gpu {
		switch {
		case devices == nil:
			return []place{{why: name + " is no method of this program"}}
		case !l.hasCPU():
			return []place{{why: "the CPU was not asked for"}}
		}
		return []place{{device: "cpu"}}
	}
	gpus := l.gpus()
	switch {
	case len(gpus) == 0 && l.NoGPU != "":
		return []place{{why: "needs a GPU: " + l.NoGPU}}
	case len(gpus) == 0:
		return []place{{why: "needs a GPU; none was asked for"}}
	case devices == nil:
		return []place{{why: name + " is no method of this program"}}
	}
	var list []place
	for _, d := range gpus {
		if bench.Offers(devices, d) {
			list = append(list, place{device: d})
		}
	}
	if list == nil {
		return []place{{why: fmt.Sprintf("%s runs on %s only in this version", name, strings.Join(devices, ", "))}}
	}
	return list
}

func (l *Lab) sumMethod(name string) (reduce.Method, bool) {
	for _, m := range l.Sums {
		if m.Name == name {
			return m, true
		}
	}
	return reduce.Method{}, false
}

func (l *Lab) gemvMethod(name string) (gemv.Method, bool) {
	for _, m := range l.Gemvs {
		if m.Name == name {
			return m, true
		}
	}
	return gemv.Method{}, false
}

// sumPlaces returns where a method for sums can run.
func (l *Lab) sumPlaces(name string, gpu bool) []place {
	m, _ := l.sumMethod(name)
	return l.places(name, m.Devices, gpu)
}

func (l *Lab) gemvPlaces(name string, gpu bool) []place {
	m, _ := l.gemvMethod(name)
	return l.places(name, m.Devices, gpu)
}

func (l *Lab) begin(format string, args ...any) {
	if l.Progress != nil {
		l.Progress(fmt.Sprintf(format, args...))
	}
}

// once measures a single run: for results that do not depend on time.
var once = sampling.Sampler{}

// sum measures a sum and keeps its record; ok is false if it was interrupted.
func (l *Lab) sum(ctx context.Context, s sampling.Sampler, name string, o reduce.Options, in bench.SumInput) (r record.Record, ok bool, err error) {
	m, _ := l.sumMethod(name)
	l.begin("%s %s %d bits on %s", in.Data.Name, name, max(o.Precision, m.FixedBits), o.Device)
	o.Threads = l.Threads
	r, ok, err = bench.MeasureSum(ctx, s, m, o, in)
	if ok {
		r.EnvID = l.EnvID
		l.records = append(l.records, r)
	}
	return r, ok, err
}

// gemv measures a matrix-vector product and keeps its record.
func (l *Lab) gemv(ctx context.Context, s sampling.Sampler, name string, o gemv.Options, in bench.GemvInput) (r bench.GemvResult, ok bool, err error) {
	m, _ := l.gemvMethod(name)
	l.begin("%s %s %s %d bits on %s", in.Dataset.Name, name, in.Problem.Op, o.Precision, o.Device)
	o.Threads = l.Threads
	r, ok, err = bench.MeasureGemv(ctx, s, m, o, in)
	if ok {
		r.Record.EnvID = l.EnvID
		l.records = append(l.records, r.Record)
		r.Record = l.records[len(l.records)-1]
	}
	return r, ok, err
}

// terms generates a data set and computes its exact sum.
func (l *Lab) terms(spec string, n int) (bench.SumInput, error) {
	s, err := datasets.Parse(spec)
	if err != nil {
		return bench.SumInput{}, err
	}
	o := datasets.Options{Seed: l.Seed}
	if n != 0 {
		o.N = &n
	}
	d, err := datasets.Generate(s, o)
	if err != nil {
		return bench.SumInput{}, err
	}
	return bench.NewSumInput(d), nil
}
