package gemv

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"mpbench/pkg/exact"
	"mpbench/pkg/gpu"
	"mpbench/pkg/gpu/gputest"
	"mpbench/pkg/rns/deferred/deferredgpu"
)

// streamed returns the components of two runs of the streamed engine, which must be the same.
func streamed(t *testing.T, o Options, p Problem, cut deferredgpu.PanelOptions) []exact.Value {
	t.Helper()
	o.Device = gputest.Name(t)
	e, err := newDeviceStream(o)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	e.cut = cut
	if err := e.Load(p); err != nil {
		t.Fatal(err)
	}
	e.Run()
	first := e.Result()
	e.Run()
	compareValues(t, "the second run", e.Result(), first)
	if e.Err() != nil {
		t.Fatal(e.Err())
	}
	return first
}

func compareValues(t *testing.T, what string, got, want []exact.Value) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d components, want %d", what, len(got), len(want))
	}
	for i := range want {
		if !got[i].Equal(want[i]) {
			t.Fatalf("%s, component %d: %v, want %v", what, i, got[i], want[i])
		}
	}
}

// TestDeviceStream compares the streamed engine with the CPU's: every component is the same number, also beside infinities and NaN, for every shape,
// stride, factor and size of panels.
func TestDeviceStream(t *testing.T) {
	gputest.Device(t)
	seeds := uint64(30)
	if !gputest.Emulated() {
		seeds = 1000
	}
	m, _ := Lookup("deferred")
	for _, precision := range []int{24, 53, 106, 424} {
		for seed := range seeds {
			p, o := deviceCase{seed, max(precision, 30), 31, 12}.problem()
			o.Precision = precision
			cut := deferredgpu.PanelOptions{Columns: int(seed % 6), Chunk: []int{0, 8, 40}[seed%3]}
			compareValues(t, fmt.Sprintf("p = %d, seed %d, %v %d x %d, %+v", precision, seed, p.Op, p.M, p.N, cut), streamed(t, o, p, cut), valuesOf(t, m, o, p))
		}
	}
}

// TestDeviceStreamSpecial: infinities and NaN in a later panel, among numbers that do not keep to what the first ones promise.
func TestDeviceStreamSpecial(t *testing.T) {
	gputest.Device(t)
	const m, n = 20, 50
	method, _ := Lookup("deferred")
	for _, op := range []Op{NoTrans, Trans} {
		for _, value := range []float64{math.NaN(), math.Inf(1), 1e200} {
			r := rand.New(rand.NewPCG(7, uint64(op)))
			p := Problem{Op: op, M: m, N: n, LDA: m + 1, IncX: -1, IncY: 2, Alpha: Number(0.7), Beta: Number(-3)}
			p.A.Float64, p.X.Float64, p.Y.Float64 = make([]float64, n*p.LDA), make([]float64, n), make([]float64, 2*n)
			for _, list := range [][]float64{p.A.Float64, p.X.Float64, p.Y.Float64} {
				for i := range list {
					list[i] = r.Float64() - 0.5
				}
			}
			for j := range n { // rows that are not A's
				p.A.Float64[j*p.LDA+m] = math.NaN()
			}
			p.A.Float64[44*p.LDA+7], p.A.Float64[45*p.LDA+9] = value, 1e-290
			o := Options{Precision: 106}
			compareValues(t, fmt.Sprintf("%v, %v", op, value), streamed(t, o, p, deferredgpu.PanelOptions{Columns: 8}), valuesOf(t, method, o, p))
		}
	}
}

// TestDeviceChoice: a matrix whose residues fit the device's memory is kept there, one whose residues do not is streamed, also where CPU and GPU share the work,
// with the same result; where not even a column fits, that is an error.
func TestDeviceChoice(t *testing.T) {
	if !gputest.Emulated() {
		t.Skip("takes the memory of the emulator away, not a GPU's")
	}
	name := gputest.Name(t)
	device := gputest.Device(t)
	m, _ := Lookup("deferred")
	for seed, bits := range []int{0, 106} {
		p := mediumProblem(uint64(seed), 60, 200, bits)
		o := Options{Precision: 106}
		want := valuesOf(t, m, o, p)
		o.Device = name
		if f := formatOf(t, o, p); f.Variant != "" {
			t.Errorf("much memory: %s", f.Variant)
		}
		o.Stream = true
		if f := formatOf(t, o, p); f.Variant != "streamed in 1 panel" {
			t.Errorf("asked for: %q", f.Variant)
		}
		o.Stream = false
		limit := func(bytes int64) { t.Setenv("MPBENCH_EMULATOR_MEMORY", fmt.Sprint(inUse(device)+bytes)) }
		limit(250_000)
		if f := formatOf(t, o, p); !strings.HasPrefix(f.Variant, "streamed in ") || f.Variant == "streamed in 1 panel" {
			t.Errorf("little memory: %q", f.Variant)
		}
		compareValues(t, "little memory", valuesOf(t, m, o, p), want)
		o.Device = "cpu+" + name
		compareValues(t, "little memory, CPU and GPU", valuesOf(t, m, o, p), want)
		for _, op := range []Op{p.Op, 1 - p.Op} {
			q := p
			q.Op, q.M, q.N, q.LDA = op, 50, 50, 50
			e := newEngine(t, m, Options{Precision: 106, Device: name})
			var memory *MemoryError
			for bytes := int64(40_000); bytes > 100; bytes /= 2 {
				e.(DeviceEngine).Close()
				limit(bytes)
				err := e.Load(q)
				if err != nil && (!errors.As(err, &memory) || memory.Device != name || memory.Need <= memory.Have-memory.Have/16) {
					t.Errorf("%d bytes: %v", bytes, err)
				}
			}
			if memory == nil || !strings.Contains(memory.Error(), "streamed") {
				t.Errorf("no memory: %v", memory)
			}
		}
		limit(1 << 30)
	}
}

func inUse(d *gpu.Device) (bytes int64) {
	_ = d.Do(func() error { bytes = d.Memory().Current; return nil })
	return bytes
}

// formatOf loads a problem, runs it and returns the format.
func formatOf(t *testing.T, o Options, p Problem) Format {
	t.Helper()
	m, _ := Lookup("deferred")
	e := newEngine(t, m, o).(DeviceEngine)
	defer e.Close()
	if err := e.Load(p); err != nil {
		t.Fatal(err)
	}
	e.Run()
	for _, phase := range e.Phases() {
		if phase.Time <= 0 || phase.Summary == "" || phase.Name == "" {
			t.Errorf("%+v", phase)
		}
	}
	for _, k := range e.Kernels() {
		if k.Name == "" || k.Phase == "" || k.Bytes <= 0 || k.Occupancy <= 0 || k.Blocks < 1 || k.Threads < 1 || k.Time <= 0 {
			t.Errorf("kernel %+v", k)
		}
	}
	if err := e.Err(); err != nil {
		t.Fatal(err)
	}
	return e.Format()
}
