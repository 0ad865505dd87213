package bench

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mpbench/datasets"
	"mpbench/pkg/gemv"
	"mpbench/pkg/gpu"
	"mpbench/pkg/gpu/gputest"
	"mpbench/pkg/record"
	"mpbench/pkg/reduce"
	"mpbench/pkg/sampling"
)

func sumInput(t *testing.T, spec string) SumInput {
	t.Helper()
	s, err := datasets.Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	d, err := datasets.Generate(s, datasets.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return NewSumInput(d)
}

func measureSum(t *testing.T, spec, method string, o reduce.Options) record.Record {
	t.Helper()
	m, found := reduce.Lookup(method)
	if !found {
		t.Fatalf("no method %s", method)
	}
	r, ok, err := MeasureSum(context.Background(), sampling.Sampler{Runs: 2}, m, o, sumInput(t, spec))
	if err != nil || !ok {
		t.Fatalf("%s of %s: %v, %v", method, spec, ok, err)
	}
	if err := r.Validate(); err != nil {
		t.Fatal(err)
	}
	return r
}

// TestMeasureSumOnDevice checks what the record of a sum on a GPU has of its own: device and phases.
func TestMeasureSumOnDevice(t *testing.T) {
	device := gputest.Name(t)
	want := "emulated"
	if !gputest.Emulated() {
		want = device
	}
	for _, method := range []string{"reduce1s", "reduce3", "reduce3p"} {
		r := measureSum(t, "uniform11:n=50", method, reduce.Options{Precision: 60, Blocks: 4, BlockSize: 4, Device: device})
		if r.Device != want || r.Time.Median <= 0 || r.Time.Iterations != 1 || r.WithinBound == nil || !*r.WithinBound {
			t.Errorf("%s: %+v", method, r)
		}
		for _, phase := range []string{record.PhaseConvert, record.PhaseH2D, record.PhaseKernel, record.PhaseD2H, record.PhaseHost} {
			if r.Phases[phase] <= 0 {
				t.Errorf("%s: phase %s took %v", method, phase, r.Phases[phase])
			}
		}
	}
	m, _ := reduce.Lookup("reduce1p")
	if _, _, err := MeasureSum(context.Background(), sampling.Sampler{Runs: 1}, m, reduce.Options{Precision: 60, Device: "cuda:7"}, sumInput(t, "mcnamee1")); !errors.Is(err, gpu.ErrNoDevice) {
		t.Errorf("device cuda:7: %v", err)
	}
}

// TestMeasureDeferredOnDevice checks the records of exact sums and dot products on a GPU, alone and with processors, and of a file.
func TestMeasureDeferredOnDevice(t *testing.T) {
	name := gputest.Name(t)
	label := "emulated"
	if !gputest.Emulated() {
		label = name
	}
	m, _ := reduce.Lookup("deferred")
	path := filepath.Join(t.TempDir(), "x.npy")
	if err := os.WriteFile(path, npy(1000), 0o666); err != nil {
		t.Fatal(err)
	}
	for device, want := range map[string]string{name: label, "cpu+" + name: "cpu+" + label} {
		o := reduce.Options{Precision: 106, Threads: 2, Device: device}
		pair, err := datasets.ParsePair("gendot:n=300")
		if err != nil {
			t.Fatal(err)
		}
		data, err := datasets.GeneratePair(pair, datasets.Options{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		dot, _, err := MeasureDot(context.Background(), sampling.Sampler{Runs: 2}, m, o, NewDotInput(data))
		if err != nil {
			t.Fatal(err)
		}
		stream, err := datasets.OpenStream(path)
		if err != nil {
			t.Fatal(err)
		}
		defer stream.Close()
		in, err := NewStreamInput(context.Background(), stream)
		if err != nil {
			t.Fatal(err)
		}
		file, _, err := MeasureStream(context.Background(), sampling.Sampler{Runs: 2}, m, o, in)
		if err != nil {
			t.Fatal(err)
		}
		for variant, r := range map[string]record.Record{
			"binned float64": dot, "binned float64, streamed": file,
			"binned": measureSum(t, "uniform11:n=50", "deferred", o),
		} {
			if r.Device != want || r.Phases[record.PhaseKernel] <= 0 || r.WithinBound == nil || !*r.WithinBound || !strings.HasPrefix(r.Variant, variant) {
				t.Errorf("%s of %s: device %q, want %q; variant %q; phases %v", r.Command, r.Dataset.Name, r.Device, want, r.Variant, r.Phases)
			}
		}
	}
}

// npy is a .npy file of the numbers 0, 0.5, 1, ...
func npy(n int) []byte {
	header := fmt.Sprintf("{'descr': '<f8', 'fortran_order': False, 'shape': (%d,), }", n)
	header += strings.Repeat(" ", 63-(10+len(header))%64) + "\n"
	data := append([]byte("\x93NUMPY\x01\x00"), byte(len(header)), 0)
	data = append(data, header...)
	for i := range n {
		data = binary.LittleEndian.AppendUint64(data, math.Float64bits(float64(i)/2))
	}
	return data
}

// TestMeasureSum checks the record of a known sum field by field.
func TestMeasureSum(t *testing.T) {
	r := measureSum(t, "mcnamee3", "reduce3", reduce.Options{Precision: 120, ModuliBits: 16, Blocks: 256, BlockSize: 64})
	for _, c := range []struct{ field, got, want string }{
		{"command", r.Command, "sum"}, {"format", r.Format, "rns"}, {"value", r.Value[:12], "3.4873374502"},
		{"exact", r.Exact, "3.487337450228913059890794547106030816614e-06"}, {"rel_error", r.RelError, "6.24e-27"},
		{"condition", r.Condition, "8.22e+10"}, {"rounding", r.Rounding, "truncate"}, {"alignment", r.Alignment, "2018"},
		{"dataset", r.Dataset.Label(), "mcnamee3"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %q, want %q", c.field, c.got, c.want)
		}
	}
	if r.PrecisionBits != 120 || r.ActualBits != 120 || r.Moduli != 16 || r.ModuliBits != 16 || r.Blocks != 256 || r.BlockSize != 64 || r.Shape.N != 64 {
		t.Errorf("%+v", r)
	}
	if r.WithinBound == nil || !*r.WithinBound || r.CorrectBits == nil || math.Abs(*r.CorrectBits-87.05) > 0.1 || r.ExactResult {
		t.Errorf("within %v, correct bits %v, exact %v", r.WithinBound, r.CorrectBits, r.ExactResult)
	}
	if len(r.Time.Samples) < 2 || r.Phases[record.PhaseConvert] <= 0 || r.Throughput.Elements != 64 {
		t.Errorf("times %+v, phases %v", r.Time, r.Phases)
	}
}

// TestMeasureSumSpecials: infinities, results that are exact, and bounds whose conditions do not hold.
func TestMeasureSumSpecials(t *testing.T) {
	if r := measureSum(t, "extremes:kind=inf,n=10", "kahan", reduce.Options{}); r.Value != "+Inf" || !*r.WithinBound || !r.ExactResult {
		t.Errorf("infinity: %q, %v", r.Value, r.WithinBound)
	}
	if r := measureSum(t, "extremes:kind=nan,n=10", "reduce1", reduce.Options{Precision: 60}); r.Value != "NaN" || !*r.WithinBound {
		t.Errorf("NaN: %q", r.Value)
	}
	r := measureSum(t, "extremes:kind=overflow", "float64", reduce.Options{})
	if r.WithinBound != nil || len(r.Warnings) == 0 || r.Warnings[0].Code != record.WarnNoBound {
		t.Errorf("overflow: within %v, warnings %v", r.WithinBound, r.Warnings)
	}
	if r := measureSum(t, "extremes:kind=overflow", "deferred", reduce.Options{Precision: 53}); !r.ExactResult || r.CorrectBits != nil || r.RelError != "0" {
		t.Errorf("deferred: %+v", r)
	}
}

// TestMeasureErrors: options that do not fit, memory that does not suffice, interruption before the first sample.
func TestMeasureErrors(t *testing.T) {
	in := sumInput(t, "uniform01:n=10")
	m, _ := reduce.Lookup("reduce1")
	if _, ok, err := MeasureSum(context.Background(), sampling.Sampler{}, m, reduce.Options{Precision: 5}, in); ok || err == nil {
		t.Error("precision 5 is taken")
	}
	var memory *MemoryError
	if err := checkMemory("reduce1", math.MaxInt32, 1<<30); !errors.As(err, &memory) || !strings.Contains(err.Error(), "reduce1 needs 2305843008.1 GB") {
		t.Errorf("memory: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, ok, err := MeasureSum(ctx, sampling.Sampler{}, m, reduce.Options{Precision: 60}, in); ok || err != nil {
		t.Errorf("interrupted: %v, %v", ok, err)
	}
}

// TestMeasureDot checks the condition number and the error of a known dot product.
func TestMeasureDot(t *testing.T) {
	pair := &datasets.Pair{Name: "known", N: 3, X: []float64{1, 0x1p60, -0x1p60}, Y: []float64{3, 1, 1}}
	for name, want := range map[string]string{"float64": "1.00e+00", "dot2": "0", "deferred": "0", "reduce1": "0"} {
		m, _ := reduce.Lookup(name)
		r, ok, err := MeasureDot(context.Background(), sampling.Sampler{}, m, reduce.Options{Precision: 120}, NewDotInput(pair))
		if err != nil || !ok {
			t.Fatal(err)
		}
		if r.RelError != want || r.Condition != "1.54e+18" || !*r.WithinBound || r.Command != "dot" {
			t.Errorf("%s: error %s, condition %s, within %v", name, r.RelError, r.Condition, r.WithinBound)
		}
	}
}

// TestMeasureGemv: the record is that of the worst component, and one component outside its bound shows.
func TestMeasureGemv(t *testing.T) {
	problem := gemv.Problem{
		M: 2, N: 2, LDA: 2, IncX: 1, IncY: 1, Alpha: gemv.Number(1),
		A: gemv.Numbers{Float64: []float64{1, 0x1p60, 1, 1}}, X: gemv.Numbers{Float64: []float64{1, 1}}, Y: gemv.Numbers{Float64: []float64{math.NaN(), 0}},
	}
	in, err := NewGemvInput(&datasets.Matrix{Name: "known", M: 2, N: 2}, problem)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range gemv.Methods() {
		result, ok, err := MeasureGemv(context.Background(), sampling.Sampler{}, m, gemv.Options{Precision: 240}, in)
		if err != nil || !ok {
			t.Fatal(err)
		}
		r := result.Record
		if err := r.Validate(); err != nil {
			t.Fatal(err)
		}
		if m.Name == "float64" && (*r.Row != 1 || r.ExactResult) || m.Name != "float64" && !r.ExactResult || !*r.WithinBound {
			t.Errorf("%s: row %d, error %s, within %v", m.Name, *r.Row, r.RelError, *r.WithinBound)
		}
	}
}
