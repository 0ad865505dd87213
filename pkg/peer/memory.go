package peer

import "unsafe"

// at returns the address of a slice on Go's heap, where nothing is moved. The caller keeps the slice alive beyond the
// call that gets the address.
func at[T any](x []T) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(x))) }

// pointer makes an address of C's memory a pointer.
func pointer(address uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&address)) }
