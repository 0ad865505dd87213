package check

import (
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"
)

func parse(text string) (*Plan, error) { return Parse(strings.NewReader(text), "plans/p.yaml") }

const head = "schema: mpbench-check/1\nchecks:\n"

func TestParse(t *testing.T) {
	plan, err := parse(`schema: mpbench-check/1
baseline: old/b.json
limits: &common
  correct-bits: 50
checks:
  - name: first
    command: sum
    dataset: [mcnamee1, "gensum:cond=1e9"]
    precision: 120
    input: [a.npy, /abs/b.npy]
    scan: ["n=1..4", seed=1..3]
    limits:
      result-hash: baseline
      within-bound: false
      time: {relative-to: float64, at-most: 1.5, slower: 15 %}
  - values: out.txt
    against: gemv:A.npy,x.npy
    transpose: true
    limits: {correct-bits: exact, within: float64, rel-error: 1e-400, ulp: 2}
`)
	if err != nil {
		t.Fatal(err)
	}
	first := Check{
		Name: "first", Line: 6, Command: "sum",
		Settings: []Setting{
			{"dataset", "mcnamee1,gensum:cond=1e9", 8}, {"precision", "120", 9}, {"input", "plans/a.npy", 10},
			{"input", "/abs/b.npy", 10},
		},
		Scans: []Setting{{"scan", "n=1..4", 11}, {"scan", "seed=1..3", 11}},
		Limits: Limits{
			CorrectBits: &CorrectBits{Number{50, 4}, false}, ResultHash: &Text{"baseline", 13}, WithinBound: &Flag{false, 14},
			Time: &TimeLimit{Text{"float64", 15}, &Number{1.5, 15}, &Number{15, 15}},
		},
	}
	second := Check{
		Name: "check 2", Line: 16, Settings: []Setting{{"transpose", "true", 18}}, Transpose: true,
		Values: Setting{"values", "plans/out.txt", 16}, Against: Setting{"against", "gemv:plans/A.npy,plans/x.npy", 17},
		Limits: Limits{
			CorrectBits: &CorrectBits{Number{0, 19}, true}, WithinMethod: &Text{"float64", 19}, RelError: &Text{"1e-400", 19},
			ULP: &Number{2, 19},
		},
	}
	if plan.Baseline != "plans/old/b.json" || !plan.NeedsBaseline() {
		t.Errorf("baseline %q", plan.Baseline)
	}
	for i, want := range []Check{first, second} {
		if !reflect.DeepEqual(plan.Checks[i], want) {
			t.Errorf("got  %+v\nwant %+v", plan.Checks[i], want)
		}
	}
}

// TestParseJSON: JSON is read as it is.
func TestParseJSON(t *testing.T) {
	plan, err := parse(`{"schema": "mpbench-check/1",
	"checks": [{"name": "a", "command": "dot", "precision": [53, 120], "limits": {"correct-bits": 50.5}}]}`)
	if err != nil || plan.Checks[0].Settings[0].Value != "53,120" || plan.Checks[0].Limits.CorrectBits.Value != 50.5 {
		t.Errorf("%+v, %v", plan, err)
	}
	if plan.Baseline != "plans/p.baseline.json" || plan.NeedsBaseline() {
		t.Errorf("baseline %q", plan.Baseline)
	}
}

