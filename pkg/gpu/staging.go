package gpu

import (
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"
)

// stage is pinned memory through which ordinary host memory is copied to the device: goroutines fill slots while
// earlier ones are on the bus. A copy from ordinary memory without it reaches a quarter of the bus's bandwidth.
type stage struct {
	stream *Stream
	slots  []*stageSlot
}

// stageSlot is StageBytes of pinned memory.
type stageSlot struct {
	memory *Pinned[byte]
	copied *Event // behind the last copy from it
	chunk  int    // that it holds
	bytes  int
}

// StageBytes is the most bytes of a chunk of [Device.Feed]: 150 µs on a bus of 55 GB/s. Chunks of a quarter reach
// three quarters of its bandwidth, since each costs the driver's calls; larger ones leave it waiting for the first.
const StageBytes = 8 << 20

const (
	stageSlots   = 12
	mostFillers  = 8                        // goroutines, which copy some 10 GB/s each
	mostOnTheBus = stageSlots - mostFillers // slots: the others are being filled
)

// newStage returns the device's stage with so many slots, at most stageSlots, or more; it is kept.
func (d *Device) newStage(slots int) (*stage, error) {
	if d.staging == nil {
		stream, err := d.NewStream()
		if err != nil {
			return nil, err
		}
		d.staging = &stage{stream: stream}
	}
	s := d.staging
	for len(s.slots) < min(slots, stageSlots) {
		memory, err := AllocPinned[byte](d, StageBytes)
		if err != nil {
			return nil, err
		}
		event, err := d.NewEvent()
		if err != nil {
			memory.Free()
			return nil, err
		}
		s.slots = append(s.slots, &stageSlot{memory: memory, copied: event})
	}
	return s, nil
}

// Feed brings data from ordinary host memory to the device in chunks, faster than copies from there. Goroutines call
// fill, several at a time, which writes chunk c to pinned memory, of StageBytes, and returns its size. Feed calls put
// for the chunks in their order; it starts the copies of p in the stream s, which must not be waited for, and may
// start other work elsewhere. Feed returns when all copies are over, or after the first error of put. To be called
// inside Do.
func (d *Device) Feed(chunks int, fill func(c int, p []byte) int, put func(c int, p []byte, s *Stream) error) error {
	if chunks == 0 {
		return nil
	}
	s, err := d.newStage(chunks)
	if err != nil {
		return err
	}
	f := &feed{stage: s, chunks: chunks, fill: fill, free: make(chan *stageSlot, len(s.slots)),
		filled: make(chan *stageSlot, len(s.slots))}
	for _, slot := range s.slots {
		f.free <- slot
	}
	var fillers sync.WaitGroup
	for range min(mostFillers, runtime.GOMAXPROCS(0), chunks) {
		fillers.Go(f.work)
	}
	err = f.serve(put)
	f.next.Store(int64(chunks)) // after an error no more are filled
	close(f.free)
	fillers.Wait()
	if failed := s.stream.Sync(); err == nil {
		err = failed
	}
	return err
}

// feed is one call of Feed.
type feed struct {
	stage        *stage
	chunks       int
	fill         func(int, []byte) int
	next         atomic.Int64
	free, filled chan *stageSlot // room for all slots each: sending never waits
}

// work fills slots with chunks until there are no more. A slot is taken before a chunk, so the least unfilled has one.
func (f *feed) work() {
	for slot := range f.free {
		slot.chunk = int(f.next.Add(1)) - 1
		if slot.chunk >= f.chunks {
			return
		}
		slot.bytes = f.fill(slot.chunk, slot.memory.Slice())
		f.filled <- slot
	}
}

// serve hands chunks over in their order, and frees their slots when they are copied.
func (f *feed) serve(put func(int, []byte, *Stream) error) error {
	early := map[int]*stageSlot{} // filled before their turn
	var flying []*stageSlot
	for c := range f.chunks {
		for early[c] == nil {
			slot := <-f.filled
			early[slot.chunk] = slot
		}
		slot := early[c]
		delete(early, c)
		if err := put(c, slot.memory.Slice()[:slot.bytes], f.stage.stream); err != nil {
			return err
		}
		if err := slot.copied.Record(f.stage.stream); err != nil {
			return err
		}
		if flying = append(flying, slot); len(flying) == min(mostOnTheBus, len(f.stage.slots)) {
			if err := flying[0].copied.Sync(); err != nil {
				return err
			}
			f.free <- flying[0]
			flying = flying[1:]
		}
	}
	return nil
}

// UploadStaged is Upload for much data, by Feed. It waits for the copies, not for other work.
func (b *Buffer[T]) UploadStaged(x []T) error {
	b.check(len(x))
	bytes := len(x) * sizeOf[T]()
	if bytes < 2*StageBytes {
		return b.Upload(x)
	}
	source := unsafe.Slice((*byte)(unsafe.Pointer(&x[0])), bytes)
	to := b.Bytewise()
	fill := func(c int, p []byte) int { return copy(p, source[c*StageBytes:]) }
	put := func(c int, p []byte, s *Stream) error { return to.UploadAsync(s, c*StageBytes, p) }
	return b.device.Feed((bytes+StageBytes-1)/StageBytes, fill, put)
}
