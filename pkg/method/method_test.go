package method

import (
	"context"
	"errors"
	"maps"
	"math/big"
	"strings"
	"testing"

	"mpbench/pkg/bound"
	"mpbench/pkg/device"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
)

var both = device.Must("cpu+cuda:0")

// never is the constructor of engines that tests do not make.
func never(Config) (Engine, error) { panic("made") }

func on(kinds ...device.Kind) map[device.Kind]New {
	m := map[device.Kind]New{}
	for _, k := range kinds {
		m[k] = never
	}
	return m
}

// TestRuns: several devices need an implementation for each, or one for them together; sums also need to be merged.
func TestRuns(t *testing.T) {
	for _, c := range []struct {
		operation *op.Operation
		merges    bool
		on        map[device.Kind]New
		want      string
	}{
		{op.Sum, false, on(device.CPU), "cpu"},
		{op.Sum, false, on(device.CPU, device.CUDA), "cpu cuda"},
		{op.Sum, true, on(device.CPU, device.CUDA), "cpu cuda cpu+cuda"},
		{op.Dot, true, on(device.CUDA), "cuda"},
		{op.Dot, false, on(device.CUDA, device.Hybrid), "cuda cpu+cuda"},
		{op.Axpy, false, on(device.CPU, device.CUDA), "cpu cuda cpu+cuda"},
		{op.Gemv, false, on(device.CPU), "cpu"},
		{op.Gemv, false, nil, ""},
	} {
		m := Method{Operation: c.operation, Merges: c.merges, On: c.on}
		if got := strings.Join(m.Kinds(), " "); got != c.want {
			t.Errorf("%s on %v, merged: %v: runs on %q, want %q", c.operation.Name, c.on, c.merges, got, c.want)
		}
	}
	gpus := device.Must("cuda:0+cuda:1")
	if m := (Method{Operation: op.Gemv, On: on(device.CUDA)}); !m.Runs(gpus) || m.Runs(both) {
		t.Error("a method of GPUs alone runs on the wrong sets")
	}
}

// rows is a method with options of all kinds.
var rows = Method{
	Operation: op.Gemv, Name: "m", Least: 30, Most: 200, Threads: true, On: on(device.CPU, device.CUDA),
	Streams: []device.Kind{device.CUDA},
	Options: []Option{
		{Name: "order", Default: "up", Values: []string{"up", "down", "tree"}},
		{Name: "blocks", Default: "4", Least: 1, Most: 64, PowerOfTwo: true},
		{Name: "tune", Default: "0", Most: 9, On: []device.Kind{device.CUDA}},
	},
}

func TestOptionCheck(t *testing.T) {
	words, two := rows.Options[0], Option{Values: []string{"on", "off"}}
	blocks, number := rows.Options[1], Option{Least: -3, Most: 7}
	for _, c := range []struct {
		option Option
		value  string
		want   string // "" where the value is taken
	}{
		{words, "up", ""}, {words, "tree", ""}, {words, "", "want up, down or tree"}, {words, "Up", "want up, down or tree"},
		{two, "2", "want on or off"}, {Option{Values: []string{"one"}}, "x", "want one"},
		{number, "-3", ""}, {number, "7", ""}, {number, "0", ""},
		{number, "-4", "want an integer from -3 to 7"}, {number, "8", "want an integer from -3 to 7"},
		{number, "1.0", "want an integer from -3 to 7"}, {number, "", "want an integer from -3 to 7"},
		{number, "99999999999999999999", "want an integer from -3 to 7"},
		{blocks, "1", ""}, {blocks, "2", ""}, {blocks, "64", ""}, {blocks, "48", "want a power of two from 1 to 64"},
		{blocks, "128", "want a power of two from 1 to 64"}, {blocks, "0", "want a power of two from 1 to 64"},
	} {
		err := c.option.Check(c.value)
		if (err == nil) != (c.want == "") || err != nil && err.Error() != c.want {
			t.Errorf("%q: %v, want %q", c.value, err, c.want)
		}
	}
}

