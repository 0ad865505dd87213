package plot

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"mpbench/pkg/record"
)

// TestResiduals: a long history is drawn by few points, from the first to the last; what diverges is in a band.
func TestResiduals(t *testing.T) {
	run := &record.Run{}
	for _, n := range []int{1, 90, 10_000} {
		solve := &record.Solve{Algorithm: "bicgstab", Precondition: "none"}
		for i := range n {
			solve.History = append(solve.History, math.Pow(10, float64(i)/float64(n)*12))
		}
		run.Records = append(run.Records, record.Record{Command: "solve", Method: "dd", Solve: solve,
			Dataset: record.Dataset{Name: "a"}, Shape: record.Shape{M: 5, N: 5}, PrecisionBits: n})
	}
	c := drawResiduals(pointers(run), Options{})
	if c == nil || len(c.panels) != 1 {
		t.Fatalf("%+v", c)
	}
	for i, s := range c.panels[0].series {
		points := s.lines[0].points
		n := len(run.Records[i].Solve.History)
		if got := math.Pow(10, points[len(points)-1].x); math.Abs(got-float64(n)) > 1e-6*float64(n) || points[0].x != 0 {
			t.Errorf("%d iterations: from %v to %v", n, points[0].x, got)
		}
		if len(points) > 2*mostResiduals || n < mostResiduals/8 && len(points) != n {
			t.Errorf("%d iterations: %d points", n, len(points))
		}
		if n > 1 && !math.IsInf(points[len(points)-1].y, 1) {
			t.Errorf("%d iterations end at %v", n, points[len(points)-1].y)
		}
	}
	figure, err := New(run, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := figure.WriteSVG(&b); err != nil || !strings.Contains(b.String(), "Residuals against iterations") {
		t.Errorf("%v: %.100s", err, b.String())
	}
	if c := drawResiduals([]*record.Record{{Command: "sum"}}, Options{}); c != nil {
		t.Error("a sum has residuals")
	}
}
