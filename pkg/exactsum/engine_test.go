package exactsum

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"mpbench/datasets"
	"mpbench/internal/problems"
	"mpbench/pkg/device"
	"mpbench/pkg/exact"
	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
)

func onCPU(t *testing.T, c method.Config) *engine {
	t.Helper()
	e, err := New()(c)
	if err != nil {
		t.Fatal(err)
	}
	return e.(*engine)
}

// value returns the only number of a result.
func value(t *testing.T, e method.Engine) exact.Value {
	t.Helper()
	y, err := e.Result()
	if err != nil {
		t.Fatal(err)
	}
	if y.Len() != 1 {
		t.Fatalf("%d numbers", y.Len())
	}
	return numbers.At(y, 0)
}

func run(t *testing.T, e method.Engine, p *op.Problem) exact.Value {
	t.Helper()
	if err := method.Run(context.Background(), e, p); err != nil {
		t.Fatal(err)
	}
	return value(t, e)
}

// rounded rounds to nearest even at prec bits.
func rounded(x *big.Rat, prec int) exact.Value {
	return exact.FromBig(new(big.Float).SetPrec(uint(prec)).SetRat(x))
}

func decimals(texts ...string) numbers.Array {
	var list []*big.Rat
	for _, text := range texts {
		x, ok := new(big.Rat).SetString(text)
		if !ok {
			panic(text)
		}
		list = append(list, x)
	}
	return numbers.Vector(numbers.Rationals(list))
}

func vector(x ...float64) numbers.Array { return numbers.Vector(numbers.Float64s(x)) }

func wide(x ...float64) numbers.Array {
	list := make(numbers.Bigs, len(x))
	for i, v := range x {
		if v == v {
			list[i] = big.NewFloat(v)
		}
	}
	return numbers.Vector(list)
}

