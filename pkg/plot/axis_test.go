package plot

import (
	"math"
	"testing"
)

func log10(x float64) float64 { return math.Log10(x) }

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-12*max(1, math.Abs(a)) }

func TestTexts(t *testing.T) {
	for _, c := range []struct {
		text func(float64) string
		v    float64
		want string
	}{
		{powerText, 0, "1"}, {powerText, -16, "1e-16"}, {powerText, 5 + log10(2), "2e5"}, {powerText, -5000, "1e-5000"},
		{powerText, log10(0.5), "5e-1"},
		{timeText, 0, "1 ns"}, {timeText, 2, "100 ns"}, {timeText, 3 + log10(5), "5 µs"}, {timeText, 8, "100 ms"},
		{timeText, 10, "10 s"},
		{timeText, 15, "1e6 s"}, {timeText, -1, "100 ps"}, {timeText, -5, "1e-14 s"},
		{countText, 0, "1"}, {countText, log10(4096), "4096"}, {countText, log10(1 << 20), "2^20"}, {countText, 6, "1e6"},
		{countText, log10(2e5), "2e5"},
		{countText, log10(123456), "1.23e+05"}, {countText, log10(1696), "1696"},
		{plainText, 200, "200"},
	} {
		if got := c.text(c.v); got != c.want {
			t.Errorf("%v: %q, want %q", c.v, got, c.want)
		}
	}
}

func TestNiceStep(t *testing.T) {
	for x, want := range map[float64]float64{1: 1, 1.1: 2, 2: 2, 4.9: 5, 5.1: 10, 0.03: 0.05, 700: 1000} {
		if got := niceStep(x); !near(got, want) {
			t.Errorf("%v: %v, want %v", x, got, want)
		}
	}
}

// TestMarks: labels of an axis never overlap, there are at least two, and all are on it, whatever its range.
func TestMarks(t *testing.T) {
	width := func(s string) float64 { return 5.5 * float64(len(s)) }
	for _, a := range []axis{{log: true, text: powerText}, {log: true, text: timeText}, {text: plainText}} {
		for _, lo := range []float64{-5000, -300, -16, 0, 0.3, 7.77} {
			for _, span := range []float64{0, 1e-9, 0.1, 0.7, 1, 2.5, 6, 40, 300, 9000} {
				for _, length := range []float64{90, 250, 600} {
					a.fit([]float64{lo, lo + span})
					scale := length / (a.max() - a.min())
					labels, end := 0, math.Inf(-1)
					for _, m := range a.marks(length, width) {
						if m.Value < a.min() || m.Value > a.max() {
							t.Fatalf("[%v, %v]: a tick at %v", a.lo, a.hi, m.Value)
						}
						if m.Label == "" {
							continue
						}
						labels++
						if from := m.Value*scale - width(m.Label)/2; from < end {
							t.Errorf("[%v, %v] of %v points: %q overlaps the label before it", a.lo, a.hi, length, m.Label)
						}
						end = m.Value*scale + width(m.Label)/2
					}
					if labels < 2 && length > 100 || labels > 20 {
						t.Errorf("[%v, %v] of %v points: %d labels", a.lo, a.hi, length, labels)
					}
				}
			}
		}
	}
}

// TestBands: points of the same band are in different lanes, outside the range of the numbers and on the axis.
func TestBands(t *testing.T) {
	for lanes := 1; lanes <= maxSeries; lanes++ {
		a := axis{log: true, text: powerText, below: bandOf{"exact", lanes}, above: bandOf{"infinite", 1}}
		a.fit([]float64{-16, 3, math.Inf(-1), math.Inf(1)})
		if a.lo > -16 || a.hi < 3 || (a.hi-a.lo)/(a.max()-a.min()) < 0.4 {
			t.Errorf("%d lanes: [%v, %v] of [%v, %v]", lanes, a.lo, a.hi, a.min(), a.max())
		}
		last := a.lo
		for lane := range lanes {
			at := a.at(math.Inf(-1), lane)
			if at >= last || at <= a.min() {
				t.Errorf("%d lanes: lane %d is at %v", lanes, lane, at)
			}
			last = at
		}
		if at := a.at(math.Inf(1), 0); at <= a.hi || at >= a.max() {
			t.Errorf("the band above: %v", at)
		}
	}
}
