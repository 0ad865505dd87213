package reduce

import (
	"mpbench/pkg/bound"
	"mpbench/pkg/device"
	"mpbench/pkg/exactsum"
	"mpbench/pkg/method"
	"mpbench/pkg/op"
)

// deferredMethods are the exact sum and the exact dot product, rounded once to nearest even at p bits.
func deferredMethods() []method.Method {
	base := method.Method{
		Name: "deferred", Format: "exact", Least: 24, Most: 1 << 16, Threads: true, Merges: true,
	}
	sum, dot := base, base
	sum.Operation, sum.Summary = op.Sum, "exact sum, rounded once to nearest even"
	sum.Bound = bound.New("u*|sum|, u = 2^-p: correctly rounded", "mpbench, package exactsum")
	sum.Streams = []device.Kind{device.CPU, device.CUDA, device.Hybrid}
	sum.On = map[device.Kind]method.New{device.CPU: exactsum.New()}
	dot.Operation, dot.Summary = op.Dot, "exact dot product, rounded once to nearest even"
	dot.Bound = bound.New("u*|x'y|, u = 2^-p: correctly rounded", "mpbench, package exactsum")
	dot.On = map[device.Kind]method.New{device.CPU: exactsum.New()}
	return []method.Method{sum, dot}
}
