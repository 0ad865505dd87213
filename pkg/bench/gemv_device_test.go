package bench

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mpbench/datasets"
	"mpbench/pkg/gemv"
	"mpbench/pkg/gpu"
	"mpbench/pkg/gpu/gputest"
	"mpbench/pkg/record"
	"mpbench/pkg/sampling"
)

func smallInput(t *testing.T, op gemv.Op) GemvInput {
	t.Helper()
	spec, err := datasets.ParseMatrix("uniform11")
	if err != nil {
		t.Fatal(err)
	}
	d, err := datasets.GenerateMatrix(spec, datasets.MatrixOptions{M: 12, N: 9, Seed: 1, Trans: op == gemv.Trans})
	if err != nil {
		t.Fatal(err)
	}
	in, err := NewGemvInput(d, gemv.Problem{
		Op: op, M: d.M, N: d.N, LDA: d.M, IncX: 1, IncY: 1, Alpha: gemv.Number(0.5), Beta: gemv.Number(2),
		A: gemv.Numbers{Float64: d.A}, X: gemv.Numbers{Float64: d.X}, Y: gemv.Numbers{Float64: d.Y},
	})
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// TestMeasureGemvOnDevice: the record has the CPU's result, the kernels' times as phases, and every kernel's profile; it can be written
// and read back.
func TestMeasureGemvOnDevice(t *testing.T) {
	device := gputest.Name(t)
	t.Setenv("MPBENCH_TUNE_CACHE", filepath.Join(t.TempDir(), "tune.json"))
	for _, op := range []gemv.Op{gemv.NoTrans, gemv.Trans} {
		in := smallInput(t, op)
		for name, kernels := range map[string]int{"rns-split": 10, "rns-basic": 3} {
			m, _ := gemv.Lookup(name)
			o := gemv.Options{Precision: 106, Threads: 1, BlockSize: 4}
			cpu, _, err := MeasureGemv(context.Background(), sampling.Sampler{Runs: 1}, m, o, in)
			if err != nil {
				t.Fatal(err)
			}
			o.Device, o.Tune = device, gemv.TuneForce
			result, ok, err := MeasureGemv(context.Background(), sampling.Sampler{Runs: 3}, m, o, in)
			if err != nil || !ok {
				t.Fatal(ok, err)
			}
			r := result.Record
			if r.ResultHash != cpu.Record.ResultHash || r.Device == "cpu" || gputest.Emulated() && r.Device != "emulated" || r.WithinBound == nil || !*r.WithinBound {
				t.Errorf("%s: hash %s on %s, %s on the record.CPU", name, r.ResultHash, r.Device, cpu.Record.ResultHash)
			}
			if len(r.Kernels) != kernels || len(r.Time.Samples) < 3 || len(r.Warnings) > 0 && r.Warnings[0].Code == record.WarnTuning {
				t.Errorf("%s: %d kernels, %d samples, warnings %v", name, len(r.Kernels), len(r.Time.Samples), r.Warnings)
			}
			phases := 0.0
			for _, p := range result.Phases {
				phases += r.Phases[p.Name]
			}
			for _, k := range r.Kernels {
				if k.Name == "" || k.Phase == "" || k.Bytes <= 0 || k.Occupancy <= 0 || k.Blocks < 1 || k.Threads < 1 || k.TimeNs <= 0 {
					t.Errorf("%s: kernel %+v", name, k)
				}
			}
			if r.Phases[record.PhaseH2D] <= 0 || r.Phases[record.PhaseConvert] <= 0 || r.Phases[record.PhaseD2H] <= 0 || phases <= 0 || r.WorkspaceBytes <= 0 {
				t.Errorf("%s: phases %v, workspace %d", name, r.Phases, r.WorkspaceBytes)
			}
			var b bytes.Buffer
			if err := record.NewWriter(&b).WriteRecord(r); err != nil {
				t.Error(err)
			}
			if run, err := record.ReadRecords(&b); err != nil || len(run.Records) != 1 || len(run.Records[0].Kernels) != kernels || run.Records[0].Kernels[0] != r.Kernels[0] {
				t.Errorf("%s: read back: %v", name, err)
			}
		}
	}
}

// TestMeasureGemvStreamed: the record of a matrix that stays in host memory says so, its time is that of the phases, and its bytes are those that crossed the bus.
func TestMeasureGemvStreamed(t *testing.T) {
	device := gputest.Name(t)
	m, _ := gemv.Lookup("deferred")
	for _, op := range []gemv.Op{gemv.NoTrans, gemv.Trans} {
		in := smallInput(t, op)
		o := gemv.Options{Precision: 106, Threads: 1}
		cpu, _, err := MeasureGemv(context.Background(), sampling.Sampler{Runs: 1}, m, o, in)
		if err != nil {
			t.Fatal(err)
		}
		o.Device, o.Stream = device, true
		result, ok, err := MeasureGemv(context.Background(), sampling.Sampler{Runs: 3}, m, o, in)
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		r := result.Record
		if r.ResultHash != cpu.Record.ResultHash || r.WithinBound == nil || !*r.WithinBound || cpu.Record.Variant != "" || r.Variant != "streamed in 1 panel" || r.MatrixBytes != 8*12*9 {
			t.Errorf("hash %s, on the record.CPU %s; variant %q, %d bytes", r.ResultHash, cpu.Record.ResultHash, r.Variant, r.MatrixBytes)
		}
		if phases := r.Phases["stream"] + r.Phases["round"]; phases <= 0 || len(r.Kernels) != 3 || len(result.Phases) != 2 {
			t.Errorf("phases %v, %d kernels", r.Phases, len(r.Kernels))
		}
	}
}

// TestGemvDeviceErrors: a device that is not there, a method that has none, and a matrix that does not fit are errors that say so.
func TestGemvDeviceErrors(t *testing.T) {
	device := gputest.Name(t)
	in := smallInput(t, gemv.NoTrans)
	m, _ := gemv.Lookup("rns-split")
	if _, _, err := MeasureGemv(context.Background(), sampling.Sampler{}, m, gemv.Options{Precision: 106, Device: "cuda:77"}, in); !errors.Is(err, gpu.ErrNoDevice) {
		t.Errorf("cuda:77: %v", err)
	}
	other, _ := gemv.Lookup("bigfloat")
	if _, _, err := MeasureGemv(context.Background(), sampling.Sampler{}, other, gemv.Options{Precision: 106, Device: device}, in); !errors.Is(err, gemv.ErrOption) {
		t.Errorf("bigfloat on %s: %v", device, err)
	}
	d, err := gpu.OpenName(device)
	if err != nil {
		t.Fatal(err)
	}
	var fill []*gpu.Buffer[byte]
	if err := d.Do(func() error {
		for size := int64(1) << 40; size > 64<<10; size /= 2 { // leave little more than 64 KiB
			for {
				free, err := d.Free()
				if err != nil {
					return err
				}
				if free < size {
					break
				}
				b, err := gpu.Alloc[byte](d, int(size))
				if err != nil {
					break // in pieces
				}
				fill = append(fill, b)
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	large := in
	large.Problem.M, large.Problem.N, large.Problem.LDA = 64, 64, 64
	large.Problem.A.Float64, large.Problem.X.Float64, large.Problem.Y.Float64 = make([]float64, 64*64), make([]float64, 64), make([]float64, 64)
	_, _, err = MeasureGemv(context.Background(), sampling.Sampler{}, m, gemv.Options{Precision: 1696, Device: device}, large)
	if err2 := d.Do(func() error {
		for _, b := range fill {
			b.Free()
		}
		return nil
	}); err2 != nil {
		t.Fatal(err2)
	}
	var memory *gemv.MemoryError
	if !errors.As(err, &memory) || memory.Device == "" || !strings.Contains(err.Error(), "of device memory for a 64 x 64 matrix") {
		t.Errorf("a full device: %v", err)
	}
	if _, _, err = MeasureGemv(context.Background(), sampling.Sampler{}, m, gemv.Options{Precision: 1696, Device: device}, in); err != nil {
		t.Errorf("after the memory was given back: %v", err)
	}
}

// TestTuneCache: parameters are kept and found again; a broken or foreign file is a warning and no more.
func TestTuneCache(t *testing.T) {
	device := gputest.Name(t)
	path := filepath.Join(t.TempDir(), "folder", "tune.json")
	t.Setenv("MPBENCH_TUNE_CACHE", path)
	in := smallInput(t, gemv.NoTrans)
	m, _ := gemv.Lookup("rns-split")
	measure := func(tune gemv.Tune) record.Record {
		t.Helper()
		result, _, err := MeasureGemv(context.Background(), sampling.Sampler{}, m, gemv.Options{Precision: 53, Device: device, Tune: tune}, in)
		if err != nil {
			t.Fatal(err)
		}
		return result.Record
	}
	want := measure(gemv.TuneForce).ResultHash
	text, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(text), "rns-split, 53 bits") {
		t.Fatalf("%s, %v", text, err)
	}
	for _, content := range []string{"", "{", `{"version": 99}`, `[1]`, `{"version":1,"entries":{"x":1}}`} {
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
		r := measure(gemv.TuneForce)
		if r.ResultHash != want {
			t.Errorf("with a cache of %q the result is another", content)
		}
		if text, err := os.ReadFile(path); err != nil || !strings.Contains(string(text), "rns-split, 53 bits") {
			t.Errorf("%q is not replaced: %s, %v", content, text, err)
		}
	}
	if err := os.WriteFile(path, []byte("{"), 0o666); err != nil {
		t.Fatal(err)
	}
	if !gputest.Emulated() { // the emulator keeps the default
		if r := measure(gemv.TuneAuto); len(r.Warnings) == 0 || r.Warnings[len(r.Warnings)-1].Code != record.WarnTuning {
			t.Errorf("warnings %v", r.Warnings)
		}
	}
}

// failing is an engine whose device has failed.
type failing struct{ closed bool }

func (f *failing) Err() error { return gpu.ErrFault }
func (f *failing) Close()     { f.closed = true }

// TestOperation: an operation has the error of its device, and gives the memory back.
func TestOperation(t *testing.T) {
	f := &failing{}
	o := Operation{func() {}, f}
	if err := o.Err(); !errors.Is(err, gpu.ErrFault) {
		t.Errorf("error %v", err)
	}
	if err := o.Close(); err != nil || !f.closed {
		t.Errorf("closed %v, error %v", f.closed, err)
	}
	plain := Operation{func() {}, 1}
	if plain.Err() != nil || plain.Close() != nil {
		t.Error("an engine of the record.CPU has an error")
	}
}
