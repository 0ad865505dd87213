package deferred

import "unsafe"

const alignment = 64 // bytes of a cache line and of an AVX-512 register

// alignedUint32 returns n zeros beginning at a multiple of 64 bytes.
func alignedUint32(n int) []uint32 {
	buffer := make([]uint32, n+alignment/4)
	skip := (alignment - int(uintptr(unsafe.Pointer(unsafe.SliceData(buffer)))%alignment)) % alignment / 4
	return buffer[skip : skip+n : skip+n]
}
