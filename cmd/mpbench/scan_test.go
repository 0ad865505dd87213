package main

import (
	"slices"
	"strings"
	"testing"

	"mpbench/pkg/op"
)

func TestParseScan(t *testing.T) {
	for text, want := range map[string]string{
		"n=1000":                 "1000",
		"n=1,2,3":                "1 2 3",
		"n=2^10..2^20:x4":        "1024 4096 16384 65536 262144 1048576",
		"n=2^3..2^6":             "8 16 32 64",
		"n=1..1000":              "1 10 100 1000",
		"n=10..30:+10":           "10 20 30",
		"n=10..35:+10,7":         "10 20 30 7",
		"cond=1e0..1e60:x1e20":   "1 1e+20 1e+40 1e+60",
		"noise=0.5..2:x2":        "0.5 1 2",
		"noise=-1..1:+1":         "-1 0 1",
		"n=5..5":                 "5",
		"method=reduce1,reduce2": "reduce1 reduce2",
	} {
		s, err := parseScan(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if got := strings.Join(s.values, " "); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestParseScanErrors(t *testing.T) {
	for text, want := range map[string]string{
		"n":                  "want name=values",
		"=5":                 "want name=values",
		"n=":                 "want name=values",
		"n=5..1":             "a range goes upwards",
		"n=a..b":             "want numbers",
		"n=1..10:4":          "step \"4\"",
		"n=1..10:x1":         "step \"x1\"",
		"n=1..10:+0":         "step \"+0\"",
		"n=0..10:x2":         "from a positive number",
		"n=1..1e9:+1":        "more than 10000 values",
		"n=1e999999..1e9999": "want numbers",
	} {
		if _, err := parseScan(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

func FuzzParseScan(f *testing.F) {
	f.Add("n=2^10..2^20:x4")
	f.Add("cond=1e0..1e60:x1e20,5")
	f.Add("a=b,c")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := parseScan(text)
		if err == nil && (s.name == "" || len(s.values) == 0 || len(s.values) > maxScanValues) {
			t.Errorf("%q gives %v", text, s)
		}
	})
}

// TestPlan: cases are complete, without repetition, and grouped by their terms.
func TestPlan(t *testing.T) {
	o := newOperationOptions(op.Sum)
	o.dataset, o.method, o.precision = "gensum,uniform01", "float64,reduce1", "60,120"
	jobs, err := o.plan([]scan{{"cond", []string{"1e10", "1e20"}}, {"n", []string{"100", "200"}}})
	if err != nil {
		t.Fatal(err)
	}
	var labels []string
	for _, j := range jobs {
		labels = append(labels, j.label)
	}
	if len(labels) != (4+2)*3 {
		t.Errorf("%d cases: %v", len(labels), labels)
	}
	for _, want := range []string{"gensum:n=100,cond=1e+10 float64", "uniform01:n=200 reduce1 120 bits"} {
		if !slices.Contains(labels, want) {
			t.Errorf("no case %q among %q", want, labels)
		}
	}
	seen := map[string]int{}
	for i, j := range jobs {
		if last, ok := seen[j.source.key]; ok && last != i-1 {
			t.Errorf("the terms of %s are made twice", j.source.key)
		}
		seen[j.source.key] = i
	}
}
