package deferredgpu

import (
	"errors"
	"fmt"
	"time"

	"mpbench/cuda"
	"mpbench/pkg/gpu"
	"mpbench/pkg/rns/deferred"
)

// SumTimes are the durations of the parts of a sum on a device, by its own events.
type SumTimes struct {
	Kernel   time.Duration // all kernels
	Download time.Duration // the digits, from the device
}

// PackedSum sums packed numbers in device memory: no planes, but 32-bit digits of the numbers' own words, shifted to
// their places and added in 64 bits (cuda/packed_sum.cu). It is not safe for concurrent use.
type PackedSum struct {
	device  *gpu.Device
	own     *gpu.Owner
	windows *deferred.Windows
	numbers *Numbers
	total   *gpu.Buffer[int64]
	result  *gpu.Pinned[int64]
	passes  []packedPass
	stream  *gpu.Stream
	events  [3]*gpu.Event
	clean   bool // the digits are zero, as they are after each computation that succeeds
}

// NewPackedSum copies p to the device and plans its sum.
func NewPackedSum(d *gpu.Device, p *deferred.Packed) (*PackedSum, error) {
	s := &PackedSum{device: d, windows: deferred.NewWindows(p)}
	if err := d.Make(s.prepare, s.free); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *PackedSum) prepare() (err error) {
	d := s.device
	if s.numbers, err = UploadPacked(d, s.windows.Numbers); err != nil {
		return err
	}
	s.own = d.NewOwner()
	s.total = gpu.Take[int64](s.own, s.windows.Digits())
	s.result = gpu.TakePinned[int64](s.own, s.windows.Digits())
	s.stream = s.own.Stream()
	s.own.Events(s.events[:])
	if err := s.own.Err(); err != nil {
		return err
	}
	s.passes, err = newPackedPasses(d, s.windows, s.numbers, s.total.Pointer(), s.stream)
	return err
}

// Windows returns how the sum is done.
func (s *PackedSum) Windows() *deferred.Windows { return s.windows }

// Sum returns the exact sum. With cold, the device's caches are emptied before, outside of the times.
func (s *PackedSum) Sum(cold bool) (*deferred.LimbSum, SumTimes, error) {
	var t SumTimes
	err := s.device.Do(func() error {
		if !s.clean {
			if err := s.total.Clear(s.stream); err != nil {
				return err
			}
		}
		s.clean = false
		if cold {
			if err := s.device.ColdCache(s.stream); err != nil {
				return err
			}
		}
		err := gpu.InTurn(
			func() error { return s.events[0].Record(s.stream) },
			s.launch,
			func() error { return s.events[1].Record(s.stream) },
			func() error { return s.total.DownloadAsync(s.stream, 0, s.result.Slice()) },
			func() error { return s.events[2].Record(s.stream) },
			func() error { return s.total.Clear(s.stream) },
			s.stream.Sync,
		)
		if err != nil {
			return err
		}
		var failures [2]error
		t.Kernel, failures[0] = gpu.Elapsed(s.events[0], s.events[1])
		t.Download, failures[1] = gpu.Elapsed(s.events[1], s.events[2])
		s.clean = true
		return errors.Join(failures[:]...)
	})
	if err != nil {
		return nil, SumTimes{}, err
	}
	return s.windows.Sum(s.result.Slice()), t, nil
}

func (s *PackedSum) launch() error {
	for _, p := range s.passes {
		if err := p.kernel.Launch(p.launch, p.parameters); err != nil {
			return err
		}
	}
	return nil
}

// Free gives the memory back; a nil sum has none.
func (s *PackedSum) Free() {
	if s != nil {
		// only a fault fails, and then the memory is lost with the context
		_ = s.device.Do(func() error { s.free(); return nil })
	}
}

func (s *PackedSum) free() {
	s.numbers.Free()
	s.own.Free()
}

// packedPass is one launch: what segments of the numbers add to the digits of a window.
type packedPass struct {
	kernel     *gpu.Kernel[cuda.SumPackedArgs]
	launch     gpu.Launch
	parameters cuda.SumPackedArgs
}

// packedShape is one of the kernels sumPacked...: a number is added up by so many lanes, with so many digits each; a
// lane brings so many words to a tile.
type packedShape struct{ lanes, digits, words int }

