package compare

import (
	"math"
	"slices"

	"golang.org/x/perf/benchmath"
	"gonum.org/v1/gonum/stat/distuv"

	"mpbench/pkg/stats"
)

// Spread is how much times of the same program differ between runs: it lay elsewhere in memory, the machine was
// warmer.
// Samples of one run do not show it, and a change that is not larger is none.
//
// Where a side has several runs, each case shows it. Where there is one run a side, all cases together do: as most of
// them have not changed, the median of their changes is taken for what runs differ by.
type Spread struct {
	StdDev  float64 `json:"std_dev"`  // of the logarithm of a run's median, over all cases
	OldRuns int     `json:"old_runs"` // the most of a case
	NewRuns int     `json:"new_runs"`
	Cases   int     `json:"cases"` // that have times
}

// compareTimes fills in the times of all rows from the samples of their runs, the old ones and the new ones.
func (result *Result) compareTimes(runs [][2][][]float64) {
	s := &result.Spread
	var deviations []float64 // of all cases: estimates of the standard deviation of a run
	for _, r := range runs {
		k, l := len(r[0]), len(r[1])
		if k == 0 || l == 0 {
			continue
		}
		s.Cases++
		s.OldRuns, s.NewRuns = max(s.OldRuns, k), max(s.NewRuns, l)
		old, now := logMedians(r[0]), logMedians(r[1])
		if k+l > 2 {
			deviations = append(deviations, pooled(old, now))
		} else {
			deviations = append(deviations, math.Abs(now[0]-old[0])/(normalMAD*math.Sqrt2))
		}
	}
	if s.Cases == 0 {
		return
	}
	s.StdDev = stats.Median(deviations)
	for i, r := range runs {
		switch {
		case len(r[0]) == 0 || len(r[1]) == 0:
		case len(r[0])+len(r[1]) > 2:
			result.Rows[i].Time = ofRuns(r[0], r[1], result.Alpha, *s)
		default:
			result.Rows[i].Time = ofSamples(r[0][0], r[1][0], result.Alpha, *s)
		}
	}
}

// normalMAD is the median of |x| of a normal x with standard deviation 1.
const normalMAD = 0.6744897501960817

// reach is how far the logarithm of the ratio of k runs to l others goes, in all cases at once with confidence
// 1 - alpha (Bonferroni), where nothing has changed.
func (s Spread) reach(k, l int, alpha float64) float64 {
	z := distuv.UnitNormal.Quantile(1 - alpha/float64(2*s.Cases))
	return z * s.StdDev * math.Sqrt(1/float64(k)+1/float64(l))
}

// logMedians returns the logarithm of each run's median; 0 ns, which only a coarse clock shows, counts as a
// picosecond.
func logMedians(runs [][]float64) (list []float64) {
	for _, samples := range runs {
		list = append(list, math.Log(max(stats.Median(samples), 0.001)))
	}
	return list
}

func mean(list []float64) float64 {
	sum := 0.0
	for _, x := range list {
		sum += x
	}
	return sum / float64(len(list))
}

// pooled is the standard deviation of both lists, each about its mean, with len(x)+len(y)-2 degrees of freedom.
func pooled(x, y []float64) float64 {
	sum := 0.0
	for _, list := range [][]float64{x, y} {
		m := mean(list)
		for _, v := range list {
			sum += float64((v - m) * (v - m))
		}
	}
	return math.Sqrt(sum / float64(len(x)+len(y)-2))
}

// ofRuns compares several runs by Student's t test of the logarithms of their medians. The interval for the ratio is
// the test's, or that of the spread of all cases if that is wider: few runs agree by chance.
func ofRuns(old, now [][]float64, alpha float64, s Spread) *Time {
	x, y := logMedians(old), logMedians(now)
	t := newTime(old, now)
	t.OldNs, t.NewNs = math.Exp(mean(x)), math.Exp(mean(y))
	student := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(len(x) + len(y) - 2)}
	deviation := pooled(x, y) * math.Sqrt(1/float64(len(x))+1/float64(len(y)))
	change := mean(y) - mean(x)
	reach := max(student.Quantile(1-alpha/2)*deviation, s.reach(len(x), len(y), alpha))
	t.Ratio, t.Lo, t.Hi, t.Confidence = math.Exp(change), math.Exp(change-reach), math.Exp(change+reach), 1-alpha
	t.P = 1
	if deviation > 0 {
		t.P = 2 * student.CDF(-math.Abs(change)/deviation)
	} else if change != 0 {
		t.P = 0
	}
	return t.judged(alpha)
}

// ofSamples compares one run with another by the Mann-Whitney U test of their samples, which assumes nothing about
// their distribution.
//
// The interval for the ratio of the medians is made of intervals for each median (stats.MedianInterval) of confidence
// 1 - alpha/2: both cover their medians with probability 1 - alpha at least (Bonferroni), and then the ratio lies
// between new.Lo/old.Hi and new.Hi/old.Lo. At both ends it is wider by what runs differ by.
func ofSamples(old, now []float64, alpha float64, s Spread) *Time {
	x, y := stats.MedianInterval(old, 1-alpha/2), stats.MedianInterval(now, 1-alpha/2)
	t := newTime([][]float64{old}, [][]float64{now})
	t.OldNs, t.NewNs = stats.Median(old), stats.Median(now)
	t.Confidence = max(0, x.Confidence+y.Confidence-1)
	between := math.Exp(s.reach(1, 1, alpha))
	t.Ratio, t.Lo, t.Hi = quotient(t.NewNs, t.OldNs), quotient(y.Lo, x.Hi)/between, quotient(y.Hi, x.Lo)*between
	thresholds := benchmath.Thresholds{CompareAlpha: alpha}
	t.P = benchmath.AssumeNothing.Compare(
		benchmath.NewSample(slices.Clone(old), &thresholds), benchmath.NewSample(slices.Clone(now), &thresholds)).P
	return t.judged(alpha)
}

// KeepSignificant takes back the significance of changes that one of the other results, of other runs, does not find.
func (result *Result) KeepSignificant(others ...*Result) {
	for i := range result.Rows {
		t := result.Rows[i].Time
		for _, o := range others {
			at := slices.IndexFunc(o.Rows, func(r Row) bool { return r.Case == result.Rows[i].Case })
			if t != nil && (at < 0 || o.Rows[at].Time == nil || !o.Rows[at].Time.Significant) {
				t.Significant = false
			}
		}
	}
}

// newTime counts samples and runs.
func newTime(old, now [][]float64) *Time {
	return &Time{OldSamples: len(slices.Concat(old...)), NewSamples: len(slices.Concat(now...)), OldRuns: len(old),
		NewRuns: len(now)}
}

// judged says whether the change is significant; infinite ends become large numbers, which JSON can hold.
func (t *Time) judged(alpha float64) *Time {
	t.Ratio, t.Lo, t.Hi = min(t.Ratio, math.MaxFloat64), min(t.Lo, math.MaxFloat64), min(t.Hi, math.MaxFloat64)
	t.Significant = t.P < alpha && (t.Lo > 1 || t.Hi < 1)
	return t
}

// quotient is x/y; 1 where both are 0, and a large number where only y is.
func quotient(x, y float64) float64 {
	switch {
	case y > 0:
		return x / y
	case x == 0:
		return 1
	}
	return math.MaxFloat64
}
