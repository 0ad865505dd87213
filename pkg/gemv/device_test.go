package gemv

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"mpbench/pkg/exact"
	"mpbench/pkg/gpu/gputest"
	"mpbench/pkg/rns"
)

// deviceCase is what a method runs at on a device and on the CPU.
type deviceCase struct {
	seed      uint64
	precision int
	moduli    int // bits
	largest   int // extent of the matrix
}

func (c deviceCase) String() string {
	return fmt.Sprintf("p=%d/bits=%d/seed=%d", c.precision, c.moduli, c.seed)
}

// problem makes the case's problem and options; every choice depends on the seed.
func (c deviceCase) problem() (Problem, Options) {
	rng := rand.New(rand.NewPCG(c.seed, uint64(c.precision)))
	wide := []int{0, c.precision, 2*c.precision - 8}[c.seed/4%3] // the last has wide significands
	r := random{rng, int(c.seed % 4), wide}
	o := Options{
		Precision: c.precision, ModuliBits: c.moduli, Threads: 1, BlockSize: []int{1, 2, 3, 7, 8, 32, 64, 1024}[rng.IntN(8)],
		Rounding: rns.Rounding(rng.IntN(2)), Alignment: rns.Alignment(rng.IntN(2)),
	}
	return r.problem(c.largest), o
}

// resultOf returns the residues, exponents and signs that a method computes.
func resultOf(t testing.TB, m Method, o Options, p Problem, runs int) rns.Fields {
	t.Helper()
	e := newEngine(t, m, o)
	if err := e.Load(p); err != nil {
		t.Fatal(err)
	}
	for range runs {
		e.Run()
	}
	e.Result()
	device, ok := e.(DeviceEngine)
	if ok != isGPU(o.Device) {
		t.Fatalf("%s on device %q: %T", m.Name, o.Device, e)
	}
	if ok {
		defer device.Close()
		if err := device.Err(); err != nil {
			t.Fatal(err)
		}
	}
	switch e := e.(type) {
	case *split:
		return e.result.Fields()
	case *basic:
		return e.result.Fields()
	case *deviceSplit:
		return e.result.Fields()
	case *deviceBasic:
		return e.result.Fields()
	}
	t.Fatalf("%T", e)
	return rns.Fields{}
}

// checkDevice compares a method on the device under test with the same on the CPU, bit for bit.
func checkDevice(t *testing.T, name string, c deviceCase) {
	t.Helper()
	p, o := c.problem()
	m, _ := Lookup(name)
	want := resultOf(t, m, o, p, 1)
	o.Device, o.Tune = gputest.Name(t), TuneOff
	got := resultOf(t, m, o, p, 1+int(c.seed%2))
	what := fmt.Sprintf("%s, seed %d, %v %d x %d, lda %d, increments %d and %d, alpha %v, beta %v, %+v", name, c.seed, p.Op, p.M, p.N, p.LDA, p.IncX, p.IncY,
		p.Alpha, p.Beta, o)
	compareFields(t, what, got, want)
}

func compareFields(t *testing.T, what string, got, want rns.Fields) {
	t.Helper()
	n := len(want.Exp)
	if len(got.Exp) != n {
		t.Fatalf("%s: %d components, want %d", what, len(got.Exp), n)
	}
	for i := range n {
		stride := len(want.Digits) / n
		g, w := got.Digits[i*stride:(i+1)*stride], want.Digits[i*stride:(i+1)*stride]
		if !slices.Equal(g, w) || got.Exp[i] != want.Exp[i] || got.Neg[i] != want.Neg[i] {
			t.Fatalf("%s: component %d is %v*2^%d, negative %v; want %v*2^%d, %v", what, i, g, got.Exp[i], got.Neg[i], w, want.Exp[i], want.Neg[i])
		}
	}
}

// deviceBases are the precisions and moduli that every test goes through.
var deviceBases = []struct{ precision, moduli int }{
	{30, 16}, {30, 31}, {53, 31}, {106, 16}, {106, 31}, {212, 31}, {240, 16}, {424, 31}, {848, 31}, {848, 16}, {1696, 31}, {1696, 16},
}

// TestDevice compares both methods on small random and adversarial problems: shapes, strides, factors, wide numbers, cancellation,
// far exponents, NaN beside the data.
func TestDevice(t *testing.T) {
	gputest.Device(t)
	for _, name := range []string{"rns-split", "rns-basic"} {
		for _, b := range deviceBases {
			cases, largest := 240, 40
			if gputest.Emulated() {
				cases, largest = max(8, 72*106/(b.precision+53)), max(6, 24*212/(b.precision+106))
			}
			t.Run(fmt.Sprintf("%s/p=%d/bits=%d", name, b.precision, b.moduli), func(t *testing.T) {
				for seed := range uint64(cases) {
					checkDevice(t, name, deviceCase{seed, b.precision, b.moduli, largest})
				}
			})
		}
	}
}

