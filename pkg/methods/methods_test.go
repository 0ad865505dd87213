package methods_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"mpbench/datasets"
	"mpbench/internal/problems"
	"mpbench/pkg/device"
	"mpbench/pkg/exact"
	"mpbench/pkg/format"
	"mpbench/pkg/gpu/gputest"
	"mpbench/pkg/method"
	"mpbench/pkg/methods"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
	"mpbench/pkg/peer"
	"mpbench/pkg/peer/peertest"
	"mpbench/pkg/selftest"
)

// tested are the methods that can run on this computer; those of others on GPUs have tests of their own.
func tested(all method.Catalog) method.Catalog {
	return slices.DeleteFunc(all.Present(), func(m method.Method) bool {
		return m.Group == peer.Group && !m.Runs(device.Set{})
	})
}

// catalog are the methods that can run on this computer.
var catalog method.Catalog

func TestMain(m *testing.M) {
	if err := peertest.Compile(); err != nil {
		fmt.Fprintln(os.Stderr, "some peers are not tested:", err)
	}
	catalog = tested(methods.All())
	for _, s := range peer.Statuses() {
		if s.Missing != nil {
			fmt.Fprintf(os.Stderr, "%s is not tested: %v\n", s.Name, s.Missing)
		}
	}
	os.Exit(m.Run())
}

// twins are the CPU methods whose bits methods that exist on GPUs only must have.
var twins = map[string]string{
	"reduce1s": "reduce1", "reduce1p": "reduce1", "reduce2s": "reduce2", "reduce2p": "reduce2", "reduce3p": "reduce3",
}

// onCPU returns the method whose bits m must have on every device.
func onCPU(m method.Method) method.Method {
	if twin, ok := twins[m.Name]; ok {
		m, _ = catalog.Lookup(m.Operation, twin)
	}
	return m
}

// sets returns the CPU, and the device under test alone and with it.
func sets(t testing.TB) []device.Set {
	name := gputest.Name(t)
	return []device.Set{{}, device.Must(name), device.Must("cpu+" + name)}
}

// run computes a problem twice with a new engine and returns the components and their bounds.
func run(t testing.TB, m method.Method, c method.Config, p *op.Problem) (numbers.Source, *method.ErrorBound) {
	t.Helper()
	e, err := m.New(c)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}()
	if err := method.Run(context.Background(), e, p); err != nil {
		t.Fatal(err)
	}
	if err := e.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	y, err := e.Result()
	if err != nil {
		t.Fatal(err)
	}
	return y, m.ErrorBound(e.Info(), p)
}

// TestRandom runs every method on every device it has on random and adversarial problems: all components are within
// their proved bounds and have the bits of the CPU, whatever the number of threads.
func TestRandom(t *testing.T) {
	places := sets(t)
	for _, m := range catalog {
		t.Run(m.Operation.Name+"/"+m.Name, func(t *testing.T) {
			for _, precision := range []int{30, 53, 106, 240, 424} {
				if m.Accepts(precision) != nil || m.Bits != 0 && precision != 53 {
					continue
				}
				everywhere := cases(m)
				for seed := range uint64(everywhere) {
					checkRandom(t, m, precision, seed, places)
				}
				most := uint64(60)
				if takesLong(m) {
					most = 33 // twice every kind and length, and decimals
				}
				for seed := uint64(everywhere); m.On[device.CPU] != nil && seed < most && !testing.Short(); seed++ {
					checkRandom(t, m, precision, seed, nil)
				}
			}
		})
	}
}

// cases is how many problems a method gets at each precision on every device.
func cases(m method.Method) int {
	n := 60
	switch {
	case os.Getenv("MPBENCH_FULL_TESTS") != "":
		n = 240
	case m.On[device.CUDA] != nil && gputest.Emulated():
		n = 24
	}
	if testing.Short() {
		n /= 3
	}
	return n
}

// beyondRange tells whether a method refuses a problem as its format has no such numbers.
func beyondRange(t *testing.T, m method.Method, c method.Config, p *op.Problem) bool {
	t.Helper()
	e, err := m.New(c)
	if err != nil {
		t.Fatal(err)
	}
	var beyond *method.RangeError
	return errors.As(e.Prepare(context.Background(), p), &beyond)
}

