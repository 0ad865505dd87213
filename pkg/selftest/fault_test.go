package selftest

import (
	"context"
	"math"
	"math/big"
	"runtime"
	"slices"
	"strings"
	"testing"

	"mpbench/internal/mxcsr"
	"mpbench/pkg/device"
	"mpbench/pkg/exact"
	"mpbench/pkg/method"
	"mpbench/pkg/methods"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
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

// fails checks that a row fails, with a failure that says something and advice.
func fails(t *testing.T, rows []Row, operation, method, says string) {
	t.Helper()
	r := find(t, rows, operation, method)
	if r.Pass() {
		t.Errorf("%s %s: the fault is not detected", operation, method)
	} else if !strings.Contains(r.Failure, says) || r.Advice == "" {
		t.Errorf("%s %s: %q, want something about %q; advice %q", operation, method, r.Failure, says, r.Advice)
	}
}

// onlyFails checks that one row fails, and nothing else does.
func onlyFails(t *testing.T, rows []Row, operation, method, says string) {
	t.Helper()
	fails(t, rows, operation, method, says)
	if n := Failed(rows); n != 1 {
		t.Errorf("%s %s: %d rows fail", operation, method, n)
	}
}

// cpu is the devices of most tests.
var cpu = []device.Set{{}}

// methodOf returns a method of the catalog.
func methodOf(t *testing.T, o *op.Operation, name string) method.Method {
	t.Helper()
	m, ok := methods.All().Lookup(o, name)
	if !ok {
		t.Fatalf("no method %s of %s", name, o.Name)
	}
	return m
}

// run tests methods on devices.
func run(devices []device.Set, list ...method.Method) []Row {
	return Suite{Methods: list, Devices: devices}.Run(context.Background())
}

// altered returns the method with engines that wrap makes of its own.
func altered(m method.Method, wrap func(method.Engine) method.Engine) method.Method {
	on := map[device.Kind]method.New{}
	for kind, construct := range m.On {
		on[kind] = func(c method.Config) (method.Engine, error) {
			e, err := construct(c)
			if err != nil {
				return nil, err
			}
			return wrap(e), nil
		}
	}
	m.On = on
	return m
}

// change is what a test does to a value of so many bits.
type change func(v exact.Value, bits int) exact.Value

// ulp adds a unit of the last place of the format.
func ulp(v exact.Value, bits int) exact.Value {
	if !v.IsFinite() || v.Sign() == 0 {
		return v
	}
	x := new(big.Float).SetPrec(53).SetRat(v.Rat)
	unit := exact.PowerOfTwo(x.MantExp(nil) - bits)
	return exact.FromRat(unit.Add(unit, v.Rat))
}

// flip changes the lowest bit of the float64 nearest to the value.
func flip(v exact.Value, _ int) exact.Value {
	return exact.FromFloat64(math.Float64frombits(math.Float64bits(v.Float64()) ^ 1))
}

// changed is an engine of which one component is changed.
type changed struct {
	method.Engine
	change change
}

const changedComponent = 5 // or the last

func (c changed) Result() (numbers.Source, error) {
	y, err := c.Engine.Result()
	if err != nil {
		return nil, err
	}
	var list numbers.Values
	for i := range y.Len() {
		list = append(list, numbers.At(y, i))
	}
	i := min(changedComponent, len(list)-1)
	list[i] = c.change(list[i], c.Info().Bits)
	return list, nil
}

// TestOneULP: a method of any kind that is off by one unit of the last place is detected, whatever its bound.
func TestOneULP(t *testing.T) {
	catalog := methods.All().Present()
	if testing.Short() {
		catalog = catalog.Usual()
	}
	var off []method.Method
	for _, m := range catalog {
		if m.Runs(cpu[0]) {
			off = append(off, altered(m, func(e method.Engine) method.Engine { return changed{e, ulp} }))
		}
	}
	rows := run(cpu, off...)
	if Failed(rows) != len(off) {
		t.Errorf("%d rows fail of %d methods that are off", Failed(rows), len(off))
	}
	for _, m := range off {
		says := "found"
		switch {
		case m.Operation == op.Gemm:
			says = "C[1,2]"
		case !m.Operation.Scalar:
			says = "y[5]"
		}
		fails(t, rows, m.Operation.Name, m.Name, says)
	}
}

// TestWrongDevice: a GPU that flips one bit in one of its results is detected and named, and the CPU passes.
func TestWrongDevice(t *testing.T) {
	for _, name := range []string{"reduce1", "deferred", "reduce3"} {
		m := methodOf(t, op.Sum, name)
		runs := 0
		wrong := altered(m, func(e method.Engine) method.Engine {
			return changed{e, func(v exact.Value, bits int) exact.Value {
				if runs++; runs == 5 {
					return flip(v, bits)
				}
				return v
			}}
		})
		m.On = map[device.Kind]method.New{device.CPU: m.On[device.CPU], device.CUDA: wrong.On[device.CPU]}
		rows := run([]device.Set{{}, device.GPU(0)}, m)
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
	method.Engine
	x, y   numbers.Float64s
	result float64
}

func (d *fusedDot) Prepare(ctx context.Context, p *op.Problem) error {
	d.x, d.y = p.X.Source.(numbers.Float64s), p.Y.Source.(numbers.Float64s)
	return d.Engine.Prepare(ctx, p)
}

func (d *fusedDot) Run(context.Context) error {
	d.result = 0
	for i, x := range d.x {
		d.result = math.FMA(x, d.y[i], d.result)
	}
	return nil
}

func (d *fusedDot) Result() (numbers.Source, error) { return numbers.Float64s{d.result}, nil }

func TestFusedDot(t *testing.T) {
	fused := altered(methodOf(t, op.Dot, "float64"), func(e method.Engine) method.Engine { return &fusedDot{Engine: e} })
	onlyFails(t, run(cpu, fused), "dot", "float64", "multiply-adds are fused")
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
		Add: two(b.add), Mul: two(b.mul), Div: two(b.div), Sqrt: func(x float64) float64 {
			return b.sqrt(fromFloat(x)).float()
		},
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

// TestControlRegister: the processor itself, with another control register, is detected, and what it does is named as
// well as the register.
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

// controlled runs with another control register.
type controlled struct {
	method.Engine
	word uint32
}

func (c controlled) Run(ctx context.Context) (err error) {
	underControl(c.word, func() { err = c.Engine.Run(ctx) })
	return err
}

// TestControlledSums: a method whose thread has another control register is detected, and float64 says what is wrong.
func TestControlledSums(t *testing.T) {
	if !mxcsr.Supported {
		t.Skip("this processor has no MXCSR register to set")
	}
	for _, name := range []string{"float32", "float64", "kahan", "neumaier"} {
		for fault, word := range controlWords {
			if strings.HasPrefix(fault, "subnormal") && name == "float32" {
				continue // no data have results below 2^-126
			}
			m := altered(methodOf(t, op.Sum, name), func(e method.Engine) method.Engine { return controlled{e, word} })
			says := ""
			if strings.HasPrefix(fault, "rounded") && name != "float32" {
				says = fault
			}
			onlyFails(t, run(cpu, m), "sum", name, says)
		}
	}
}

type panicking struct{ method.Engine }

func (panicking) Run(context.Context) error { panic("index out of range") }

// TestPanic: a method that panics is a failure, and the others are tested.
func TestPanic(t *testing.T) {
	m := altered(methodOf(t, op.Sum, "kahan"), func(e method.Engine) method.Engine { return panicking{e} })
	onlyFails(t, run(cpu, m, methodOf(t, op.Sum, "float64")), "sum", "kahan", "panics: index out of range")
}

// TestCancelled: an interruption ends the rows.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	s := All(methods.All().Present(), cpu)
	s.Progress = func(what string) {
		if strings.HasPrefix(what, "sum float64") {
			cancel()
		}
	}
	rows := s.Run(ctx)
	last := slices.IndexFunc(rows, func(r Row) bool { return r.Method == "float64" && r.Operation == "sum" })
	if most := last + runtime.GOMAXPROCS(0); last < 0 || len(rows) > most { // other threads may have begun the next rows
		t.Errorf("%d rows, want at most %d", len(rows), most)
	}
}
