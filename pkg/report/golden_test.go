package report

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mpbench/pkg/record"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs; %s", path, difference(got, want))
	}
}

// difference shows the first line that differs, and the whole text if it is short.
func difference(got, want []byte) string {
	if len(got) < 10_000 {
		return "got\n" + string(got)
	}
	a, b := strings.Split(string(got), "\n"), strings.Split(string(want), "\n")
	i := 0
	for i < len(a)-1 && i < len(b)-1 && a[i] == b[i] {
		i++
	}
	return fmt.Sprintf("line %d is\n%.300s\nwant\n%.300s", i+1, a[i], b[i])
}

func render(t *testing.T, f func(*bytes.Buffer) error) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := f(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestGolden renders one run in every format; what the files hold was looked at.
func TestGolden(t *testing.T) {
	for _, f := range Formats() {
		if f.Binary { // compressed, which may change with Go or a library; others test them
			continue
		}
		t.Run(f.Name, func(t *testing.T) {
			golden(t, f.Name, render(t, func(b *bytes.Buffer) error { return f.Render(b, testRun(), Options{}) }))
		})
	}
	for name, opts := range map[string]Options{
		"table-60":    {Width: 60},
		"table-120":   {Width: 120},
		"table-200":   {Width: 200},
		"table-color": {Width: 100, Color: true},
		"table-ascii": {Width: 100, ASCII: true},

		"table-verbose": {Verbose: true},
	} {
		t.Run(name, func(t *testing.T) {
			golden(t, name, render(t, func(b *bytes.Buffer) error { return Table(b, testRun(), opts) }))
		})
	}
	for name, run := range map[string]*record.Run{"special": specialRun(), "plain": plainRun()} {
		for _, f := range Formats()[:3] {
			t.Run(name+"-"+f.Name, func(t *testing.T) {
				golden(t, name+"-"+f.Name, render(t, func(b *bytes.Buffer) error { return f.Render(b, run, Options{}) }))
			})
		}
	}
}

// TestFormatsAfterReading: what a saved run renders to is what the run itself does.
func TestFormatsAfterReading(t *testing.T) {
	for _, run := range []*record.Run{testRun(), specialRun(), plainRun()} {
		for _, file := range []string{"jsonl", "json"} {
			format, err := FormatByName(file)
			if err != nil {
				t.Fatal(err)
			}
			saved := render(t, func(b *bytes.Buffer) error { return format.Render(b, run, Options{}) })
			read, err := record.ReadRecords(bytes.NewReader(saved))
			if err != nil {
				t.Fatal(err)
			}
			read.Warnings = run.Warnings // a file has its own
			for _, f := range Formats() {
				before := render(t, func(b *bytes.Buffer) error { return f.Render(b, run, Options{Width: 140}) })
				after := render(t, func(b *bytes.Buffer) error { return f.Render(b, read, Options{Width: 140}) })
				if !bytes.Equal(before, after) {
					t.Errorf("%s after %s:\n%s\nbefore:\n%s", f.Name, file, after, before)
				}
			}
		}
	}
}

// TestTableFits: no line of the table is wider than the terminal, and error, correct bits and time are in all.
func TestTableFits(t *testing.T) {
	for _, c := range []struct {
		run   *record.Run
		least int
	}{{testRun(), 50}, {plainRun(), 40}, {specialRun(), 50}} {
		run := c.run
		for width := c.least; width <= 220; width++ {
			text := render(t, func(b *bytes.Buffer) error { return Table(b, run, Options{Width: width}) })
			for _, head := range []string{"error", "corr.", "time"} {
				if !strings.Contains(string(text), head) {
					t.Errorf("width %d: no %s", width, head)
				}
			}
			for line := range strings.Lines(string(text)) {
				line = strings.TrimSuffix(line, "\n")
				if textWidth(line) > width {
					t.Errorf("width %d: %d columns: %s", width, textWidth(line), line)
				}
				if strings.TrimRight(line, " ") != line {
					t.Errorf("width %d: spaces at the end: %q", width, line)
				}
			}
		}
	}
}

// TestColorIsOnlyColor: colours add nothing but colour, and nothing is coloured without being asked for.
func TestColorIsOnlyColor(t *testing.T) {
	plain := render(t, func(b *bytes.Buffer) error { return Table(b, testRun(), Options{Width: 100}) })
	coloured := render(t, func(b *bytes.Buffer) error { return Table(b, testRun(), Options{Width: 100, Color: true}) })
	if bytes.ContainsRune(plain, '\x1b') {
		t.Error("colours without being asked for")
	}
	text := string(coloured)
	for _, code := range []string{green, yellow, red, reset} {
		if !strings.Contains(text, code) {
			t.Errorf("no %q", code)
		}
		text = strings.ReplaceAll(text, code, "")
	}
	// Spaces before a colour sequence at the end of a line cannot be trimmed.
	for line := range strings.Lines(text) {
		if !strings.Contains(string(plain), strings.TrimRight(line, " \n")) {
			t.Errorf("not in the plain table: %q", line)
		}
	}
}

// TestASCII: with the option, nothing else is written.
func TestASCII(t *testing.T) {
	for _, f := range Formats()[:2] {
		text := render(t, func(b *bytes.Buffer) error { return f.Render(b, testRun(), Options{ASCII: true, Width: 200}) })
		for _, c := range string(text) {
			if c > '~' {
				t.Errorf("%s: %q", f.Name, c)
			}
		}
	}
}

func TestNoResults(t *testing.T) {
	for _, f := range Formats() {
		text := render(t, func(b *bytes.Buffer) error { return f.Render(b, &record.Run{}, Options{}) })
		if strings.Contains(string(text), "NaN") {
			t.Errorf("%s: %s", f.Name, text)
		}
	}
}