func checkRandom(t *testing.T, m method.Method, precision int, seed uint64, places []device.Set) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, uint64(precision)))
	c := problems.Choice{
		Seed: seed, Kind: problems.Kind(seed) % problems.Kinds, Bits: []int{0, precision, 0, 2*precision - 8}[seed/4%4],
		Largest: 24, Decimal: seed%11 == 10,
	}
	if gputest.Emulated() && m.On[device.CUDA] != nil && places != nil {
		c.Largest = 9
	}
	p, exactly := known(t, randomly{m.Operation, c}, func() *op.Problem { return c.Random(m.Operation) })
	config := selftest.RandomConfig(r, m, precision)
	if c.Kind == problems.Far && beyondRange(t, onCPU(m), config, p) {
		return
	}
	want, bounds := run(t, onCPU(m), config, p)
	for i := range exactly.Shape.Components {
		s := exactly.Component(i)
		limit := bounds.Of(s)
		if limit == nil && m.Bits == 0 || limit != nil && !s.Errors(numbers.At(want, i)).Within(limit) {
			t.Fatalf("%s at %d bits of %+v, %+v: component %d is %v, exact %v, bound %v",
				m.Name, precision, c, config.Options, i, numbers.At(want, i), s.Sum, limit)
		}
	}
	for _, set := range places {
		if !m.Runs(set) {
			continue
		}
		config.Devices, config.Threads = set, config.Threads%3+1
		got, _ := run(t, m, config, p)
		if got.Len() != want.Len() {
			t.Fatalf("%s on %s: %d components, want %d", m.Name, set, got.Len(), want.Len())
		}
		for i := range got.Len() {
			if !numbers.At(got, i).Equal(numbers.At(want, i)) {
				t.Fatalf("%s on %s at %d bits of %+v, %+v: component %d is %v, want %v",
					m.Name, set, precision, c, config.Options, i, numbers.At(got, i), numbers.At(want, i))
			}
		}
	}
}

// TestSpecials gives every method on every device infinities and NaN in every place, and problems without terms.
func TestSpecials(t *testing.T) {
	gputest.Sanitize(t)
	for _, set := range sets(t) {
		for _, m := range catalog {
			if !m.Runs(set) {
				continue
			}
			for _, c := range problems.Specials(m.Operation) {
				if c.Overflows && m.Bits != 0 {
					continue
				}
				y, _ := run(t, m, method.Config{Precision: 60, Devices: set}, c.Problem)
				for i, want := range c.Want {
					early := m.Name == "float64" && c.Name == "infinite alpha"
					if got := numbers.At(y, i); !early && !problems.SameClass(got.Float64(), want) {
						t.Errorf("%s %s on %s, %s: component %d is %v, want %v", m.Operation.Name, m.Name, set, c.Name, i, got, want)
					}
				}
			}
		}
	}
}

// TestLifeCycle: an engine is closed before it was used, prepared again for other problems, with specials and without,
// and after it was closed.
func TestLifeCycle(t *testing.T) {
	for _, set := range sets(t) {
		for _, m := range catalog {
			if !m.Runs(set) {
				continue
			}
			e, err := m.New(method.Config{Precision: 60, Devices: set})
			if err != nil {
				t.Fatal(err)
			}
			if err := e.Close(); err != nil {
				t.Errorf("%s on %s, closed at once: %v", m.Name, set, err)
			}
			for turn := range 2 {
				for _, c := range problems.Specials(m.Operation) {
					checkTurn(t, m, set, e, c)
				}
				if err := e.Close(); err != nil {
					t.Errorf("%s on %s, turn %d: %v", m.Name, set, turn, err)
				}
			}
			if err := e.Close(); err != nil {
				t.Errorf("%s on %s, closed twice: %v", m.Name, set, err)
			}
		}
	}
}

func checkTurn(t *testing.T, m method.Method, set device.Set, e method.Engine, c problems.Special) {
	t.Helper()
	err := method.Run(context.Background(), e, c.Problem)
	if beyond := new(method.RangeError); errors.As(err, &beyond) && c.Overflows {
		return
	}
	if err != nil {
		t.Fatalf("%s on %s: %v", m.Name, set, err)
	}
	y, err := e.Result()
	if err != nil {
		t.Fatal(err)
	}
	want, _ := run(t, m, method.Config{Precision: 60, Devices: set}, c.Problem)
	for i := range want.Len() {
		if !numbers.At(y, i).Equal(numbers.At(want, i)) && !math.IsNaN(numbers.At(want, i).Float64()) {
			t.Errorf("%s on %s, %s: component %d is %v, of a new engine %v",
				m.Name, set, c.Name, i, numbers.At(y, i), numbers.At(want, i))
		}
	}
}

