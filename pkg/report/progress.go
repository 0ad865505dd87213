package report

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"mpbench/pkg/record"
	"mpbench/pkg/sampling"
)

// Progress tells how far a run has come, and may be used by several goroutines. Errors of writing are ignored.
type Progress interface {
	Begin(label string)                  // the next case
	Sample(status sampling.SampleStatus) // as sampling.Sampler.Progress calls it
	End()                                // the case is done
	Clear()                              // something else is written now
	Close()                              // nothing follows; what is on the line is cleared
}

// ProgressOptions say where progress goes.
type ProgressOptions struct {
	Cases    int        // in the run, 0 if not known
	Terminal bool       // one changing line; elsewhere nothing is written
	Width    func() int // columns of the terminal, asked before each line; nil for 80
	Clock    sampling.Clock
}

// progressInterval is the least time between two lines on a terminal.
const progressInterval = 100 * time.Millisecond

// NewProgress returns a Progress that writes to w, which is standard error as a rule.
func NewProgress(w io.Writer, opts ProgressOptions) Progress {
	if opts.Width == nil {
		opts.Width = func() int { return 80 }
	}
	if opts.Clock == nil {
		opts.Clock = sampling.SystemClock()
	}
	return &progress{w: w, opts: opts, start: opts.Clock.Now(), last: -progressInterval}
}

// BytesProgress tells how much of a file has been read, and how long the rest will take.
type BytesProgress struct{ p *progress }

// NewBytesProgress returns a BytesProgress that writes to w, which is standard error as a rule; Cases does not matter.
func NewBytesProgress(w io.Writer, opts ProgressOptions) *BytesProgress {
	return &BytesProgress{NewProgress(w, opts).(*progress)}
}

// Read says how many bytes of all have been read since the BytesProgress was made.
func (b *BytesProgress) Read(done, all int64) {
	p := b.p
	now := p.opts.Clock.Now()
	text := fmt.Sprintf("%s of %s", record.Bytes(done), record.Bytes(all))
	if spent := now - p.start; done > 0 && spent > 0 {
		rate := float64(done) / spent.Seconds()
		left := time.Duration(float64(all-done) / rate * float64(time.Second)).Round(time.Second)
		text = fmt.Sprintf("%v left, %s, %s/s", left, text, record.Bytes(int64(rate)))
	}
	full := 0
	if all > 0 {
		full = int(float64(barWidth) * float64(done) / float64(all))
	}
	p.write(now, barOf(full)+text)
}

// Close clears the line.
func (b *BytesProgress) Close() { b.p.Clear() }

type progress struct {
	mu    sync.Mutex
	w     io.Writer
	opts  ProgressOptions
	start time.Duration
	done  int    // cases
	label string // of the current case
	last  time.Duration
	shown bool // something stands on the changing line
}

func (p *progress) Begin(label string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.label = label
	p.line(p.label)
}

func (p *progress) Sample(s sampling.SampleStatus) {
	p.mu.Lock()
	defer p.mu.Unlock()
	text := p.label + ": warming up"
	if s.Samples > 0 {
		text = fmt.Sprintf("%s: %s, %.1f s, %s", p.label, plural(s.Samples, "sample", "samples"),
			s.Elapsed.Seconds(), siTime(s.LastNs, true))
	}
	p.line(text)
}

func (p *progress) End() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done++
}

func (p *progress) Clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown {
		io.WriteString(p.w, "\r\x1b[K")
		p.shown = false
	}
}

func (p *progress) Close() { p.Clear() }

// line replaces what stands on the terminal's line, unless it was replaced a moment ago.
func (p *progress) line(text string) {
	now := p.opts.Clock.Now()
	p.write(now, p.bar(now)+text)
}

func (p *progress) write(now time.Duration, text string) {
	if !p.opts.Terminal || now-p.last < progressInterval {
		return
	}
	p.last, p.shown = now, true
	// The last column stays free: some terminals wrap as soon as it is written.
	fmt.Fprint(p.w, "\r\x1b[K", truncate(text, p.opts.Width()-1))
}

// barWidth is how many characters a bar has.
const barWidth = 20

// barOf draws a bar of which so many characters are full.
func barOf(full int) string {
	return "[" + strings.Repeat("#", full) + strings.Repeat(".", barWidth-full) + "] "
}

// bar shows how many cases are done and, from the mean of those, how long the others will take.
func (p *progress) bar(now time.Duration) string {
	if p.opts.Cases == 0 {
		return fmt.Sprintf("[%d] ", p.done+1)
	}
	text := barOf(barWidth * p.done / p.opts.Cases)
	if p.done > 0 {
		left := (now - p.start) / time.Duration(p.done) * time.Duration(p.opts.Cases-p.done)
		text += left.Round(time.Second).String() + " left, "
	}
	return text + fmt.Sprintf("%d/%d ", p.done+1, p.opts.Cases)
}

// truncate cuts a text to the given number of characters and replaces control characters.
func truncate(text string, width int) string {
	runes := []rune(text)
	for i, c := range runes {
		if c < ' ' || c == 0x7f {
			runes[i] = ' '
		}
	}
	if len(runes) > width {
		runes = runes[:max(width, 0)]
		for i := max(len(runes)-3, 0); i < len(runes); i++ {
			runes[i] = '.'
		}
	}
	return string(runes)
}
