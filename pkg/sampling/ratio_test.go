package sampling

import (
	"context"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"mpbench/internal/busy"
)

// steps is a clock that only operations move.
type steps struct{ now time.Duration }

func (c *steps) Now() time.Duration        { return c.now }
func (c *steps) Resolution() time.Duration { return 1 }
func (c *steps) takes(d time.Duration) func() {
	return func() { c.now += d }
}

// TestRatioOfSteadyTimes: whatever the durations, the ratio is exact, both batches are equally long within rounding,
// and no more rounds are taken than the decision needs.
func TestRatioOfSteadyTimes(t *testing.T) {
	for _, d := range [][2]time.Duration{{130, 100}, {50 * time.Millisecond, 7}, {3, 20 * time.Millisecond},
		{time.Second, 2 * time.Second}} {
		c := &steps{}
		s := RatioSampler{Clock: c, MaxTime: time.Hour}
		r, ok := s.Measure(context.Background(), c.takes(d[0]), c.takes(d[1]), func(Ratio) bool { return true })
		want := float64(d[0]) / float64(d[1])
		if !ok || r.Rounds != 15 || math.Abs(r.Median-want) > 1e-12*want || r.Lo != r.Hi || r.Confidence < 0.99 ||
			r.Ns != float64(d[0]) {
			t.Errorf("%v: %+v", d, r)
		}
		p := pair{clock: c, operation: c.takes(d[0]), reference: c.takes(d[1])}
		p.balance(time.Millisecond)
		a, b := p.batch(p.operation, p.runs), p.batch(p.reference, p.referenceRuns)
		if r := a / b; r < 0.7 || r > 1.5 || a < 0.7e6 {
			t.Errorf("%v: batches of %v and %v ns", d, a, b)
		}
	}
}

