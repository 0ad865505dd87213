// Package superaccgpu sums binary64 numbers, and products of two of them, exactly on GPUs: what package superacc does
// on the CPU, with the same bits.
//
// An [Engine] holds the kernels of cuda/sum.cu and an exact sum in device memory, [superacc.Digits], to which launches
// add. The sum of several launches, chunks or devices is the sum of their digits, which are integers: no order and no
// partition changes a bit. It is rounded on the host.
//
// A [Streamer] is for numbers in host memory or in files, of any size: chunks go through pinned buffers on two
// streams, so that reading, copying and summing overlap; processors can take part, all of them taking chunks from one
// counter until none is left. A [Vector] is for numbers that stay in device memory.
package superaccgpu

import (
	"fmt"

	"mpbench/cuda"
	"mpbench/pkg/gpu"
	"mpbench/pkg/superacc"
)

// blockThreads is the number of threads of a block, or less where that would need too much shared memory; any multiple
// of 32 up to 640 gives the same sums. With 320, two blocks fill the shared memory of a multiprocessor of an H200.
const blockThreads = 320

// warpBytes is the shared memory of a warp: its digits, and those of its lanes, laneBytes of cuda/warp_sum.cuh.
const warpBytes = 4*superacc.DigitCount + 8*32*41

// Engine is an exact sum in device memory with the kernels that add to it. Its methods must be called on the device's
// thread, that is inside gpu.Device.Do, by one goroutine at a time.
type Engine struct {
	own    *gpu.Owner
	sum    *gpu.Kernel[cuda.SumFloat64Args]
	dot    *gpu.Kernel[cuda.DotFloat64Args]
	total  *gpu.Buffer[superacc.Digits]
	result *gpu.Pinned[superacc.Digits]

	threads              int // of a block
	sumBlocks, dotBlocks int // that the device holds at a time
}

// NewEngine prepares an empty sum.
func NewEngine(d *gpu.Device) (*Engine, error) { return newEngine(d, blockThreads) }

func newEngine(d *gpu.Device, threads int) (*Engine, error) {
	e := &Engine{own: d.NewOwner(), threads: min(threads, d.Info().SharedPerBlock/warpBytes*32)}
	if e.threads == 0 {
		return nil, fmt.Errorf("%s has %d bytes of shared memory a block; sums need %d", d.Name(), d.Info().SharedPerBlock,
			warpBytes)
	}
	e.sum = gpu.FindKernel[cuda.SumFloat64Args](e.own, "sum", "sumFloat64")
	e.dot = gpu.FindKernel[cuda.DotFloat64Args](e.own, "sum", "dotFloat64")
	e.total = gpu.Take[superacc.Digits](e.own, 1)
	e.result = gpu.TakePinned[superacc.Digits](e.own, 1)
	err := e.own.Err()
	if err != nil {
		return nil, err
	}
	if e.sumBlocks, err = resident(d, e.sum, e.threads); err != nil {
		return nil, err
	}
	if e.dotBlocks, err = resident(d, e.dot, e.threads); err != nil {
		return nil, err
	}
	if err := e.Clear(nil); err != nil {
		return nil, err
	}
	return e, d.Sync()
}

// resident returns how many blocks of the kernel the device holds at a time.
func resident[P any](d *gpu.Device, k *gpu.Kernel[P], threads int) (int, error) {
	occupancy, err := k.Occupancy(threads, threads/32*warpBytes)
	info := d.Info()
	return max(1, info.Multiprocessors*int(occupancy*float64(info.ThreadsPerMP)/float64(threads)+0.5)), err
}

// Free gives the engine's memory back.
func (e *Engine) Free() {
	if e != nil {
		e.own.Free()
	}
}

// Clear makes the sum empty, in the stream.
func (e *Engine) Clear(s *gpu.Stream) error { return e.total.Clear(s) }

func (e *Engine) launch(s *gpu.Stream, n, blocks int) gpu.Launch {
	pairs := n / 2
	blocks = max(1, min(blocks, (pairs+e.threads-1)/e.threads))
	return gpu.Launch{Grid: gpu.Dim{X: blocks}, Block: gpu.Dim{X: e.threads}, Shared: e.threads / 32 * warpBytes,
		Stream: s}
}

// Sum puts into the stream: add the n numbers at x, a multiple of 16.
func (e *Engine) Sum(s *gpu.Stream, x gpu.Pointer[float64], n int) error {
	if n == 0 {
		return nil
	}
	return e.sum.Launch(e.launch(s, n, e.sumBlocks), cuda.SumFloat64Args{
		Total: words(e.total.Pointer()), X: words(x), N: uint64(n),
	})
}

// Dot puts into the stream: add the n products of the numbers at x and y, multiples of 16.
func (e *Engine) Dot(s *gpu.Stream, x, y gpu.Pointer[float64], n int) error {
	if n == 0 {
		return nil
	}
	return e.dot.Launch(e.launch(s, n, e.dotBlocks), cuda.DotFloat64Args{
		Total: words(e.total.Pointer()), X: words(x), Y: words(y), N: uint64(n),
	})
}

// words is an address of 64-bit words, as kernels read numbers and digits.
func words[T any](p gpu.Pointer[T]) gpu.Pointer[uint64] { return gpu.Pointer[uint64](p) }

// Fetch puts into the stream: copy the sum to the host. It is there, in Digits, once the stream is waited for.
func (e *Engine) Fetch(s *gpu.Stream) error { return e.total.DownloadAsync(s, 0, e.result.Slice()) }

// Digits returns what Fetch copied.
func (e *Engine) Digits() *superacc.Digits { return &e.result.Slice()[0] }
