package report

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"mpbench/pkg/plot"
	"mpbench/pkg/record"
)

// evil ends every context that a text of a record could stand in.
const evil = `</title></style></script><script>window.hacked=1</script>` +
	`<img src=x onerror="window.hacked=1">"'>{{.}}&lt;` + "\x00\x1b\u2028"

// hostileRun has markup in every text that a record file can hold.
func hostileRun() *record.Run {
	run := testRun()
	for i := range run.Records {
		r := &run.Records[i]
		r.Command, r.Method, r.Format, r.Device = "sum"+evil, r.Method+evil, evil, evil
		r.Dataset.Name, r.Dataset.SHA256 = r.Dataset.Name+evil, evil
		r.Dataset.Params = map[string]string{evil: evil}
		r.Rounding, r.Alignment, r.Reference, r.ResultHash = evil, evil, evil, evil
		r.Shape.Trans = evil
		r.Phases = record.Phases{evil: 5, record.PhaseKernel: 9, record.PhaseConvert: 3}
		r.Warnings = append(r.Warnings, record.Warning{Code: evil, Text: evil, Advice: evil})
	}
	env := &run.Environments[0]
	env.CPU.Brand, env.CPU.SIMD, env.OS, env.Kernel, env.Governor = evil, evil, evil, evil, evil
	env.Go = record.GoBuild{Version: evil, OS: evil, Arch: evil, Level: evil, Tags: evil, Debug: evil}
	env.Program = record.Program{Version: evil, Commit: evil}
	env.GPUs = []record.GPU{{Device: evil, Name: evil, Driver: evil, Compute: evil}}
	run.Warnings = []record.Warning{{Code: evil, Text: evil, Advice: evil}}
	return run
}

func htmlOf(t *testing.T, run *record.Run, opts Options) string {
	t.Helper()
	return string(render(t, func(b *bytes.Buffer) error { return HTML(b, run, opts) }))
}

// TestHTMLEscapes: no text of a record becomes markup. The browser's test checks that none runs.
func TestHTMLEscapes(t *testing.T) {
	text := htmlOf(t, hostileRun(), Options{Plot: plot.Options{Title: evil}})
	if strings.Count(text, "<script") != 1 || strings.Count(text, "</script") != 1 ||
		strings.Count(text, "</style") != 1 || strings.Contains(text, "<img") {
		t.Error("a text of a record is markup")
	}
}

// TestHTMLIsSelfContained: the page fetches nothing, and its policy would not let it.
func TestHTMLIsSelfContained(t *testing.T) {
	text := htmlOf(t, testRun(), Options{})
	outside := regexp.MustCompile(`(?i)(src|href|action)\s*=|url\(|@import|fetch\(|XMLHttpRequest`)
	if found := outside.FindString(text); found != "" {
		t.Errorf("the page holds %q", found)
	}
	for _, link := range regexp.MustCompile(`https?://[^"' <]*`).FindAllString(text, -1) {
		if link != "http://www.w3.org/2000/svg" { // the name of SVG, not an address
			t.Errorf("the page names %s", link)
		}
	}
	if !strings.Contains(text, "default-src &#39;none&#39;") {
		t.Error("no policy")
	}
}

// TestHTMLNotesFailures: a result outside its bound is marked in the summary and in its row.
func TestHTMLNotesFailures(t *testing.T) {
	text := htmlOf(t, testRun(), Options{})
	for _, want := range []string{
		`<p class="summary failed">9 results of 6 methods on 2 problems: 1 outside the proved error bound.</p>`,
		`<tr class="failed">`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s", want)
		}
	}
	if text = htmlOf(t, plainRun(), Options{}); strings.Contains(text, `class="failed"`) || !strings.Contains(text,
		"all within their proved error bounds") {
		t.Error("a good run is said to have failed")
	}
}

// TestHTMLKind: a kind that is asked for is the only picture; one that cannot be drawn is an error.
func TestHTMLKind(t *testing.T) {
	text := htmlOf(t, testRun(), Options{Plot: plot.Options{Kind: "phases"}})
	if strings.Count(text, "<figure>") != 1 {
		t.Errorf("%d pictures", strings.Count(text, "<figure>"))
	}
	if err := HTML(&bytes.Buffer{}, specialRun(), Options{Plot: plot.Options{Kind: "mpres2018-fig6"}}); err == nil {
		t.Error("no error")
	}
}

// TestWrongDigits: the digits of a value that are wrong are marked, and its text is whole.
func TestWrongDigits(t *testing.T) {
	bits := 20.0 // six digits
	r := record.Record{Value: "1.234567890123e-05", RelError: "1e-6", CorrectBits: &bits}
	c := pageCell{Text: r.Value}
	if c.markWrong(&r); c.Text != "1.23456" || c.Wrong != "7890123" || c.Rest != "e-05" {
		t.Errorf("%+v", c)
	}
	r = record.Record{Value: "1.5", ExactResult: true}
	c = pageCell{Text: r.Value}
	if c.markWrong(&r); c.Text != "1.5" || c.Wrong != "" {
		t.Errorf("%+v", c)
	}
	if text := htmlOf(t, testRun(), Options{}); !strings.Contains(text, `<span class="wrong" title="wrong digits">`) {
		t.Error("no digit is marked")
	}
}

// TestBreakable: parameters may stand in lines of their own, and what is text stays text.
func TestBreakable(t *testing.T) {
	for text, want := range map[string]string{
		"gensum:cond=1e+20,seed=1, n = 5": "gensum:<wbr>cond=1e+20,<wbr>seed=1, n = 5", "<a>": "&lt;a&gt;",
	} {
		if got := string(breakable(text)); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
