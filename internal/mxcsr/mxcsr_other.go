//go:build !amd64

// Package mxcsr reads and sets the control register of floating-point arithmetic on amd64; elsewhere there is none.
package mxcsr

// The bits that change results.
const (
	DenormalsAreZero = 1 << 6
	RoundDown        = 1 << 13
	RoundUp          = 2 << 13
	RoundToZero      = 3 << 13
	FlushToZero      = 1 << 15
)

// Default is the register's value in a Go program.
const Default = 0x1f80

// Supported tells that the register exists.
const Supported = false

// Read returns Default.
func Read() uint32 { return Default }

// Set does nothing.
func Set(uint32) {}
