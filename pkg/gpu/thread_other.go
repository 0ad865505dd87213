//go:build !linux && !windows

package gpu

// threadID returns 0: the number of the calling thread is not known, and systems without a CUDA driver need none.
func threadID() int64 { return 0 }
