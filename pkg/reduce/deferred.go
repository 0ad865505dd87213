package reduce

import (
	"mpbench/pkg/bound"
	"mpbench/pkg/device"
	"mpbench/pkg/exactsum"
	"mpbench/pkg/method"
	"mpbench/pkg/op"
)

// deferredMethods are exact sums and dot products, rounded once to nearest even at p bits.
func deferredMethods() []method.Method {
	base := method.Method{
		Name: "deferred", Format: "exact", Least: 24, Most: 1 << 16, Threads: true, Merges: true, Exact: true,
	}
	sum, dot, asum, nrm2 := base, base, base, base
	sum.Operation, sum.Summary = op.Sum, "exact sum, rounded once to nearest even"
	sum.Bound = bound.New("u*|sum|, u = 2^-p: correctly rounded", "mpbench, package exactsum")
	sum.Streams = []device.Kind{device.CPU, device.CUDA, device.Hybrid}
	sum.On = map[device.Kind]method.New{device.CPU: exactsum.New()}
	dot.Operation, dot.Summary = op.Dot, "exact dot product, rounded once to nearest even"
	dot.Bound = bound.New("u*|x'y|, u = 2^-p: correctly rounded", "mpbench, package exactsum")
	dot.On = map[device.Kind]method.New{device.CPU: exactsum.New()}
	asum.Operation, asum.Summary = op.Asum, "exact sum of magnitudes, rounded once to nearest even"
	asum.Bound = bound.New("u*|sum|, u = 2^-p: correctly rounded", "mpbench, package exactsum")
	asum.Streams = []device.Kind{device.CPU}
	asum.On = map[device.Kind]method.New{device.CPU: exactsum.New()}
	nrm2.Operation, nrm2.Summary = op.Nrm2, "root of the exact sum of squares, rounded once to nearest even"
	nrm2.Bound = bound.New("u*|s|, u = 2^-p: correctly rounded", "mpbench, package exactsum")
	nrm2.On = map[device.Kind]method.New{device.CPU: exactsum.New()}
	return []method.Method{sum, dot, asum, nrm2}
}
