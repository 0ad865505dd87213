package main

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"mpbench/pkg/plan"
	"mpbench/pkg/record"
	"mpbench/pkg/report"
)

// write prints the stages, the whole, and what would help most.
func (o *planOptions) write(out io.Writer, p plan.Prediction) error {
	size := countText(o.columns)
	if o.rows > 0 {
		size = countText(o.rows) + " x " + size
	}
	who := record.Count(o.threads, "thread")
	if o.gpus > 0 {
		who = record.Count(o.gpus, "GPU")
	}
	fmt.Fprintf(out, "%s of %s numbers from %s: %s of %s on %s\n\n", o.opName, size, o.from,
		record.Count(o.ranks, "rank"), who, record.Count(o.hosts, "host"))
	var rows [][]string
	for _, s := range p.Stages {
		bytes := "-"
		if s.Bytes > 0 {
			bytes = record.Bytes(int64(s.Bytes))
		}
		rows = append(rows, []string{s.Name, bytes, s.Ceiling, string(s.From), spanText(s.Seconds),
			fmt.Sprintf("%.0f %%", 100*s.Seconds/p.Seconds)})
	}
	err := report.List(out, []string{"stage", "bytes", "ceiling", "which is", "time", "share"}, rows, columns(out))
	fmt.Fprintf(out, "\ntotal %s, bound by %s\n", spanText(p.Seconds), p.Bound)
	for i, c := range p.Changes[:min(3, len(p.Changes))] {
		format := "then %s: %s\n"
		if i == 0 {
			format = "what would help most is %s: %s\n"
		}
		fmt.Fprintf(out, format, c.What, spanText(c.Seconds))
	}
	fmt.Fprintf(out, "on twice as many hosts: %s\n", spanText(p.Doubled))
	return err
}

// countText writes a number with at most four digits: "1e13", "6000".
func countText(n int) string {
	return strings.NewReplacer("e+0", "e", "e+", "e").Replace(strconv.FormatFloat(float64(n), 'g', 4, 64))
}

// spanText writes seconds with three digits, in the unit that people use.
func spanText(seconds float64) string {
	for _, u := range []struct {
		above, unit float64
		name        string
	}{
		{3 * 86400, 86400, "days"}, {2 * 3600, 3600, "h"}, {120, 60, "min"}, {1, 1, "s"}, {1e-3, 1e-3, "ms"},
		{0, 1e-6, "µs"},
	} {
		if seconds >= u.above {
			return fmt.Sprintf("%.3g %s", seconds/u.unit, u.name)
		}
	}
	return "" // of no time
}

// compared prints what the work took, and returns an error where the prediction is more than 25 % off.
func compared(out io.Writer, predicted, took float64) error {
	const within = 0.25
	ratio := predicted / took
	fmt.Fprintf(out, "\nit took %s here: the prediction is %.2f of that\n", spanText(took), ratio)
	if math.Abs(ratio-1) > within {
		return failedf("the prediction is %.0f %% off", 100*math.Abs(ratio-1))
	}
	return nil
}
