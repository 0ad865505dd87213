package measure_test

import (
	"bytes"
	"context"
	"math"
	"strings"
	"testing"

	"mpbench/datasets"
	"mpbench/internal/problems"
	"mpbench/pkg/device"
	"mpbench/pkg/gpu/gputest"
	"mpbench/pkg/measure"
	"mpbench/pkg/method"
	"mpbench/pkg/methods"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
	"mpbench/pkg/record"
	"mpbench/pkg/sampling"
)

// lookup returns a method of the catalog.
func lookup(t *testing.T, o *op.Operation, name string) method.Method {
	t.Helper()
	m, ok := methods.All().Lookup(o, name)
	if !ok {
		t.Fatalf("no method %s of %s", name, o.Name)
	}
	return m
}

// recordOf measures a method of the catalog.
func recordOf(t *testing.T, name string, c method.Config, in measure.Input) (record.Record, []method.Stage) {
	t.Helper()
	m := lookup(t, in.Problem.Op, name)
	result, ok, err := measure.Measure(context.Background(), sampling.Sampler{Runs: 2}, m, c, in)
	if err != nil || !ok {
		t.Fatalf("%s: %v, %v", name, ok, err)
	}
	if err := result.Record.Validate(); err != nil {
		t.Error(err)
	}
	return result.Record, result.Stages
}

