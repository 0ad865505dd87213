package gemv

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"mpbench/pkg/gpu"
	"mpbench/pkg/rns"
)

// ErrOption is wrapped by every error about an option that a method cannot work with.
var ErrOption = errors.New("gemv")

const sourcePaper2020 = "Isupov, Knyazkov 2020, DOI 10.25209/2079-3316-2020-11-3-61-84"

var (
	cpuOnly   = []string{"cpu"}
	cpuOrCUDA = []string{"cpu", "cuda"}
	anywhere  = []string{"cpu", "cuda", "cpu+cuda"}
)

// methods is the registry, in the order in which tables show it.
var methods = checkingDevices([]Method{
	{
		Name: "float64", Summary: "gonum's Dgemv in binary64", Format: "binary64", Devices: cpuOnly,
		FixedBits: 53, Bound: "g(n+2)*S + underflow, u = 2^-53", Source: "gonum.org/v1/gonum/blas/blas64", New: newFloat64,
	},
	{
		Name: "bigfloat", Summary: "row by row with math/big.Float", Format: "big.Float", Devices: cpuOnly,
		MinPrecision: 2, MaxPrecision: 1 << 16, Bound: "g(n+2)*S, u = 2^-p", Source: sourcePaper2020 + ", section 5", New: newBigFloat,
	},
	{
		Name: "rns-basic", Summary: "row by row, one RNS operation after another", Format: "rns", Devices: cpuOrCUDA,
		MinPrecision: rns.MinPrecision, MaxPrecision: rns.MaxPrecision, Bound: "g(n+2)*S, u = 2^(1-p)",
		Source: sourcePaper2020 + ", section 6.2", New: newBasic,
	},
	{
		Name: "rns-split", Summary: "operations on arrays in parts: signs, exponents, intervals; residues; rounding; then sums", Format: "rns", Devices: cpuOrCUDA,
		MinPrecision: rns.MinPrecision, MaxPrecision: rns.MaxPrecision, Bound: "g(ceil(n/B)+ceil(log2 B)+2)*S, u = 2^(1-p), B numbers side by side",
		Source: sourcePaper2020 + ", algorithm 1", New: newSplit,
	},
	{
		Name: "deferred", Summary: "exact sums of products in residues, rounded once", Format: "residues", Devices: anywhere,
		MinPrecision: 2, MaxPrecision: 1 << 16, Bound: "u*|y|, u = 2^-p: correctly rounded", Source: "own, mpbench/pkg/rns/deferred", New: newDeferred,
	},
})

// checkingDevices lets New refuse devices that a method does not have.
func checkingDevices(list []Method) []Method {
	for i, m := range list {
		list[i].New = func(o Options) (Engine, error) {
			if !m.RunsOn(o.Device) {
				return nil, fmt.Errorf("%w: %s does not run on device %s; it runs on %s", ErrOption, m.Name, o.Device, strings.Join(m.Devices, ", "))
			}
			return m.New(o)
		}
	}
	return list
}

// RunsOn tells whether the method runs on a device of that name; "" is the CPU.
func (m Method) RunsOn(device string) bool {
	kind := device
	if device == "" {
		kind = "cpu"
	}
	if name, hybrid := strings.CutPrefix(device, hybridPrefix); hybrid || isGPU(device) {
		if _, ok := gpu.ParseName(name); !ok {
			return false
		}
		kind = "cuda"
		if hybrid {
			kind = hybridPrefix + kind
		}
	}
	return slices.Contains(m.Devices, kind)
}

// Methods returns all methods, in the order in which tables show them.
func Methods() []Method { return slices.Clone(methods) }

// Lookup returns the method of a name.
func Lookup(name string) (Method, bool) {
	i := slices.IndexFunc(methods, func(m Method) bool { return m.Name == name })
	if i < 0 {
		return Method{}, false
	}
	return methods[i], true
}

// Accepts returns an error that wraps ErrOption if the method cannot work at the precision p.
// Methods of a fixed format accept any.
func (m Method) Accepts(p int) error {
	if m.FixedBits == 0 && (p < m.MinPrecision || p > m.MaxPrecision) {
		return fmt.Errorf("%w: precision %d is outside the range of %s, %d to %d bits", ErrOption, p, m.Name, m.MinPrecision, m.MaxPrecision)
	}
	return nil
}