// TestComplete: defaults take the place of what is not there, in a map of its own.
func TestComplete(t *testing.T) {
	given := map[string]string{"blocks": "16", "of another method": "x"}
	c, err := rows.Complete(Config{Precision: 100, Options: given, Threads: 3})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"order": "up", "blocks": "16", "tune": "0"}
	if !maps.Equal(c.Options, want) || c.Int("blocks") != 16 || c.Threads != 3 {
		t.Errorf("%+v", c)
	}
	if len(given) != 2 || given["blocks"] != "16" {
		t.Errorf("the options that were given became %v", given)
	}
	fixed := rows
	fixed.Bits = 53
	if c, err := fixed.Complete(Config{Precision: 7}); err != nil || c.Precision != 53 {
		t.Errorf("a fixed format: %d bits, %v", c.Precision, err)
	}
	defer func() {
		if text, _ := recover().(string); !strings.Contains(text, `option order is "up"`) {
			t.Errorf("%q", text)
		}
	}()
	c.Int("order")
}

// TestRefusals: New makes nothing from what Complete refuses, and says what is wrong.
func TestRefusals(t *testing.T) {
	sum := rows
	sum.Operation = op.Sum
	options := func(name, value string) map[string]string { return map[string]string{name: value} }
	for _, c := range []struct {
		method Method
		config Config
		want   string
	}{
		{rows, Config{Precision: 29}, "m: precision 29 is outside its range, 30 to 200 bits"},
		{rows, Config{Precision: 201}, "m: precision 201 is outside its range, 30 to 200 bits"},
		{sum, Config{Precision: 60, Devices: both}, "m: does not run on cpu+cuda:0; it runs on cpu, cuda"},
		{rows, Config{Precision: 60, Stream: true}, "m: needs all numbers in its memory on cpu"},
		{rows, Config{Precision: 60, Devices: both, Stream: true}, "m: needs all numbers in its memory on cpu+cuda:0"},
		{rows, Config{Precision: 60, Options: options("blocks", "3")}, "m: blocks 3: want a power of two from 1 to 64"},
		{rows, Config{Precision: 60, Options: options("tune", "10")}, "m: tune 10: want an integer from 0 to 9"},
	} {
		e, err := c.method.New(c.config)
		var refused *Error
		if e != nil || !errors.As(err, &refused) || err.Error() != c.want || refused.Method != "m" {
			t.Errorf("%+v: %v, want %s", c.config, err, c.want)
		}
	}
	if _, err := rows.Complete(Config{Precision: 60, Devices: device.GPU(1), Stream: true}); err != nil {
		t.Errorf("a stream on the device that takes it: %v", err)
	}
}

// TestNew: the implementation for the devices gets the complete configuration; one for several devices goes first.
func TestNew(t *testing.T) {
	failed := errors.New("no engine")
	var got Config
	m := rows
	m.On = map[device.Kind]New{}
	for _, k := range []device.Kind{device.CPU, device.CUDA, device.Hybrid} {
		m.On[k] = func(c Config) (Engine, error) {
			got = c
			return nil, failed
		}
	}
	for _, set := range []device.Set{{}, device.GPU(2), both} {
		if _, err := m.New(Config{Precision: 64, Devices: set}); err != failed || got.Devices.String() != set.String() {
			t.Errorf("%s: %v on %s", set, err, got.Devices)
		}
		if got.Merge || got.Options["order"] != "up" {
			t.Errorf("%s: %+v", set, got)
		}
	}
}

