// Command figures fills the figures of a page from measured results: it executes a text/template with functions that
// look up Go benchmarks and records, and prints the page.
//
//	go run ./internal/figures results/h200/README.md.tmpl >results/h200/README.md
//	go run ./internal/figures -into README.md results/h200/headline.md.tmpl
//
// With -into, the text between the lines <!-- NAME --> and <!-- end of NAME --> of a page is replaced, NAME being the
// template's file name without its endings. Results are looked up in the template's folder.
//
// A figure that is not there is an error: a page never has an empty or an old one.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"
)

func main() {
	into := flag.String("into", "", "replace the text between the template's two marks in this `page`")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: figures [-into PAGE] TEMPLATE")
		os.Exit(2)
	}
	if err := run(flag.Arg(0), *into); err != nil {
		fmt.Fprintln(os.Stderr, "figures:", err)
		os.Exit(1)
	}
}

func run(path, into string) error {
	text, err := page(path)
	if err != nil {
		return err
	}
	if into == "" {
		_, err = os.Stdout.Write(text)
		return err
	}
	old, err := os.ReadFile(into)
	if err != nil {
		return err
	}
	name, _, _ := strings.Cut(filepath.Base(path), ".")
	changed, err := insert(old, name, text)
	if err != nil {
		return fmt.Errorf("%s: %w", into, err)
	}
	return os.WriteFile(into, changed, 0o644)
}

func page(path string) ([]byte, error) {
	r := &results{folder: filepath.Dir(path)}
	t, err := template.New(filepath.Base(path)).Option("missingkey=error").Funcs(r.functions()).ParseFiles(path)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = t.Execute(&out, nil)
	return out.Bytes(), err
}

// insert replaces what stands between the two marks.
func insert(page []byte, name string, text []byte) ([]byte, error) {
	begin, end := []byte("<!-- "+name+" -->\n"), []byte("<!-- end of "+name+" -->\n")
	before, rest, ok := bytes.Cut(page, begin)
	_, after, closed := bytes.Cut(rest, end)
	if !ok || !closed {
		return nil, fmt.Errorf("the lines <!-- %s --> and <!-- end of %s --> are not there", name, name)
	}
	return bytes.Join([][]byte{before, begin, text, end, after}, nil), nil
}
