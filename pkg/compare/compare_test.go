package compare

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"mpbench/pkg/record"
	"mpbench/pkg/stats"
)

// run is a run of four cases with so many samples each, of 100 ns and up to 2 % more.
func run(samples int, seed uint64) *record.Run {
	random := rand.New(rand.NewPCG(seed, 1))
	r := &record.Run{Environments: []record.Environment{{ID: "e", CPU: record.CPU{Brand: "A"}}}}
	for _, method := range []string{"float64", "kahan", "reduce2", "deferred"} {
		bits, within := 50.0, true
		record := record.Record{
			Command: "sum", Method: method, Format: "binary64", Device: "cpu", Threads: 1, PrecisionBits: 53, ActualBits: 53,
			Dataset: record.Dataset{Name: "mcnamee3", N: 64, SHA256: "aa"}, Shape: record.Shape{N: 64},
			Exact: "3.5e-06", RelError: "1e-15", Bound: "1e-14", CorrectBits: &bits, WithinBound: &within,
			ResultHash: "1111111111111111", EnvID: "e",
		}
		if method == "deferred" {
			record.ExactResult, record.CorrectBits = true, nil
		}
		for range samples {
			record.Time.Samples = append(record.Time.Samples, 100+2*random.Float64())
		}
		record.Time.Median = stats.Median(record.Time.Samples)
		r.Records = append(r.Records, record)
	}
	return r
}

func of(r *record.Run, method string) *record.Record {
	return &r.Records[slices.IndexFunc(r.Records, func(r record.Record) bool { return r.Method == method })]
}

func rules(t *testing.T, texts ...string) []Rule {
	t.Helper()
	var list []Rule
	for _, text := range texts {
		r, err := ParseRule(text)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, r)
	}
	return list
}

func compare(t *testing.T, old, now *record.Run, texts ...string) *Result {
	t.Helper()
	result, err := Compare(old, now, 0)
	if err != nil {
		t.Fatal(err)
	}
	result.Apply(rules(t, texts...))
	return result
}

var allRules = []string{"time>5%", "bits<-1", "hash", "bound", "missing"}

// TestUnchanged: a hundred pairs of runs of the same program break no rule.
func TestUnchanged(t *testing.T) {
	for seed := range uint64(100) {
		if result := compare(t, run(20, 2*seed), run(20, 2*seed+1), allRules...); len(result.Failures) > 0 {
			t.Errorf("seed %d: %v", seed, result.Failures)
		}
	}
}

// TestTwice: a case that is there twice, with different data or results, cannot be compared.
func TestTwice(t *testing.T) {
	for want, seed := range map[string]func(*record.Record){
		"":       func(*record.Record) {},
		"result": func(r *record.Record) { r.ResultHash = "2222222222222222" },
		"data":   func(r *record.Record) { r.Dataset.SHA256 = "bb" },
		"exact":  func(r *record.Record) { r.Exact = "4" },
	} {
		double := run(5, 1)
		double.Records = append(double.Records, run(5, 2).Records[1])
		seed(&double.Records[4])
		for prefix, err := range map[string]error{
			"the old run: ": errorOf(Compare(double, run(5, 1), 0)), "the new run: ": errorOf(Compare(run(5, 1), double, 0)),
		} {
			if want == "" && err != nil || want != "" && (err == nil ||
				err.Error() != prefix+"sum mcnamee3 n=64 kahan 53 bits is there twice, with different data or results") {
				t.Errorf("%s: %v", want, err)
			}
		}
	}
}

func errorOf(_ *Result, err error) error { return err }

