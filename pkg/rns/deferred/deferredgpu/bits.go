package deferredgpu

import "unsafe"

// float64Bits returns the numbers as words, sharing memory.
func float64Bits(x []float64) []uint64 {
	if len(x) == 0 {
		return nil
	}
	return unsafe.Slice((*uint64)(unsafe.Pointer(&x[0])), len(x))
}