// mediumProblem has sums long enough for every shape of the kernels.
func mediumProblem(seed uint64, m, n, bits int) Problem {
	r := random{rand.New(rand.NewPCG(seed, 3)), int(seed % 4), bits}
	p := Problem{Op: Op(seed % 2), M: m, N: n, LDA: m + 1, IncX: 1, IncY: 1, Alpha: Number(0.7), Beta: Number(-3)}
	p.A, p.X, p.Y = r.numbers(p.LDA*n), r.numbers(p.Terms()), r.numbers(p.Rows())
	return p
}

// TestShapes: launch parameters never change a result.
func TestShapes(t *testing.T) {
	gputest.Device(t)
	rng := rand.New(rand.NewPCG(8, 8))
	for seed, b := range deviceBases {
		p := mediumProblem(uint64(seed), 7, 9, []int{0, b.precision}[seed%2])
		o := Options{Precision: b.precision, ModuliBits: b.moduli, BlockSize: 4, Threads: 1}
		m, _ := Lookup("rns-split")
		want := resultOf(t, m, o, p, 1)
		o.Device, o.Tune = gputest.Name(t), TuneOff
		e := newEngine(t, m, o).(*deviceSplit)
		if err := e.Load(p); err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		for _, s := range e.candidates() {
			if gputest.Emulated() && rng.IntN(100) >= 800/b.precision {
				continue
			}
			if err := e.useShape(s); err != nil {
				t.Fatalf("%+v: %v", s, err)
			}
			e.Run()
			e.Result()
			if e.Err() != nil {
				t.Fatal(e.Err())
			}
			compareFields(t, fmt.Sprintf("p=%d, %+v", b.precision, s), e.result.Fields(), want)
		}
	}
}

// TestTies: products whose bits cut off are one half of a unit, a little more or a little less, with what decides far below. For
// A = 2^(p-1) + 2^(p-2) + r and x = 2^(p-1) + 1 the bits cut off A*x are those of 2^(p-2) + r.
func TestTies(t *testing.T) {
	gputest.Device(t)
	for _, b := range deviceBases {
		bits := uint(b.precision)
		power := func(k uint) *big.Int { return new(big.Int).Lsh(big.NewInt(1), k) }
		number := func(x *big.Int) *big.Float { return new(big.Float).SetPrec(bits).SetInt(x) }
		middle := new(big.Int).Add(power(bits-1), power(bits-2))
		var a []*big.Float
		for _, r := range []*big.Int{big.NewInt(0), big.NewInt(1), big.NewInt(2), big.NewInt(3), big.NewInt(-1), big.NewInt(-2), power(bits / 2), power(bits - 4)} {
			a = append(a, number(new(big.Int).Add(middle, r)))
		}
		x := number(new(big.Int).Add(power(bits-1), big.NewInt(1)))
		m, _ := Lookup("rns-split")
		p := Problem{
			M: len(a), N: 1, LDA: len(a), IncX: 1, IncY: 1, Alpha: Number(1), A: Numbers{Wide: a}, X: Numbers{Wide: []*big.Float{x}},
			Y: Numbers{Float64: make([]float64, len(a))},
		}
		for _, rounding := range []rns.Rounding{rns.Truncate, rns.Nearest} {
			o := Options{Precision: b.precision, ModuliBits: b.moduli, Rounding: rounding, Threads: 1}
			want := resultOf(t, m, o, p, 1)
			o.Device = gputest.Name(t)
			compareFields(t, fmt.Sprintf("p=%d, %v", b.precision, rounding), resultOf(t, m, o, p, 1), want)
		}
	}
}

// TestManySlots: sums whose slots do not fit in shared memory, and blocks of the largest size.
func TestManySlots(t *testing.T) {
	gputest.Device(t)
	for seed, n := range []int{63, 65, 300} {
		p := mediumProblem(uint64(2*seed), 2, n, 0)
		o := Options{Precision: 1696, ModuliBits: 16, BlockSize: 1024, Threads: 1}
		m, _ := Lookup("rns-split")
		want := resultOf(t, m, o, p, 1)
		o.Device, o.Tune = gputest.Name(t), TuneOff
		compareFields(t, fmt.Sprintf("%d terms", n), resultOf(t, m, o, p, 1), want)
	}
}

