package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"mpbench/pkg/compare"
)

// testComparison compares testRun with a run of which some rows are slower, worse, different, or missing.
func testComparison(t *testing.T) *compare.Result {
	t.Helper()
	old, now := testRun(), testRun()
	for i := range now.Records[1].Time.Samples {
		now.Records[1].Time.Samples[i] *= 1.3
	}
	now.Records[5].Time.Samples = []float64{90000, 91000, 92000, 93000, 94000, 95000}
	bits, outside := 45.4, false
	now.Records[2].CorrectBits, now.Records[2].ResultHash = &bits, "ffffffffffffffff"
	now.Records[4].ResultHash = "ffffffffffffffff"
	now.Records[7].WithinBound = &outside
	now.Records = slices.Delete(now.Records, 6, 7)
	now.Records[0].Method, now.Records[0].Time.Samples = "sumk:3|x", nil
	now.Environments[0].Program.Commit, now.Environments[0].Kernel = "fedcba", "Linux 6.2.0"
	result, err := compare.Compare(old, now, 0)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func withRules(t *testing.T, result *compare.Result) *compare.Result {
	t.Helper()
	var rules []compare.Rule
	for _, text := range []string{"time>5%", "bits<-1", "hash", "bound", "missing"} {
		r, err := compare.ParseRule(text)
		if err != nil {
			t.Fatal(err)
		}
		rules = append(rules, r)
	}
	result.Apply(rules)
	return result
}

func TestCompareGolden(t *testing.T) {
	for _, f := range CompareFormats() {
		t.Run(f.Name, func(t *testing.T) {
			golden(t, "compare-"+f.Name, render(t, func(b *bytes.Buffer) error {
				return f.Render(b,
					withRules(t, testComparison(t)), Options{})
			}))
		})
	}
	for name, opts := range map[string]Options{
		"compare-60":    {Width: 60},
		"compare-color": {Width: 100, Color: true},
	} {
		t.Run(name, func(t *testing.T) {
			golden(t, name, render(t, func(b *bytes.Buffer) error {
				return CompareTable(b, withRules(t, testComparison(t)),
					opts)
			}))
		})
	}
	t.Run("no rules", func(t *testing.T) {
		golden(t, "compare-plain", render(t, func(b *bytes.Buffer) error {
			return CompareTable(b, testComparison(t), Options{ASCII: true, Width: 100})
		}))
	})
}

// TestCompareFits: no line is wider than the terminal.
func TestCompareFits(t *testing.T) {
	for _, width := range []int{60, 72, 80, 120} {
		text := render(t, func(b *bytes.Buffer) error {
			return CompareTable(b, withRules(t, testComparison(t)), Options{Width: width})
		})
		for line := range strings.Lines(string(text)) {
			if line = strings.TrimSuffix(line, "\n"); textWidth(line) > width {
				t.Errorf("width %d: %d columns: %s", width, textWidth(line), line)
			}
		}
	}
}

// TestCompareReads: other programs can read CSV and JSON.
func TestCompareReads(t *testing.T) {
	result := withRules(t, testComparison(t))
	lines, err := csv.NewReader(bytes.NewReader(render(t, func(b *bytes.Buffer) error {
		return CompareCSV(b, result,
			Options{})
	}))).ReadAll()
	if err != nil || len(lines) != len(result.Rows)+1 {
		t.Errorf("%d lines, %v", len(lines), err)
	}
	var doc struct {
		Schema   string
		Rows     []map[string]any
		Failures []compare.Failure
	}
	text := render(t, func(b *bytes.Buffer) error { return CompareJSON(b, result, Options{}) })
	if err := json.Unmarshal(text, &doc); err != nil || doc.Schema != compare.Schema ||
		len(doc.Rows) != len(result.Rows) || len(doc.Failures) != len(result.Failures) {
		t.Errorf("%+v, %v", doc, err)
	}
}