// TestSeeded: a method made 30 % slower, one made 3 bits worse and a changed result are found, each alone and
// together, and nothing else is.
func TestSeeded(t *testing.T) {
	seeds := map[string]func(*record.Run){
		"float64: time>5%": func(r *record.Run) {
			for i := range of(r, "float64").Time.Samples {
				of(r, "float64").Time.Samples[i] *= 1.3
			}
		},
		"kahan: bits<-1":  func(r *record.Run) { *of(r, "kahan").CorrectBits -= 3 },
		"reduce2: hash":   func(r *record.Run) { of(r, "reduce2").ResultHash = "2222222222222222" },
		"float64: bound":  func(r *record.Run) { of(r, "float64").WithinBound = nil },
		"deferred: bound": func(r *record.Run) { *of(r, "deferred").WithinBound = false },
		"deferred: bits<-1": func(r *record.Run) {
			bits := 51.0
			of(r, "deferred").ExactResult, of(r, "deferred").CorrectBits = false, &bits
		},
	}
	found := func(result *Result) []string {
		list := []string{}
		for _, f := range result.Failures {
			method := strings.Fields(f.Label)[3]
			list = append(list, method+": "+f.Rule)
		}
		slices.Sort(list)
		return list
	}
	var all []string
	together := run(20, 2)
	for want, seed := range seeds {
		all = append(all, want)
		seed(together)
		now := run(20, 2)
		seed(now)
		result := compare(t, run(20, 1), now, allRules...)
		if got := found(result); !slices.Equal(got, []string{want}) || result.Failed() != 1 {
			t.Errorf("%s: found %q", want, got)
		}
	}
	slices.Sort(all)
	if got := found(compare(t, run(20, 1), together, allRules...)); !slices.Equal(got, all) {
		t.Errorf("together: found %q", got)
	}
}

// TestTime: the interval covers the true ratio, p tells a difference from none, and a few samples tell nothing.
func TestTime(t *testing.T) {
	x, y := run(30, 1).Records[0].Time.Samples, run(30, 2).Records[0].Time.Samples
	same := ofSamples(x, y, 0.05, Spread{Cases: 1})
	if same.Significant || same.Lo > 1 || same.Hi < 1 || same.Confidence < 0.95 {
		t.Errorf("%+v", same)
	}
	for i := range y {
		y[i] *= 1.1
	}
	slower := ofSamples(x, y, 0.05, Spread{Cases: 1})
	if !slower.Significant || slower.Lo > 1.1 || slower.Hi < 1.1 || slower.P > 1e-6 || math.Abs(slower.Ratio-1.1) > 0.02 {
		t.Errorf("%+v", slower)
	}
	if few := ofSamples(x[:3], y[:3], 0.05, Spread{Cases: 1}); few.Significant || few.Confidence > 0.95 {
		t.Errorf("%+v", few)
	}
	if zero := ofSamples([]float64{0, 0}, []float64{0, 0}, 0.05, Spread{Cases: 1}); zero.Ratio != 1 || zero.Significant {
		t.Errorf("%+v", zero)
	}
}

// drifting is a run all samples of each case of which are longer by the same part: what runs differ by.
func drifting(random *rand.Rand, deviation float64) *record.Run {
	r := run(20, random.Uint64())
	for i := range r.Records {
		factor := math.Exp(deviation * random.NormFloat64())
		for j := range r.Records[i].Time.Samples {
			r.Records[i].Time.Samples[j] *= factor
		}
	}
	return r
}

// several is one side of several runs.
func several(runs int, random *rand.Rand, deviation float64) *record.Run {
	all := &record.Run{Environments: run(1, 1).Environments}
	for range runs {
		all.Records = append(all.Records, drifting(random, deviation).Records...)
	}
	return all
}

// TestEqualRuns: runs of the same program differ by 3 %, far more than the samples of each, and compare as equal: in
// all cases of 95 of 100 comparisons of several runs a side, or of one. A case that is 30 % slower is found.
func TestEqualRuns(t *testing.T) {
	for _, c := range []struct{ runs, most int }{{5, 10}, {3, 10}, {1, 15}} {
		random := rand.New(rand.NewPCG(uint64(c.runs), 9))
		wrong, missed := 0, 0
		for range 100 {
			old, now := several(c.runs, random, 0.03), several(c.runs, random, 0.03)
			if compare(t, old, now, "time>0%").Failed() > 0 {
				wrong++
			}
			for i := range now.Records {
				for j := range now.Records[i].Time.Samples {
					if now.Records[i].Method == "kahan" {
						now.Records[i].Time.Samples[j] *= 1.3
					}
				}
			}
			failed := compare(t, old, now, "time>0%").Failures
			if !slices.ContainsFunc(failed, func(f Failure) bool { return strings.Contains(f.Label, "kahan") }) {
				missed++
			}
		}
		if wrong > c.most || missed > 20 {
			t.Errorf("%d runs a side: %d of 100 pairs of equal runs differ, %d of 100 changes are missed", c.runs, wrong,
				missed)
		}
	}
}

