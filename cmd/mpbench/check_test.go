package main

import (
	"context"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"mpbench/internal/busy"
	"mpbench/pkg/bound"
	"mpbench/pkg/device"
	"mpbench/pkg/exact"
	"mpbench/pkg/method"
	"mpbench/pkg/methods"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
	"mpbench/pkg/record"
	"mpbench/pkg/sampling"
)

// simulated is an engine on a simulated machine, which may have become worse: its value is changed, or it takes
// longer.
type simulated struct {
	method.Engine
	machine *busy.Machine
	takes   time.Duration
	add     *big.Rat // relative to the value; nil for nothing
	ran     bool
}

func (m *simulated) Result() (numbers.Source, error) {
	y, err := m.Engine.Result()
	if m.add == nil || err != nil {
		return y, err
	}
	v := numbers.At(y, 0).Number()
	return numbers.Values{exact.FromRat(new(big.Rat).Add(v, new(big.Rat).Mul(v, m.add)))}, nil
}

// Run computes once, and takes its time each time.
func (m *simulated) Run(ctx context.Context) error {
	if !m.ran {
		if err := m.Engine.Run(ctx); err != nil {
			return err
		}
		m.ran = true
	}
	m.machine.Work(m.takes)
	return nil
}

// times of the methods of the plan that have limits on them, on a quiet machine.
var times = map[string]time.Duration{
	"float64": 2 * time.Microsecond, "kahan": 8 * time.Microsecond, "neumaier": 4 * time.Microsecond,
	"reduce1": 30 * time.Microsecond, "reduce2": 33 * time.Microsecond,
}

// simulate lets mpbench run on a simulated machine that is busy, where one method, if it is not "", is worse: its
// value by a factor of 1 + add, its time by a factor of slower. All is as it was when the test ends.
func simulate(t *testing.T, seed uint64, worse string, add *big.Rat, slower float64) {
	t.Helper()
	machine := busy.NewMachine(seed)
	oldCatalog, oldRatios := catalog, checkRatios
	t.Cleanup(func() { catalog, checkRatios = oldCatalog, oldRatios })
	checkRatios = sampling.RatioSampler{Clock: machine, Pause: machine.Pause}
	catalog = slices.Clone(methods.All().Of(op.Sum))
	for i := range catalog {
		name, original := catalog[i].Name, catalog[i].On[device.CPU]
		if original == nil {
			continue
		}
		if name == worse && add != nil {
			catalog[i].Bound = bound.New("2^-40*S", "keeps the change within the bound, which is another limit's business")
		}
		catalog[i].On = map[device.Kind]method.New{device.CPU: func(c method.Config) (method.Engine, error) {
			e, err := original(c)
			m := &simulated{Engine: e, machine: machine, takes: times[name]}
			if name == worse {
				m.add, m.takes = add, time.Duration(float64(m.takes)*slower)
			}
			return m, err
		}}
	}
}

// seeds are the regressions that must be found: 2^-48 takes neumaier's results to fewer than 49 bits, 3 fewer than any
// of the data sets gives.
var seeds = []struct {
	name, method string
	add          *big.Rat
	slower       float64
	limit        string // that catches it
}{
	{"3 bits worse", "neumaier", big.NewRat(1, 1<<48), 1, "bits-lost"},
	{"30 % slower", "kahan", nil, 1.3, "time"},
	{"one changed hash", "deferred", new(big.Rat).SetFrac64(1, 1<<62), 1, "result-hash"},
}

const seededPlan = `schema: mpbench-check/1
checks:
  - name: accuracy
    command: sum
    dataset: ["uniform01:n=1000", "gensum:cond=1e8"]
    method: [float64, kahan, neumaier]
    limits: {bits-lost: 2}
  - name: results
    command: sum
    dataset: [mcnamee1, mcnamee3]
    method: [bigfloat, deferred, reduce1, reduce2]
    limits: {result-hash: baseline}
  - name: times
    command: sum
    dataset: uniform01:n=2000
    method: [kahan, neumaier]
    limits:
      time: {relative-to: float64, slower: 15%}
  - name: order
    command: sum
    dataset: uniform01:n=300
    method: reduce2
    precision: 120
    limits:
      time: {relative-to: reduce1, slower: 15%}
`

