package sampling

import (
	"cmp"
	"context"
	"math"
	"runtime"
	"time"

	"mpbench/pkg/stats"
)

// A RatioSampler compares the times of two operations on a machine that need not be quiet. The zero value has good
// defaults.
//
// It takes rounds. In each, both operations run one right after the other, the order changing from round to round, as
// often as makes both take the same time: at least Batch, or one run of the longer one. Whatever slows the machine for
// longer than a round, such as another program or a clock that changes, slows both alike; what interrupts one batch is
// as likely to hit the other, since they are equally long. Batches are short beside the 3 ms and more for which a busy
// system lets a program run, so that most rounds are not interrupted at all. The ratio of a round is that of the mean
// times; the result is the median of the rounds' ratios, with an interval that assumes nothing about their
// distribution (MedianInterval).
type RatioSampler struct {
	Batch      time.Duration // least time of a batch; 0 for 200 µs
	Rounds     int           // before the first decision; 0 for 15: at 99 % two outliers at either end do no harm
	MaxRounds  int           // 0 for 1001
	MaxTime    time.Duration // after which no round is begun; 0 for 2 s
	Confidence float64       // of the interval; 0 for 0.99
	Clock      Clock         // nil for SystemClock

	// Pause waits, and returns false if ctx was cancelled; nil for real time. A Clock of another time needs its own.
	Pause func(ctx context.Context, d time.Duration) bool
}

// leastRounds is how many rounds are taken even after MaxTime: the range of 8 ratios is an interval of more than 99 %.
const leastRounds = 8

// A Ratio is the time of an operation divided by that of a reference.
type Ratio struct {
	Median      float64 `json:"median"`
	Lo          float64 `json:"lo"`
	Hi          float64 `json:"hi"`
	Confidence  float64 `json:"confidence"`
	Rounds      int     `json:"rounds"`
	Ns          float64 `json:"ns"`           // median time of one operation
	ReferenceNs float64 `json:"reference_ns"` // ... and of one reference
}

func (s RatioSampler) withDefaults() RatioSampler {
	s.Batch = cmp.Or(s.Batch, 200*time.Microsecond)
	s.Rounds = cmp.Or(s.Rounds, 15)
	s.MaxRounds = cmp.Or(s.MaxRounds, 1001)
	s.MaxTime = cmp.Or(s.MaxTime, 2*time.Second)
	s.Confidence = cmp.Or(s.Confidence, 0.99)
	if s.Clock == nil {
		s.Clock = SystemClock()
	}
	if s.Pause == nil {
		s.Pause = pause
	}
	return s
}

func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// Measure takes rounds until decided returns true of the ratio so far, or a limit is reached. decided is asked after
// Rounds rounds and whenever their number has grown by a half; nil goes on to the limit. ok is false if ctx was
// cancelled before there was a result.
func (s RatioSampler) Measure(
	ctx context.Context, operation, reference func(), decided func(Ratio) bool,
) (r Ratio, ok bool) {
	s = s.withDefaults()
	runtime.GC()
	operation()
	reference()
	p := pair{clock: s.Clock, operation: operation, reference: reference}
	p.balance(s.Batch)
	begin := s.Clock.Now()
	next := s.Rounds
	for {
		if ctx.Err() != nil {
			return Ratio{}, false
		}
		p.round()
		n := len(p.ratios)
		if n >= s.MaxRounds || n >= leastRounds && s.Clock.Now()-begin >= s.MaxTime {
			return p.result(s.Confidence), true
		}
		if n >= next && decided != nil {
			if r := p.result(s.Confidence); decided(r) {
				return r, true
			}
			next += max(next/2, 1)
		}
	}
}

type pair struct {
	clock                Clock
	operation, reference func()
	runs, referenceRuns  int // of a batch
	ratios, ns, refNs    []float64
}

// balance finds how often each operation has to run so that both batches take about the same time.
func (p *pair) balance(batch time.Duration) {
	ns, referenceNs := p.estimate(p.operation, batch), p.estimate(p.reference, batch)
	target := max(float64(batch), ns, referenceNs)
	p.runs = int(max(1, math.Round(target/ns)))
	p.referenceRuns = int(max(1, math.Round(target/referenceNs)))
}

