// Package mxcsr reads and sets the control register of floating-point arithmetic on amd64: rounding mode,
// flush-to-zero and denormals-are-zero. It belongs to a thread; a library that is loaded into the process can change
// it. On other processors there is none.
package mxcsr

// The bits that change results.
const (
	DenormalsAreZero = 1 << 6
	RoundDown        = 1 << 13
	RoundUp          = 2 << 13
	RoundToZero      = 3 << 13
	FlushToZero      = 1 << 15
)

// Default is the register's value in a Go program: nearest even, subnormal numbers as they are, exceptions masked.
const Default = 0x1f80
