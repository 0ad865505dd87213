package superaccgpu

import (
	"context"
	"errors"
	"fmt"
	"time"

	"mpbench/internal/parallel"
	"mpbench/pkg/exactsum"
	"mpbench/pkg/gpu"
	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
)

// Ways returns how a GPU adds binary64 numbers, or products of two, for the method deferred: in its memory, or
// streamed through it in every run.
func Ways() []exactsum.NewWay { return []exactsum.NewWay{newInMemory, newStreamed} }

// variant names what is done in words: binned float64 are added in binary64 without rounding.
const variant = "binned float64"

// inMemory are numbers in device memory.
type inMemory struct {
	device *gpu.Device
	vector *Vector
}

func newInMemory(_ context.Context, c method.Config, p *op.Problem) (exactsum.Way, method.Times, error) {
	x, y, ok := exactsum.Float64s(p)
	if !ok || c.Stream {
		return nil, method.Times{}, nil
	}
	d, err := gpu.Open(c.GPU())
	if err != nil {
		return nil, method.Times{}, err
	}
	start := time.Now()
	v, err := newVector(d, x, y, blockThreads)
	if errors.Is(err, gpu.ErrOutOfMemory) {
		return nil, method.Times{}, nil
	}
	return &inMemory{d, v}, method.Times{CopyIn: time.Since(start)}, err
}

func (w *inMemory) Add(_ context.Context, to *exactsum.Sum) error {
	_, err := w.vector.Sum(&to.Floats, false)
	return err
}

func (w *inMemory) AddTimed(_ context.Context, to *exactsum.Sum) (method.Times, error) {
	t, err := w.vector.Sum(&to.Floats, true)
	return method.Times{Kernel: t.Kernel, CopyOut: t.Download}, err
}

func (w *inMemory) Cool() error                { return w.device.Cool() }
func (w *inMemory) Describe(info *method.Info) { info.Variant, info.NumberBytes = variant, 8 }

func (w *inMemory) Close() error {
	w.vector.Free()
	return nil
}

// streamed are numbers that go through the devices each time; processors take part if they are among the devices.
type streamed struct {
	streamer *Streamer
	sources  []numbers.Array
	threads  int
	inPlace  bool // nothing but the devices moves the numbers
}

func newStreamed(_ context.Context, c method.Config, p *op.Problem) (way exactsum.Way, _ method.Times, err error) {
	w := &streamed{threads: 1}
	if !p.X.Chunked() {
		x, y, ok := exactsum.Float64s(p)
		if !ok {
			return nil, method.Times{}, nil
		}
		w.sources = append(w.sources, numbers.Vector(numbers.Float64s(x)))
		if y != nil {
			w.sources = append(w.sources, numbers.Vector(numbers.Float64s(y)))
		}
	} else if w.sources = append(w.sources, p.X); !p.Y.Absent() || p.X.RowStride != 1 && p.X.Rows > 1 {
		return nil, method.Times{}, nil
	}
	var devices []*gpu.Device
	for _, i := range c.Devices.GPUs() {
		d, err := gpu.Open(i)
		if err != nil {
			return nil, method.Times{}, err
		}
		devices = append(devices, d)
	}
	var o Options
	if c.Devices.HasCPU() {
		w.threads = parallel.Threads(c.Threads)
		o.Threads = w.threads
	}
	if w.streamer, err = newStreamer(devices, len(w.sources) == 2, o); err != nil {
		return nil, method.Times{}, err
	}
	start := time.Now()
	if len(devices) > 1 {
		w.lock()
	}
	return w, method.Times{Convert: time.Since(start)}, nil
}

// lock lets devices copy numbers in the host's memory from where they are, if the system allows to lock them. For one
// device that takes three times as long as a sum and saves a twentieth of it; two are as fast as their buses only so,
// as pinned buffers triple what goes through the host's memory.
func (w *streamed) lock() {
	var vectors [][]float64
	for _, source := range w.sources {
		x, ok := source.Contiguous()
		if !ok {
			return
		}
		vectors = append(vectors, x)
	}
	w.inPlace = w.streamer.Lock(vectors...) == nil
}

// leastChunk is the smallest chunk for which a device without room is asked.
const leastChunk = 1 << 12

// newStreamer takes the memory for streams, for shorter chunks where a device has no room for the usual ones.
func newStreamer(devices []*gpu.Device, products bool, o Options) (s *Streamer, err error) {
	for o.Chunk = defaultChunk; o.Chunk >= leastChunk; o.Chunk /= 2 {
		if s, err = NewStreamer(devices, products, o); !errors.Is(err, gpu.ErrOutOfMemory) {
			break
		}
	}
	return s, err
}

func (w *streamed) Add(ctx context.Context, to *exactsum.Sum) error {
	if len(w.sources) == 1 {
		return w.streamer.Sum(ctx, &to.Floats, w.sources[0])
	}
	return w.streamer.Dot(ctx, &to.Floats, w.sources[0], w.sources[1])
}

func (w *streamed) Describe(info *method.Info) {
	info.Variant, info.NumberBytes, info.Threads = variant+", streamed", 8, w.threads
	if w.inPlace {
		info.Variant += " in place"
	}
	shares := w.streamer.Shares()
	if len(shares) == 1 {
		return
	}
	for i, s := range shares {
		info.Variant += fmt.Sprintf("%s %s: %d", []string{";", ","}[min(i, 1)], s.Device.RecordName(), s.Numbers)
	}
	info.Variant += fmt.Sprintf(" of %d numbers", w.sources[0].Rows)
}

func (w *streamed) Close() error {
	w.streamer.Free()
	return nil
}
