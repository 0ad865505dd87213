package paper

import (
	"context"
	"math/big"
	"slices"
	"strings"
	"testing"

	"mpbench/pkg/device"
	"mpbench/pkg/exact"
	"mpbench/pkg/method"
	"mpbench/pkg/methods"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
	"mpbench/pkg/primer"
	"mpbench/pkg/record"
	"mpbench/pkg/sampling"
)

func value(t *testing.T, text string) exact.Value {
	t.Helper()
	x, ok := new(big.Rat).SetString(text)
	if !ok {
		t.Fatal(text)
	}
	return exact.FromRat(x)
}

func TestSameFigure(t *testing.T) {
	for _, c := range []struct {
		printed, x string
		same       bool
	}{
		{"3.48733745e-6", "3.487337450228e-6", true},
		{"3.48733745e-6", "3.487337455001e-6", false},
		{"3.48733745e-6", "3.487337444999e-6", false},
		{"1.0", "1", true},
		{"1.0", "1.0000000001", true},
		{"1.0", "1.06", false},
		{"1.0000000001", "1", false},
		{"1.0000000001", "1.000000000098885", true},
		{"0", "0", true},
		{"0", "1e-40", false},
		{"2e-18", "0", false},
		{"10^-10", "1.3e-10", true},
		{"10^-10", "3.1e-10", true},
		{"10^-10", "3.2e-10", false},
		{"10^-10", "3.17e-11", true},
		{"10^-10", "3.15e-11", false},
		{"10^0", "1", true},
		{"10^0", "0", false},
		{"6e-27", "6.2e-27", true},
		{"6e-27", "6.6e-27", false},
		{"-2.5", "-2.54", true},
		{"unreadable", "1", false},
	} {
		if got := sameFigure(c.printed, value(t, c.x)); got != c.same {
			t.Errorf("%s printed, %s found: %v", c.printed, c.x, got)
		}
	}
	if sameFigure("1.0", exact.Value{Class: exact.NaN}) {
		t.Error("NaN is a figure")
	}
}

// keep returns the methods of the catalog that run on the CPU, each on the devices for which on gives an
// implementation.
func keep(on func(m method.Method) map[device.Kind]method.New) method.Catalog {
	var list method.Catalog
	for _, m := range methods.All() {
		if m.On[device.CPU] != nil {
			m.On = on(m)
			list = append(list, m)
		}
	}
	return list
}

// onCPU leaves a method its implementation for the CPU.
func onCPU(m method.Method) map[device.Kind]method.New {
	return map[device.Kind]method.New{device.CPU: m.On[device.CPU]}
}

// lab returns a Lab whose methods run on the CPU only.
func lab(devices ...string) *Lab {
	l := &Lab{Methods: keep(onCPU), NoGPU: "no GPU in this test", Seed: 1, N: 24}
	for _, name := range devices {
		l.Devices = append(l.Devices, device.Must(name))
	}
	return l
}

func run(t *testing.T, name string, l *Lab) *Result {
	t.Helper()
	e, ok := Lookup(name)
	if !ok {
		t.Fatalf("no experiment %s", name)
	}
	r, err := e.Run(context.Background(), l)
	if err != nil {
		t.Fatal(err)
	}
	checkShape(t, r)
	return r
}

// checkShape: every row has a cell for each quantity, and every note that a cell names is there.
func checkShape(t *testing.T, r *Result) {
	t.Helper()
	for _, g := range r.Groups {
		for _, row := range g.Rows {
			if len(row.Cells) != len(g.Quantities) {
				t.Errorf("%s: row %q has %d cells", g.Title, row.Label, len(row.Cells))
			}
			for _, c := range row.Cells {
				known := slices.ContainsFunc(r.Notes, func(n Note) bool { return n.Key == c.Note && n.Text != "" })
				if c.Note != "" && !known || (c.Verdict == Explained) && c.Note == "" {
					t.Errorf("%s: row %q: %+v has no note", g.Title, row.Label, c)
				}
			}
		}
	}
}