var packedShapes = []packedShape{{2, 2, 2}, {4, 2, 4}, {8, 2, 8}, {16, 2, 8}, {16, 4, 8}, {32, 3, 8}, {32, 4, 8},
	{32, 8, 4}}

const (
	warpLanes     = 32
	packedThreads = 512 // of a block, which never changes a result
	packedSteps   = 2   // of a warp, under way together
)

func (s packedShape) capacity() int { return s.lanes * s.digits }

// longest returns how many words of a number a tile has room for.
func (s packedShape) longest() int { return warpLanes * s.words }

// shapeFor returns the kernel with the least room for windows of so many digits and, where one has it, numbers of so
// many words.
func shapeFor(digits, width int) packedShape {
	digits = max(digits, min(2*width, deferred.WindowDigits))
	for _, s := range packedShapes {
		if digits <= s.capacity() {
			return s
		}
	}
	panic("deferredgpu: a window of too many digits")
}

// tile says how a warp takes n segments of so many words, of numbers of stride words, from memory.
func (s packedShape) tile(n, stride, width int) cuda.PackedNumbers {
	step := packedSteps * warpLanes / s.lanes // segments under way together
	count := 1
	if width == stride {
		count = min(warpLanes, s.longest()/width, n)
		if count > step {
			count -= count % step
		}
	}
	row := 2*width + s.digits + 1
	row += (6 - row%4) % 4 // 2 modulo 4: even, and rows start in different banks of the shared memory
	rows := (count + step - 1) / step * step
	area := max((rows+1)*row-2*width, 2*s.capacity())
	return cuda.PackedNumbers{Stride: uint32(stride), Width: uint32(width), Tile: uint32(count), Row: uint32(row),
		Area: uint32(area)}
}

// newPackedPasses plans the launches for all windows. Too long numbers are cut into several numbers.
func newPackedPasses(
	d *gpu.Device, windows *deferred.Windows, numbers *Numbers, total gpu.Pointer[int64], stream *gpu.Stream,
) ([]packedPass, error) {
	var passes []packedPass
	for _, w := range windows.Passes {
		shape := shapeFor(w.Digits, numbers.width)
		k, err := gpu.KernelOf[cuda.SumPackedArgs](d, "packed_sum", fmt.Sprintf("sumPacked%d", shape.capacity()))
		if err != nil {
			return nil, err
		}
		for from := 0; from < numbers.width; from += shape.longest() {
			width := min(numbers.width-from, shape.longest())
			low := w.Low - 64*int64(from) // the window as the segment sees it
			if w.Most+64*int64(width) <= low || w.Least >= low+32*int64(w.Digits) {
				continue
			}
			tile, n := shape.tile(w.To-w.From, numbers.width, width), w.To-w.From
			launch, err := packedLaunch(d, k, n, tile)
			if err != nil {
				return nil, err
			}
			launch.Stream = stream
			tile.Words = numbers.values.Pointer().At(w.From*numbers.width + from)
			tile.Exponents, tile.Low = numbers.exponents.Pointer().At(w.From), low
			tile.N, tile.Count = uint32(n), uint32(w.Digits)
			passes = append(passes, packedPass{k, launch, cuda.SumPackedArgs{
				Total: gpu.Pointer[uint64](total.At(w.At)), P: tile,
			}})
		}
	}
	return passes, nil
}

// packedLaunch returns as many blocks as the device runs at once, or fewer where there is too little for them.
func packedLaunch(
	d *gpu.Device, k *gpu.Kernel[cuda.SumPackedArgs], n int, tile cuda.PackedNumbers,
) (gpu.Launch, error) {
	const warps = packedThreads / warpLanes
	shared := warps * 4 * int(tile.Area)
	occupancy, err := k.Occupancy(packedThreads, shared)
	info := d.Info()
	blocks := info.Multiprocessors * int(occupancy*float64(info.ThreadsPerMP)/packedThreads+0.5)
	perBlock := warps * int(tile.Tile)
	return gpu.Launch{Grid: gpu.Dim{X: max(1, min(blocks, (n+perBlock-1)/perBlock))}, Block: gpu.Dim{X: packedThreads},
		Shared: shared}, err
}
