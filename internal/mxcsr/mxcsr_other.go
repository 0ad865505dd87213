//go:build !amd64

package mxcsr

// Supported tells that the register exists.
const Supported = false

// Read returns Default.
func Read() uint32 { return Default }

// Set does nothing.
func Set(uint32) {}