// TestSameRunTwice: a run that is given twice does not make it look steady.
func TestSameRunTwice(t *testing.T) {
	old, now := run(20, 1), run(20, 2)
	once := compare(t, old, now)
	old.Records = append(old.Records, old.Records...)
	if twice := compare(t, old, now); twice.Rows[0].Time.OldRuns != 1 || *twice.Rows[0].Time != *once.Rows[0].Time {
		t.Errorf("%+v", twice.Rows[0].Time)
	}
}

// TestDifferentData: other bits, or another exact result on the same data, are refused.
func TestDifferentData(t *testing.T) {
	now := run(5, 1)
	now.Records[0].Dataset.SHA256, now.Records[2].Dataset.SHA256 = "bb", "bb"
	_, err := Compare(run(5, 1), now, 0)
	var data *DataError
	if !errors.As(err, &data) || data.Cases != 2 ||
		err.Error() != "sum mcnamee3 n=64 float64 53 bits: different data, SHA-256 aa... and bb... (and 1 more)" {
		t.Errorf("%v", err)
	}
	now = run(5, 1)
	now.Records[1].Exact = "7e-06"
	if _, err := Compare(run(5, 1), now, 0); err == nil || !strings.Contains(err.Error(), "the exact results differ") {
		t.Errorf("%v", err)
	}
	now = run(5, 1)
	for i := range now.Records {
		now.Records[i].Command = "dot"
	}
	if _, err := Compare(run(5, 1), now, 0); !errors.Is(err, ErrNothing) {
		t.Errorf("%v", err)
	}
}

// TestMatching: cases of one run only are listed, records of the same case are put together, and environments are
// compared.
func TestMatching(t *testing.T) {
	old, now := run(5, 1), run(5, 2)
	old.Records = append(old.Records, run(7, 3).Records[0])
	now.Records = now.Records[:3]
	now.Records[2].Method = "reduce3"
	now.Environments[0].ID, now.Environments[0].CPU.Brand = "f", "B"
	for i := range now.Records {
		now.Records[i].EnvID = "f"
	}
	result := compare(t, old, now, "missing")
	if len(result.Rows) != 2 || len(result.OnlyOld) != 2 || len(result.OnlyNew) != 1 || result.Failed() != 2 ||
		result.Rows[0].Time.OldSamples != 12 {
		t.Errorf("%+v", result)
	}
	if d := result.Environment; len(d) != 1 || d[0] != (record.Difference{Field: "cpu.brand", Old: "A", New: "B"}) {
		t.Errorf("%v", d)
	}
	now.Environments = nil
	if result := compare(t, old, now); result.Environment != nil {
		t.Errorf("%v", result.Environment)
	}
	text, err := json.Marshal(result)
	if err != nil || !strings.Contains(string(text), `"old_correct_bits":50,`) {
		t.Errorf("%s, %v", text, err)
	}
	text, err = json.Marshal(compare(t, run(5, 1), run(5, 2)))
	if err != nil || !strings.Contains(string(text), `"old_correct_bits":"exact"`) {
		t.Errorf("%s, %v", text, err)
	}
}

func TestBitsChange(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct{ before, after, bits, want float64 }{
		{50, 47, 53, -3}, {47, 50, 53, 3}, {inf, inf, 53, 0}, {inf, 50, 53, -4}, {50, inf, 53, 4}, {inf, 60, 53, 0},
	} {
		if got := change(c.before, c.after, c.bits); got != c.want {
			t.Errorf("%v: %v", c, got)
		}
	}
}

func TestParseRule(t *testing.T) {
	for _, text := range []string{"time>5%", "time > 0.5 %", "bits<-1", "bits<0", "hash", "bound", "missing"} {
		if _, err := ParseRule(text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	for text, want := range map[string]string{
		"":          `unknown rule "" (known: time bits hash bound missing); want time>5%`,
		"tme>5%":    `unknown rule "tme" (did you mean time?)`,
		"time":      `"time" has no limit`,
		"time>5":    "want time> and a percentage of at least 0",
		"time<5%":   "want time> and a percentage of at least 0",
		"time>x%":   "want time> and a percentage of at least 0",
		"time>-5%":  "want time> and a percentage of at least 0",
		"time>nan%": "want time> and a percentage of at least 0",
		"bits<1":    "want bits< and a number of at most 0",
		"bits>-1":   "want bits< and a number of at most 0",
		"bits<-1%":  "want bits< and a number of at most 0",
		"hash>1":    `"hash>1": hash takes no limit`,
	} {
		if _, err := ParseRule(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