// TestTables2018 repeats Tables 1 and 2: every figure has the printed digits but for those that a note explains, and
// these are as many as were found.
func TestTables2018(t *testing.T) {
	for _, c := range []struct {
		name             string
		agree, explained int
		records          int
	}{
		{"mpres2018-table1", 15, 0, 6},
		{"mpres2018-table2", 63, 14, 36},
	} {
		if testing.Short() && c.records > 10 {
			t.Logf("%s is left out with -short: it adds a million numbers 36 times", c.name)
			continue
		}
		r := run(t, c.name, lab("cpu"))
		if r.Count(Differs) != 0 || r.Count(Missing) != 0 || r.Count(Agrees) != c.agree ||
			r.Count(Explained) != c.explained {
			t.Errorf("%s: %d differ, %d missing, %d agree, %d explained", c.name, r.Count(Differs), r.Count(Missing),
				r.Count(Agrees), r.Count(Explained))
		}
		if len(r.Records) != c.records || r.OutsideBound() != 0 {
			t.Errorf("%s: %d records, %d outside their bounds", c.name, len(r.Records), r.OutsideBound())
		}
	}
}

// wrong is an engine whose sums are off by one part in 2^30.
type wrong struct{ method.Engine }

func (w wrong) Result() (numbers.Source, error) {
	y, err := w.Engine.Result()
	if err != nil {
		return nil, err
	}
	factor := new(big.Rat).Add(big.NewRat(1, 1), exact.PowerOfTwo(-30))
	return numbers.Values{exact.FromRat(factor.Mul(factor, numbers.At(y, 0).Number()))}, nil
}

func spoil(construct method.New) method.New {
	return func(c method.Config) (method.Engine, error) {
		e, err := construct(c)
		return wrong{e}, err
	}
}

// TestTable2Detects: a method that is slightly wrong makes figures differ.
func TestTable2Detects(t *testing.T) {
	if testing.Short() {
		t.Skip("left out with -short: adds a million numbers many times")
	}
	l := lab("cpu")
	l.Methods = keep(func(m method.Method) map[device.Kind]method.New {
		on := onCPU(m)
		if m.Operation == op.Sum && m.Name == "reduce2" {
			on[device.CPU] = spoil(on[device.CPU])
		}
		return on
	})
	r := run(t, "mpres2018-table2", l)
	if r.Count(Differs) < 5 || r.OutsideBound() == 0 {
		t.Errorf("%d figures differ, %d results are outside their bounds", r.Count(Differs), r.OutsideBound())
	}
}

// onGPU is an engine of the CPU that says it is one of a GPU.
type onGPU struct{ method.Engine }

func (g onGPU) Info() method.Info {
	info := g.Engine.Info()
	info.Device = "cuda:0"
	return info
}

func asGPU(construct method.New) method.New {
	return func(c method.Config) (method.Engine, error) {
		e, err := construct(c)
		return onGPU{e}, err
	}
}

// withGPU returns a catalog in which the GPU variants run as their CPU counterparts do.
func withGPU() method.Catalog {
	list := keep(func(m method.Method) map[device.Kind]method.New {
		on := onCPU(m)
		if m.On[device.CUDA] != nil {
			on[device.CUDA] = asGPU(m.On[device.CPU])
		}
		return on
	})
	for _, name := range []string{"reduce1", "reduce2"} {
		m, _ := list.Lookup(op.Sum, name)
		for _, suffix := range []string{"s", "p"} {
			v := m
			v.Name, v.On = name+suffix, map[device.Kind]method.New{device.CUDA: asGPU(m.On[device.CPU])}
			list = append(list, v)
		}
	}
	return list
}

// TestGPU: as soon as methods offer a device, its rows are run.
func TestGPU(t *testing.T) {
	if testing.Short() {
		t.Skip("left out with -short: adds a million numbers many times")
	}
	l := lab("cpu", "cuda:0")
	l.Methods = withGPU()
	r := run(t, "mpres2018-table2", l)
	// reduce1 and reduce2 have two variants each, reduce3 itself
	if r.Count(Differs) != 0 || len(r.Records) != 36+2*24+12 {
		t.Errorf("%d differ, %d records", r.Count(Differs), len(r.Records))
	}
	if same := (&Result{Groups: []Group{bitForBit(r.Records, true)}}); same.Count(Agrees) != 2 {
		t.Errorf("%d statements on equal bits agree, want 2", same.Count(Agrees))
	}
	changed := slices.IndexFunc(r.Records, func(r record.Record) bool { return r.Method == "reduce2p" })
	r.Records[changed].ResultHash = "0"
	if other := (&Result{Groups: []Group{bitForBit(r.Records, true)}}); other.Count(Differs) != 1 {
		t.Error("a GPU that gives other bits is not noticed")
	}
	for name, cells := range map[string]int{"mpres2018-fig6": 0, "mpres2018-fig7": 1} { // float64 has no GPU version
		l = lab("cpu", "cuda:0")
		l.Methods = withGPU()
		if r := run(t, name, l); r.Count(Missing) != cells {
			t.Errorf("%s: %d figures are missing", name, r.Count(Missing))
		}
	}
}

