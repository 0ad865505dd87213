//go:build !windows

package gpu

// libraryNames are where the driver's library is looked for.
var libraryNames = []string{"libcuda.so.1", "libcuda.so"}