// problemOf makes the problem of a data set.
func problemOf(t testing.TB, o *op.Operation, text string, trans bool) *op.Problem {
	t.Helper()
	spec, err := datasets.For(o).Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	d, err := datasets.Generate(spec, datasets.Options{Seed: 1, Trans: trans})
	if err != nil {
		t.Fatal(err)
	}
	return d.Problem(o)
}

// data are sets of every kind, small enough for all methods, with the condition number that some component has at
// least.
var data = map[*datasets.Family]map[string]float64{
	datasets.Vectors: {
		"mcnamee1": 1e22, "mcnamee3": 1e10, "uniform01:n=1000": 1, "uniform11:n=1001": 1, "anderson:n=777": 1,
		"gensum:n=500,cond=1e40": 1e39, "zhuhayes1:n=512": 1, "zhuhayes2:n=512,delta=400": 1, "zhuhayes3:n=512,delta=400": 1,
		"zhuhayes4:n=512,delta=400": 1, "harmonic:n=1000": 1, "basel:n=1000": 1, "extremes:kind=overflow": 1,
		"extremes:kind=subnormals,n=100": 1, "uniform01:n=1": 1, "uniform11:n=2": 1, "uniform11:n=63": 1,
		"uniform11:n=129": 1,
	},
	datasets.Pairs: {
		"gendot:n=300,cond=1e8": 1e7, "gendot:n=301,cond=1e40": 1e39, "gendot:n=1000,cond=1e100": 1e99,
		"uniform11:n=1000":     1,
		"wide:n=500,range=300": 1,
	},
	datasets.Matrices: {
		"uniform11:n=30": 1, "uniform11:bits=212,m=20,n=33": 1, "wide:n=30": 1, "hilbert:n=12": 1e13,
		"hilbert:bits=300,n=20": 1e20, "vandermonde:n=20": 1e4, "vandermonde:bits=200,nodes=symmetric,m=10,n=25": 1e4,
		"blockcancel:n=30": 1e11, "gengemv:cond=1e10,n=40": 1e9, "gengemv:cond=1e40,m=30,n=60": 1e39,
		"gengemv:cond=1e80,m=60,n=40": 1e79, "uniform11:bits=106,m=37,n=1500": 1,
	},
	datasets.Sparses: {
		"brusselator:n=98": 1, "convdiff:n=121": 1, "dominant:n=90,row=40": 1, "olmstead:n=60": 1, "tridiagonal:n=77": 1,
	},
}

// TestData runs every method on the CPU on every kind of data: every component has a bound, unless it may overflow or
// underflow, and is within it; and the condition numbers are those that cost digits.
func TestData(t *testing.T) {
	for _, o := range catalog.Operations() {
		for text, condition := range data[datasets.For(o)] {
			for _, trans := range []bool{false, true} {
				if trans && !o.Has(op.Matrix) {
					continue
				}
				p := problemOf(t, o, text, trans)
				if o.Storage != op.Full && p.A.Rows != p.A.Cols {
					continue
				}
				r, err := op.Exact(p)
				if err != nil {
					t.Fatal(err)
				}
				worst := 0.0
				for i := range r.Shape.Components {
					worst = max(worst, r.Condition(i).Float64())
				}
				if worst < condition && o.Norm == 0 && o.Storage == op.Full && (o.Scalar || o.Has(op.Matrix)) {
					t.Errorf("%s %s: condition number %g, want %g", o.Name, text, worst, condition)
				}
				for _, m := range catalog.Of(o) {
					checkData(t, m, text, p, r)
				}
			}
		}
	}
}

// takesLong tells whether a method is tested with -short in part only: numbers of several components that no table
// shows.
func takesLong(m method.Method) bool {
	return m.Extra && m.Group == "" && m.Format != format.Binary64.Name
}

func checkData(t *testing.T, m method.Method, text string, p *op.Problem, r *op.Reference) {
	t.Helper()
	precisions := []int{30, 53, 113, 240, 1696}
	if m.Operation.Has(op.Matrix) {
		precisions = []int{53, 212}
	}
	for _, precision := range precisions {
		if !m.Runs(device.Set{}) || m.Accepts(precision) != nil || m.Bits != 0 && precision != 53 {
			continue
		}
		if testing.Short() && takesLong(m) {
			t.Logf("%s of %s is left out with -short: it takes long", m.Name, text)
			continue
		}
		options := map[string]string{"blocks": "4", "block-size": "8"}
		c := method.Config{Precision: precision, Options: options}
		if takesLong(m) && beyondRange(t, m, c, p) {
			continue
		}
		y, bounds := run(t, m, c, p)
		for i := range r.Shape.Components {
			s := r.Component(i)
			limit := bounds.Of(s)
			if limit == nil && m.Bits != 0 && (s.SumAbs.Float64() > math.MaxFloat32/2 || outside(p, m)) {
				continue // it may overflow, or inputs have lost digits before they are multiplied
			}
			if limit == nil || !s.Errors(numbers.At(y, i)).Within(limit) {
				t.Fatalf("%s %s of %s at %d bits: component %d is %v, exact %v, bound %v", m.Operation.Name, m.Name, text,
					precision, i, numbers.At(y, i), s.Sum, limit)
			}
		}
	}
}

