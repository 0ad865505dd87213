package plot

import (
	"math"
	"slices"
	"testing"

	"mpbench/pkg/record"
)

// frontRun has methods on two problems, of which some are faster and have more digits than others.
func frontRun() *record.Run {
	run := madeRun()
	for _, c := range []struct {
		method         string
		precision      int
		ns             float64
		relative, hard string
		bound, far     string
	}{
		{"float64", 53, 100, "2e-15", "3e2", "1e-11", "5e9"},
		{"kahan", 53, 400, "6e-17", "1e-1", "3e-16", "3e4"},
		{"neumaier", 53, 200, "6e-17", "4e-6", "1e-16", "1e3"},
		{"dd", 106, 300, "1e-32", "7e-9", "3e-30", "3e-5"},
		{"deferred", 240, 150, "0", "0", "1e-72", "1e-72"},
		{"bigfloat", 240, 5000, "0", "1e-48", "6e-68", "6e-43"},
	} {
		for name, errors := range map[string][2]string{"uniform01": {c.relative, c.bound}, "gensum": {c.hard, c.far}} {
			r := withTime(withError(made("sum", c.method, c.precision, name, 1000), "1", errors[0]), c.ns)
			r.Bound = errors[1]
			run.Records = append(run.Records, r)
		}
	}
	slices.SortStableFunc(run.Records, func(a, b record.Record) int {
		return len(b.Dataset.Name) - len(a.Dataset.Name)
	})
	return run
}

// TestFront: the front begins at the axis, leaves out what another method beats in time and digits, and ends with
// an exact result.
func TestFront(t *testing.T) {
	p := &panel{}
	for _, pt := range []xy{{1, 15}, {3, 16}, {2, 16}, {2.5, 30}, {4, math.Inf(1)}, {5, math.Inf(1)}, {1, 3}} {
		p.add(0, "", point{xy: pt})
	}
	want := []xy{{1, 0}, {1, 15}, {2, 15}, {2, 16}, {2.5, 16}, {2.5, 30}, {4, 30}, {4, math.Inf(1)}}
	if got := front(p); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestFrontIsChosen: it is the picture of methods on few problems; a scan has its own.
func TestFrontIsChosen(t *testing.T) {
	run := frontRun()
	if k := choose(pointers(run)); k == nil || k.Name != "front" {
		t.Errorf("%v is drawn of a comparison", k)
	}
	if k := choose(pointers(errorRun())); k == nil || k.Name != "error" {
		t.Errorf("%v is drawn of a scan without times", k)
	}
}

// mixedRun has two operations whose methods are not all the same.
func mixedRun() *record.Run {
	run := madeRun()
	for i, c := range []struct{ command, method, relative string }{
		{"sum", "float64", "2e-15"}, {"sum", "kahan", "6e-17"}, {"sum", "deferred", "0"},
		{"gemv", "float64", "4e-13"}, {"gemv", "rns-split", "3e-30"}, {"gemv", "deferred", "0"},
	} {
		r := withTime(withError(made(c.command, c.method, 53, "uniform11", 1000), "1", c.relative), float64(100+50*i))
		r.Bound = "1e-11"
		run.Records = append(run.Records, r)
	}
	return run
}

// TestLegends: each operation of a mixed file has a legend of its own, with its series alone, unless all are the same.
func TestLegends(t *testing.T) {
	c := drawFront(pointers(mixedRun()), Options{})
	var got []string
	for _, l := range c.legends {
		for _, i := range l.styles {
			got = append(got, l.title+" "+c.styles[i].label)
		}
	}
	want := []string{"sum float64", "sum kahan", "sum deferred", "gemv float64", "gemv deferred", "gemv rns-split"}
	if !slices.Equal(got, want) {
		t.Errorf("the legends are %q, want %q", got, want)
	}
	same := mixedRun()
	same.Records = slices.DeleteFunc(same.Records, func(r record.Record) bool {
		return r.Method == "kahan" || r.Method == "rns-split"
	})
	if c := drawFront(pointers(same), Options{}); c.legends != nil {
		t.Errorf("legends %v of the same series", c.legends)
	}
}
