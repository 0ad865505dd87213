package paper

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"mpbench/datasets"
	"mpbench/pkg/device"
	"mpbench/pkg/krylov"
	"mpbench/pkg/measure"
	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
	"mpbench/pkg/primer"
	"mpbench/pkg/record"
	"mpbench/pkg/sampling"
)

// A Lab is what experiments are run with: the methods, the devices, how times are measured. One Lab serves one run.
type Lab struct {
	Methods  method.Catalog
	Devices  []device.Set // to run on
	NoGPU    string       // why there is no GPU among the devices, in a few words
	Sampler  sampling.Sampler
	Threads  int
	MaxBytes int64 // of memory for a method's numbers, 0 for no limit
	Seed     uint64
	N        int // terms or rows of the timing experiments in place of the paper's, 0 for the paper's
	EnvID    string
	Solvers  []krylov.Solver // of sparse systems
	Matrices string          // folder of .mtx files; "" for none

	// Reductions measures the ways of a sum of n int32 on the devices; nil for none.
	Reductions func(ctx context.Context, n int) ([]primer.Row, error)

	Progress func(what string) // called before each case, if not nil

	records []record.Record
}

// gpus returns the sets with a GPU among the devices.
func (l *Lab) gpus() []device.Set {
	return slices.DeleteFunc(slices.Clone(l.Devices), func(s device.Set) bool { return len(s.GPUs()) == 0 })
}

func (l *Lab) hasCPU() bool {
	return slices.ContainsFunc(l.Devices, func(s device.Set) bool { return s.Kind() == device.CPU })
}

// A place is devices for a method. An empty name means that it cannot be measured; why says what is missing.
type place struct {
	set       device.Set
	name, why string
}

// places returns where a method can run: on the CPU or on GPUs.
func (l *Lab) places(o *op.Operation, name string, gpu bool) []place {
	m, known := l.Methods.Lookup(o, name)
	gpus := l.gpus()
	switch {
	case gpu && len(gpus) == 0 && l.NoGPU != "":
		return []place{{why: "needs a GPU: " + l.NoGPU}}
	case gpu && len(gpus) == 0:
		return []place{{why: "needs a GPU; none was asked for"}}
	case !known:
		return []place{{why: name + " is no method of this program"}}
	case !gpu && !l.hasCPU():
		return []place{{why: "the CPU was not asked for"}}
	}
	if !gpu {
		gpus = []device.Set{{}}
	}
	var list []place
	for _, set := range gpus {
		if m.Runs(set) {
			list = append(list, place{set: set, name: set.String()})
		}
	}
	if list == nil {
		return []place{{why: fmt.Sprintf("%s runs on %s only in this version", name, strings.Join(m.Kinds(), ", "))}}
	}
	return list
}

func (l *Lab) begin(format string, args ...any) {
	if l.Progress != nil {
		l.Progress(fmt.Sprintf(format, args...))
	}
}

// once measures a single run: for results that do not depend on time.
var once = sampling.Sampler{}

// measure measures a method and keeps its record; ok is false if it was interrupted.
func (l *Lab) measure(
	ctx context.Context, s sampling.Sampler, name string, c method.Config, in measure.Input,
) (r record.Record, ok bool, err error) {
	m, _ := l.Methods.Lookup(in.Problem.Op, name)
	trans := ""
	if t := in.Reference.Shape.Trans; t != "" {
		trans = " " + t
	}
	l.begin("%s %s%s %d bits on %s", in.Dataset.Name, name, trans, max(c.Precision, m.Bits), c.Devices)
	c.Threads, c.MaxBytes = l.Threads, l.MaxBytes
	result, ok, err := measure.Measure(ctx, s, m, c, in)
	if ok {
		result.Record.EnvID = l.EnvID
		l.records = append(l.records, result.Record)
	}
	return result.Record, ok, err
}

// terms generates a data set and computes its exact sum.
func (l *Lab) terms(spec string, n int) (measure.Input, error) {
	s, err := datasets.Vectors.Parse(spec)
	if err != nil {
		return measure.Input{}, err
	}
	d, err := datasets.Generate(s, datasets.Options{N: n, Seed: l.Seed})
	if err != nil {
		return measure.Input{}, err
	}
	return measure.NewInput(d.Record(), d.Problem(op.Sum))
}

// rows2020 is M = N = LDA of the 2020 paper's experiments.
const rows2020 = 1000

// profileBits and profileModuliBits are those of Tables 3 and 4: 32 moduli of together 850 bits.
const (
	profileBits       = 424
	profileModuliBits = "28" // of which the 32 moduli need 27
)

// size returns M = N.
func (l *Lab) size() int { return cmp.Or(l.N, rows2020) }

// matrix makes a matrix of numbers uniform in [-1, 1), of the given bits or float64 for 0, and a vector.
func (l *Lab) matrix(bits int) (*datasets.Data, error) {
	spec, err := datasets.Matrices.Parse("uniform11")
	if err != nil {
		return nil, err
	}
	l.begin("%d x %d numbers of %d bits", l.size(), l.size(), max(bits, 53))
	return datasets.Generate(spec, datasets.Options{M: l.size(), N: l.size(), Seed: l.Seed, Bits: bits})
}

// product computes the reference of y = op(A)*x.
func (l *Lab) product(d *datasets.Data, trans bool) (measure.Input, error) {
	p := d.Problem(op.Gemv)
	p.Trans, p.Y = trans, numbers.Array{}
	l.begin("exact result for %d x %d numbers", d.M, d.N)
	return measure.NewInput(d.Record(), p)
}

// sizeFacts say how large the matrix is, and what it is in the paper.
func (l *Lab) sizeFacts() []string {
	facts := []string{fmt.Sprintf("M = N = LDA = %d", l.size())}
	if l.size() != rows2020 {
		facts = append(facts, fmt.Sprintf("the paper has %d", rows2020))
	}
	return facts
}

// devicePlaces returns where a method runs, GPUs first, and with the CPU alone why there is no GPU, as in the paper.
func (l *Lab) devicePlaces(method string) []place {
	gpu, cpu := l.places(op.Gemv, method, true), l.places(op.Gemv, method, false)
	if gpu[0].name == "" && cpu[0].name != "" {
		cpu[0].why = "The paper measured on a GPU. Here: " + gpu[0].why + "."
		return cpu
	}
	if cpu[0].name == "" {
		return gpu
	}
	return slices.Concat(gpu, cpu)
}

func (r *Result) otherMachine(printed, here, why string) Cell {
	c := Cell{Paper: printed, Here: here, Verdict: Other}
	if why != "" {
		c.Note = r.note(why, why)
	}
	return c
}

func (r *Result) missing(printed, why string) Cell {
	return Cell{Paper: printed, Verdict: Missing, Note: r.note(why, why)}
}
