package selftest

import (
	"context"
	"math"
	"math/big"
	"runtime"
	"strings"
	"testing"

	"mpbench/internal/mxcsr"
	"mpbench/pkg/exact"
	"mpbench/pkg/gemv"
	"mpbench/pkg/reduce"
)

// find returns the row of a method.
func find(t *testing.T, rows []Row, operation, method string) Row {
	t.Helper()
	for _, r := range rows {
		if r.Operation == operation && r.Method == method {
			return r
		}
	}
	t.Fatalf("no row of %s %s", operation, method)
	return Row{}
}

// onlyFails checks that one row fails, with a failure that says something and advice, and nothing else does.
func onlyFails(t *testing.T, rows []Row, operation, method, says string) {
	t.Helper()
	r := find(t, rows, operation, method)
	if r.Pass() {
		t.Errorf("%s %s: the fault is not detected", operation, method)
		return
	}
	if !strings.Contains(r.Failure, says) || r.Advice == "" {
		t.Errorf("%s %s: %q, want something about %q; advice %q", operation, method, r.Failure, says, r.Advice)
	}
	if n := Failed(rows); n != 1 {
		t.Errorf("%s %s: %d rows fail", operation, method, n)
	}
}

// changed is a value changed by a test.
type change func(exact.Value, reduce.Format) exact.Value

// ulp adds a unit of the last place of the format.
func ulp(v exact.Value, f reduce.Format) exact.Value {
	if !v.IsFinite() || v.Sign() == 0 {
		return v
	}
	x := new(big.Float).SetPrec(53).SetRat(v.Rat)
	unit := exact.PowerOfTwo(x.MantExp(nil) - f.Actual)
	return exact.FromRat(unit.Add(unit, v.Rat))
}

// flip changes the lowest bit of the float64 nearest to the value.
func flip(v exact.Value, _ reduce.Format) exact.Value {
	return exact.FromFloat64(math.Float64frombits(math.Float64bits(v.Float64()) ^ 1))
}

type badSum struct {
	reduce.Summer
	change change
}

func (b badSum) Value() exact.Value { return b.change(b.Summer.Value(), b.Format()) }

type badDot struct {
	reduce.Dotter
	change change
}

func (b badDot) Value() exact.Value { return b.change(b.Dotter.Value(), b.Format()) }

type badGemv struct {
	gemv.Engine
	change change
	only   int // component
}

func (b badGemv) Result() []exact.Value {
	y := b.Engine.Result()
	i := min(b.only, len(y)-1)
	y[i] = b.change(y[i], reduce.Format{Actual: b.Format().Actual})
	return y
}

func withSum(m reduce.Method, change change) reduce.Method {
	construct := m.New
	m.New = func(o reduce.Options) (reduce.Summer, error) {
		s, err := construct(o)
		return badSum{s, change}, err
	}
	return m
}

func withDot(m reduce.Method, change change) reduce.Method {
	construct := m.NewDot
	m.NewDot = func(o reduce.Options) (reduce.Dotter, error) {
		d, err := construct(o)
		return badDot{d, change}, err
	}
	return m
}

func withGemv(m gemv.Method, change change) gemv.Method {
	construct := m.New
	m.New = func(o gemv.Options) (gemv.Engine, error) {
		e, err := construct(o)
		return badGemv{e, change, 5}, err
	}
	return m
}

// TestOneULP: a method of any kind that is off by one unit of the last place is detected, whatever its bound.
func TestOneULP(t *testing.T) {
	cpu := []string{"cpu"}
	for _, m := range reduce.Methods() {
		if !m.RunsOn("cpu") {
			continue
		}
		s := Suite{Sums: []reduce.Method{withSum(m, ulp)}, Devices: cpu}
		onlyFails(t, s.Run(context.Background()), "sum", m.Name, "found")
	}
	for _, m := range reduce.DotMethods() {
		s := Suite{Dots: []reduce.Method{withDot(m, ulp)}, Devices: cpu}
		onlyFails(t, s.Run(context.Background()), "dot", m.Name, "found")
	}
	for _, m := range gemv.Methods() {
		s := Suite{Gemvs: []gemv.Method{withGemv(m, ulp)}, Devices: cpu}
		onlyFails(t, s.Run(context.Background()), "gemv", m.Name, "y[5]")
	}
}

