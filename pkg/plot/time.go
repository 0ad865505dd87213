package plot

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"mpbench/pkg/record"
)

// timeAxis is a logarithmic axis of nanoseconds.
func timeAxis() axis {
	return axis{label: "time (median and its interval)", log: true, text: timeText, empty: [2]float64{0, 3}}
}

// emulated is the device of kernels that ran on a processor: what they take tells nothing of a GPU.
const emulated = "emulated"

// hasTime tells whether a record has a time that may be shown.
func hasTime(r *record.Record) bool {
	return r.Time.Median > 0 && !strings.Contains(r.Device, emulated)
}

// timePoint is the median of a record with its interval at x; false for a record without a time.
func timePoint(x float64, r *record.Record) (point, bool) {
	if !hasTime(r) {
		return point{}, false
	}
	p := point{xy: xy{x, math.Log10(r.Time.Median)}}
	p.lo, p.hi = p.y, p.y
	if r.Time.Lo > 0 && r.Time.Hi >= r.Time.Lo {
		p.lo, p.hi = math.Log10(r.Time.Lo), math.Log10(r.Time.Hi)
	}
	return p, true
}

// drawTimeN draws times against the number of terms, or of columns, on logarithmic axes.
func drawTimeN(records []*record.Record, _ Options) *chart {
	ticks := logTicks(records, func(r *record.Record) int { return r.Shape.N })
	c := &chart{
		title: "Time against the number of terms", y: timeAxis(),
		x: axis{label: "n", log: true, text: countText, ticks: ticks},
	}
	return c.gather(records, source{
		panel: func(r *record.Record) string { return title(r, false) },
		point: func(r *record.Record) (point, bool) {
			if r.Shape.N <= 0 {
				return point{}, false
			}
			return timePoint(math.Log10(float64(r.Shape.N)), r)
		},
	})
}

// logTicks are ticks at the logarithms of the positive numbers of the records where these are few, nil otherwise.
func logTicks(records []*record.Record, of func(*record.Record) int) []float64 {
	var list []float64
	for _, r := range records {
		if x := math.Log10(float64(of(r))); of(r) > 0 && !slices.Contains(list, x) {
			list = append(list, x)
		}
	}
	if len(list) > 12 {
		return nil
	}
	slices.Sort(list)
	return list
}

func severalSizes(records []*record.Record) bool {
	return several(filter(records, hasTime), func(r *record.Record) (key, value string) {
		return r.Command + r.Method + title(r, false), fmt.Sprint(r.Shape.N)
	})
}

// drawTimePrecision draws times against precisions, a panel for each problem, with the memory floor for a bandwidth.
func drawTimePrecision(records []*record.Record, o Options) *chart {
	c := &chart{title: "Time against precision", x: precisionAxis(records), y: timeAxis()}
	c = c.gather(records, source{panel: dataTitle, hidden: []string{"precision"}, point: precisionPoint})
	if c != nil && o.Bandwidth > 0 {
		c.addFloor(records, o.Bandwidth)
	}
	return c
}

func precisionPoint(r *record.Record) (point, bool) {
	if r.PrecisionBits <= 0 {
		return point{}, false
	}
	return timePoint(math.Log10(float64(r.PrecisionBits)), r)
}

// addFloor draws the memory floor into each panel: at each precision the least bytes that one of its records has to
// move, divided by the bandwidth in bytes per second. A method can be faster only where its data stay in a cache.
func (c *chart) addFloor(records []*record.Record, bandwidth float64) {
	found := false
	for i := range c.panels {
		least := map[float64]float64{} // precision -> bytes
		for _, r := range records {
			if p, ok := precisionPoint(r); ok && r.Throughput.Bytes > 0 && dataTitle(r) == c.panels[i].title {
				if b, seen := least[p.x]; !seen || float64(r.Throughput.Bytes) < b {
					least[p.x] = float64(r.Throughput.Bytes)
				}
			}
		}
		var path []xy
		for x, bytes := range least {
			path = append(path, xy{x, math.Log10(bytes / bandwidth * 1e9)})
		}
		slices.SortFunc(path, func(a, b xy) int { return int(math.Copysign(1, a.x-b.x)) })
		c.panels[i].guides = [][]xy{path}
		found = found || len(path) > 0
	}
	if found {
		c.guides = []string{fmt.Sprintf("memory floor, %.4g GB/s", bandwidth/1e9)}
		c.notes = append(c.notes, "memory floor: at each precision the least bytes that a method reads and writes / "+
			"bandwidth")
	}
}

func severalTimedPrecisions(records []*record.Record) bool {
	return several(filter(records, hasTime), precisionOf)
}

// Figures 6 and 7 of K. Isupov, V. Knyazkov, A. Kuvaev, "Summation of the multiple accuracy on central and graphic
// processors using the MPRES library" (2018), DOI 10.23683/2311-3103-2018-8-191-203: the time to sum 10^6 numbers,
// uniform in [0, 1), against the precision. Here any sums will do; each data set has its panel.
