package report

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"time"

	"mpbench/pkg/sampling"
)

type fakeClock struct{ now time.Duration }

func (c *fakeClock) Now() time.Duration        { return c.now }
func (c *fakeClock) Resolution() time.Duration { return 1 }

// play lets two cases go by, one sample every 40 ms.
func play(p Progress, clock *fakeClock) {
	for _, label := range []string{"reduce1 240 bits mcnamee3", "bigfloat 240 bits mcnamee3"} {
		p.Begin(label)
		for i := range 5 {
			clock.now += 40 * time.Millisecond
			p.Sample(sampling.SampleStatus{Samples: i, Elapsed: time.Duration(i) * 40 * time.Millisecond, LastNs: 12_345})
		}
		p.End("12.3 us")
	}
	p.Close()
}

func TestProgressTerminal(t *testing.T) {
	var b bytes.Buffer
	clock := &fakeClock{}
	play(NewProgress(&b, ProgressOptions{Cases: 2, Terminal: true, Clock: clock, Width: func() int { return 50 }}), clock)
	const start = "\r\x1b[K"
	want := start + "[1/2] reduce1 240 bits mcnamee3" +
		start + "[1/2] reduce1 240 bits mcnamee3: 2 samples, 0...." +
		start + "[2/2] bigfloat 240 bits mcnamee3: warming up" +
		start + "[2/2] bigfloat 240 bits mcnamee3: 3 samples, 0..." +
		start
	if got := b.String(); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	for line := range strings.SplitSeq(b.String(), start) {
		if len(line) >= 50 {
			t.Errorf("%d columns: %s", len(line), line)
		}
	}
}

func TestProgressPipe(t *testing.T) {
	var b bytes.Buffer
	clock := &fakeClock{}
	play(NewProgress(&b, ProgressOptions{Clock: clock}), clock)
	if got, want := b.String(), "[1] reduce1 240 bits mcnamee3: 12.3 us\n[2] bigfloat 240 bits mcnamee3: "+
		"12.3 us\n"; got != want {
		t.Errorf("got %q", got)
	}
}

func TestProgressQuiet(t *testing.T) {
	var b bytes.Buffer
	clock := &fakeClock{}
	play(NewProgress(&b, ProgressOptions{Quiet: true, Terminal: true}), clock)
	if b.Len() != 0 {
		t.Errorf("got %q", b.String())
	}
}

// TestProgressConcurrent is for the race detector; the defaults are used.
func TestProgressConcurrent(t *testing.T) {
	p := NewProgress(&bytes.Buffer{}, ProgressOptions{Terminal: true})
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() { play(p, &fakeClock{}) })
	}
	wait.Wait()
}

func TestTruncate(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		want  string
	}{
		{"abc", 3, "abc"}, {"abcdef", 5, "ab..."}, {"µµµµ", 4, "µµµµ"}, {"abcdef", 2, ".."},
		{"abc", 0, ""}, {"abc", -1, ""},
		{"a\nb\x1bc", 9, "a b c"},
	} {
		if got := truncate(c.text, c.width); got != c.want {
			t.Errorf("%q in %d: %q, want %q", c.text, c.width, got, c.want)
		}
	}
}