// TestDeviceDeferred compares deferred on a device with the CPU's: every component is the same number, also beside infinities and NaN,
// for every shape, stride and factor.
func TestDeviceDeferred(t *testing.T) {
	device := gputest.Name(t)
	seeds := uint64(60)
	if !gputest.Emulated() {
		seeds = 2000
	}
	m, _ := Lookup("deferred")
	for _, precision := range []int{24, 53, 106, 424} {
		for seed := range seeds / 2 {
			c := deviceCase{seed, max(precision, 30), 31, 12}
			p, o := c.problem()
			o.Precision = precision
			want := valuesOf(t, m, o, p)
			for _, o.Device = range []string{device, "cpu+" + device} {
				got := valuesOf(t, m, o, p)
				if len(got) != len(want) {
					t.Fatalf("%s: %d components, want %d", o.Device, len(got), len(want))
				}
				for i := range want {
					if !got[i].Equal(want[i]) {
						t.Fatalf("p = %d, seed %d, %v %d x %d on %s, component %d: %v, want %v", precision, seed, p.Op, p.M, p.N, o.Device, i, got[i], want[i])
					}
				}
			}
		}
	}
}

// valuesOf returns the components that a method computes.
func valuesOf(t *testing.T, m Method, o Options, p Problem) []exact.Value {
	t.Helper()
	e := newEngine(t, m, o)
	if err := e.Load(p); err != nil {
		t.Fatal(err)
	}
	e.Run()
	e.Run()
	values := e.Result()
	if device, ok := e.(DeviceEngine); ok {
		defer device.Close()
		if err := device.Err(); err != nil {
			t.Fatal(err)
		}
	}
	return values
}

// TestHybridSplit compares every split of the rows between CPU and device with the CPU alone.
func TestHybridSplit(t *testing.T) {
	device := gputest.Name(t)
	m, _ := Lookup("deferred")
	for seed := range uint64(24) {
		p, o := deviceCase{seed, 106, 31, 9}.problem()
		want := valuesOf(t, m, o, p)
		if p.work() != full {
			continue
		}
		o.Device = device
		for split := 1; split < p.Rows(); split++ {
			e := &hybridDeferred{options: o, problem: p}
			var err error
			if err = e.loadProcessor(split); err != nil {
				t.Fatal(err)
			}
			if e.device, err = e.newDevice(p.rows(split, p.Rows())); err != nil {
				t.Fatal(err)
			}
			e.Run()
			got := e.Result()
			if e.Err() != nil || len(got) != len(want) {
				t.Fatalf("%d components (%v), want %d", len(got), e.Err(), len(want))
			}
			for i := range want {
				if !got[i].Equal(want[i]) {
					t.Fatalf("seed %d, %v %d x %d, %d rows on the CPU, component %d: %v, want %v", seed, p.Op, p.M, p.N, split, i, got[i], want[i])
				}
			}
			e.Close()
		}
	}
}

// TestDeviceFormat: short numbers are limbs on a device, longer ones residues, and a hybrid names what each part has.
func TestDeviceFormat(t *testing.T) {
	device := gputest.Name(t)
	for _, c := range []struct {
		large         float64 // beside 1, in A
		name, hybrid  string
		bytes, moduli int
	}{
		{3, "limbs", "residues, limbs", 4, 0},
		{0x1p27, "limbs", "residues, limbs", 4, 0},
		{0x1p28, "limbs", "residues, limbs", 8, 0},
		{0x1p111, "limbs", "residues, limbs", 16, 0},
		{0x1p112, "residues", "residues", 20, 5},
	} {
		p := Problem{
			M: 2, N: 2, LDA: 2, IncX: 1, IncY: 1, Alpha: Number(1), Beta: Number(0),
			A: Numbers{Float64: []float64{1, 1, c.large, c.large}}, X: Numbers{Float64: []float64{1, 1}}, Y: Numbers{Float64: make([]float64, 2)},
		}
		o := Options{Precision: 160, Threads: 1, Device: device}
		alone, err := newDeviceDeferred(o)
		if err != nil {
			t.Fatal(err)
		}
		if err := alone.Load(p); err != nil {
			t.Fatal(err)
		}
		f := alone.Format()
		if f.Name != c.name || f.NumberBytes != c.bytes || f.Moduli != c.moduli {
			t.Errorf("%g: %q, %d bytes, %d moduli, want %q, %d and %d", c.large, f.Name, f.NumberBytes, f.Moduli, c.name, c.bytes, c.moduli)
		}
		alone.Close()
		both := &hybridDeferred{options: o, problem: p}
		if f := both.Format(); f.Name != "residues" {
			t.Errorf("before anything is loaded: %q", f.Name)
		}
		if err := both.loadProcessor(1); err != nil {
			t.Fatal(err)
		}
		if both.device, err = both.newDevice(p.rows(1, 2)); err != nil {
			t.Fatal(err)
		}
		if f := both.Format(); f.Name != c.hybrid || f.Moduli == 0 || f.ModuliBits != 28 {
			t.Errorf("%g, both: %q, %d moduli of %d bits", c.large, f.Name, f.Moduli, f.ModuliBits)
		}
		both.Close()
	}
}
