package superaccgpu

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"mpbench/pkg/gpu"
	"mpbench/pkg/numbers"
	"mpbench/pkg/superacc"
)

// Options say how numbers are streamed. None of them changes a sum.
type Options struct {
	Threads int // processors that sum chunks themselves beside the devices; 0: the devices alone
	Readers int // goroutines that fill pinned buffers, of each device; 0 for as many as the bus needs
	Chunk   int // numbers of a chunk, 0 for 2^20
}

const (
	defaultChunk = 1 << 20 // 8 MB: 150 µs on the bus, 4 µs on the device
	mostReaders  = 8       // copy some 10 GB/s each
	mostFlying   = 4       // chunks handed to the device and not yet waited for
	fewChunks    = 4       // up to so many are summed by the processors alone, if they take part
)

func (o Options) filled(devices int) Options {
	if o.Chunk <= 0 {
		o.Chunk = defaultChunk
	}
	o.Chunk += o.Chunk & 1
	if o.Readers <= 0 {
		o.Readers = max(1, min(mostReaders, runtime.GOMAXPROCS(0)/devices))
	}
	return o
}

// Streamer sums numbers that are not in the memory of devices: each of them, and the processors that take part, takes
// the next chunk when it has time. It is not safe for concurrent use. Its methods may be called from any goroutine.
type Streamer struct {
	options Options
	feeders []*feeder
	vectors int           // 1 for sums, 2 for dot products
	locked  []*gpu.Locked // vectors that the devices copy from where they are
}

// NewStreamer takes the memory for sums, or for dot products, on some devices.
func NewStreamer(devices []*gpu.Device, products bool, o Options) (*Streamer, error) {
	s := &Streamer{options: o.filled(len(devices)), vectors: 1}
	if products {
		s.vectors = 2
	}
	for _, d := range devices {
		f := &feeder{device: d, vectors: s.vectors}
		if err := d.Make(func() error { return f.allocate(s.options) }, f.free); err != nil {
			s.Free()
			return nil, err
		}
		s.feeders = append(s.feeders, f)
	}
	return s, nil
}

// Lock locks the pages of the vectors of later sums, so that nothing but the devices moves their numbers: the sources
// have to be contiguous. It takes as long as some runs. After an error, which tells of the host's limits, there is no
// difference.
func (s *Streamer) Lock(vectors ...[]float64) error {
	d := s.feeders[0].device
	return d.Do(func() error {
		for _, x := range vectors {
			l, err := gpu.Lock(d, x)
			if err != nil {
				s.unlock()
				return err
			}
			s.locked = append(s.locked, l)
		}
		return nil
	})
}

func (s *Streamer) unlock() {
	for _, l := range s.locked {
		l.Free()
	}
	s.locked = nil
}

// Free gives the memory back; a nil streamer has none.
func (s *Streamer) Free() {
	if s == nil {
		return
	}
	for _, f := range s.feeders {
		// only a fault fails, and then the memory is lost with the context
		_ = f.device.Do(func() error { s.unlock(); f.free(); return nil })
	}
}

// Share is what a device added of the last sum.
type Share struct {
	Device  *gpu.Device
	Numbers int
}

// Shares returns what the devices added of the last sum; processors added the rest.
func (s *Streamer) Shares() (list []Share) {
	for _, f := range s.feeders {
		list = append(list, Share{f.device, f.numbers})
	}
	return list
}

// Sum adds the numbers of x to a. It stops at the first error, that of ctx for one, and then adds nothing.
func (s *Streamer) Sum(ctx context.Context, a *superacc.Accumulator, x numbers.Array) error {
	if s.vectors != 1 {
		panic("superaccgpu: a sum by a streamer of dot products")
	}
	return s.run(ctx, a, x)
}

// Dot adds the products of the numbers of x and y to a, as Sum. It panics if their lengths differ.
func (s *Streamer) Dot(ctx context.Context, a *superacc.Accumulator, x, y numbers.Array) error {
	if s.vectors != 2 {
		panic("superaccgpu: a dot product by a streamer of sums")
	}
	if x.Rows != y.Rows {
		panic("superaccgpu: vectors of different lengths")
	}
	return s.run(ctx, a, x, y)
}