// TestMissing: without a GPU the reason stands beside every figure that needs one, and the rest is run.
func TestMissing(t *testing.T) {
	for name, want := range map[string]struct{ missing, records int }{
		"mpres2018-fig6":  {6, 9},
		"mpres2018-fig7":  {25, 12},
		"gemv2020-table3": {0, 1},
		"gemv2020-table4": {4, 1},
		"gemv2020-table5": {15, 33},
		"tripleblas-axpy": {6, 6},
		"tripleblas-gemv": {6, 6},
		"tripleblas-gemm": {6, 6},
	} {
		r := run(t, name, lab("cpu"))
		if r.Count(Missing) != want.missing || len(r.Records) != want.records || r.Count(Differs) != 0 ||
			r.OutsideBound() != 0 {
			t.Errorf("%s: %d missing, %d records, %d differ, %d outside their bounds",
				name, r.Count(Missing), len(r.Records), r.Count(Differs), r.OutsideBound())
		}
		if !slices.ContainsFunc(r.Notes, func(n Note) bool { return strings.Contains(n.Text, "no GPU in this test") }) {
			t.Errorf("%s: no note says why there is no GPU", name)
		}
	}
}

// TestOnlyGPU: without the CPU among the devices nothing is run on it.
func TestOnlyGPU(t *testing.T) {
	for _, e := range Experiments() {
		if r := run(t, e.Name, lab("cuda:0")); len(r.Records) != 0 {
			t.Errorf("%s: %d records", e.Name, len(r.Records))
		}
	}
}

// TestInterrupted: an interruption keeps what there is.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for _, e := range Experiments()[2:7] { // with a reduce2 at all
		l := lab("cpu")
		l.Progress = func(what string) {
			if strings.Contains(what, "reduce2") || strings.Contains(what, "rns-split T") {
				cancel()
			}
		}
		if _, err := e.Run(ctx, l); err != nil {
			t.Errorf("%s: %v", e.Name, err)
		}
	}
	if ctx.Err() == nil {
		t.Error("not interrupted")
	}
}

// TestRoundedReference is the arithmetic behind the note on set 2: 1e-16 is 57.6 units of 2^-59, and 58 make an error
// of 6.1e-13.
func TestRoundedReference(t *testing.T) {
	exactSum := value(t, "1.0000000001")
	if got := exact.Measure(exact.FromRat(roundedReference()), exactSum).Rel.Text(2); got != "6.1e-13" {
		t.Error(got)
	}
}

// TestReductionPage: the page's figures, of which three are slips, and the measured ways of every device; a result
// that is wrong is a figure that differs.
func TestReductionPage(t *testing.T) {
	l := lab("cpu")
	l.Reductions = func(_ context.Context, n int) ([]primer.Row, error) {
		return []primer.Row{
			{Way: "private", Device: "cpu", TimeNs: 1000, Speedup: 2, Right: true},
			{Way: "divergent", Device: "emulated", Divergent: "16 16 1", Conflicts: "0 0 0", Right: true},
			{Way: "strided", Device: "emulated", Value: "5"},
		}, nil
	}
	r := run(t, "reduction-page", l)
	if r.Count(Agrees) != 3 || r.Count(Explained) != 3 || r.Count(Differs) != 1 {
		t.Errorf("%d agree, %d are explained, %d differ", r.Count(Agrees), r.Count(Explained), r.Count(Differs))
	}
	if n := len(r.Groups); n != 6 || len(r.Groups[0].Rows) != 9 || r.Groups[5].Rows[0].Cells[4].Here != "33" {
		t.Errorf("%d groups: %+v", n, r.Groups)
	}
}

// TestRegistries: the phases and methods that the experiments name exist.
func TestRegistries(t *testing.T) {
	for _, k := range kernels2020 {
		in, err := lab("cpu").matrix(0)
		if err != nil {
			t.Fatal(err)
		}
		p, err := lab("cpu").product(in, false)
		if err != nil {
			t.Fatal(err)
		}
		c := method.Config{Precision: profileBits}
		r, ok, err := lab("cpu").measure(context.Background(), sampling.Sampler{}, "rns-split", c, p)
		if _, there := r.Phases[k.phase]; !ok || err != nil || !there {
			t.Errorf("no phase %s: %v", k.phase, err)
		}
	}
	if bitsOf(64) != 480 || bitsOf(8) != 60 {
		t.Error("precisions")
	}
}