// failing returns the rows that a check names, each with what it fails.
func failing(stdout string) []string {
	var list []string
	row := ""
	for line := range strings.Lines(stdout) {
		line = strings.TrimSuffix(line, "\n")
		if rest, ok := strings.CutPrefix(line, "   ! "); ok {
			row = strings.Fields(rest)[3]
		} else if rest, ok := strings.CutPrefix(line, "      "); ok && strings.Contains(rest, ": expected ") {
			limit, _, _ := strings.Cut(rest, ":")
			list = append(list, row+" "+limit)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// makePlan writes the plan with its baseline.
func makePlan(t testing.TB) string {
	t.Helper()
	plan := filepath.Join(t.TempDir(), "plan.yaml")
	if err := os.WriteFile(plan, []byte(seededPlan), 0o666); err != nil {
		t.Fatal(err)
	}
	stdout, stderr, code := mpbench(t, "check", "-q", plan, "--update")
	if code != 0 || !strings.Contains(stdout, "17 of 17 rows changed") {
		t.Fatalf("exit code %d: %s%s", code, stdout, stderr)
	}
	return plan
}

// TestCheckSeeded: on a busy machine, ten runs of an unchanged program raise no alarm, and each seeded regression is
// caught, by its limit and at its method, and nothing else is.
func TestCheckSeeded(t *testing.T) {
	simulate(t, 0, "", nil, 1)
	plan := makePlan(t)
	t.Run("unchanged", func(t *testing.T) {
		for seed := range uint64(10) {
			simulate(t, 1+seed, "", nil, 1)
			if stdout, stderr, code := mpbench(t, "check", "-q", "-v", plan); code != exitOK {
				t.Errorf("exit code %d: %s%s", code, stdout, stderr)
			}
		}
	})
	for _, s := range seeds {
		t.Run(s.name, func(t *testing.T) {
			for seed := range uint64(10) {
				simulate(t, 11+seed, s.method, s.add, s.slower)
				stdout, stderr, code := mpbench(t, "check", "-q", "-v", plan)
				if got, want := failing(stdout), []string{s.method + " " + s.limit}; code != exitCheckFailed ||
					!slices.Equal(got, want) {
					t.Errorf("exit code %d, failing %q, want %q:\n%s%s", code, got, want, stdout, stderr)
				}
			}
		})
	}
}

// BenchmarkCheckUnderLoad checks a plan with this machine's times while other goroutines keep it busy, and reports in
// how many of the runs an unchanged program failed (0 is right).
func BenchmarkCheckUnderLoad(b *testing.B) {
	plan := makePlan(b)
	defer keepBusy()()
	alarms := 0
	for b.Loop() {
		if stdout, _, code := mpbench(b, "check", "-q", "-v", plan); code != exitOK {
			alarms++
			b.Log(stdout)
		}
	}
	b.ReportMetric(float64(alarms)/float64(b.N), "false-alarms/op")
}

// keepBusy starts as many goroutines as there are processors, which work in and beyond the caches, and now and then
// sleep. The function that it returns ends them.
func keepBusy() (end func()) {
	var stop atomic.Bool
	var wg sync.WaitGroup
	for i := range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			x := make([]float64, 1<<min(10+4*i, 20))
			for n := 0; !stop.Load(); n++ {
				for k := range x {
					x[k] += float64(n)
				}
				if n%100 == 0 {
					time.Sleep(time.Duration(n%7) * time.Millisecond)
				}
			}
		})
	}
	return func() {
		stop.Store(true)
		wg.Wait()
	}
}

// TestCompareSeeded seeds the same regressions into the records of a run: compare finds each, and nothing else.
func TestCompareSeeded(t *testing.T) {
	folder := t.TempDir()
	old := filepath.Join(folder, "old.jsonl")
	args := []string{"sum", "-q", "--dataset", "uniform01:n=1000", "--method", "float64,kahan,neumaier,deferred",
		"--runs", "12", "--min-time", "0", "--export", old}
	if _, stderr, code := mpbench(t, args...); code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	rules := []string{"--fail-if", "time>15%", "--fail-if", "bits<-1", "--fail-if", "hash", "--fail-if", "missing"}
	for name, c := range map[string]struct {
		change func(r *record.Record)
		want   []string
	}{
		"unchanged": {func(*record.Record) {}, nil},
		"3 bits worse": {func(r *record.Record) {
			if r.Method == "neumaier" {
				*r.CorrectBits -= 3
			}
		}, []string{"neumaier 53 bits: bits<-1: 3.0 bits lost"}},
		"30 % slower": {func(r *record.Record) {
			for i := range r.Time.Samples {
				if r.Method == "kahan" {
					r.Time.Samples[i] *= 1.3
				}
			}
		}, []string{"kahan 53 bits: time>15%: +30.0%"}},
		"one changed hash": {func(r *record.Record) {
			if r.Method == "deferred" {
				r.ResultHash = "0123456789abcdef"
			}
		}, []string{"deferred 240 bits: hash: "}},
	} {
		t.Run(name, func(t *testing.T) {
			run, err := readRun(t.Context(), old)
			if err != nil {
				t.Fatal(err)
			}
			// Samples of one machine scatter; these do not, so that what is found is what was seeded.
			for i := range run.Records {
				for k := range run.Records[i].Time.Samples {
					run.Records[i].Time.Samples[k] = 1000 + float64(k)
				}
			}
			before, after := filepath.Join(folder, "before.jsonl"), filepath.Join(folder, "after.jsonl")
			write(t, before, run)
			for i := range run.Records {
				c.change(&run.Records[i])
			}
			write(t, after, run)
			stdout, stderr, code := mpbench(t, append([]string{"compare", before, after, "--color", "never"}, rules...)...)
			if want := map[bool]int{true: exitCheckFailed, false: exitOK}[len(c.want) > 0]; code != want {
				t.Errorf("exit code %d: %s", code, stderr)
			}
			if n := strings.Count(stdout, "FAIL"); n != len(c.want) {
				t.Errorf("%d failures:\n%s", n, stdout)
			}
			for _, want := range c.want {
				if !strings.Contains(strings.Join(strings.Fields(stdout), " "), "FAIL sum uniform01:seed=1 n=1000 "+want) {
					t.Errorf("no %q in\n%s", want, stdout)
				}
			}
		})
	}
}

func write(t *testing.T, path string, run *record.Run) {
	t.Helper()
	text, err := record.MarshalRun(run)
	if err == nil {
		err = os.WriteFile(path, text, 0o666)
	}
	if err != nil {
		t.Fatal(fmt.Errorf("%s: %w", path, err))
	}
}
