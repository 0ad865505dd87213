//go:build !amd64 || noasm

package primer

// vectorized replaces nothing: there are no loops of vector registers.
func vectorized(any) {}
