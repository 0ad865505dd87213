package deferredgpu

import (
	"fmt"

	"mpbench/cuda"
	"mpbench/pkg/gpu"
	"mpbench/pkg/rns/deferred"
)

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

// shapeFor returns the kernel with the least room for a window of so many digits and, where one has it, for numbers of
// so many words.
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

// newPackedPasses plans the launches for all windows. Numbers too long for a tile are cut into segments, each a number
// of its own.
func newPackedPasses(
	d *gpu.Device, windows *deferred.Windows, numbers *Numbers, total gpu.Pointer[int64], stream *gpu.Stream,
) ([]packedPass, error) {
	var passes []packedPass
	for _, w := range windows.Passes {
		shape := shapeFor(w.Digits, numbers.width)
		k, err := kernel[cuda.SumPackedArgs](d, "packed_sum", fmt.Sprintf("sumPacked%d", shape.capacity()))
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