// TestWrongDevice: a GPU that flips one bit in one of its results is detected and named, and the CPU passes.
func TestWrongDevice(t *testing.T) {
	for _, name := range []string{"reduce1", "deferred", "reduce3"} {
		m, _ := reduce.Lookup(name)
		construct, runs := m.New, 0
		m.Devices = []string{"cpu", "cuda"}
		m.New = func(o reduce.Options) (reduce.Summer, error) {
			device := o.Device
			o.Device = "cpu"
			s, err := construct(o)
			if device == "cuda:0" {
				return badSum{s, func(v exact.Value, f reduce.Format) exact.Value {
					if runs++; runs == 5 {
						return flip(v, f)
					}
					return v
				}}, err
			}
			return s, err
		}
		rows := Suite{Sums: []reduce.Method{m}, Devices: []string{"cpu", "cuda:0"}}.Run(context.Background())
		if Failed(rows) != 1 || !rows[1].Pass() || rows[2].Pass() || rows[2].Device != "cuda:0" {
			t.Fatalf("%s: %+v", name, rows)
		}
		if rows[2].Failed > 2 || // both the expected bits and the bound may tell
			!strings.Contains(rows[2].Advice, "device") {
			t.Errorf("%s: %+v", name, rows[2])
		}
	}
}

// fusedDot is the dot product of a compiler that fuses multiply-adds.
type fusedDot struct {
	reduce.Dotter
	x, y   []float64
	result float64
}

func (d *fusedDot) Load(x, y reduce.Terms) error {
	d.x, d.y = x.Float64, y.Float64
	return d.Dotter.Load(x, y)
}

func (d *fusedDot) Dot() {
	d.result = 0
	for i, x := range d.x {
		d.result = math.FMA(x, d.y[i], d.result)
	}
}

func (d *fusedDot) Value() exact.Value { return exact.FromFloat64(d.result) }

func TestFusedDot(t *testing.T) {
	m, _ := reduce.Lookup("float64")
	construct := m.NewDot
	m.NewDot = func(o reduce.Options) (reduce.Dotter, error) {
		d, err := construct(o)
		return &fusedDot{Dotter: d}, err
	}
	rows := Suite{Dots: []reduce.Method{m}, Devices: []string{"cpu"}}.Run(context.Background())
	onlyFails(t, rows, "dot", "float64", "multiply-adds are fused")
}

// modelled arithmetic: what a processor with a fault would give.
func ofModel(b binary) Arithmetic {
	two := func(f func(x, y number) number) func(x, y float64) float64 {
		return func(x, y float64) float64 { return f(fromFloat(x), fromFloat(y)).float() }
	}
	three := func(f func(x, y, z number) number) func(x, y, z float64) float64 {
		return func(x, y, z float64) float64 { return f(fromFloat(x), fromFloat(y), fromFloat(z)).float() }
	}
	return Arithmetic{
		Add: two(b.add), Mul: two(b.mul), Div: two(b.div), Sqrt: func(x float64) float64 { return b.sqrt(fromFloat(x)).float() },
		MulAdd: three(b.mulAdd), FMA: three(b.fma),
	}
}

// TestFaultyArithmetic: every fault is detected and called by its name, and the right arithmetic passes.
func TestFaultyArithmetic(t *testing.T) {
	for _, f := range faults {
		rows := Suite{Arithmetic: ofModel(f.model)}.Run(context.Background())
		onlyFails(t, rows, "arithmetic", "float64", f.name)
	}
	if rows := (Suite{Arithmetic: ofModel(binary64())}).Run(context.Background()); Failed(rows) != 0 {
		t.Errorf("%+v", rows)
	}
	unfused := ofModel(binary64())
	unfused.FMA = unfused.MulAdd
	onlyFails(t, Suite{Arithmetic: unfused}.Run(context.Background()), "arithmetic", "float64", "FMA")
}

// underControl runs f on this thread with bits of the control register set.
func underControl(word uint32, f func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := mxcsr.Read()
	mxcsr.Set(before | word)
	f()
	mxcsr.Set(before)
}

