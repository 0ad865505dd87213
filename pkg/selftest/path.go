package selftest

import (
	"mpbench/pkg/rns"
	"mpbench/pkg/rns/deferred"
	"mpbench/pkg/superacc"
)

// VectorPath names the vector instructions that the packages use, "none" for plain Go: what all of them use, or a
// list.
func VectorPath() string {
	a, b, c := rns.SIMD(), superacc.SIMD(), deferred.SIMD()
	if a == b && b == c {
		return a
	}
	return a + "/" + b + "/" + c
}
