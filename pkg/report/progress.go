package report

import (
	"fmt"
	"io"
	"sync"
	"time"

	"mpbench/pkg/sampling"
)

// Progress tells how far a run has come, and may be used by several goroutines. Errors of writing are ignored.
type Progress interface {
	Begin(label string)                  // the next case
	Sample(status sampling.SampleStatus) // as sampling.Sampler.Progress calls it
	End(result string)                   // the case is done; result may be empty
	Close()                              // nothing follows; what is on the line is cleared
}

// ProgressOptions say where progress goes.
type ProgressOptions struct {
	Cases    int        // in the run, 0 if not known
	Quiet    bool       // write nothing
	Terminal bool       // one changing line; otherwise a line for each case that is done
	Width    func() int // columns of the terminal, asked before each line; nil for 80
	Clock    sampling.Clock
}

// progressInterval is the least time between two lines on a terminal.
const progressInterval = 100 * time.Millisecond

// NewProgress returns a Progress that writes to w, which is standard error as a rule.
func NewProgress(w io.Writer, opts ProgressOptions) Progress {
	if opts.Quiet {
		w, opts.Terminal = io.Discard, false
	}
	if opts.Width == nil {
		opts.Width = func() int { return 80 }
	}
	if opts.Clock == nil {
		opts.Clock = sampling.SystemClock()
	}
	return &progress{w: w, opts: opts, last: -progressInterval}
}

type progress struct {
	mu    sync.Mutex
	w     io.Writer
	opts  ProgressOptions
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

func (p *progress) End(result string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done++
	if p.opts.Terminal {
		return // the next case overwrites the line
	}
	text := p.counter(p.done) + p.label
	if result != "" {
		text += ": " + result
	}
	fmt.Fprintln(p.w, text)
}

func (p *progress) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown {
		io.WriteString(p.w, "\r\x1b[K")
		p.shown = false
	}
}

// line replaces what stands on the terminal's line, unless it was replaced a moment ago.
func (p *progress) line(text string) {
	now := p.opts.Clock.Now()
	if !p.opts.Terminal || now-p.last < progressInterval {
		return
	}
	p.last, p.shown = now, true
	// The last column stays free: some terminals wrap as soon as it is written.
	fmt.Fprint(p.w, "\r\x1b[K", truncate(p.counter(p.done+1)+text, p.opts.Width()-1))
}

func (p *progress) counter(n int) string {
	if p.opts.Cases == 0 {
		return fmt.Sprintf("[%d] ", n)
	}
	return fmt.Sprintf("[%d/%d] ", n, p.opts.Cases)
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
