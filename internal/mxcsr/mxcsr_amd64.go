package mxcsr

// Supported tells that the register exists.
const Supported = true

// Read returns the register of the calling thread.
//
//go:noescape
func Read() uint32

// Set changes the register of the calling thread, which must be locked (runtime.LockOSThread).
//
//go:noescape
func Set(word uint32)
