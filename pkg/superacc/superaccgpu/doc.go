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
