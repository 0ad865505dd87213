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
	Threads int // processors that sum chunks themselves beside the device; 0: the device alone
	Readers int // goroutines that fill pinned buffers, 0 for as many as the bus needs
	Chunk   int // numbers of a chunk, 0 for 2^20
}

const (
	defaultChunk = 1 << 20 // 8 MB: 150 µs on the bus, 4 µs on the device
	mostReaders  = 8       // copy some 10 GB/s each
	mostFlying   = 4       // chunks handed to the device and not yet waited for
	fewChunks    = 4       // up to so many are summed by the processors alone, if they take part
)

func (o Options) filled() Options {
	if o.Chunk <= 0 {
		o.Chunk = defaultChunk
	}
	o.Chunk += o.Chunk & 1
	if o.Readers <= 0 {
		o.Readers = min(mostReaders, runtime.GOMAXPROCS(0))
	}
	return o
}

// Streamer sums numbers that are not in device memory: readers fill pinned buffers with chunks, which are copied to
// the device and summed there on two streams in turn, so that reading, copying and summing overlap. It is not safe for
// concurrent use. Its methods may be called from any goroutine.
type Streamer struct {
	device  *gpu.Device
	own     *gpu.Owner
	options Options
	engine  *Engine
	streams [2]*gpu.Stream
	slots   []*slot
	vectors int // 1 for sums, 2 for dot products
}

// slot is a chunk's memory on both sides.
type slot struct {
	host   [2]*gpu.Pinned[float64]
	device [2]*gpu.Buffer[float64]
	done   *gpu.Event
	n      int
}

// NewStreamer takes the memory for sums, or for dot products.
func NewStreamer(d *gpu.Device, products bool, o Options) (*Streamer, error) {
	s := &Streamer{device: d, options: o.filled(), vectors: 1}
	if products {
		s.vectors = 2
	}
	if err := d.Make(s.allocate, s.free); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *Streamer) allocate() (err error) {
	if s.engine, err = NewEngine(s.device); err != nil {
		return err
	}
	s.own = s.device.NewOwner()
	for i := range s.streams {
		s.streams[i] = s.own.Stream()
	}
	for range s.options.Readers + mostFlying {
		c := new(slot)
		s.slots = append(s.slots, c)
		c.done = s.own.Event()
		for v := range s.vectors {
			c.host[v] = gpu.TakePinned[float64](s.own, s.options.Chunk)
			c.device[v] = gpu.Take[float64](s.own, s.options.Chunk)
		}
	}
	return s.own.Err()
}

// Free gives the memory back; a nil streamer has none.
func (s *Streamer) Free() {
	if s != nil {
		// only a fault fails, and then the memory is lost with the context
		_ = s.device.Do(func() error { s.free(); return nil })
	}
}

func (s *Streamer) free() {
	s.engine.Free()
	s.own.Free()
	s.slots = nil
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
	w := &work{ctx: ctx, sources: sources, n: sources[0].Rows, chunk: s.options.Chunk, quit: make(chan struct{})}
	var processors sync.WaitGroup
	parts := make([]superacc.Accumulator, s.options.Threads)
	for i := range parts {
		processors.Go(func() { w.sum(&parts[i]) })
	}
	var digits superacc.Digits
	if s.options.Threads == 0 || w.n > fewChunks*w.chunk {
		w.fail(s.onDevice(w))
		digits = *s.engine.Digits()
	}
	processors.Wait()
	if w.err != nil {
		return w.err
	}
	a.AddDigits(&digits)
	for i := range parts {
		a.Merge(&parts[i])
	}
	return nil
}

// onDevice sums chunks on the device and leaves their sum in the engine.
func (s *Streamer) onDevice(w *work) error {
	free, filled := make(chan *slot, len(s.slots)), make(chan *slot, len(s.slots))
	for _, c := range s.slots {
		free <- c
	}
	var readers sync.WaitGroup
	for range s.options.Readers {
		readers.Go(func() { w.read(free, filled) })
	}
	go func() {
		readers.Wait()
		close(filled)
	}()
	err := s.device.Do(func() error {
		err := s.serve(free, filled)
		if err != nil {
			for _, stream := range s.streams {
				_ = stream.Sync() // the first error counts
			}
		}
		return err
	})
	w.fail(err) // ends the readers
	readers.Wait()
	return err
}

// serve copies and adds filled chunks and frees them, until there are no more.
func (s *Streamer) serve(free chan<- *slot, filled <-chan *slot) error {
	if err := s.engine.Clear(s.streams[0]); err != nil {
		return err
	}
	if err := s.streams[0].Sync(); err != nil {
		return err
	}
	var flying []*slot
	land := func() error {
		c := flying[0]
		flying = flying[1:]
		err := c.done.Sync()
		free <- c
		return err
	}
	for turn := 0; ; turn++ {
		c, open := <-filled
		if !open {
			break
		}
		if err := s.submit(c, s.streams[turn%len(s.streams)]); err != nil {
			return err
		}
		flying = append(flying, c)
		if len(flying) == mostFlying { // at least one slot more than readers is theirs
			if err := land(); err != nil {
				return err
			}
		}
	}
	for len(flying) > 0 {
		if err := land(); err != nil {
			return err
		}
	}
	if err := s.engine.Fetch(s.streams[0]); err != nil {
		return err
	}
	return s.streams[0].Sync()
}

// submit puts into the stream: copy a chunk to the device and add it.
func (s *Streamer) submit(c *slot, stream *gpu.Stream) error {
	for v := range s.vectors {
		if err := c.device[v].UploadAsync(stream, 0, c.host[v].Slice()[:c.n]); err != nil {
			return err
		}
	}
	var err error
	if s.vectors == 1 {
		err = s.engine.Sum(stream, c.device[0].Pointer(), c.n)
	} else {
		err = s.engine.Dot(stream, c.device[0].Pointer(), c.device[1].Pointer(), c.n)
	}
	if err != nil {
		return err
	}
	return c.done.Record(stream)
}

// work is numbers to be summed by several workers, and the counter from which they take chunks.
type work struct {
	ctx      context.Context
	sources  []numbers.Array
	n, chunk int
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
		for v, source := range w.sources {
			if err := source.ReadRun(c.host[v].Slice()[:n], from); err != nil {
				w.fail(err)
				return
			}
		}
		c.n = n
		filled <- c
	}
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