// controlWords are the bits of MXCSR with the names of what they do.
var controlWords = map[string]uint32{
	"rounded toward zero":                          mxcsr.RoundToZero,
	"rounded downward":                             mxcsr.RoundDown,
	"rounded upward":                               mxcsr.RoundUp,
	"subnormal results are flushed to zero":        mxcsr.FlushToZero,
	"subnormal operands count as zero":             mxcsr.DenormalsAreZero,
	"subnormal operands and results count as zero": mxcsr.FlushToZero | mxcsr.DenormalsAreZero,
}

// TestControlRegister: the processor itself, with another control register, is detected, and what it does is named as well as the
// register.
func TestControlRegister(t *testing.T) {
	if !mxcsr.Supported {
		t.Skip("this processor has no MXCSR register to set")
	}
	for name, word := range controlWords {
		h := Hardware()
		a := Arithmetic{
			Add:    func(x, y float64) (z float64) { underControl(word, func() { z = h.Add(x, y) }); return },
			Mul:    func(x, y float64) (z float64) { underControl(word, func() { z = h.Mul(x, y) }); return },
			Div:    func(x, y float64) (z float64) { underControl(word, func() { z = h.Div(x, y) }); return },
			Sqrt:   func(x float64) (z float64) { underControl(word, func() { z = h.Sqrt(x) }); return },
			MulAdd: func(x, y, w float64) (z float64) { underControl(word, func() { z = h.MulAdd(x, y, w) }); return },
			FMA:    func(x, y, w float64) (z float64) { underControl(word, func() { z = h.FMA(x, y, w) }); return },
		}
		onlyFails(t, Suite{Arithmetic: a}.Run(context.Background()), "arithmetic", "float64", name)
		a.Control = func() (text string) { underControl(word, func() { text = h.Control() }); return }
		onlyFails(t, Suite{Arithmetic: a}.Run(context.Background()), "arithmetic", "float64", "MXCSR is 0x")
	}
}

// controlledSum sums with another control register.
type controlledSum struct {
	reduce.Summer
	word uint32
}

func (s controlledSum) Sum() { underControl(s.word, s.Summer.Sum) }

// TestControlledSums: a method whose thread has another control register is detected, and float64 says what is wrong.
func TestControlledSums(t *testing.T) {
	if !mxcsr.Supported {
		t.Skip("this processor has no MXCSR register to set")
	}
	for _, method := range []string{"float32", "float64", "kahan", "neumaier"} {
		for name, word := range controlWords {
			if strings.HasPrefix(name, "subnormal") && method == "float32" {
				continue // no data have results below 2^-126
			}
			m, _ := reduce.Lookup(method)
			construct := m.New
			m.New = func(o reduce.Options) (reduce.Summer, error) {
				s, err := construct(o)
				return controlledSum{s, word}, err
			}
			says := ""
			if strings.HasPrefix(name, "rounded") && method != "float32" {
				says = name
			}
			onlyFails(t, Suite{Sums: []reduce.Method{m}, Devices: []string{"cpu"}}.Run(context.Background()), "sum", method, says)
		}
	}
}

type panicking struct{ reduce.Summer }

func (panicking) Sum() { panic("index out of range") }

// TestPanic: a method that panics is a failure, and the others are tested.
func TestPanic(t *testing.T) {
	m, _ := reduce.Lookup("kahan")
	construct := m.New
	m.New = func(o reduce.Options) (reduce.Summer, error) {
		s, err := construct(o)
		return panicking{s}, err
	}
	other, _ := reduce.Lookup("float64")
	rows := Suite{Sums: []reduce.Method{m, other}, Devices: []string{"cpu"}}.Run(context.Background())
	onlyFails(t, rows, "sum", "kahan", "panics: index out of range")
}

// TestCancelled: an interruption ends the rows.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	s := All([]string{"cpu"})
	s.Progress = func(what string) {
		if strings.HasPrefix(what, "sum float64") {
			cancel()
		}
	}
	if rows := s.Run(ctx); len(rows) != 4 { // arithmetic, reference, float32, float64
		t.Errorf("%d rows", len(rows))
	}
}
