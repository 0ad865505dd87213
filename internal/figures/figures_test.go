package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The committed pages are what the committed results give.
func TestPages(t *testing.T) {
	for _, folder := range []string{"h200", "h200/gemm", "h200/primer", "h200/several"} {
		folder = "../../results/" + folder
		want, err := page(folder + "/README.md.tmpl")
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(folder + "/README.md")
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s/README.md is not what its template gives: run scripts/results-h200", folder)
		}
	}

	headline, err := page("../../results/h200/headline.md.tmpl")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	changed, err := insert(readme, "headline", headline)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(readme, changed) {
		t.Error("the headline of README.md is not what its template gives: run scripts/results-h200")
	}
}

const benchmarks = `BenchmarkGemv/p=106-16 	1	22.5 greatest-µs	17.25 least-µs	20.00 µs
BenchmarkCopy-2 	1	0.5 ns/op
BenchmarkCopy-2 	1	1.5 ns/op
BenchmarkCopy-2 	1	4 ns/op
`

const records = `{"schema":"mpbench/1","command":"sum","method":"a","format":"f","device":"cpu",` +
	`"dataset":{"name":"d","n":10},"shape":{"n":10},"precision_bits":53,"time_ns":{"median":1500},` +
	`"phases_ns":{"one":30,"two":10,"convert":1},` +
	`"kernels":[{"phase":"one","time_ns":10,"bytes":5},{"phase":"one","time_ns":20,"bytes":7},` +
	`{"phase":"two","time_ns":10}]}
{"schema":"mpbench/1","command":"sum","method":"a","format":"f","device":"cuda:0",` +
	`"dataset":{"name":"d","n":10},"shape":{"n":10},"precision_bits":53,"blocks":32,"time_ns":{"median":2000000}}
`

const summary = `tests a                 stopped after 5 s        6 s
tests a/b               passed                   1 s
`

// render executes text as a template of a folder with the results above.
func render(t *testing.T, text string) (string, error) {
	t.Helper()
	folder := t.TempDir()
	for name, content := range map[string]string{"x.bench": benchmarks, "x.jsonl": records, "x.txt": "launch 3.5 us",
		"summary.txt": summary, "page.md.tmpl": text} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	out, err := page(filepath.Join(folder, "page.md.tmpl"))
	return string(out), err
}

func TestFunctions(t *testing.T) {
	for text, want := range map[string]string{
		`{{bench "x.bench" "Gemv/p=106" "µs"}}`:                                    "20",
		`{{bench "x.bench" "Copy" "ns/op"}}`:                                       "1.5",
		`{{with bench3 "x.bench" "Gemv/p=106"}}{{.least}}{{end}}`:                  "17.25",
		`{{find "Gemv/p=106" "greatest-µs"}} {{find "Other" "µs"}}`:                "22.5 <no value>",
		`{{num (time "x.jsonl" "method=a device=cpu n=10 bits=53")}}`:              "1500",
		`{{dur (time "x.jsonl" "method=a blocks=32")}}`:                            "2.00 ms",
		`{{num (phase "x.jsonl" "device=cpu" "two")}}`:                             "10.0",
		`{{num (share "x.jsonl" "device=cpu" "one")}}`:                             "75.0",
		`{{with kernel "x.jsonl" "device=cpu" "one"}}{{.Bytes}}{{end}}`:            "7",
		"{{match `x.txt` `launch ([0-9.]+) us`}}":                                  "3.5",
		`{{outcome "summary.txt" "tests a"}}, {{outcome "summary.txt" "tests b"}}`: "stopped after 5 s, not run",
		`{{exists "x.txt"}} {{exists "y.txt"}}`:                                    "true false",
		`{{text "x.txt"}}`:                                                         "launch 3.5 us",
		`{{verdict 2 2}} {{verdict 2.1 2}} {{atLeast 2 2.1}}`:                      "met **missed** **missed**",
		`{{add 1 2.5}} {{mul 2 3}} {{div 1 4}} {{index (list 7 8) 1}}`:             "3.5 6 0.25 8",
		`{{num 0.0012345}} {{num 12.345}} {{num 123456}} {{num 0}}`:                "0.00123 12.3 123456 0",
		`{{dur 12}} {{dur 1234}} {{dur 5e9}}`:                                      "12.0 ns 1.23 µs 5.00 s",
	} {
		got, err := render(t, text)
		if err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", text, got, err, want)
		}
	}
}

// A figure that is not there is an error that names it.
func TestMissing(t *testing.T) {
	for text, want := range map[string]string{
		`{{bench "x.bench" "Gemv" "µs"}}`:             "x.bench has no benchmark Gemv with µs",
		`{{bench "y.bench" "Gemv" "µs"}}`:             "y.bench",
		`{{time "x.jsonl" "method=a"}}`:               "has 2 records of method=a",
		`{{time "x.jsonl" "method=b"}}`:               "has 0 records of method=b",
		`{{time "x.jsonl" "color=b"}}`:                `filter "color=b"`,
		`{{phase "x.jsonl" "device=cpu" "three"}}`:    "no phase three",
		`{{kernel "x.jsonl" "device=cpu" "three"}}`:   "no kernel of the phase three",
		"{{match `x.txt` `land ([0-9.]+)`}}":          "x.txt has no",
		`{{num "1"}}`:                                 "1 is no number",
		`{{bench3 "x.bench" "Copy"}}`:                 "Copy with",
		`{{share "x.jsonl" "device=cuda:0" "three"}}`: "no phase three",
	} {
		if got, err := render(t, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %q, %v; want an error with %q", text, got, err, want)
		}
	}
}

func TestInsert(t *testing.T) {
	got, err := insert([]byte("a\n<!-- x -->\nold\n<!-- end of x -->\nb\n"), "x", []byte("new\n"))
	if want := "a\n<!-- x -->\nnew\n<!-- end of x -->\nb\n"; err != nil || string(got) != want {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
	if _, err := insert([]byte("a\n<!-- x -->\n"), "x", nil); err == nil {
		t.Error("a page without marks is no error")
	}
}
