package partial_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"mpbench/pkg/accurate"
	"mpbench/pkg/partial"
)

// The program of docs/scale.md; TestPage compares them.
func Example() {
	x := []float64{1e100, 1, 5, -1e100}

	p := partial.Problem{Operation: "sum", Components: 1, Terms: len(x), RowsAreTerms: true, Data: "prices of May"}
	part := func(from, to int) []byte {
		var sum accurate.Accumulator
		sum.AddSlice(x[from:to])
		s := partial.New(p)
		rows := partial.Block{Components: partial.Range{From: 0, To: 1}, Terms: partial.Range{From: from, To: to}}
		if err := s.Add(rows, &sum); err != nil {
			panic(err)
		}
		bytes, _ := s.MarshalBinary()
		return bytes
	}

	var all partial.State
	for _, bytes := range [][]byte{part(2, 4), part(0, 2)} { // in any order
		var s partial.State
		if err := s.UnmarshalBinary(bytes); err != nil {
			panic(err)
		}
		if err := all.Merge(&s); err != nil { // other data, or rows that are there already
			panic(err)
		}
	}
	y, err := all.Result() // an error while rows are missing
	fmt.Println(y, err)
	// Output: [6] <nil>
}

// TestPage: the programs in Go of docs/scale.md are those that are run here, with the same output.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/scale.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("page_test.go")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(string(source), "\n\t", "\n")
	programs := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	if len(programs) != 2 {
		t.Errorf("%d programs", len(programs))
	}
	for _, p := range programs {
		if !strings.Contains(text, p[1]) {
			t.Errorf("not run here: %s", p[1])
		}
	}
	if !strings.Contains(string(page), "```text\n[6] <nil>\n```") {
		t.Error("the page has another output")
	}
}