// TestRatioLimits: without a decision, MaxRounds and MaxTime end the measurement, but not before an interval of 99 %
// is there.
func TestRatioLimits(t *testing.T) {
	c := &steps{}
	s := RatioSampler{Clock: c, MaxRounds: 40, MaxTime: time.Hour}
	if r, _ := s.Measure(context.Background(), c.takes(5), c.takes(5), nil); r.Rounds != 40 {
		t.Errorf("%d rounds", r.Rounds)
	}
	s.MaxTime = time.Nanosecond
	if r, _ := s.Measure(context.Background(), c.takes(5), c.takes(5), nil); r.Rounds != leastRounds ||
		r.Confidence < 0.99 {
		t.Errorf("%d rounds, confidence %v", r.Rounds, r.Confidence)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, ok := s.Measure(ctx, c.takes(5), c.takes(5), nil); ok {
		t.Error("a result of a cancelled measurement")
	}
}

// TestExceeds: measurements that find the ratio above its limit (a), not above (n) or neither (u). Five above are a
// yes, one that is not is a no, and ten in all are enough.
func TestExceeds(t *testing.T) {
	kinds := map[byte]Ratio{'a': {Median: 1.3, Lo: 1.2, Hi: 1.4}, 'n': {Median: 1.1, Lo: 1.0, Hi: 1.2},
		'u': {Median: 1.2, Lo: 1.1, Hi: 1.3}}
	for _, c := range []struct {
		measurements string
		want         bool
	}{
		{"n", false}, {"an", false}, {"aaaan", false}, {"aaaaa", true}, {"auaauaa", true}, {"uuuuun", false},
		{"uuuuuaaaaa", true},
		{"uuuuuuaaaa", false}, {"uuuuuuuuuu", false},
	} {
		n := 0
		r, got, ok := repeat(1.15, func() (Ratio, bool) {
			n++
			return kinds[c.measurements[n-1]], true
		}, func(time.Duration) bool { return true }, make([]time.Duration, 4))
		if got != c.want || !ok || n != len(c.measurements) || r != kinds[c.measurements[n-1]] {
			t.Errorf("%s: %v, %v, %+v after %d", c.measurements, got, ok, r, n)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, yes, ok := repeat(1, func() (Ratio, bool) { return Ratio{Lo: 2, Median: 2}, true },
		func(d time.Duration) bool { return pause(ctx, d) }, []time.Duration{time.Hour}); yes || ok {
		t.Error("an answer after an interruption")
	}
}

// TestBest: of a disturbed measurement and quiet ones, a quiet one is kept.
func TestBest(t *testing.T) {
	c := &steps{}
	runs := 0
	operation := func() { // takes 130 ns, and in its first runs more
		c.now += 130
		if runs++; runs < 60 {
			c.now += time.Duration(60 - runs)
		}
	}
	s := RatioSampler{Clock: c, MaxRounds: 10, MaxTime: time.Hour, Batch: 1000}
	r, ok := s.Best(context.Background(), operation, c.takes(100))
	if !ok || r.Spread() != 0 || r.Median != 1.3 {
		t.Errorf("%+v, %v", r, ok)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, ok := s.Best(ctx, operation, operation); ok {
		t.Error("a result of a cancelled measurement")
	}
}

// TestRatioOnABusyMachine: on machines that take the program off its processor and change its clock, an operation that
// takes as long as before is never found slower than the limit, and one that takes 30 % longer always is.
func TestRatioOnABusyMachine(t *testing.T) {
	for seed := range uint64(100) {
		m := busy.NewMachine(seed)
		takes := func(d time.Duration) func() { return func() { m.Work(d) } }
		s := RatioSampler{Clock: m, Pause: m.Pause}
		reference, limit := takes(50*time.Microsecond), 20.0/50*1.15
		for range 10 {
			if r, exceeds, _ := s.Exceeds(context.Background(), limit, takes(20*time.Microsecond), reference); exceeds {
				t.Errorf("seed %d, unchanged: %+v above %v", seed, r, limit)
			}
		}
		if r, exceeds, _ := s.Exceeds(context.Background(), limit, takes(26*time.Microsecond), reference); !exceeds {
			t.Errorf("seed %d, 30 %% slower: %+v not above %v", seed, r, limit)
		}
	}
}

// spin works for a number of steps that the compiler cannot leave out.
func spin(n int) {
	x := uint64(n)
	for range n {
		x = x*6364136223846793005 + 1442695040888963407
	}
	sink.Store(x)
}

var sink atomic.Uint64

// BenchmarkRatioUnderLoad measures on this machine while more goroutines than it has processors work and sleep in
// turn. It reports how many of the measurements of an unchanged operation found it slower (false-alarms, 0 is right),
// and of one that does 30 % more work did not (missed, likewise).
func BenchmarkRatioUnderLoad(b *testing.B) {
	var stop atomic.Bool
	var wg sync.WaitGroup
	for i := range runtime.GOMAXPROCS(0) + 1 {
		wg.Go(func() {
			for n := i; !stop.Load(); n++ {
				spin(300_000 * (1 + n%7))
				time.Sleep(time.Duration(n%5) * time.Millisecond)
			}
		})
	}
	defer wg.Wait()
	defer stop.Store(true)
	s := RatioSampler{MaxTime: time.Second}
	base, slow, reference := func() { spin(20_000) }, func() { spin(26_000) }, func() { spin(50_000) }
	limit := 20.0 / 50 * 1.15
	falseAlarms, missed := 0, 0
	for b.Loop() {
		if _, exceeds, _ := s.Exceeds(context.Background(), limit, base, reference); exceeds {
			falseAlarms++
		}
		if _, exceeds, _ := s.Exceeds(context.Background(), limit, slow, reference); !exceeds {
			missed++
		}
	}
	b.ReportMetric(float64(falseAlarms)/float64(b.N), "false-alarms/op")
	b.ReportMetric(float64(missed)/float64(b.N), "missed/op")
}
