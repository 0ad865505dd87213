package selftest

import (
	"mpbench/pkg/expansion"
	"mpbench/pkg/rns"
	"mpbench/pkg/rns/deferred"
)

// VectorPath names the vector instructions that the packages use, "none" for plain Go: what all of them use, or a list.
func VectorPath() string {
	a, b, c := rns.SIMD(), expansion.SIMD(), deferred.SIMD()
	if a == b && b == c {
		return a
	}
	return a + "/" + b + "/" + c
}
