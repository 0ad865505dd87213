package plot

import (
	"fmt"
	"math"
	"strconv"

	gonum "gonum.org/v1/plot"
)

// An axis holds numbers, or their decimal logarithms, between lo and hi; what is infinite has bands beyond, in which
// series that would hide each other are side by side in lanes.
type axis struct {
	label string
	log   bool                 // numbers are decimal logarithms
	text  func(float64) string // what a tick says, of the number itself or its logarithm
	ticks []float64            // where ticks are, nil for round numbers
	empty [2]float64           // range if no number is finite
	zero  bool                 // the range begins at 0

	below, above bandOf
	lo, hi       float64 // range of the finite numbers
	lane         float64 // height of a lane, in units of the axis
}

type bandOf struct {
	label string
	lanes int // 0: no point is there
}

func (a *axis) fit(numbers []float64) {
	a.lo, a.hi = math.Inf(1), math.Inf(-1)
	for _, v := range numbers {
		if !math.IsInf(v, 0) {
			a.lo, a.hi = min(a.lo, v), max(a.hi, v)
		}
	}
	if a.lo > a.hi {
		a.lo, a.hi = a.empty[0], a.empty[1]
	}
	least := 1.2 // a logarithmic axis shows more than one decade
	if !a.log {
		least = max(0.2*math.Abs(a.hi), 1)
	}
	pad := max(0.04*(a.hi-a.lo), (least-(a.hi-a.lo))/2)
	a.lo, a.hi = a.lo-pad, a.hi+pad
	if a.zero {
		a.lo = 0
	}
	// A lane is 3.2 % of the axis; with many lanes less, so that at least half of the axis is left for numbers.
	share := min(0.032, 0.5/(float64(a.below.lanes+a.above.lanes)+2))
	bands := 0.0
	for _, b := range []bandOf{a.below, a.above} {
		if b.lanes > 0 {
			bands += float64(b.lanes) + 1
		}
	}
	a.lane = share * (a.hi - a.lo) / (1 - share*bands)
}

// min and max are the ends of the axis, bands included.
func (a *axis) min() float64 { return a.lo - a.band(a.below) }
func (a *axis) max() float64 { return a.hi + a.band(a.above) }

func (a *axis) band(b bandOf) float64 {
	if b.lanes == 0 {
		return 0
	}
	return (float64(b.lanes) + 1) * a.lane
}

// at is where a number is on the axis; lane tells where in its band, from the middle of the axis on.
func (a *axis) at(v float64, lane int) float64 {
	switch {
	case math.IsInf(v, -1):
		return a.lo - (float64(lane)+1)*a.lane
	case math.IsInf(v, 1):
		return a.hi + (float64(lane)+1)*a.lane
	}
	return v
}

// marks are the ticks of an axis that is so many points long, with labels that take what width returns.
func (a *axis) marks(length float64, width func(string) float64) []gonum.Tick {
	candidates := a.ticks
	var minor []float64
	if candidates == nil && a.log {
		candidates, minor = a.decades(length, width)
	} else if candidates == nil {
		step := niceStep((a.hi - a.lo) / max(2, min(6, length/40)))
		for k := math.Ceil(a.lo / step); k*step <= a.hi; k++ {
			candidates = append(candidates, k*step)
		}
	}
	var marks []gonum.Tick
	scale := length / (a.max() - a.min())
	free := math.Inf(-1) // where the last label ends
	for _, v := range candidates {
		if v < a.lo || v > a.hi {
			continue
		}
		label := a.text(v)
		half := width(label)/2 + 3
		if (v*scale)-half < free {
			label = ""
		} else {
			free = float64(v*scale) + half
		}
		marks = append(marks, gonum.Tick{Value: v, Label: label})
	}
	for _, v := range minor {
		if v >= a.lo && v <= a.hi {
			marks = append(marks, gonum.Tick{Value: v})
		}
	}
	for _, b := range []struct {
		bandOf
		middle float64
	}{{a.below, a.lo - a.band(a.below)/2}, {a.above, a.hi + a.band(a.above)/2}} {
		if b.lanes > 0 {
			marks = append(marks, gonum.Tick{Value: b.middle, Label: b.label})
		}
	}
	return marks
}

// decades are the ticks of a logarithmic axis: powers of ten as their labels allow, with 2 and 5 where there are few.
func (a *axis) decades(length float64, width func(string) float64) (major, minor []float64) {
	w := a.hi - a.lo
	room := 12.0
	for _, v := range []float64{math.Ceil(a.lo), math.Floor(a.hi)} {
		room = max(room, width(a.text(v))+10)
	}
	step := max(1, niceStep(w*max(room, length/9)/length))
	for k := math.Floor(a.lo / step); k*step <= a.hi; k++ {
		major = append(major, k*step)
		if w <= 2.2 {
			major = append(major, k*step+math.Log10(2), k*step+math.Log10(5))
		}
	}
	for k := math.Floor(a.lo); k <= a.hi && w <= 6; k++ {
		for m := 2.0; m < 10; m++ {
			minor = append(minor, k+math.Log10(m))
		}
	}
	for k := math.Ceil(a.lo); k <= a.hi && step > 1 && w <= 60; k++ {
		minor = append(minor, k)
	}
	return major, minor
}

// niceStep returns the least of 1, 2, 5, 10, 20, 50, ... (and 0.5, 0.2, 0.1, ...) that is at least x.
func niceStep(x float64) float64 {
	ten := math.Pow(10, math.Floor(math.Log10(x)))
	for _, m := range []float64{1, 2, 5} {
		if m*ten >= x*(1-1e-9) {
			return m * ten
		}
	}
	return 10 * ten
}

// powerText writes 10^v: "1e-16", "1" for 0.
func powerText(v float64) string {
	k := math.Floor(v + 1e-9)
	digit := strconv.FormatFloat(math.Round(math.Pow(10, v-k)), 'f', -1, 64)
	if k == 0 {
		return digit
	}
	return digit + "e" + strconv.FormatFloat(k, 'f', -1, 64)
}

// timeText writes 10^v nanoseconds: "20 µs".
func timeText(v float64) string {
	k := int(math.Floor(v + 1e-9))
	digit := math.Round(math.Pow(10, v-float64(k)))
	for _, u := range []struct {
		power int
		name  string
	}{{9, "s"}, {6, "ms"}, {3, "µs"}, {0, "ns"}, {-3, "ps"}} {
		if k >= u.power {
			if k-u.power > 4 {
				return fmt.Sprintf("%.0fe%d %s", digit, k-u.power, u.name)
			}
			return fmt.Sprintf("%.0f %s", digit*math.Pow10(k-u.power), u.name)
		}
	}
	return powerText(v-9) + " s"
}

// countText writes 10^v, a count, as people type it: 1000, 1e6, 2^20.
func countText(v float64) string {
	n := math.Round(math.Pow(10, v))
	if n < 10_000 {
		return strconv.FormatFloat(n, 'f', -1, 64)
	}
	if k := math.Log2(n); k == math.Trunc(k) {
		return fmt.Sprintf("2^%.0f", k)
	}
	if k := math.Floor(math.Log10(n) + 1e-12); n == math.Round(n/math.Pow(10, k))*math.Pow(10, k) {
		return fmt.Sprintf("%.0fe%.0f", n/math.Pow(10, k), k)
	}
	return strconv.FormatFloat(n, 'g', 3, 64)
}

// plainText writes a number without an exponent.
func plainText(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
