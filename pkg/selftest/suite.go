// Package selftest compares every method on every device of a machine with an independent reference.
//
// What a method should give is known in up to three ways, and all are asked:
//
//   - within its proved bound of the exact result;
//   - bit for bit what a model of its algorithm gives, whose arithmetic is that of integers (model*.go): no rounding
//     mode, no fused operation, no vector instruction and no GPU has a part in it;
//   - exactly the exact result, where the data are such that nothing is rounded.
//
// The arithmetic of the processor itself is compared with the model first, on every thread: rounding mode, subnormal
// numbers, multiply-add. A result that is wrong is compared with models of what could have gone wrong, and named if
// one of them has the same bits. Methods and arithmetic are passed in ([Suite]), so that tests can pass in faulty
// ones.
package selftest

import (
	"context"
	"fmt"
	"math/big"
	"runtime"
	"slices"
	"sync"

	"mpbench/internal/parallel"
	"mpbench/pkg/device"
	"mpbench/pkg/exact"
	"mpbench/pkg/method"
	"mpbench/pkg/op"
	"mpbench/pkg/rns"
	"mpbench/pkg/rns/deferred"
	"mpbench/pkg/superacc"
)

// A Suite is what is tested.
type Suite struct {
	Arithmetic Arithmetic // of the processor
	Methods    method.Catalog
	Devices    []device.Set
	Path       string // the vector instructions in use, for the rows

	Progress func(what string) // called before each row, if not nil; never twice at a time
}

// All returns the suite of the processor's arithmetic and these methods on the devices.
func All(methods method.Catalog, devices []device.Set) Suite {
	return Suite{Arithmetic: Hardware(), Methods: methods, Devices: devices, Path: VectorPath()}
}

// A Row is the result for a method on a device.
type Row struct {
	Operation string `json:"operation"` // "arithmetic", "reference", "sum", "dot", "gemv"
	Method    string `json:"method"`    // or a part of the arithmetic
	Format    string `json:"format"`
	Device    string `json:"device"`
	Path      string `json:"path"` // vector instructions in use
	Checks    int    `json:"checks"`
	Failed    int    `json:"failed"`
	Failure   string `json:"failure"` // the first: data, expected, found, and the cause if one is known
	Advice    string `json:"advice"`  // what to do
}

// Pass reports whether all checks held.
func (r Row) Pass() bool { return r.Failed == 0 }

// Failed returns how many rows failed.
func Failed(rows []Row) int {
	n := 0
	for _, r := range rows {
		if !r.Pass() {
			n++
		}
	}
	return n
}

// Run tests everything, on the CPU several methods at a time; after an interruption by ctx it returns the rows until
// then.
func (s Suite) Run(ctx context.Context) []Row {
	first, onCPU, onDevices := s.jobs()
	rows := make([]Row, 0, len(first)+len(onCPU)+len(onDevices))
	var progress sync.Mutex
	run := func(threads int, jobs []job) {
		from := len(rows)
		rows = rows[:from+len(jobs)]
		parallel.Tasks(threads, len(jobs), func(_, i int) {
			if ctx.Err() != nil {
				return
			}
			if s.Progress != nil {
				progress.Lock()
				s.Progress(fmt.Sprintf("%s %s on %s", jobs[i].row.Operation, jobs[i].row.Method, jobs[i].row.Device))
				progress.Unlock()
			}
			rows[from+i] = jobs[i].run(ctx, s.Path)
		})
	}
	run(1, first)
	run(0, onCPU)
	run(1, onDevices)
	return slices.DeleteFunc(rows, func(r Row) bool { return r.Operation == "" })
}

// A job fills a row.
type job struct {
	row  Row
	test func(context.Context, *tester)
}

// jobs lists what is to be done: the processor's arithmetic first, as everything stands on it, on all threads.
func (s Suite) jobs() (first, onCPU, onDevices []job) {
	if s.Arithmetic.Add != nil {
		row := Row{Operation: "arithmetic", Method: "float64", Format: "binary64", Device: "cpu"}
		first = append(first, job{row, func(_ context.Context, t *tester) { s.testArithmetic(t) }})
	}
	row := Row{Operation: "reference", Method: "exact", Format: "exact", Device: "cpu"}
	onCPU = append(onCPU, job{row, func(_ context.Context, t *tester) { testReference(t) }})
	cases := map[*op.Operation]func() []testCase{}
	for _, o := range s.Methods.Operations() {
		cases[o] = sync.OnceValue(func() []testCase { return casesOf(o) })
	}
	for _, set := range s.Devices {
		for _, o := range s.Methods.Operations() {
			for _, m := range s.Methods.Of(o) {
				if !m.Runs(set) {
					continue
				}
				row := Row{Operation: o.Name, Method: m.Name, Format: m.Format, Device: set.String()}
				j := job{row, func(ctx context.Context, t *tester) { t.testMethod(ctx, m, set, cases[o]()) }}
				if set.Kind() == device.CPU {
					onCPU = append(onCPU, j)
				} else {
					onDevices = append(onDevices, j)
				}
			}
		}
	}
	return first, onCPU, onDevices
}