// dataset returns the sum of a data set.
func dataset(t *testing.T, text string) measure.Input {
	t.Helper()
	spec, err := datasets.For(op.Sum).Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	d, err := datasets.Generate(spec, datasets.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	in, err := measure.NewInput(d.Record(), d.Problem(op.Sum))
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// TestKnownSum checks the record of a published sum by a method with many settings.
func TestKnownSum(t *testing.T) {
	options := map[string]string{"moduli-bits": "16", "blocks": "256", "block-size": "64"}
	r, _ := recordOf(t, "reduce3", method.Config{Precision: 120, Options: options}, dataset(t, "mcnamee3"))
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
	if r.PrecisionBits != 120 || r.ActualBits != 120 || r.Moduli != 16 || r.ModuliBits != 16 {
		t.Errorf("%+v", r)
	}
	if r.Blocks != 256 || r.BlockSize != 64 || r.Shape.N != 64 || !*r.WithinBound || r.ExactResult {
		t.Errorf("%+v", r)
	}
	if want := -math.Log2(6.24e-27); r.CorrectBits == nil || math.Abs(*r.CorrectBits-want) > 0.002 { // three digits
		t.Errorf("correct bits %v, want %v", r.CorrectBits, want)
	}
}

// TestExtremes: infinities, NaN, and sums that overflow in the method's format.
func TestExtremes(t *testing.T) {
	r, _ := recordOf(t, "kahan", method.Config{}, dataset(t, "extremes:kind=inf,n=10"))
	if r.Value != "+Inf" || !*r.WithinBound || !r.ExactResult {
		t.Errorf("infinity: %+v", r)
	}
	r, _ = recordOf(t, "reduce1", method.Config{Precision: 60}, dataset(t, "extremes:kind=nan,n=10"))
	if r.Value != "NaN" || !*r.WithinBound || !r.ExactResult {
		t.Errorf("NaN: %+v", r)
	}
	overflow := dataset(t, "extremes:kind=overflow")
	r, _ = recordOf(t, "float64", method.Config{}, overflow)
	if r.WithinBound != nil || len(r.Warnings) == 0 || r.Warnings[0].Code != record.WarnNoBound {
		t.Errorf("overflow: within %v, warnings %v", r.WithinBound, r.Warnings)
	}
	r, _ = recordOf(t, "deferred", method.Config{Precision: 53}, overflow)
	if !r.ExactResult || r.CorrectBits != nil || r.RelError != "0" || !*r.WithinBound {
		t.Errorf("overflow, deferred: %+v", r)
	}
}

// TestKnownProducts: a dot product of 3 beside 2^60 that cancels, and a row of a matrix that binary64 rounds.
func TestKnownProducts(t *testing.T) {
	dot := inputOf(t, &op.Problem{Op: op.Dot, X: floats(1, 0x1p60, -0x1p60), Y: floats(3, 1, 1)})
	for name, want := range map[string]string{"float64": "1.00e+00", "dot2": "0", "deferred": "0", "reduce1": "0"} {
		r, _ := recordOf(t, name, method.Config{Precision: 120}, dot)
		// 2 * (2^61 + 3) / 3
		if r.RelError != want || r.Condition != "1.54e+18" || !*r.WithinBound || r.Command != "dot" {
			t.Errorf("%s: error %s, condition %s, within %v", name, r.RelError, r.Condition, r.WithinBound)
		}
	}
	a := numbers.Array{Source: numbers.Float64s{1, 0x1p60, 1, 1}, Layout: numbers.ColMajor(2, 2, 2)}
	gemv := inputOf(t, &op.Problem{Op: op.Gemv, A: a, X: floats(1, 1), Y: floats(math.NaN(), 0)})
	for _, m := range methods.All().Of(op.Gemv) {
		if m.Bits != 0 && m.Name != "float64" {
			continue
		}
		if err := m.Missing(); err != nil {
			t.Log(err)
			continue
		}
		r, _ := recordOf(t, m.Name, method.Config{Precision: 240}, gemv)
		if r.Row == nil || !*r.WithinBound || r.ExactResult != (m.Bits == 0) || *r.Row != min(1, m.Bits) {
			t.Errorf("%s: row %v, error %s, within %v", m.Name, r.Row, r.RelError, r.WithinBound)
		}
	}
}

// onDevices returns the name of the device under test in records, and the sets that it is in.
func onDevices(t *testing.T) map[string]device.Set {
	name := gputest.Name(t)
	label := name
	if gputest.Emulated() {
		label = "emulated"
	}
	return map[string]device.Set{label: device.Must(name), "cpu+" + label: device.Must("cpu+" + name)}
}

// TestSumsOnDevices: records of sums on a device, alone and with the processors, have its name and its phases.
func TestSumsOnDevices(t *testing.T) {
	in := dataset(t, "uniform11:n=50")
	options := map[string]string{"blocks": "4", "block-size": "4", "tune": "off"}
	for label, set := range onDevices(t) {
		for _, name := range []string{"reduce1s", "reduce3", "reduce3p", "deferred"} {
			c := method.Config{Precision: 60, Devices: set, Options: options, Threads: 2}
			if !lookup(t, op.Sum, name).Runs(set) {
				continue
			}
			r, _ := recordOf(t, name, c, in)
			if r.Device != label || r.Time.Median <= 0 || r.Time.Iterations != 1 || r.WithinBound == nil || !*r.WithinBound {
				t.Errorf("%s on %s: %+v", name, set, r)
			}
			if r.Phases[record.PhaseConvert]+r.Phases[record.PhaseH2D] <= 0 || r.Phases[record.PhaseKernel] <= 0 {
				t.Errorf("%s on %s: phases %v", name, set, r.Phases)
			}
		}
	}
}

// product returns 0.5*op(A)*x + 2y for a matrix of 12 x 9.
func product(t *testing.T, trans bool) measure.Input {
	t.Helper()
	return inputOf(t, problems.Choice{Seed: 1}.Product(trans, 12, 9, 0.5, 2))
}

// TestGemvOnDevice: the record has the CPU's result, and every kernel's profile; it can be written and read back.
func TestGemvOnDevice(t *testing.T) {
	name := gputest.Name(t)
	for _, trans := range []bool{false, true} {
		in := product(t, trans)
		for _, m := range []string{"rns-split", "rns-basic", "deferred"} {
			c := method.Config{Precision: 106, Threads: 1, Options: map[string]string{"tune": "off"}}
			cpu, _ := recordOf(t, m, c, in)
			c.Devices = device.Must(name)
			r, stages := recordOf(t, m, c, in)
			if r.ResultHash != cpu.ResultHash || r.Device == "cpu" || !*r.WithinBound {
				t.Errorf("%s: hash %s on %s, %s on the CPU", m, r.ResultHash, r.Device, cpu.ResultHash)
			}
			for _, s := range stages {
				if r.Phases[s.Name] <= 0 || s.Summary == "" {
					t.Errorf("%s: stage %+v, phases %v", m, s, r.Phases)
				}
			}
			for _, k := range r.Kernels {
				if k.Name == "" || k.Phase == "" || k.Bytes <= 0 || k.Occupancy <= 0 || k.Blocks < 1 || k.TimeNs <= 0 {
					t.Errorf("%s: kernel %+v", m, k)
				}
			}
			if len(r.Kernels) == 0 || r.Phases[record.PhaseH2D] <= 0 || r.Phases[record.PhaseD2H] <= 0 {
				t.Errorf("%s: %d kernels, phases %v", m, len(r.Kernels), r.Phases)
			}
			var b bytes.Buffer
			if err := record.NewWriter(&b).WriteRecord(r); err != nil {
				t.Error(err)
			}
			read, err := record.ReadRecords(&b)
			if err != nil || len(read.Records) != 1 || read.Records[0].Kernels[0] != r.Kernels[0] {
				t.Errorf("%s: read back: %v", m, err)
			}
		}
	}
}

// TestStreamedGemv: the record of a matrix that stays in the host's memory says so, and has the CPU's result.
func TestStreamedGemv(t *testing.T) {
	name := gputest.Name(t)
	for _, trans := range []bool{false, true} {
		in := product(t, trans)
		c := method.Config{Precision: 106, Threads: 1}
		cpu, _ := recordOf(t, "deferred", c, in)
		c.Devices, c.Stream = device.Must(name), true
		r, stages := recordOf(t, "deferred", c, in)
		if r.ResultHash != cpu.ResultHash || !*r.WithinBound || strings.Contains(cpu.Variant, "streamed") {
			t.Errorf("hash %s, on the CPU %s in variant %q", r.ResultHash, cpu.ResultHash, cpu.Variant)
		}
		if r.Variant != "streamed in 1 panel in place" || r.MatrixBytes != 8*12*9 || len(stages) != 2 {
			t.Errorf("variant %q, %d bytes, stages %v", r.Variant, r.MatrixBytes, stages)
		}
		for _, s := range stages {
			if r.Phases[s.Name] <= 0 {
				t.Errorf("stage %s: phases %v", s.Name, r.Phases)
			}
		}
	}
}