// outside tells whether there are numbers of which a component may be outside the normal range of its format: the last
// one can be small beside the one before.
func outside(p *op.Problem, m method.Method) bool {
	low, high := -1022, 1023
	switch {
	case strings.HasSuffix(m.Format, "binary32"):
		low, high = -126, 127
	case m.Format == "double-single":
		low, high = -126, 179
	}
	if len(components(m.Bits)) > 1 || m.Format == "double-single" || m.Format == "double-half" {
		low += m.Bits
	}
	for _, a := range []numbers.Array{p.A, p.X, p.Y} {
		for i := range a.Rows {
			for j := range a.Cols {
				v := a.SpanAt(i, j)
				if v.Class == numbers.Finite && (v.Top <= low || v.Top > high) {
					return true
				}
			}
		}
	}
	return false
}

// TestWideExtremes: numbers beyond the ends of float64 that meet ones which bring the product back. A method over
// float64 loses them and must not state a bound that it does not keep.
func TestWideExtremes(t *testing.T) {
	for _, pair := range [][2]string{{"1e-400", "1e300"}, {"1e-310", "1e300"}, {"1e400", "1e-300"}} {
		p := &op.Problem{Op: op.Dot, X: decimals(t, pair[0]), Y: decimals(t, pair[1])}
		r, err := op.Exact(p)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range catalog.Of(op.Dot) {
			if beyondRange(t, m, method.Config{Precision: 60}, p) {
				continue
			}
			y, bounds := run(t, m, method.Config{Precision: 60}, p)
			limit := bounds.Of(r.Component(0))
			if limit == nil && m.Bits != 0 {
				continue
			}
			if limit == nil || !exact.Measure(numbers.At(y, 0), r.Component(0).Sum).Within(limit) {
				t.Errorf("%s of %v: %v exceeds the bound %v", m.Name, pair, numbers.At(y, 0), limit)
			}
		}
	}
}

// decimals returns a vector of decimals.
func decimals(t testing.TB, texts ...string) numbers.Array {
	t.Helper()
	var list []*big.Rat
	for _, text := range texts {
		x, ok := new(big.Rat).SetString(text)
		if !ok {
			t.Fatal(text)
		}
		list = append(list, x)
	}
	return numbers.Vector(numbers.Rationals(list))
}

// TestRoundsOnce: methods that round once give the exact result rounded to nearest even, bit for bit, for numbers of
// any format: also decimals, which no binary format holds, and libraries have not.
func TestRoundsOnce(t *testing.T) {
	wide := &op.Problem{Op: op.Sum, X: decimals(t, "1.00000000000000000000000000000000000000000000000000001", "-1")}
	third := &op.Problem{Op: op.Dot, X: decimals(t, "0.1", "0.2", "-0.3"), Y: decimals(t, "1e-30", "7e-41", "1e-31")}
	made := map[ofData]*op.Problem{}
	for _, m := range catalog {
		if !m.RoundsOnce() {
			continue
		}
		list := []*op.Problem{}
		for text := range data[datasets.For(m.Operation)] {
			key := ofData{m.Operation, text}
			if made[key] == nil {
				made[key] = problemOf(t, m.Operation, text, false)
			}
			if p := made[key]; m.Operation.Storage == op.Full || p.A.Rows == p.A.Cols {
				list = append(list, p)
			}
		}
		precisions := []int{24, 53, 64, 113, 240, 4096}
		if m.Bits != 0 { // which rounds numbers that are longer
			precisions = []int{m.Bits}
			list = slices.DeleteFunc(list, func(p *op.Problem) bool { return !p.X.Binary64() })
		} else {
			for _, p := range []*op.Problem{wide, third} {
				if p.Op == m.Operation && m.Group != peer.Group {
					list = append(list, p)
				}
			}
		}
		for _, set := range sets(t) {
			for _, precision := range precisions {
				if !m.Runs(set) || gputest.Emulated() && set.Kind() != device.CPU && precision > 240 {
					continue
				}
				for _, p := range list {
					checkRounded(t, m, method.Config{Precision: precision, Devices: set}, p)
				}
			}
		}
	}
}

