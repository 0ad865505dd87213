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
		p.End()
	}
	p.Close()
}

func TestProgressTerminal(t *testing.T) {
	var b bytes.Buffer
	clock := &fakeClock{}
	play(NewProgress(&b, ProgressOptions{Cases: 2, Terminal: true, Clock: clock, Width: func() int { return 50 }}), clock)
	const start = "\r\x1b[K"
	want := start + "[....................] 1/2 reduce1 240 bits mc..." +
		start + "[....................] 1/2 reduce1 240 bits mc..." +
		start + "[##########..........] 0s left, 2/2 bigfloat 2..." +
		start + "[##########..........] 0s left, 2/2 bigfloat 2..." +
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

// TestProgressPipe: nothing is written where there is no terminal.
func TestProgressPipe(t *testing.T) {
	var b bytes.Buffer
	clock := &fakeClock{}
	play(NewProgress(&b, ProgressOptions{Cases: 2, Clock: clock}), clock)
	if b.Len() != 0 {
		t.Errorf("got %q", b.String())
	}
}

// TestProgressLeft: the time left is the mean of the cases that are done, times those that are not.
func TestProgressLeft(t *testing.T) {
	var b bytes.Buffer
	clock := &fakeClock{}
	p := NewProgress(&b, ProgressOptions{Cases: 4, Terminal: true, Clock: clock})
	p.Begin("one")
	clock.now += 10 * time.Second
	p.End()
	p.Begin("two")
	p.Clear()
	if got, want := b.String(), "[#####...............] 30s left, 2/4 two\r\x1b[K"; !strings.HasSuffix(got, want) {
		t.Errorf("got %q, want %q at the end", got, want)
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

// TestBytesProgress: a bar, the time left at the rate so far, bytes of all, the rate; nothing in pipes.
func TestBytesProgress(t *testing.T) {
	for _, terminal := range []bool{true, false} {
		var b bytes.Buffer
		clock := &fakeClock{}
		p := NewBytesProgress(&b, ProgressOptions{Terminal: terminal, Clock: clock, Width: func() int { return 80 }})
		for _, done := range []int64{0, 1e9, 4e9} {
			p.Read(done, 4e9)
			clock.now += 2 * time.Second
		}
		p.Close()
		want := ""
		if terminal {
			const start = "\r\x1b[K"
			want = start + "[....................] 0 bytes of 4.0 GB" +
				start + "[#####...............] 6s left, 1.0 GB of 4.0 GB, 500.0 MB/s" +
				start + "[####################] 0s left, 4.0 GB of 4.0 GB, 1.0 GB/s" + start
		}
		if got := b.String(); got != want {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	}
}
