package superaccgpu

import (
	"sync"

	"mpbench/pkg/gpu"
)

// feeder sums chunks on one device: readers fill pinned buffers, which are copied to the device and summed there on
// two streams in turn, so that reading, copying and summing overlap. Locked numbers are copied from where they are.
type feeder struct {
	device  *gpu.Device
	own     *gpu.Owner
	engine  *Engine
	streams [2]*gpu.Stream
	slots   []*slot
	vectors int // 1 for sums, 2 for dot products
	readers int
	numbers int // that the last sum gave to it
}

// slot is a chunk's memory on both sides.
type slot struct {
	host    [2]*gpu.Pinned[float64]
	device  [2]*gpu.Buffer[float64]
	done    *gpu.Event
	numbers [2][]float64 // in host, or where the source has them
	n       int
}

func (f *feeder) allocate(o Options) (err error) {
	if f.engine, err = NewEngine(f.device); err != nil {
		return err
	}
	f.readers, f.own = o.Readers, f.device.NewOwner()
	for i := range f.streams {
		f.streams[i] = f.own.Stream()
	}
	for range f.readers + mostFlying {
		c := new(slot)
		f.slots = append(f.slots, c)
		c.done = f.own.Event()
		for v := range f.vectors {
			c.host[v] = gpu.TakePinned[float64](f.own, o.Chunk)
			c.device[v] = gpu.Take[float64](f.own, o.Chunk)
		}
	}
	return f.own.Err()
}

func (f *feeder) free() {
	f.engine.Free()
	f.own.Free()
	f.slots = nil
}

// sum sums chunks on the device and leaves their sum in the engine.
func (f *feeder) sum(w *work) error {
	free, filled := make(chan *slot, len(f.slots)), make(chan *slot, len(f.slots))
	for _, c := range f.slots {
		free <- c
	}
	var readers sync.WaitGroup
	for range f.readers {
		readers.Go(func() { w.read(free, filled) })
	}
	go func() {
		readers.Wait()
		close(filled)
	}()
	err := f.device.Do(func() error {
		err := f.serve(free, filled)
		if err != nil {
			for _, stream := range f.streams {
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
func (f *feeder) serve(free chan<- *slot, filled <-chan *slot) error {
	if err := f.engine.Clear(f.streams[0]); err != nil {
		return err
	}
	if err := f.streams[0].Sync(); err != nil {
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
		if err := f.submit(c, f.streams[turn%len(f.streams)]); err != nil {
			return err
		}
		f.numbers += c.n
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
	if err := f.engine.Fetch(f.streams[0]); err != nil {
		return err
	}
	return f.streams[0].Sync()
}

// submit puts into the stream: copy a chunk to the device and add it.
func (f *feeder) submit(c *slot, stream *gpu.Stream) error {
	for v := range f.vectors {
		if err := c.device[v].UploadAsync(stream, 0, c.numbers[v]); err != nil {
			return err
		}
	}
	var err error
	if f.vectors == 1 {
		err = f.engine.Sum(stream, c.device[0].Pointer(), c.n)
	} else {
		err = f.engine.Dot(stream, c.device[0].Pointer(), c.device[1].Pointer(), c.n)
	}
	if err != nil {
		return err
	}
	return c.done.Record(stream)
}