// TestParseErrors: file, line and key, and what would be right.
func TestParseErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                                   "plans/p.yaml: is empty; want a plan with schema",
		"a: [":                               "plans/p.yaml:1: no valid YAML: ",
		"schema: mpbench-check/1\n\tx: 1":    "plans/p.yaml:2: no valid YAML: found a tab character",
		"- 1":                                "plans/p.yaml:1: want keys with values, have a list",
		"checks: []":                         "plans/p.yaml:1: schema: missing; want schema: mpbench-check/1",
		"schema: other/1":                    `plans/p.yaml:1: schema: "other/1" is not known; want mpbench-check/1`,
		"schema: mpbench-check/1\nchecks: 5": "plans/p.yaml:1: checks: want a list of checks",
		"schema: mpbench-check/1\ncheks: []": `plans/p.yaml:2: cheks: unknown key "cheks" (did you mean checks?)`,
		head + "  - 5":                       `plans/p.yaml:3: want keys with values, have "5"`,
		head + "  - name: x": "plans/p.yaml:3: command: missing; want one of " +
			strings.Join(Commands, ", ") + ", or values: " +
			"and against:",
		head + "  - command: smu":                   `plans/p.yaml:3: command: unknown command "smu" (did you mean sum?)`,
		head + "  - command: sum\n    command: dot": "plans/p.yaml:4: command: the key stands in line 3 already",
		head + "  - command: sum\n    dataset: {a: 1}": "plans/p.yaml:4: dataset: want a text, a number or a list, have " +
			"keys with values",
		head + "  - command: sum\n    dataset: [[1]]": "plans/p.yaml:4: dataset: want a list of texts or numbers, have " +
			"a list in it",
		head + "  - command: sum\n    dataset:": "plans/p.yaml:4: dataset: want a text, a number or a list, have " +
			"nothing",
		head + "  - command: sum\n    name: a\n  - command: sum\n   " +
			" name: a": `plans/p.yaml:5: name: "a" is the name of the check in line 3 already`,
		head + "  - command: sum\n    scan: {n: 1}": "plans/p.yaml:4: scan: want name=values",
		head + "  - command: sum\n    values: a.npy": "plans/p.yaml:3: values: a check has either a command or values " +
			"of its own",
		head + "  - values: a.npy": "plans/p.yaml:3: against: missing; want what the values are " +
			"results of, as sum:input.npy",
		head + "  - against: sum:a.npy": "plans/p.yaml:3: values: missing; want the file of the results",
		head + "  - values: a.npy\n    against: " +
			"sum:b.npy": "plans/p.yaml:3: limits: missing; values without " +
			"limits cannot fail",
		head + "  - values: a.npy\n    against: sum:b.npy\n    method: x\n    limits: " +
			"{ulp: 1}": `plans/p.yaml:5: method: unknown key "method"`,
		head + "  - values: a.npy\n    against: sum:b.npy\n    limits: {time: {relative-to: a, " +
			"at-most: 1}}": "plans/p.yaml:3: time: values from a file have no time",
		head + "  - command: sum\n    limits: 5": `plans/p.yaml:4: limits: want keys with values, ` +
			`have "5"`,
		head + "  - command: sum\n    limits: {correct-bit: 5}": `plans/p.yaml:4: correct-bit: unknown limit ` +
			`"correct-bit" (did you mean correct-bits?)`,
		head + "  - command: sum\n    limits: {correct-bits: 1e6}": "plans/p.yaml:4: correct-bits: no " +
			"method has more than 65536 bits; want fewer, or exact, have 1e6",
		head + "  - values: a.npy\n    against: gemv:b.npy,c.npy\n    transpose: yes\n    limits: {ulp: 1}": "" +
			`plans/p.yaml:5: transpose: want true or false, have "yes"`,
		head + "  - values: a.npy\n    against: sum:b.npy\n    limits: {within-bound: false, within: kahan}": "" +
			"plans/p.yaml:3: limits: within-bound: false and within: kahan exclude each other",
		head + "  - command: sum\n    limits: {correct-bits: many}": `plans/p.yaml:4: correct-bits: want a number of ` +
			`bits or exact, have "many"`,
		head + "  - command: sum\n    limits: " +
			"{correct-bits: -5}": `want a number of bits or exact, have "-5"`,
		head + "  - command: sum\n    limits: " +
			"{correct-bits: .nan}": `want a number of bits or exact`,
		head + "  - command: sum\n    limits: " +
			"{ulp: [1]}": "plans/p.yaml:4: ulp: want one value, have a list",
		head + "  - command: sum\n    limits: {rel-error: -1}": `rel-error: want a number of at least 0, as 1e-30, have ` +
			`"-1"`,
		head + "  - command: sum\n    limits: " +
			"{bits-lost: x}": `bits-lost: want a number of at least 0, have "x"`,
		head + "  - command: sum\n    limits: " +
			"{within-bound: maybe}": `within-bound: want true or false, have "maybe"`,
		head + "  - command: sum\n    limits: {within: " +
			"float64}": "within: is for values; the methods of a command have " +
			"bounds of their own",
		head + "  - command: sum\n    limits: {result-hash: 12}": `result-hash: want 16 hexadecimal digits or baseline, ` +
			`have "12"`,
		head + "  - command: sum\n    limits: " +
			"{time: 5}": `time: want keys with values, have "5"`,
		head + "  - command: sum\n    limits: {time: " +
			"{at-most: 5}}": "relative-to: missing; want the method to compare " +
			"times with",
		head + "  - command: sum\n    limits: {time: " +
			"{relative-to: a}}": "time: want at-most: a ratio, or slower: a " +
			"percentage, as 15%",
		head + "  - command: sum\n    limits: {time: {relative-to: a, " +
			"at-most: 0}}": "at-most: want a ratio above 0",
		head + "  - command: sum\n    limits: {time: {relative-to: a, " +
			"slower: 15}}": `slower: want how much slower than in the baseline, as 15%, have "15"`,
		head + "  - command: sum\n    limits: {time: " +
			"{relativ-to: a}}": `unknown key "relativ-to" (did you mean relative-to?)`,
		strings.Repeat("#", maxPlanBytes+1): "has more than 1048576 bytes; want a plan",
		"a: &a [*a]":                        `a: unknown key "a"`,
	} {
		_, err := parse(text)
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.120q: %v\nwant %s", text, err, want)
		}
	}
}

// TestReadyPlan: the plan in the repository is one.
func TestReadyPlan(t *testing.T) {
	f, err := os.Open("../../checks/mpbench.yaml")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	plan, err := Parse(f, "../../checks/mpbench.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if b, err := ReadBaseline(plan.Baseline); err != nil || b == nil {
		t.Errorf("%s: %v, %v", plan.Baseline, b, err)
	}
}

// FuzzParse: no text makes it panic, and every error is one line that names the file.
func FuzzParse(f *testing.F) {
	text, err := os.ReadFile("../../checks/mpbench.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(text))
	f.Add("a: &a [*a]")
	f.Add(head + "  - &x {command: sum, limits: *x}")
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := parse(text); err != nil && (!strings.HasPrefix(err.Error(), "plans/p.yaml") ||
			strings.Contains(err.Error(), "\n")) {
			t.Errorf("%q", err)
		}
	})
}