func checkRounded(t *testing.T, m method.Method, c method.Config, p *op.Problem) {
	t.Helper()
	p, r := known(t, p, func() *op.Problem { return p })
	y, _ := run(t, m, c, p)
	for i := range r.Shape.Components {
		want := exact.FromBig(r.Component(i).Round(uint(c.Precision)))
		if got := numbers.At(y, i); !got.Equal(want) {
			t.Fatalf("%s %s on %s at %d bits: %v, want %v", m.Operation.Name, m.Name, c.Devices, c.Precision, got, want)
		}
	}
}

// TestFormulas: every method has a bound that can be read, with its source, and needs only what its engine, the
// problem and the format give.
func TestFormulas(t *testing.T) {
	for _, m := range catalog {
		what := m.Operation.Name + " " + m.Name
		complete := m.Bound.Proved() && m.Bound.Source != "" && m.Summary != "" && m.Format != ""
		if !complete || strings.Contains(m.Summary, "\n") {
			t.Errorf("%s: incomplete", what)
		}
		if len(m.Kinds()) == 0 {
			t.Errorf("%s runs nowhere", what)
		}
		set := device.Set{}
		if !m.Runs(set) {
			set = sets(t)[1]
		}
		p := problems.Choice{Seed: 3, Largest: 5}.Random(m.Operation)
		e, err := m.New(method.Config{Precision: max(m.Bits, m.Least), Devices: set})
		if err != nil {
			t.Fatal(err)
		}
		if err := method.Run(context.Background(), e, p); err != nil {
			t.Fatal(err)
		}
		info := e.Info()
		for _, letter := range m.Bound.Needs() {
			_, given := info.Bound[letter]
			if !given && p.Quantity(letter) == nil && letter != "u" {
				t.Errorf("%s: nothing gives %s of %s", what, letter, m.Bound.Formula)
			}
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestNames: names are unique, and every twin is there.
func TestNames(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range catalog {
		key := m.Operation.Name + " " + m.Name
		if seen[key] {
			t.Errorf("%s is there twice", key)
		}
		seen[key] = true
	}
	for name, twin := range twins {
		if !seen["sum "+name] || !seen["sum "+twin] {
			t.Errorf("%s or %s is missing", name, twin)
		}
	}
	if again := tested(methods.All()); !slices.Equal(again.Names(), catalog.Names()) {
		t.Error("the catalog is another one the second time")
	}
}

// TestRefusals: what a method cannot do is an error that says what it can.
func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		operation *op.Operation
		method    string
		config    method.Config
		want      string
	}{
		{op.Sum, "reduce1", method.Config{Precision: 10}, "reduce1: precision 10 is outside its range, 30 to 8192 bits"},
		{op.Sum, "reduce1", rnsOptions(240, "moduli-bits", "40"), "reduce1: moduli-bits 40: want an integer from 0 to 31"},
		{op.Sum, "reduce1", rnsOptions(4000, "moduli-bits", "8"), "not enough pairwise coprime moduli of 8 bits"},
		{op.Sum, "reduce3", rnsOptions(240, "blocks", "-1"), "reduce3: blocks -1: want an integer from 1 to 1048576"},
		{op.Sum, "reduce3", rnsOptions(240, "block-size", "48"),
			"reduce3: block-size 48: want a power of two from 1 to 1024"},
		{op.Sum, "reduce1", rnsOptions(240, "rounding", "up"), "reduce1: rounding up: want truncate or nearest"},
		{op.Sum, "reduce1s", method.Config{Precision: 60}, "reduce1s: does not run on cpu; it runs on cuda"},
		{op.Sum, "float64", method.Config{Devices: device.GPU(0)}, "float64: does not run on cuda:0; it runs on cpu"},
		{op.Dot, "reduce2", method.Config{Precision: 60, Devices: device.GPU(0)},
			"reduce2: does not run on cuda:0; it runs on cpu"},
		{op.Sum, "kahan", method.Config{Stream: true}, "kahan: needs all numbers in its memory on cpu"},
		{op.Gemv, "rns-split", rnsOptions(60, "block-size", "1025"),
			"rns-split: block-size 1025: want an integer from 1 to 1024"},
		{op.Gemv, "deferred", method.Config{Precision: 60, Stream: true},
			"deferred: needs all numbers in its memory on cpu"},
	} {
		m, ok := catalog.Lookup(c.operation, c.method)
		if !ok {
			t.Fatalf("no method %s", c.method)
		}
		if _, err := m.New(c.config); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s %+v: %v, want %q", c.method, c.config, err, c.want)
			}
		}
	}
}