// estimate returns the time of one run in ns, at least 1: the least of three batches of a quarter of the wanted time.
func (p *pair) estimate(f func(), batch time.Duration) float64 {
	n := 1
	for n < maxIterations && p.batch(f, n) < float64(batch)/4 {
		n *= 2
	}
	least := math.Inf(1)
	for range 3 {
		least = min(least, p.batch(f, n))
	}
	return max(1, least/float64(n))
}

// batch returns the time of n runs in nanoseconds.
func (p *pair) batch(f func(), n int) float64 {
	start := p.clock.Now()
	for range n {
		f()
	}
	return float64(p.clock.Now() - start)
}

func (p *pair) round() {
	var ns, referenceNs float64
	if len(p.ratios)%2 == 0 {
		ns = p.batch(p.operation, p.runs)
		referenceNs = p.batch(p.reference, p.referenceRuns)
	} else {
		referenceNs = p.batch(p.reference, p.referenceRuns)
		ns = p.batch(p.operation, p.runs)
	}
	ns = max(ns, 1) / float64(p.runs)
	referenceNs = max(referenceNs, 1) / float64(p.referenceRuns)
	p.ns, p.refNs, p.ratios = append(p.ns, ns), append(p.refNs, referenceNs), append(p.ratios, ns/referenceNs)
}

func (p *pair) result(confidence float64) Ratio {
	i := stats.MedianInterval(p.ratios, confidence)
	return Ratio{
		Median: stats.Median(p.ratios), Lo: i.Lo, Hi: i.Hi, Confidence: i.Confidence, Rounds: len(p.ratios),
		Ns: stats.Median(p.ns), ReferenceNs: stats.Median(p.refNs),
	}
}

// Best measures three times without a decision and returns the ratio with the narrowest interval, which the others'
// disturbances are no part of: for a ratio that is to be kept.
func (s RatioSampler) Best(ctx context.Context, operation, reference func()) (best Ratio, ok bool) {
	for range 3 {
		r, done := s.Measure(ctx, operation, reference, nil)
		if !done {
			return Ratio{}, false
		}
		if !ok || r.Spread() < best.Spread() {
			best, ok = r, true
		}
	}
	return best, ok
}

// Spread is the width of the interval, relative to the median.
func (r Ratio) Spread() float64 { return (r.Hi - r.Lo) / r.Median }

// Exceeds tells whether the ratio is above a limit. A measurement finds it so if the lower end of its interval is. The
// answer is yes only if five measurements find it so, with growing pauses between them; one whose median is not above
// the limit ends it with no, and one that is neither is repeated, until there are ten.
//
// The chance of a false yes of one measurement is at most (1 - Confidence) / 2 at each of its up to 12 decisions, so
// at most 6 %, and of five that are independent 10^-6. The pauses are there because disturbances are not independent.
// A ratio that truly is above the limit by more than the width of the interval, some per cent as a rule, is found each
// time.
//
// The ratio returned is that of the last measurement; ok is false if ctx was cancelled.
func (s RatioSampler) Exceeds(
	ctx context.Context, limit float64, operation, reference func(),
) (r Ratio, slower, ok bool) {
	s = s.withDefaults()
	decided := func(r Ratio) bool { return r.Lo > limit || r.Hi <= limit }
	pause := func(d time.Duration) bool { return s.Pause(ctx, d) }
	return repeat(limit, func() (Ratio, bool) { return s.Measure(ctx, operation, reference, decided) }, pause,
		slowerPauses)
}

// slowerPauses come after all measurements above the limit but the last. What disturbs all of them lasts for seconds.
var slowerPauses = []time.Duration{200 * time.Millisecond, 500 * time.Millisecond, time.Second, 2 * time.Second}

// repeat measures until the answer is clear, see Exceeds.
func repeat(
	limit float64, measure func() (Ratio, bool), pause func(time.Duration) bool, pauses []time.Duration,
) (Ratio, bool, bool) {
	for left := 2*(len(pauses)+1) - 1; ; left-- {
		r, ok := measure()
		above := r.Lo > limit
		switch {
		case !ok || r.Median <= limit:
			return r, false, ok
		case above && len(pauses) == 0:
			return r, true, true
		case left == 0:
			return r, false, true
		case !above:
			continue
		}
		if !pause(pauses[0]) {
			return r, false, false
		}
		pauses = pauses[1:]
	}
}
