package stats

import (
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/stat/distuv"
)

// Median returns the middle one of the values in increasing order, or the mean of the two middle ones.
// It returns NaN when there is no value.
func Median(values []float64) float64 { return sortedMedian(slices.Sorted(slices.Values(values))) }

func sortedMedian(x []float64) float64 {
	n := len(x)
	switch {
	case n == 0:
		return math.NaN()
	case n%2 == 1:
		return x[n/2]
	}
	return x[n/2-1]/2 + x[n/2]/2 // halves first: the sum may overflow
}

// MAD returns the median absolute deviation, median |x_i - median x|, without the factor 1.4826 that makes
// it a standard deviation for normal data. It returns NaN when there is no value.
func MAD(values []float64) float64 {
	return Median(deviations(values, Median(values)))
}

func deviations(values []float64, center float64) []float64 {
	d := make([]float64, len(values))
	for i, x := range values {
		d[i] = math.Abs(x - center)
	}
	return d
}

// RelativeMAD returns MAD / |median|, the measure of noise that sampling stops by. It is 0 when the MAD is,
// and NaN when there is no value.
func RelativeMAD(values []float64) float64 {
	mad := MAD(values)
	if mad == 0 {
		return 0
	}
	return mad / math.Abs(Median(values))
}

// An Interval covers the median of a distribution with probability Confidence or more.
type Interval struct{ Lo, Hi, Confidence float64 }

// MedianInterval returns an interval for the median of the distribution that the values are a random sample
// of, without an assumption about that distribution. With x_(1) <= ... <= x_(n) it is [x_(l), x_(n+1-l)] for
// the largest l that gives at least the wanted confidence,
//
//	P(x_(l) <= median <= x_(n+1-l)) >= 1 - 2 P(B < l),   B binomial with n trials and probability 1/2,
//
// with equality for continuous distributions. When there are too few values for that confidence (fewer than
// 6 for 0.95), it is the range [x_(1), x_(n)] and Confidence, 1 - 2^(1-n), says how much it is worth.
// Without values it is the zero Interval.
//
// Source: H. A. David, H. N. Nagaraja, "Order Statistics", 3rd ed., Wiley 2003, section 7.1.
func MedianInterval(values []float64, confidence float64) Interval {
	n := len(values)
	if n == 0 {
		return Interval{}
	}
	l, c := medianRank(n, confidence)
	x := slices.Sorted(slices.Values(values))
	return Interval{Lo: x[l-1], Hi: x[n-l], Confidence: c}
}

// medianRank returns the rank l >= 1 of MedianInterval for n values, and the confidence it gives.
func medianRank(n int, confidence float64) (l int, got float64) {
	b := distuv.Binomial{N: float64(n), P: 0.5}
	confidenceAt := func(l int) float64 { return max(1-2*b.CDF(float64(l-1)), 0) }
	l = sort.Search((n+1)/2, func(i int) bool { return confidenceAt(i+1) < confidence }) // ranks that are good
	l = max(l, 1)
	return l, confidenceAt(l)
}

// outlierScore is the modified z-score above which a value is an outlier.
const outlierScore = 3.5

// Outliers returns the indices of the values whose modified z-score exceeds 3.5 in magnitude,
//
//	0.6745 (x_i - median) / MAD,
//
// 0.6745 being the upper quartile of the standard normal distribution. When more than half of the values are
// equal, the MAD is 0 and the mean absolute deviation takes its place, with the factor 0.7979 = sqrt(2/pi).
//
// Source: B. Iglewicz, D. C. Hoaglin, "How to Detect and Handle Outliers", ASQC 1993, section 3.4.
func Outliers(values []float64) []int {
	d := deviations(values, Median(values))
	unit := Median(d) / 0.6744897501960817
	if unit == 0 {
		for _, x := range d {
			unit += x / float64(len(d))
		}
		unit /= 0.7978845608028654
	}
	var out []int
	for i, x := range d {
		if unit > 0 && x/unit > outlierScore {
			out = append(out, i)
		}
	}
	return out
}
