package record

import (
	"math"
	"testing"
)

func TestCase(t *testing.T) {
	r := Record{
		Command: "sum", Method: "reduce3", Device: "cpu", Threads: 2, PrecisionBits: 240,
		Dataset:    Dataset{Name: "gensum", N: 1000, Params: map[string]string{"seed": "1", "c": "1e20"}},
		Shape:      Shape{N: 1000},
		ModuliBits: 16, Rounding: "truncate", Alignment: "2018", Blocks: 256, BlockSize: 64,
	}
	want := "sum/method=reduce3/precision=240/dataset=gensum:c=1e20,seed=1/n=1000/moduli-bits=16" +
		"/rounding=truncate/alignment=2018/blocks=256/block-size=64/threads=2"
	if got := r.Case(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	other := r
	other.Value, other.EnvID, other.Time = "1", "x", Timing{Median: 1}
	if other.Case() != want {
		t.Error("results are part of the case")
	}
	other.Device = "cuda:0"
	if other.Case() == want {
		t.Error("the device is no part of the case")
	}
}

func TestThroughput(t *testing.T) {
	got := NewThroughput(1_000_000, 8_000_000, 500_000)
	if want := (Throughput{2e9, 16e9, 1_000_000, 8_000_000}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	for _, ns := range []float64{0, 1e-300, math.NaN()} {
		if got := NewThroughput(1, 8, ns); got.ElementsPerSecond != 0 || got.BytesPerSecond != 0 {
			t.Errorf("%v ns: %v", ns, got)
		}
	}
}

func TestValidate(t *testing.T) {
	good := Record{Command: "sum", Method: "m", Device: "cpu", Dataset: Dataset{Name: "d"}}
	if err := good.Validate(); err != nil {
		t.Fatal(err)
	}
	nan := math.NaN()
	for field, change := range map[string]func(*Record){
		"command":                   func(r *Record) { r.Command = "" },
		"dataset.name":              func(r *Record) { r.Dataset.Name = "" },
		"shape.nnz":                 func(r *Record) { r.Shape.NNZ = -1 },
		"value":                     func(r *Record) { r.Value = "0x1" },
		"abs_bound":                 func(r *Record) { r.AbsBound = "?" },
		"correct_bits":              func(r *Record) { r.CorrectBits = &nan },
		"time_ns.hi":                func(r *Record) { r.Time.Hi = math.Inf(1) },
		"time_ns.samples[0]":        func(r *Record) { r.Time.Samples = []float64{nan} },
		"phases_ns.kernel":          func(r *Record) { r.Phases = Phases{PhaseKernel: -1} },
		"throughput":                func(r *Record) { r.Throughput.Bytes = -1 },
		"throughput.elements_per_s": func(r *Record) { r.Throughput.ElementsPerSecond = nan },
	} {
		bad := good
		change(&bad)
		if err, ok := bad.Validate().(*FieldError); !ok || err.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}