// run sums by all workers: each of them takes chunks until none is left.
func (s *Streamer) run(ctx context.Context, a *superacc.Accumulator, sources ...numbers.Array) error {
	w := &work{ctx: ctx, sources: sources, n: sources[0].Rows, chunk: s.options.Chunk, locked: s.locked != nil,
		quit: make(chan struct{})}
	var processors sync.WaitGroup
	parts := make([]superacc.Accumulator, s.options.Threads)
	for i := range parts {
		processors.Go(func() { w.sum(&parts[i]) })
	}
	var devices sync.WaitGroup
	onDevices := s.options.Threads == 0 || w.n > fewChunks*w.chunk
	for _, f := range s.feeders {
		if f.numbers = 0; onDevices {
			devices.Go(func() { w.fail(f.sum(w)) })
		}
	}
	devices.Wait()
	processors.Wait()
	if w.err != nil {
		return w.err
	}
	for _, f := range s.feeders {
		if onDevices {
			a.AddDigits(f.engine.Digits())
		}
	}
	for i := range parts {
		a.Merge(&parts[i])
	}
	return nil
}

// work is numbers to be summed by several workers, and the counter from which they take chunks.
type work struct {
	ctx      context.Context
	sources  []numbers.Array
	n, chunk int
	locked   bool // the sources' pages
	next     atomic.Int64
	quit     chan struct{} // closed after the first error
	once     sync.Once
	err      error
}

// take returns the next chunk, of no numbers if there is none or after an error.
func (w *work) take() (from, n int) {
	if err := w.ctx.Err(); err != nil {
		w.fail(err)
	}
	select {
	case <-w.quit:
		return 0, 0
	default:
	}
	from = int(w.next.Add(int64(w.chunk))) - w.chunk
	return from, max(0, min(w.chunk, w.n-from))
}

// fail keeps the first error and ends the work.
func (w *work) fail(err error) {
	if err != nil {
		w.once.Do(func() {
			w.err = err
			close(w.quit)
		})
	}
}

func (w *work) read(free <-chan *slot, filled chan<- *slot) {
	for {
		var c *slot
		select {
		case c = <-free:
		case <-w.quit:
			return
		}
		from, n := w.take()
		if n == 0 {
			return
		}
		if err := w.fill(c, from, n); err != nil {
			w.fail(err)
			return
		}
		filled <- c
	}
}

// fill makes a slot ready for n numbers of each source.
func (w *work) fill(c *slot, from, n int) error {
	c.n = n
	for v, source := range w.sources {
		if x, ok := source.Part(from, from+n).Contiguous(); ok && w.locked {
			c.numbers[v] = x
			continue
		}
		c.numbers[v] = c.host[v].Slice()[:n]
		if err := source.ReadRun(c.numbers[v], from); err != nil {
			return err
		}
	}
	return nil
}

// terms returns n numbers of a source, where they are if they are in memory, otherwise in buffer.
func terms(s numbers.Array, buffer *[]float64, from, n int) ([]float64, error) {
	if x, ok := s.Part(from, from+n).Contiguous(); ok {
		return x, nil
	}
	if cap(*buffer) < n {
		*buffer = make([]float64, n)
	}
	x := (*buffer)[:n]
	return x, s.ReadRun(x, from)
}

func (w *work) sum(a *superacc.Accumulator) {
	var buffers [2][]float64
	for {
		from, n := w.take()
		if n == 0 {
			return
		}
		var x [2][]float64
		for v, source := range w.sources {
			var err error
			if x[v], err = terms(source, &buffers[v], from, n); err != nil {
				w.fail(err)
				return
			}
		}
		if len(w.sources) == 1 {
			a.AddSlice(x[0])
		} else {
			a.AddProducts(x[0], x[1])
		}
	}
}
