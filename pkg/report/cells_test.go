package report

import (
	"testing"

	"mpbench/pkg/record"
)

func TestSITime(t *testing.T) {
	for ns, want := range map[float64]string{
		0:       "0 ns",
		0.0123:  "0.0123 ns",
		0.999:   "0.999 ns",
		0.9996:  "1.00 ns",
		1:       "1.00 ns",
		9.994:   "9.99 ns",
		9.996:   "10.0 ns",
		99.96:   "100 ns",
		999.4:   "999 ns",
		999.6:   "1.00 µs",
		51_234:  "51.2 µs",
		1e6:     "1.00 ms",
		999.6e6: "1.00  s",
		12e9:    "12.0  s",
		1234e9:  "1234  s",
		1e18:    "1.00e+09  s",
	} {
		if got := siTime(ns, false); got != want {
			t.Errorf("%v: %q, want %q", ns, got, want)
		}
	}
	if got := siTime(2500, true); got != "2.50 us" {
		t.Errorf("ASCII: %q", got)
	}
}

func TestSpread(t *testing.T) {
	timing := func(median, lo, hi float64) record.Timing {
		return record.Timing{Median: median, Lo: lo, Hi: hi, Samples: []float64{lo, hi}}
	}
	for want, timing := range map[string]record.Timing{
		"±3%":   timing(100, 99, 103),
		"±4%":   timing(100, 96, 103),
		"±0.2%": timing(1000, 999, 1002),
		"±150%": timing(2, 1, 5),
		"±0.0%": timing(5, 5, 5),
		"":      timing(0, 0, 0),
	} {
		if got := spread(timing, false); got != want {
			t.Errorf("%v: %q, want %q", timing, got, want)
		}
	}
	if got := spread(timing(100, 99, 103), true); got != "+-3%" {
		t.Errorf("ASCII: %q", got)
	}
	if got := spread(record.Timing{Median: 5, Lo: 5, Hi: 5, Samples: []float64{5}}, false); got != "" {
		t.Errorf("one sample: %q", got)
	}
}

func TestNotation(t *testing.T) {
	plain, scientific := newNotation("1.0000000001", "2e-3"), newNotation("1", "2e-18")
	for _, c := range []struct {
		n      notation
		text   string
		digits int
		width  int
		want   string
	}{
		{plain, "1.0000000001", 17, 20, "1.0000000001"},
		{plain, "1.0000000001", 17, 6, "1.0000"},
		{plain, "-0.002", 17, 10, "-0.002"},
		{plain, "1234567.8", 17, 3, "1000000"}, // never less than the integer's digits
		{scientific, "3.48733745022891e-06", 17, 15, "3.487337450e-06"},
		{scientific, "3.48733745022891e-06", 17, 40, "3.48733745022891e-06"},
		{scientific, "2e-18", 17, 15, "2e-18"},
		{scientific, "1e-5000", 17, 3, "1e-5000"},
		{scientific, "NaN", 17, 3, "NaN"},
		{scientific, "", 17, 3, "-"},
		{scientific, "0.00", 17, 3, "0"},
	} {
		if got := c.n.format(c.text, c.digits, c.width); got != c.want {
			t.Errorf("%s in %d: %q, want %q", c.text, c.width, got, c.want)
		}
	}
}

func TestConditionText(t *testing.T) {
	for text, want := range map[string]string{
		"": none, "1.0000": "1", "12.345": "12.3", "1234.5": "1230", "1e20": "1.0e+20", "+Inf": "infinite",
		"3.2e-1": "3.2e-01",
	} {
		if got := conditionText(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
