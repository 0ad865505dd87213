// Package testkernels has kernels that tests and benchmarks alone launch. The program does not hold them.
package testkernels

import (
	"embed"

	"mpbench/cuda/ptx"
)

//go:embed *.ptx.gz
var files embed.FS

// Kernels are all of them.
var Kernels = ptx.Set{Files: files}
