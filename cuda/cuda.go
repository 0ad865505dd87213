// Package cuda has the structs that the kernels beside it are given, as the kernels' compiler lays them out: cuda/gen
// makes them of the sources. README.md lists the kernels.
package cuda

import "unsafe"

// Pointer is an address in device memory, of elements that are laid out as T.
type Pointer[T any] uint64

// At returns the address of element i.
func (p Pointer[T]) At(i int) Pointer[T] {
	var element T
	return p + Pointer[T](i)*Pointer[T](unsafe.Sizeof(element))
}