func (j job) run(ctx context.Context, path string) Row {
	j.row.Path = path
	t := &tester{row: j.row}
	t.guarded("a run", func() { j.test(ctx, t) })
	t.nameCause()
	return t.row
}

// A tester counts the checks of one row.
type tester struct {
	row     Row
	results []func(binary) bool // for each modelled result, whether a faulty model gives it
}

// nameCause adds to the failure the fault whose model gives every result of the row, if there is one.
func (t *tester) nameCause() {
	if t.row.Failed == 0 || len(t.results) == 0 {
		return
	}
next:
	for _, f := range faults {
		for _, gives := range t.results {
			if !gives(f.model) {
				continue next
			}
		}
		t.row.Failure += ": as if " + f.name
		t.row.Advice = f.advice
		return
	}
}

// check counts a check; explain is called for the first that fails.
func (t *tester) check(ok bool, explain func() (failure, advice string)) {
	t.row.Checks++
	if ok {
		return
	}
	t.row.Failed++
	if t.row.Failed == 1 {
		t.row.Failure, t.row.Advice = explain()
	}
}

// guarded runs f; a panic is a check that failed.
func (t *tester) guarded(what string, f func()) {
	defer func() {
		if p := recover(); p != nil {
			t.check(false, func() (string, string) { return fmt.Sprintf("%s panics: %v", what, p), adviceReport })
		}
	}()
	f()
}

const (
	adviceReport = "Do not trust results of this method here. Report the line above with the output of mpbench info."
	adviceGPU    = "Do not trust results of this device: check its memory and temperature (nvidia-smi -q), update the " +
		"driver, and run the test again."
	adviceVector = "Run again with GODEBUG=cpu.avx512f=off, and then with GODEBUG=cpu.avx2=off, to see which vector " +
		"instructions are at fault."
)

// advise says what to do about a wrong result of a method on a device.
func (t *tester) advise() string {
	switch {
	case t.row.Device != "cpu":
		return adviceGPU
	case runtime.GOARCH == "amd64" && t.row.Path != "none":
		return adviceVector + " " + adviceReport
	}
	return adviceReport
}

// An expectation is what is known of a result.
type expectation struct {
	what     string        // method's options and data, for a failure
	summary  exact.Summary // the exact result
	bound    *big.Rat      // proved; nil for none
	nothing  bool          // nothing is rounded: the result is the exact one
	modelled *exact.Value
	faulty   func(binary) (number, bool) // what a model of binary64 with a fault gives; nil if the format is another
}

// compare checks a result in every way that is known.
func (t *tester) compare(got exact.Value, e expectation) {
	fail := func(kind string, want exact.Value) func() (string, string) {
		return func() (string, string) {
			return fmt.Sprintf("%s: %s %s, found %s", e.what, kind, describe(want), describe(got)), t.advise()
		}
	}
	if e.faulty != nil {
		t.results = append(t.results, func(b binary) bool {
			n, ok := e.faulty(b)
			return !ok || n.value().Equal(got)
		})
	}
	want := e.summary.Sum
	if e.modelled != nil {
		t.check(got.Equal(*e.modelled), fail("expected", *e.modelled))
	}
	switch {
	case e.nothing || !want.IsFinite():
		t.check(got.Equal(want), fail("exactly", want))
	case e.bound != nil:
		t.check(e.summary.Errors(got).Within(e.bound), fail("within the proved bound of", want))
	}
}

// describe writes a value so that two float64 next to each other differ.
func describe(v exact.Value) string { return v.Text(17) }

// VectorPath names the vector instructions that the packages use, "none" for plain Go: one, or a list.
func VectorPath() string {
	a, b, c := rns.SIMD(), superacc.SIMD(), deferred.SIMD()
	if a == b && b == c {
		return a
	}
	return a + "/" + b + "/" + c
}
