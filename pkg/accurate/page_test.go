package accurate_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"

	"gonum.org/v1/gonum/mat"

	"mpbench/pkg/accurate"
	"mpbench/pkg/accurate/accuratetest"
)

// The programs of docs/library.md; TestPage compares them.

func Example_pageSum() {
	payments := []float64{1e16, 0.1, 0.2, 0.3, -1e16}
	sum := 0.0
	for _, p := range payments {
		sum += p
	}
	fmt.Println(sum, accurate.Sum(payments))
	// Output: 0 0.6
}

func Example_pageDot() {
	x, y := []float64{1e200, 0.1, -1e200}, []float64{1e200, 0.1, 1e200}
	fmt.Println(accurate.Dot(x, y))
	fmt.Println(accurate.DotPrec(x, y, 120).Text('g', 32))
	// Output:
	// 0.010000000000000002
	// 0.010000000000000001110223024625157
}

func Example_pageMatrix() {
	a := mat.NewDense(2, 3, []float64{
		1e16, 1, -1e16,
		1, 2, 3,
	})
	y := make([]float64, 2)
	accurate.MulVec(y, a, []float64{1, 1, 1}) // any mat.Matrix, a.T() too
	fmt.Println(y)

	columns := accurate.ColMajor(2, 2, []float64{3, 1, 1, 2}) // no gonum needed
	residual := []float64{1, 1}
	accurate.Gemv(-1, columns, []float64{0.2, 0.4}, 1, residual) // b - A*x
	fmt.Println(residual)
	// Output:
	// [1 6]
	// [-5.551115123125783e-17 -5.551115123125783e-17]
}

func Example_pageParts() {
	parts := [][]float64{{1e100, 1}, {2, -1e100}, {3}}
	stored := make([][]byte, len(parts))
	var all sync.WaitGroup
	for i, part := range parts {
		all.Go(func() { // or a process, or a machine
			var s accurate.Accumulator
			s.AddSlice(part)
			stored[i], _ = s.MarshalBinary()
		})
	}
	all.Wait()

	var total accurate.Accumulator
	for _, bytes := range stored { // in any order
		var s accurate.Accumulator
		if err := s.UnmarshalBinary(bytes); err != nil {
			panic(err)
		}
		total.Merge(&s)
	}
	fmt.Println(total.Float64(), "of", total.Terms(), "terms")
	// Output: 6 of 5 terms
}

func Example_pageTest() {
	x := []float64{1e16, 1, 1, -1e16}
	accuratetest.Sum(t, accurate.Sum(x), x, 50) // passes
	accuratetest.Sum(t, loop(x), x, 50)
	// Output:
	// sum of 4 numbers: 0 correct bits, want 50
	// 	got               0
	// 	nearest float64   2
	// 	exact             2.000000000000000000000000000000000000000e+00
	// 	condition number  1.0e+16
}

// printer is a test that prints.
type printer struct{}

var t printer

func (printer) Helper()                           {}
func (printer) Errorf(format string, args ...any) { fmt.Printf(format+"\n", args...) }

func loop(x []float64) (s float64) {
	for _, v := range x {
		s += v
	}
	return s
}

// TestPage: the Go code of docs/library.md, and what it prints, is that of the examples.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/library.md")
	if err != nil {
		t.Fatal(err)
	}
	programs := examples(t, "page_test.go")
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```(?:\n\n```text\n(.*?)```)?").FindAllStringSubmatch(string(page), -1)
	if len(blocks) < len(programs) {
		t.Errorf("%d programs in the page, %d examples", len(blocks), len(programs))
	}
	for _, b := range blocks {
		if output, ok := programs[b[1]]; !ok || output != b[2] {
			t.Errorf("no example is\n%s\nor prints\n%s, but %s", b[1], b[2], output)
		}
	}
}

// examples returns the bodies of the examples in a file, and what they print.
func examples(t *testing.T, file string) map[string]string {
	t.Helper()
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, file, source, 0)
	if err != nil {
		t.Fatal(err)
	}
	programs := map[string]string{}
	for _, d := range parsed.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || !strings.HasPrefix(f.Name.Name, "Example") {
			continue
		}
		body := string(source[set.Position(f.Body.Lbrace).Offset+2 : set.Position(f.Body.Rbrace).Offset])
		body, output, _ := strings.Cut(strings.ReplaceAll("\n"+body, "\n\t", "\n"), "// Output:")
		programs[body[1:]] = strings.TrimLeft(strings.ReplaceAll(output, "// ", ""), " \n")
	}
	return programs
}