func rnsOptions(precision int, name, value string) method.Config {
	return method.Config{Precision: precision, Options: map[string]string{name: value}}
}

// TestMemory: a limit below what the numbers take is an error that names the number, in every method that converts
// them.
func TestMemory(t *testing.T) {
	a := make(numbers.Float64s, 400)
	for i := range a {
		a[i] = float64(i) / 3
	}
	p := &op.Problem{
		Op: op.Gemv, A: numbers.Array{Source: a, Layout: numbers.ColMajor(20, 20, 20)},
		X: numbers.Vector(make(numbers.Float64s, 20)),
	}
	for _, name := range []string{"bigfloat", "rns-basic", "rns-split", "deferred"} {
		m, _ := catalog.Lookup(op.Gemv, name)
		if name == "deferred" { // multiplies binary64 numbers where they are
			p.A.Source = numbers.Bigs{}
			for _, x := range a {
				p.A.Source = append(p.A.Source.(numbers.Bigs), big.NewFloat(x))
			}
		}
		need := checkMemory(t, m, p, 1000)
		e, err := m.New(method.Config{Precision: 106, MaxBytes: 2 * need})
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Prepare(context.Background(), p); err != nil {
			t.Errorf("%s does not fit in twice what it needs: %v", name, err)
		}
	}
	sum := &op.Problem{Op: op.Sum, X: numbers.Vector(a)}
	for _, name := range []string{"bigfloat", "reduce1", "reduce2", "reduce3"} {
		m, _ := catalog.Lookup(op.Sum, name)
		checkMemory(t, m, sum, 1000)
	}
}

// TestPlannedMemory: what a method says to need for numbers that are not there yet is what it needs for them; of few
// nothing is known before.
func TestPlannedMemory(t *testing.T) {
	data := datasets.Options{Seed: 1, N: 40}
	unknown := map[string]bool{"gemv deferred": true, "gemm deferred": true, "symv deferred": true, "trmv deferred": true}
	for _, m := range catalog.Usual() {
		if m.Operation.Storage == op.Sparse || m.On[device.CPU] == nil || m.Missing() != nil {
			continue
		}
		spec, err := datasets.For(m.Operation).Parse("uniform11")
		if err != nil {
			t.Fatal(err)
		}
		outline, err := spec.Outline(data)
		if err != nil {
			t.Fatal(err)
		}
		made, err := datasets.Generate(spec, data)
		if err != nil {
			t.Fatal(err)
		}
		p, q := outline.Problem(m.Operation), made.Problem(m.Operation)
		if p.Bytes() != q.Bytes() || p.Bytes() < 320 {
			t.Errorf("%s: %d bytes are planned, %d made", spec, p.Bytes(), q.Bytes())
		}
		c := method.Config{Precision: 106, MaxBytes: 1}
		planned := m.CheckMemory(c, p)
		e, err := m.New(c)
		if err != nil {
			t.Fatal(err)
		}
		needed := e.Prepare(context.Background(), q)
		if known := !unknown[m.Operation.Name+" "+m.Name]; known && fmt.Sprint(planned) != fmt.Sprint(needed) {
			t.Errorf("%s by %s: planned %v, needed %v", m.Operation.Name, m.Name, planned, needed)
		}
		if m.Name == "bigfloat" && planned == nil {
			t.Errorf("%s by %s: no memory is needed", m.Operation.Name, m.Name)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
}

// checkMemory returns how many bytes a method needs where it may have fewer.
func checkMemory(t *testing.T, m method.Method, p *op.Problem, bytes int64) int64 {
	t.Helper()
	e, err := m.New(method.Config{Precision: 106, MaxBytes: bytes})
	if err != nil {
		t.Fatal(err)
	}
	var memory *method.MemoryError
	err = e.Prepare(context.Background(), p)
	if !asMemory(err, &memory) || memory.Need <= bytes || !strings.Contains(err.Error(), m.Name+" needs ") {
		t.Fatalf("%s: %v", m.Name, err)
	}
	return memory.Need
}

func asMemory(err error, memory **method.MemoryError) bool {
	m, ok := err.(*method.MemoryError)
	*memory = m
	return ok
}