// TestKnown: results whose digits are known, however many terms and of whatever numbers.
func TestKnown(t *testing.T) {
	inf, nan, most := math.Inf(1), math.NaN(), math.MaxFloat64
	almost := "1.00000000000000000000000000000000000000000000000000001" // 1 + 10^-53
	tiny, _ := new(big.Float).SetPrec(53).SetString("1e-53")
	tie := numbers.Bigs{big.NewFloat(1), new(big.Float).SetMantExp(big.NewFloat(1), -53)}
	above := append(tie[:2:2], new(big.Float).SetMantExp(big.NewFloat(1), -5000))
	for name, c := range map[string]struct {
		x, y numbers.Array // y is absent for a sum
		want exact.Value   // at 53 bits
	}{
		"no terms":             {x: vector(), want: exact.Value{}},
		"no wide terms":        {x: wide(), want: exact.Value{}},
		"no decimals":          {x: decimals(), want: exact.Value{}},
		"no products":          {x: vector(), y: vector(), want: exact.Value{}},
		"no wide products":     {x: wide(), y: vector(), want: exact.Value{}},
		"one term":             {x: vector(-0.1), want: exact.FromFloat64(-0.1)},
		"one wide term":        {x: wide(-0.1), want: exact.FromFloat64(-0.1)},
		"one decimal":          {x: decimals("-0.1"), want: exact.FromFloat64(-0.1)},
		"one product":          {x: vector(3), y: vector(0x1p-1074), want: exact.FromFloat64(0x3p-1074)},
		"one wide product":     {x: wide(3), y: vector(-0.25), want: exact.FromFloat64(-0.75)},
		"1 + 1e-53 - 1":        {x: decimals(almost, "-1"), want: exact.FromBig(tiny)},
		"products of decimals": {x: decimals(almost, "0.5"), y: decimals("1", "-2"), want: exact.FromBig(tiny)},
		"decimals and floats":  {x: decimals(almost, "0.5"), y: vector(1, -2), want: exact.FromBig(tiny)},
		"a tie":                {x: numbers.Vector(tie), want: exact.FromFloat64(1)},
		"above a tie":          {x: numbers.Vector(above), want: exact.FromFloat64(math.Nextafter(1, 2))},
		"cancellation":         {x: vector(most, most, 0x1p-1074, -most, -most), want: exact.FromFloat64(0x1p-1074)},
		"infinity":             {x: vector(1, inf, -7), want: exact.FromFloat64(inf)},
		"wide infinity":        {x: wide(1, -inf, 7), want: exact.FromFloat64(-inf)},
		"opposite infinities":  {x: vector(-inf, inf), want: exact.FromFloat64(nan)},
		"wide NaN":             {x: wide(1, nan), want: exact.FromFloat64(nan)},
		"infinity times 0":     {x: wide(inf, 1), y: vector(0, 1), want: exact.FromFloat64(nan)},
		"infinity times -1":    {x: vector(inf, 1), y: vector(-1, 1), want: exact.FromFloat64(-inf)},
	} {
		o := op.Dot
		if c.y.Absent() {
			o = op.Sum
		}
		e := onCPU(t, method.Config{Precision: 53})
		if got := run(t, e, &op.Problem{Op: o, X: c.x, Y: c.y}); !got.Equal(c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// TestRandom: the result is the exact one rounded once, at every precision, whatever the numbers, strides and threads.
func TestRandom(t *testing.T) {
	for _, o := range []*op.Operation{op.Sum, op.Dot} {
		for _, precision := range []int{2, 24, 53, 64, 240} {
			e := onCPU(t, method.Config{Precision: precision, Threads: 2})
			for seed := range uint64(80) {
				c := problems.Choice{
					Seed: seed, Kind: problems.Kind(seed) % problems.Kinds, Bits: []int{0, precision, 0, 424}[seed/4%4], Largest: 9,
					Decimal: seed%11 == 10,
				}
				p := c.Random(o)
				y, _ := problems.Naive(p)
				want := exact.Value{}
				if y[0] != nil {
					want = rounded(y[0], precision)
				}
				for range 2 { // prepared once, run twice
					if got := run(t, e, p); !got.Equal(want) {
						t.Fatalf("%s at %d bits of %+v: %v, want %v", o.Name, precision, c, got, want)
					}
				}
			}
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestWays: numbers are added by what was written for them, and records say so.
func TestWays(t *testing.T) {
	strided := numbers.Array{Source: numbers.Float64s{1, 9, 2, 9, 3}, Layout: numbers.Strided(3, -2)}
	bigs := wide(1, 2, 3)
	for _, c := range []struct {
		way     string
		problem op.Problem
		want    float64
	}{
		{"*exactsum.floats", op.Problem{Op: op.Sum, X: vector(1, 2, 3)}, 6},
		{"*exactsum.floats", op.Problem{Op: op.Sum, X: strided}, 6},
		{"*exactsum.floats", op.Problem{Op: op.Dot, X: strided, Y: vector(1, 10, 100)}, 123},
		{"*exactsum.chunked", op.Problem{Op: op.Sum, X: fileOf(3, 1, 2, 3)}, 6},
		{"*exactsum.packed", op.Problem{Op: op.Sum, X: bigs}, 6},
		{"*exactsum.packed", op.Problem{Op: op.Sum, X: decimals("0.5", "0.1", "-0.1")}, 0.5},
		{"*exactsum.products", op.Problem{Op: op.Dot, X: bigs, Y: bigs}, 14},
		{"*exactsum.products", op.Problem{Op: op.Dot, X: strided, Y: bigs}, 10},
		{"*exactsum.products", op.Problem{Op: op.Dot, X: vector(1, 2, 3), Y: fileOf(3, 1, 10, 100)}, 321},
	} {
		e := onCPU(t, method.Config{Precision: 70, Threads: 2})
		got := run(t, e, &c.problem)
		if way := fmt.Sprintf("%T", e.way); way != c.way || got.Float64() != c.want {
			t.Errorf("%v by %s, want %v by %s", got, way, c.want, c.way)
		}
		i := e.Info()
		if i.Format != "exact" || i.Bits != 70 || i.Device != "" || i.Threads != 2 || i.NumberBytes < 8 {
			t.Errorf("%s: %+v", c.way, i)
		}
		if err := e.Close(); err != nil || e.way != nil {
			t.Errorf("%s: closed: %v", c.way, err)
		}
		if err := e.Close(); err != nil {
			t.Errorf("%s: closed twice: %v", c.way, err)
		}
	}
	e := onCPU(t, method.Config{Precision: 70})
	var wrong *op.Error
	if err := e.Prepare(context.Background(), &op.Problem{Op: op.Dot, X: bigs, Y: vector(1)}); !errors.As(err, &wrong) {
		t.Errorf("vectors of two lengths: %v", err)
	}
	if err := e.Close(); err != nil {
		t.Errorf("closed before it was prepared: %v", err)
	}
}

// file are numbers that are read in runs, up to the first broken one; read tells how many runs were read.
type file struct {
	numbers.Float64s
	broken *int
	read   *atomic.Int32
	then   func() // after every run
}

var errDisk = errors.New("broken disk")

func fileOf(broken int, x ...float64) numbers.Array {
	return numbers.Vector(file{Float64s: x, broken: &broken, read: new(atomic.Int32)})
}

func (f file) ReadRun(x []float64, from int) error {
	if from+len(x) > *f.broken {
		return errDisk
	}
	f.read.Add(1)
	copy(x, f.Float64s[from:])
	if f.then != nil {
		f.then()
	}
	return nil
}

// TestChunks: wherever one run of a stream ends and the next begins, the sum is the same, and an error in any of them
// is that of the sum.
func TestChunks(t *testing.T) {
	x := numbers.Float64s{0x1p900, 1, 0x1p-900, -0x1p900, 3, 0.1, -0.1, 0x1p-1074, 7}
	want := new(big.Rat)
	for _, v := range x {
		want.Add(want, new(big.Rat).SetFloat64(v))
	}
	for size := 1; size <= len(x)+1; size++ {
		for from := range len(x) {
			part := numbers.Vector(file{Float64s: x, broken: new(int), read: new(atomic.Int32)}).Part(from, len(x))
			source := part.Source.(file)
			w := &chunked{part, 2, size}
			for broken := range len(x) + 1 {
				*source.broken = broken
				source.read.Store(0)
				var s Sum
				err := w.Add(context.Background(), &s)
				if broken < len(x) {
					if err != errDisk {
						t.Fatalf("runs of %d from %d on, broken at %d: %v", size, from, broken, err)
					}
					continue
				}
				rest := new(big.Rat).Set(want)
				for _, v := range x[:from] {
					rest.Sub(rest, new(big.Rat).SetFloat64(v))
				}
				if got := exact.FromBig(s.Round(5000, nil)); err != nil || !got.Equal(exact.FromRat(rest)) {
					t.Fatalf("runs of %d from %d on: %v, %v; want %v", size, from, got, err, rest)
				}
				if runs := (len(x) - from + size - 1) / size; int(source.read.Load()) != runs {
					t.Errorf("%d runs of %d from %d on, want %d", source.read.Load(), size, from, runs)
				}
			}
		}
	}
}

// TestStream: lengths around those of the runs that engines read; errors and cancellation end a sum, and the next one
// starts anew.
func TestStream(t *testing.T) {
	ctx := context.Background()
	for _, n := range []int{0, 1, chunk - 1, chunk, chunk + 1, 2*chunk + 1} {
		x := make(numbers.Float64s, n)
		for i := range x {
			x[i] = float64(i + 1)
		}
		broken, read := n, new(atomic.Int32)
		f := file{Float64s: x, broken: &broken, read: read}
		e := onCPU(t, method.Config{Precision: 53, Stream: true})
		p := &op.Problem{Op: op.Sum, X: numbers.Vector(f)}
		want := exact.FromFloat64(float64(n) * float64(n+1) / 2)
		if got := run(t, e, p); !got.Equal(want) || int(read.Load()) != (n+chunk-1)/chunk {
			t.Errorf("%d numbers: %v after %d runs, want %v", n, got, read.Load(), want)
		}
		if n == 0 {
			continue
		}
		broken = n - 1
		if err := e.Run(ctx); err != errDisk {
			t.Errorf("%d numbers, the last broken: %v", n, err)
		}
		broken = n
		if err := e.Run(ctx); err != nil || !value(t, e).Equal(want) {
			t.Errorf("%d numbers after an error: %v, %v", n, value(t, e), err)
		}
		interrupted, cancel := context.WithCancel(ctx)
		f.then = cancel
		if err := e.Prepare(ctx, &op.Problem{Op: op.Sum, X: numbers.Vector(f)}); err != nil {
			t.Fatal(err)
		}
		read.Store(0)
		if err := e.Run(interrupted); n > chunk && err != context.Canceled || read.Load() > 4 {
			t.Errorf("%d numbers, interrupted after %d runs: %v", n, read.Load(), err)
		}
	}
}

// TestShortFile: a file that has become shorter since it was opened is an error, not a sum of fewer numbers.
func TestShortFile(t *testing.T) {
	header := "{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }"
	header += strings.Repeat(" ", 117-len(header)) + "\n"
	data := append([]byte("\x93NUMPY\x01\x00\x76\x00"), header...)
	for range 3 {
		data = append(data, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f) // 1
	}
	path := filepath.Join(t.TempDir(), "x.npy")
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
	s, err := datasets.OpenStream(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	e := onCPU(t, method.Config{Precision: 53, Stream: true})
	if got := run(t, e, &op.Problem{Op: op.Sum, X: numbers.Vector(s)}); !got.Equal(exact.FromFloat64(3)) {
		t.Errorf("%v, want 3", got)
	}
	if err := os.Truncate(path, int64(len(data)-8)); err != nil {
		t.Fatal(err)
	}
	if err := e.Run(context.Background()); err == nil {
		t.Errorf("the sum of a file that is too short is %v", value(t, e))
	}
}

// TestMerge: sums of parts, merged in any order, are the sum of all, rounded once; nothing is rounded before.
func TestMerge(t *testing.T) {
	for name, x := range map[string]numbers.Array{
		"floats":   vector(1, 0x1p-53, 0x1p-106, 0x1p100, -0x1p100, 0x1p-1074),
		"wide":     wide(1, 0x1p-53, 0x1p-106, 0x1p100, -0x1p100),
		"decimals": decimals("1", "0.1", "1e-30", "-1.1", "1e-61"),
	} {
		p := &op.Problem{Op: op.Sum, X: x}
		y, _ := problems.Naive(p)
		for _, precision := range []int{10, 53, 200} {
			want := rounded(y[0], precision)
			for at := range x.Rows + 1 {
				for _, reverse := range []bool{false, true} {
					c := method.Config{Precision: precision, Merge: true}
					first, second := onCPU(t, c), onCPU(t, c)
					run(t, first, p.Part(0, at))
					run(t, second, p.Part(at, x.Rows))
					if reverse {
						first, second = second, first
					}
					alone := value(t, second)
					if err := first.Merge(second); err != nil {
						t.Fatal(err)
					}
					if got := value(t, first); !got.Equal(want) {
						t.Errorf("%s at %d bits, cut at %d: %v, want %v", name, precision, at, got, want)
					}
					if !value(t, second).Equal(alone) {
						t.Errorf("%s: what was merged has changed", name)
					}
				}
			}
		}
	}
	if err := onCPU(t, method.Config{}).Merge(other{}); err == nil || !strings.Contains(err.Error(), "exactsum.other") {
		t.Errorf("an engine of another kind: %v", err)
	}
}

type other struct{ method.Engine }

// TestSum: parts of both kinds make one sum, and an empty one is 0.
func TestSum(t *testing.T) {
	var z numbers.Number
	wide(0x1p-200).Read(&z, 0)
	var s, u, empty Sum
	s.Floats.Add(1)
	u.Floats.Add(2)
	u.wide().AddNumber(&z)
	s.Merge(&u)
	s.Merge(&empty)
	want := new(big.Rat).Add(big.NewRat(3, 1), new(big.Rat).SetFloat64(0x1p-200))
	if got := exact.FromBig(s.Round(300, nil)); !got.Equal(exact.FromRat(want)) {
		t.Errorf("%v, want %v", got, want)
	}
	third := new(big.Rat).Quo(want, big.NewRat(7, 1))
	for _, precision := range []int{3, 53, 300} {
		if got := exact.FromBig(s.Round(uint(precision), big.NewInt(7))); !got.Equal(rounded(third, precision)) {
			t.Errorf("a seventh at %d bits: %v", precision, got)
		}
	}
	if got := exact.FromBig(u.Round(300, nil)); got.Equal(exact.FromBig(s.Round(300, nil))) {
		t.Error("merging changed what was merged")
	}
	s.Reset()
	for _, zero := range []*big.Float{s.Round(53, nil), s.Round(53, big.NewInt(3)), empty.Round(1, nil)} {
		if zero.Sign() != 0 {
			t.Errorf("the empty sum is %v", zero)
		}
	}
	if product(nil, nil) != nil || product(big.NewInt(3), big.NewInt(5)).Int64() != 15 {
		t.Error("the product of denominators is wrong")
	}
}

// way is a Way that adds ones, for tests.
type way struct {
	ones             int
	addErr, closeErr error
	closes           int
}

func (w *way) Add(_ context.Context, to *Sum) error {
	for range w.ones {
		to.Floats.Add(1)
	}
	return w.addErr
}
func (w *way) Describe(info *method.Info) { info.Variant = "ones" }
func (w *way) Close() error               { w.closes++; return w.closeErr }

// onDevice is a way whose numbers are in a device's memory.
type onDevice struct {
	*way
	cools int
}

func (w *onDevice) AddTimed(ctx context.Context, to *Sum) (method.Times, error) {
	return method.Times{Kernel: 100, CopyOut: 7, Host: 20}, w.Add(ctx, to)
}
func (w *onDevice) Cool() error { w.cools++; return errDisk }

func unfit(context.Context, method.Config, *op.Problem) (Way, method.Times, error) {
	return nil, method.Times{}, nil
}

// made returns the constructor of w.
func made(w Way) NewWay {
	return func(context.Context, method.Config, *op.Problem) (Way, method.Times, error) {
		return w, method.Times{Convert: 3, CopyIn: 5}, nil
	}
}

func failing(context.Context, method.Config, *op.Problem) (Way, method.Times, error) {
	return nil, method.Times{}, errDisk
}

func named(method.Config) (string, error) { return "gpu", nil }

// TestOnDevice: the first way that fits adds; its times are those of the device's events, with rounding the host's, or
// those of the clock.
func TestOnDevice(t *testing.T) {
	ctx := context.Background()
	p := &op.Problem{Op: op.Sum, X: vector(1)}
	for _, byEvents := range []bool{true, false} {
		w := &way{ones: 5}
		events := &onDevice{way: w}
		fits := made(w)
		if byEvents {
			fits = made(events)
		}
		e, err := NewOn(named, unfit, fits, failing)(method.Config{Precision: 2})
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Prepare(ctx, p); err != nil {
			t.Fatal(err)
		}
		timed := e.(method.Timed)
		if err := timed.RunTimed(ctx); err != nil || !value(t, e).Equal(exact.FromFloat64(4)) { // 5 at 2 bits
			t.Errorf("%v, %v", value(t, e), err)
		}
		got := timed.Times()
		if got.Convert != 3 || got.CopyIn != 5 || got.Host < 0 || got.Kernel <= 0 || got.Kernel > time.Minute {
			t.Errorf("by events %v: %+v", byEvents, got)
		}
		if byEvents && (got.Kernel != 100 || got.CopyOut != 7 || got.Host < 20) || !byEvents && got.Host+got.CopyOut != 0 {
			t.Errorf("by events %v: %+v", byEvents, got)
		}
		if i := e.Info(); i.Device != "gpu" || i.Variant != "ones" {
			t.Errorf("%+v", i)
		}
		err = e.(method.Cooler).Cool()
		if byEvents && (err != errDisk || events.cools != 1) || !byEvents && err != nil {
			t.Errorf("by events %v: cooled %d times: %v", byEvents, events.cools, err)
		}
		cpu := onCPU(t, method.Config{Precision: 53, Merge: true})
		run(t, cpu, p)
		if err := cpu.Merge(e); err != nil || value(t, cpu).Float64() != 6 {
			t.Errorf("merged: %v, %v", value(t, cpu), err)
		}
		if err := e.(method.Merger).Merge(cpu); err != nil {
			t.Error(err)
		}
		w.addErr = errDisk
		if err := timed.RunTimed(ctx); err != errDisk {
			t.Errorf("a run that fails: %v", err)
		}
		w.closeErr = errDisk
		if err := e.Prepare(ctx, p); err != errDisk {
			t.Errorf("what was prepared before cannot be closed: %v", err)
		}
		if err := e.Close(); err != nil || w.closes != 1 {
			t.Errorf("closed %d times: %v", w.closes, err)
		}
	}
}

// TestNoWay: no device, no way that fits, and one that fails are errors.
func TestNoWay(t *testing.T) {
	p := &op.Problem{Op: op.Sum, X: vector(1)}
	if _, err := NewOn(func(method.Config) (string, error) { return "", errDisk })(method.Config{}); err != errDisk {
		t.Errorf("no device: %v", err)
	}
	for _, c := range []struct {
		way  NewWay
		want string
	}{{unfit, "sum: no way of adding these numbers on cuda:1"}, {failing, "broken disk"}} {
		e, err := NewOn(named, c.way)(method.Config{Devices: device.GPU(1)})
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Prepare(context.Background(), p); err == nil || err.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
		if i := e.Info(); i.Device != "gpu" || i.Threads != 1 {
			t.Errorf("before it is prepared: %+v", i)
		}
	}
}
