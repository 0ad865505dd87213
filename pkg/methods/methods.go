// Package methods is the table of all methods on all devices: the only package that imports all of them.
package methods

import (
	"slices"
	"strings"

	"mpbench/pkg/device"
	"mpbench/pkg/digits"
	"mpbench/pkg/digits/digitsgpu"
	"mpbench/pkg/exactsum"
	"mpbench/pkg/gemv"
	"mpbench/pkg/gpu"
	"mpbench/pkg/method"
	"mpbench/pkg/multifloat"
	"mpbench/pkg/multifloat/multifloatgpu"
	"mpbench/pkg/op"
	"mpbench/pkg/peer"
	"mpbench/pkg/reduce"
	"mpbench/pkg/rns/deferred/deferredgpu"
	"mpbench/pkg/rns/rnsgpu"
	"mpbench/pkg/sparse"
	"mpbench/pkg/superacc/superaccgpu"
)

// All returns the table. A package of methods is one line here; a GPU version of a method another.
func All() method.Catalog {
	c := method.Catalog(slices.Concat(reduce.Methods(), rnsgpu.Methods(), gemv.Methods(), sparse.Methods(),
		multifloat.Methods(), digits.Methods(), peer.Methods()))
	c = digitsgpu.On(multifloatgpu.OnBinary(multifloatgpu.On(c))).
		With(op.Spmv, "float64", device.CUDA, multifloatgpu.NewFloat64Rows).
		With(op.Sum, "deferred", device.CUDA, exactOn).
		With(op.Dot, "deferred", device.CUDA, exactOn).
		With(op.Asum, "deferred", device.CUDA, exactOn).
		With(op.Sum, "reduce3", device.CUDA, rnsgpu.NewBlockSum(false)).
		With(op.Dot, "reduce3", device.CUDA, rnsgpu.NewBlockSum(false)).
		With(op.Gemv, "rns-basic", device.CUDA, rnsgpu.NewBasic).
		With(op.Gemv, "rns-split", device.CUDA, rnsgpu.NewSplit).
		With(op.Gemv, "deferred", device.CUDA, deferredgpu.NewGemv).
		With(op.Gemm, "deferred", device.CUDA, deferredgpu.NewGemm)
	sum, _ := c.Lookup(op.Sum, "deferred")
	return c.With(op.Sum, "deferred", device.Hybrid, sharedUnlessStreamed(sum))
}

// exactOn is exact sums on GPUs, of binary64 numbers and of wider ones.
var exactOn = exactsum.NewOn(recordNames, slices.Concat(superaccgpu.Ways(), deferredgpu.Ways())...)

// recordNames returns the devices as records have them.
func recordNames(c method.Config) (string, error) {
	var names []string
	for _, m := range c.Devices.Members() {
		name := m.String()
		if m.Kind == device.CUDA {
			d, err := gpu.Open(m.Index)
			if err != nil {
				return "", err
			}
			name = d.RecordName()
		}
		names = append(names, name)
	}
	return strings.Join(names, "+"), nil
}

// sharedUnlessStreamed lets devices share a sum; of numbers that are streamed, each takes the next ones when it has
// time.
func sharedUnlessStreamed(m method.Method) method.New {
	return func(c method.Config) (method.Engine, error) {
		if c.Stream {
			return exactOn(c)
		}
		return method.NewShared(m, c)
	}
}
