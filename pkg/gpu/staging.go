package gpu

import "unsafe"

// A stage is pinned memory through which ordinary host memory is copied to the device: goroutines fill chunks while earlier ones are on
// the bus. A copy from ordinary memory without it reaches a quarter of the bus's bandwidth.
type stage struct {
	stream *Stream
	chunks []*Pinned[byte]
	free   []*Event // behind the last copy from each chunk
}

const (
	stageChunks = 32
	stageBytes  = 4 << 20 // of a chunk
)

// newStage makes the device's stage; it is kept.
func (d *Device) newStage() (*stage, error) {
	if d.staging != nil {
		return d.staging, nil
	}
	s := &stage{}
	var err error
	if s.stream, err = d.NewStream(); err != nil {
		return nil, err
	}
	for range stageChunks {
		chunk, err := AllocPinned[byte](d, stageBytes)
		if err != nil {
			return nil, err
		}
		event, err := d.NewEvent()
		if err != nil {
			return nil, err
		}
		s.chunks, s.free = append(s.chunks, chunk), append(s.free, event)
	}
	d.staging = s
	return s, nil
}

// UploadStaged is Upload for much data: through pinned memory that several goroutines fill while the bus is busy. It waits for
// the copies, not for other work.
func (b *Buffer[T]) UploadStaged(x []T) error {
	b.check(len(x))
	if len(x)*sizeOf[T]() < 2*stageBytes {
		return b.Upload(x)
	}
	s, err := b.device.newStage()
	if err != nil {
		return err
	}
	source := unsafe.Slice((*byte)(unsafe.Pointer(&x[0])), len(x)*sizeOf[T]())
	return s.copy(&Buffer[byte]{device: b.device, pointer: b.pointer, n: len(source)}, source)
}

func (s *stage) copy(to *Buffer[byte], source []byte) error {
	count := (len(source) + stageBytes - 1) / stageBytes
	part := func(c int) []byte { return source[c*stageBytes : min((c+1)*stageBytes, len(source))] }
	filled := make([]chan struct{}, count)
	fill := func(c int) {
		filled[c] = make(chan struct{})
		go func() {
			copy(s.chunks[c%stageChunks].Slice(), part(c))
			close(filled[c])
		}()
	}
	for c := range min(count, stageChunks) {
		fill(c)
	}
	started := min(count, stageChunks)
	for c := range count {
		<-filled[c]
		slot := c % stageChunks
		err := to.UploadAsync(s.stream, c*stageBytes, s.chunks[slot].Slice()[:len(part(c))])
		if err == nil {
			err = s.free[slot].Record(s.stream)
		}
		if err == nil && c > 0 && started < count { // the copy before this one is over soon: its chunk is filled again
			err = s.free[(c-1)%stageChunks].Sync()
		}
		if err != nil {
			for _, f := range filled[c+1 : started] {
				<-f
			}
			return err
		}
		if c > 0 && started < count {
			fill(started)
			started++
		}
	}
	return s.stream.Sync()
}
