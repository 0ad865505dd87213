package stats

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// tail returns the number of the 2^n outcomes of n coin tosses with fewer than l heads, exactly.
func tail(n, l int) *big.Int {
	sum := new(big.Int)
	for k := range l {
		sum.Add(sum, new(big.Int).Binomial(int64(n), int64(k)))
	}
	return sum
}

// coverage returns 1 - 2 P(B < l) for B binomial with n trials and probability 1/2, exactly.
func coverage(n, l int) *big.Rat {
	all := new(big.Int).Lsh(big.NewInt(1), uint(n))
	lost := new(big.Int).Lsh(tail(n, l), 1)
	return new(big.Rat).SetFrac(new(big.Int).Sub(all, lost), all)
}

// TestMedianRank proves for every n up to 400 that the rank gives the confidence that is claimed, that this is
// at least 95 % where that is possible, and that the next rank would not do.
func TestMedianRank(t *testing.T) {
	wanted := big.NewRat(95, 100)
	for n := 1; n <= 400; n++ {
		l, got := medianRank(n, 0.95)
		if l < 1 || 2*l > n+1 {
			t.Fatalf("n = %d: rank %d is no rank of a lower end", n, l)
		}
		c := coverage(n, l)
		if want, _ := c.Float64(); math.Abs(got-want) > 1e-13 {
			t.Errorf("n = %d: confidence %v, exactly %v", n, got, want)
		}
		if c.Cmp(wanted) < 0 && l != 1 {
			t.Errorf("n = %d: rank %d covers %v only", n, l, c.FloatString(6))
		}
		if n >= 6 && c.Cmp(wanted) < 0 {
			t.Errorf("n = %d: 95 %% is possible", n)
		}
		if 2*(l+1) <= n+1 && coverage(n, l+1).Cmp(wanted) >= 0 {
			t.Errorf("n = %d: rank %d is not the largest", n, l)
		}
	}
}

// TestMedianIntervalCovers goes through all ways in which n samples can fall on either side of the median,
// which is all that the interval depends on, and counts the share of them that it covers.
func TestMedianIntervalCovers(t *testing.T) {
	for n := 1; n <= 14; n++ {
		covered := 0
		values := make([]float64, n)
		var interval Interval
		for outcome := range 1 << n {
			for i := range values {
				values[i] = float64(outcome>>i&1)*2 - 1 // the median of the distribution is 0
			}
			interval = MedianInterval(values, 0.95)
			if interval.Lo < 0 && interval.Hi > 0 {
				covered++
			}
		}
		if share := float64(covered) / float64(int(1)<<n); math.Abs(share-interval.Confidence) > 1e-13 {
			t.Errorf("n = %d: %v of the outcomes are covered, claimed %v", n, share, interval.Confidence)
		}
	}
}

func TestMedianIntervalKnown(t *testing.T) {
	values := []float64{10, 1, 9, 2, 8, 3, 7, 4, 6, 5}
	// The table of every text book: n = 10 gives ranks 2 and 9 with 1 - 22/1024.
	if got, want := MedianInterval(values, 0.95),
		(Interval{2, 9, 1 - 22.0/1024}); math.Abs(got.Confidence-want.Confidence) > 1e-14 || got.Lo != want.Lo ||
		got.Hi != want.Hi {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := MedianInterval([]float64{7}, 0.95); got != (Interval{7, 7, 0}) {
		t.Errorf("one value: %v", got)
	}
	if got := MedianInterval(nil, 0.95); got != (Interval{}) {
		t.Errorf("no value: %v", got)
	}
}

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   float64
	}{
		{[]float64{3}, 3},
		{[]float64{3, 1}, 2},
		{[]float64{3, 1, 2}, 2},
		{[]float64{4, 1, 3, 2}, 2.5},
		{[]float64{math.MaxFloat64, math.MaxFloat64}, math.MaxFloat64},
		{[]float64{0, 0, 0}, 0},
	} {
		if got := Median(c.values); got != c.want {
			t.Errorf("%v: %v, want %v", c.values, got, c.want)
		}
	}
	if got := Median(nil); !math.IsNaN(got) {
		t.Errorf("no value: %v", got)
	}
}

func TestOutliers(t *testing.T) {
	for name, c := range map[string]struct {
		values []float64
		want   []int
	}{
		"none":             {nil, nil},
		"one":              {[]float64{5}, nil},
		"all equal":        {[]float64{5, 5, 5, 5}, nil},
		"far above":        {[]float64{10, 11, 9, 10, 100, 10.5, 9.5}, []int{4}},
		"far below":        {[]float64{10, 11, 9, 0, 10, 10.5, 9.5}, []int{3}},
		"MAD 0":            {[]float64{5, 5, 5, 5, 5, 5, 5, 50}, []int{7}},
		"at the threshold": {[]float64{-1, 0, 1, 3.5 / 0.6744897501960817, -100}, []int{4}},
	} {
		if got := Outliers(c.values); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// TestPermutationInvariance: no statistic depends on the order of the samples, and none changes them.
func TestPermutationInvariance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64Range(0, 1e12), 1, 60).Draw(t, "values")
		shuffled := slices.Clone(values)
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		r.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		before := slices.Clone(shuffled)
		if Median(values) != Median(shuffled) || MAD(values) != MAD(shuffled) ||
			RelativeMAD(values) != RelativeMAD(shuffled) {
			t.Fatal("median or MAD depend on the order")
		}
		if MedianInterval(values, 0.95) != MedianInterval(shuffled, 0.95) {
			t.Fatal("the interval depends on the order")
		}
		pick := func(x []float64) []float64 {
			var out []float64
			for _, i := range Outliers(x) {
				out = append(out, x[i])
			}
			slices.Sort(out)
			return out
		}
		if a, b := pick(values), pick(shuffled); len(a) != len(b) { // the mean deviation may differ in its last bit
			t.Fatalf("outliers %v and %v", a, b)
		}
		if !slices.Equal(before, shuffled) {
			t.Fatal("the samples were changed")
		}
	})
}

// TestIntervalHoldsMedian: the interval is made of samples and has the median in it; scaling all samples by a
// power of two scales everything.
func TestIntervalHoldsMedian(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64Range(1e-3, 1e12), 1, 60).Draw(t, "values")
		i, m := MedianInterval(values, 0.95), Median(values)
		if i.Lo > m || i.Hi < m || !slices.Contains(values, i.Lo) || !slices.Contains(values, i.Hi) {
			t.Fatalf("median %v, interval %v", m, i)
		}
		scaled := make([]float64, len(values))
		for k, x := range values {
			scaled[k] = 8 * x
		}
		j := MedianInterval(scaled, 0.95)
		if j.Lo != 8*i.Lo || j.Hi != 8*i.Hi || j.Confidence != i.Confidence || Median(scaled) != 8*m ||
			RelativeMAD(scaled) != RelativeMAD(values) || len(Outliers(scaled)) != len(Outliers(values)) {
			t.Fatal("statistics do not scale")
		}
	})
}

// TestRelativeMADIsFinite: durations are not negative, and then the ratio is a number, zeros included.
func TestRelativeMADIsFinite(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.SampledFrom([]float64{0, 0, 1, 5, 1e9}), 1, 9).Draw(t, "values")
		if r := RelativeMAD(values); math.IsNaN(r) || math.IsInf(r, 0) || r < 0 {
			t.Fatalf("%v: %v", values, r)
		}
	})
}