func TestCase(t *testing.T) {
	for _, c := range []struct {
		config Config
		want   string
	}{
		{Config{Precision: 60}, "gemv m cpu p=60 order=up blocks=4 threads=0"},
		{Config{Precision: 60, Threads: 2, Options: map[string]string{"blocks": "8"}},
			"gemv m cpu p=60 order=up blocks=8 threads=2"},
		{Config{Precision: 61, Devices: device.GPU(1), Stream: true},
			"gemv m cuda:1 p=61 order=up blocks=4 tune=0 threads=0 stream"},
		{Config{Precision: 60, MaxBytes: 1 << 30, Devices: both}, "gemv m cpu+cuda:0 p=60 order=up blocks=4 threads=0"},
	} {
		complete, err := rows.Complete(c.config)
		if err != nil {
			t.Fatal(err)
		}
		if got := rows.Case(complete); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	fixed := Method{Operation: op.Sum, Name: "float64", Bits: 53}
	if got := fixed.Case(Config{Precision: 53, Threads: 4}); got != "sum float64 cpu" {
		t.Errorf("%q", got)
	}
}

func TestRoundsOnce(t *testing.T) {
	for formula, want := range map[string]bool{
		"u*|s|, u = 2^-p": true, "g(n)*S, u = 2^-p": false, "d, d = S": false, "P*n": false,
	} {
		if got := (Method{Bound: bound.New(formula, "")}).RoundsOnce(); got != want {
			t.Errorf("%s: %v", formula, got)
		}
	}
	if (Method{}).RoundsOnce() {
		t.Error("a method without a bound rounds once")
	}
}

func TestCatalog(t *testing.T) {
	c := Catalog{
		{Operation: op.Gemv, Name: "b", On: on(device.CPU)}, {Operation: op.Sum, Name: "a", On: on(device.CPU)},
		{Operation: op.Sum, Name: "b", On: on(device.CUDA)}, {Operation: op.Gemv, Name: "c", On: on(device.CPU)},
	}
	if got := c.Names(); strings.Join(got, " ") != "b a c" {
		t.Errorf("names %v", got)
	}
	if got := c.Operations(); len(got) != 2 || got[0] != op.Sum || got[1] != op.Gemv {
		t.Errorf("operations %v", got)
	}
	if got := c.Of(op.Gemv); strings.Join(got.Names(), " ") != "b c" || len(c.Of(op.Dot)) != 0 || len(c) != 4 {
		t.Errorf("methods of gemv: %v", got.Names())
	}
	if m, ok := c.Lookup(op.Sum, "b"); !ok || m.Operation != op.Sum || m.Name != "b" {
		t.Errorf("%+v, %v", m, ok)
	}
	if _, ok := c.Lookup(op.Sum, "c"); ok {
		t.Error("a sum by c was found")
	}
}

// TestWith: the new catalog has the implementation and the old one does not.
func TestWith(t *testing.T) {
	c := Catalog{{Operation: op.Sum, Name: "a", On: on(device.CPU)}, {Operation: op.Dot, Name: "a", On: on(device.CPU)}}
	d := c.With(op.Dot, "a", device.CUDA, never)
	e := c.With(op.Dot, "a", device.Hybrid, never)
	for _, one := range []struct {
		catalog Catalog
		want    string
	}{{c, "cpu"}, {d, "cpu cuda"}, {e, "cpu cpu+cuda"}} {
		m, _ := one.catalog.Lookup(op.Dot, "a")
		if got := strings.Join(m.Kinds(), " "); got != one.want {
			t.Errorf("%s, want %s", got, one.want)
		}
		if sum, _ := one.catalog.Lookup(op.Sum, "a"); len(sum.On) != 1 {
			t.Errorf("the other method runs on %v", sum.Kinds())
		}
	}
	for _, wrong := range []struct {
		name string
		kind device.Kind
	}{{"b", device.CUDA}, {"a", device.CPU}} {
		func() {
			defer func() {
				want := "no " + wrong.name + " of sum that lacks " + string(wrong.kind)
				if text, _ := recover().(string); !strings.Contains(text, want) {
					t.Errorf("%+v: %q", wrong, text)
				}
			}()
			c.With(op.Sum, wrong.name, wrong.kind, never)
		}()
	}
}

func TestCheckMemory(t *testing.T) {
	matrix, vector := op.Shape{M: 3, N: 5}, op.Shape{N: 7}
	for _, c := range []struct {
		limit, need int64
		shape       op.Shape
		detail      string
		want        string
	}{
		{0, 1 << 60, vector, "", ""}, {100, 100, vector, "", ""},
		{100, 101, vector, "", "m needs 101 bytes for 7 numbers; 100 bytes are available"},
		{99e6, 99_960_000, matrix, "", "m needs 100.0 MB for a 3 x 5 matrix; 99.0 MB are available"},
		{100e6, 2e9, matrix, "all residues", "m needs 2.0 GB for a 3 x 5 matrix (all residues); 0.1 GB are available"},
	} {
		err := Config{MaxBytes: c.limit}.CheckMemory("m", c.shape, c.need, c.detail)
		var memory *MemoryError
		switch {
		case c.want == "" && err == nil:
		case !errors.As(err, &memory) || err.Error() != c.want || memory.Need != c.need || memory.Have != c.limit:
			t.Errorf("%d of %d bytes: %v, want %q", c.need, c.limit, err, c.want)
		}
	}
	p := &op.Problem{Op: op.Sum, X: numbers.Vector(numbers.Outline{Count: 10, Bytes: 8})}
	for limit, want := range map[int64]int64{0: 0, 50: 1, 80: 1, 100: 20} {
		if have := (Config{MaxBytes: limit}).Beside(p).MaxBytes; have != want {
			t.Errorf("%d of %d bytes are left beside 80", have, limit)
		}
	}
	device := &MemoryError{Method: "m", Shape: vector, Need: 3e9, Have: 1e9, Device: "a GPU"}
	if got := device.Error(); got != "m needs 3.0 GB of device memory for 7 numbers; a GPU has 1.0 GB free" {
		t.Error(got)
	}
	device.Need = 56
	want := "m needs 56 bytes of device memory for 7 numbers; a GPU refused it, with 1.0 GB free in pieces"
	if got := device.Error(); got != want {
		t.Error(got)
	}
}

func TestRounded(t *testing.T) {
	var r Rounded
	r.Add(Rounded{Factors: 1})
	r.Add(Rounded{Factors: 2, Lost: true})
	r.Add(Rounded{})
	if r != (Rounded{Factors: 3, Lost: true}) {
		t.Errorf("%+v", r)
	}
}

// TestRun: an engine that cannot be prepared is not run, and the errors of both are returned.
func TestRun(t *testing.T) {
	p := &op.Problem{Op: op.Sum, X: numbers.Vector(numbers.Float64s{1, 2, 0x1p-1074})}
	for _, c := range []struct {
		prepare, run error
		runs         int
	}{{nil, nil, 1}, {errBroken, nil, 0}, {nil, errBroken, 1}} {
		e := &fake{prepareErr: c.prepare, runErr: c.run}
		want := c.prepare
		if want == nil {
			want = c.run
		}
		if err := Run(context.Background(), e, p); err != want || e.runs != c.runs {
			t.Errorf("%+v: %v after %d runs", c, err, e.runs)
		}
	}
	if got := (Config{Devices: device.Must("cpu+cuda:5")}).GPU(); got != 5 {
		t.Errorf("GPU %d", got)
	}
}

func float(x float64) *big.Rat { return new(big.Rat).SetFloat64(x) }

// TestIEEE: the ranges are those of binary64 and binary32.
func TestIEEE(t *testing.T) {
	for _, c := range []struct {
		r                      Range
		unit, largest, halfUlp *big.Rat
		half                   int // of the least subnormal number: 2^-half
	}{
		{Binary64, rat("1/9007199254740992"), float(0x1.fffffffffffffp1023), float(0x1p970), 1075},
		{Binary32, rat("1/16777216"), float(0x1.fffffep127), float(0x1p103), 150},
	} {
		tiny := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), uint(c.half)))
		if c.r.Unit.Cmp(c.unit) != 0 || c.r.Tiny.Cmp(tiny) != 0 {
			t.Errorf("unit %v, tiny %v", c.r.Unit, c.r.Tiny)
		}
		if want := new(big.Rat).Add(c.largest, c.halfUlp); c.r.Overflow.Cmp(want) != 0 {
			t.Errorf("overflow from %v, want %v", c.r.Overflow, want)
		}
	}
}
