package plot

import (
	"slices"
	"testing"

	"mpbench/pkg/record"
)

// TestSparseRates: matrices stand in the order of the first method's rates, those it lacks at the end; solvers'
// products count as often as there are some, and records of other operations or of the emulator not at all.
func TestSparseRates(t *testing.T) {
	one := func(matrix, method, device string, nnz int, ns float64) *record.Record {
		return &record.Record{Command: "spmv", Method: method, Device: device, Dataset: record.Dataset{Name: matrix},
			Shape: record.Shape{NNZ: nnz}, Time: record.Timing{Median: ns, Lo: ns, Hi: ns}}
	}
	solved := one("c", "float64", "cpu", 100, 9999)
	solved.Solve, solved.Phases = &record.Solve{Products: 6}, record.Phases{"spmv": 100}
	list := []*record.Record{
		one("a", "float64", "cpu", 100, 50), one("b", "float64", "cpu", 100, 100), solved,
		one("b", "dd", "cpu", 100, 300), one("d", "dd", "cpu", 100, 400), one("e", "dd", "emulated", 100, 1),
		one("f", "float64", "cpu", 0, 10),
	}
	if got := sortedMatrices(list); !slices.Equal(got, []string{"b", "a", "c", "d"}) {
		t.Errorf("the order is %v", got)
	}
	if r := solved.SparseFlops(); r != 12e9 {
		t.Errorf("the solver's products make %g operations a second", r)
	}
	c := drawSparseRates(list, Options{})
	if c == nil || len(c.panels) != 1 || len(c.panels[0].series) != 2 {
		t.Fatalf("%+v", c)
	}
	p := c.panels[0].series[0].lines[0].points
	if len(p) != 3 || p[0].x != 1 || p[0].y != 0.3010299956639812 || p[2].x != 3 {
		t.Errorf("float64 is at %v", p)
	}
	if severalMatrices(list[:1]) || !severalMatrices(list) {
		t.Error("several matrices")
	}
}
