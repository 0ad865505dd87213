package reduce

import (
	"errors"
	"fmt"
	"slices"

	"mpbench/pkg/rns"
)

// ErrOption is wrapped by every error about an option that a method cannot work with.
var ErrOption = errors.New("reduce")

const (
	sourcePaper2018 = "Isupov, Knyazkov, Kuvaev 2018, DOI 10.23683/2311-3103-2018-8-191-203"
	sourceHigham    = "Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., section 4.2"
)

// Devices that methods run on: the CPU, and GPUs by the driver's API.
var (
	cpuOnly  = []string{"cpu"}
	cudaOnly = []string{"cuda"}
	anywhere = []string{"cpu", "cuda", "cpu+cuda"}
)

// methods is the registry, in the order in which tables show it.
var methods = withDeviceChecks([]Method{
	{
		Name: "float32", Summary: "recursive summation in binary32", Format: "binary32", Devices: cpuOnly,
		FixedBits: 24, Bound: "g(n-1)*S' + (S' - S), u = 2^-24, S' = (1+u)S", Source: sourceHigham,
		New: func(Options) (Summer, error) { return &recursive32{}, nil },
	},
	{
		Name: "float64", Summary: "recursive summation in binary64", Format: "binary64", Devices: cpuOnly,
		FixedBits: 53, Bound: "g(n-1)*S, u = 2^-53", Source: sourceHigham,
		New:      func(Options) (Summer, error) { return &recursive64{}, nil },
		DotBound: "g(n)*S + n*2^-1074, u = 2^-53", NewDot: func(Options) (Dotter, error) { return &dot64{}, nil },
	},
	{
		Name: "kahan", Summary: "compensated summation (Kahan)", Format: "binary64", Devices: cpuOnly,
		FixedBits: 53, Bound: "(3u + 12(n+1)u^2)*S, u = 2^-53", Source: "Kahan, Comm. ACM 8 (1965) 40, DOI 10.1145/363707.363723",
		New: func(Options) (Summer, error) { return &kahan{}, nil },
	},
	{
		Name: "neumaier", Summary: "compensated summation (Neumaier, Sum2)", Format: "binary64", Devices: cpuOnly,
		FixedBits: 53, Bound: "u*|sum| + g(n-1)^2*S, u = 2^-53", Source: "Neumaier, ZAMM 54 (1974) 39-51; Ogita, Rump, Oishi 2005, proposition 4.5",
		New: func(Options) (Summer, error) { return &neumaier{}, nil },
	},
	{
		Name: "dot2", Summary: "compensated dot product (Dot2), as if in twice the precision", Format: "binary64", Devices: cpuOnly,
		FixedBits: 53, Source: "Ogita, Rump, Oishi, SIAM J. Sci. Comput. 26 (2005) 1955-1988, DOI 10.1137/030601818",
		DotBound: "u*|x'y| + g(n)^2*S + 5n*2^-1074, u = 2^-53", NewDot: func(Options) (Dotter, error) { return &dot2{}, nil },
	},
	{
		Name: "bigfloat", Summary: "recursive summation with math/big.Float", Format: "big.Float", Devices: cpuOnly,
		MinPrecision: 2, MaxPrecision: 1 << 16, Bound: "g(n-1)*S, u = 2^-p", Source: sourceHigham, New: newBigFloat,
		DotBound: "g(n)*S, u = 2^-p", NewDot: newBigDot,
	},
	{
		Name: "deferred", Summary: "exact sum, rounded once to nearest even", Format: "exact", Devices: anywhere,
		MinPrecision: minDeferred, MaxPrecision: 1 << 16, Bound: "u*|sum|, u = 2^-p: correctly rounded", Source: sourceDeferred, New: newDeferred, NewStream: newDeferredStream,
		DotBound: "u*|x'y|, u = 2^-p: correctly rounded", NewDot: newDeferredDot, DotDevices: anywhere,
	},
	{
		Name: "reduce1", Summary: "recursive summation of RNS numbers", Format: "rns", Devices: cpuOnly,
		MinPrecision: rns.MinPrecision, MaxPrecision: rns.MaxPrecision, Bound: "g(n-1)*S, u = 2^(1-p)", Source: sourcePaper2018, New: newReduce1,
		DotBound: "g(n)*S, u = 2^(1-p)", NewDot: newRNSDot("reduce1"),
	},
	{
		Name: "reduce2", Summary: "pairwise summation of RNS numbers", Format: "rns", Devices: cpuOnly,
		MinPrecision: rns.MinPrecision, MaxPrecision: rns.MaxPrecision, Bound: "g(ceil(log2 n))*S, u = 2^(1-p)", Source: sourcePaper2018, New: newReduce2,
		DotBound: "g(1 + ceil(log2 n))*S, u = 2^(1-p)", NewDot: newRNSDot("reduce2"),
	},
	{
		Name: "reduce3", Summary: "block-parallel summation of RNS numbers", Format: "rns", Devices: []string{"cpu", "cuda"},
		MinPrecision: rns.MinPrecision, MaxPrecision: rns.MaxPrecision, Bound: "g(d)*S, d = depth of the grid, u = 2^(1-p)", Source: sourcePaper2018, New: newReduce3,
		DotBound: "g(1 + d)*S, d = depth of the grid, u = 2^(1-p)", NewDot: newRNSDot("reduce3"),
	},
	{
		Name: "reduce1s", Summary: "reduce1 by one GPU thread", Format: "rns", Devices: cudaOnly,
		MinPrecision: rns.MinPrecision, MaxPrecision: rns.MaxPrecision, Bound: "g(n-1)*S, u = 2^(1-p)", Source: sourcePaper2018, New: newReduce1On(false),
	},
	{
		Name: "reduce1p", Summary: "reduce1 by one GPU block, a thread for each residue", Format: "rns", Devices: cudaOnly,
		MinPrecision: rns.MinPrecision, MaxPrecision: rns.MaxPrecision, Bound: "g(n-1)*S, u = 2^(1-p)", Source: sourcePaper2018, New: newReduce1On(true),
	},
	{
		Name: "reduce2s", Summary: "reduce2 by one GPU thread", Format: "rns", Devices: cudaOnly,
		MinPrecision: rns.MinPrecision, MaxPrecision: rns.MaxPrecision, Bound: "g(ceil(log2 n))*S, u = 2^(1-p)", Source: sourcePaper2018, New: newReduce2On(false),
	},
	{
		Name: "reduce2p", Summary: "reduce2 by one GPU block, a thread for each residue", Format: "rns", Devices: cudaOnly,
		MinPrecision: rns.MinPrecision, MaxPrecision: rns.MaxPrecision, Bound: "g(ceil(log2 n))*S, u = 2^(1-p)", Source: sourcePaper2018, New: newReduce2On(true),
	},
	{
		Name: "reduce3p", Summary: "reduce3 on a GPU, every addition by a group of threads", Format: "rns", Devices: cudaOnly,
		MinPrecision: rns.MinPrecision, MaxPrecision: rns.MaxPrecision, Bound: "g(d)*S, d = depth of the grid, u = 2^(1-p)", Source: sourcePaper2018, New: newReduce3On(true),
	},
})

// Methods returns the methods for sums, in the order in which tables show them.
func Methods() []Method {
	return slices.DeleteFunc(slices.Clone(methods), func(m Method) bool { return m.New == nil })
}

// DotMethods returns the methods for dot products, in the order in which tables show them.
func DotMethods() []Method {
	return slices.DeleteFunc(slices.Clone(methods), func(m Method) bool { return m.NewDot == nil })
}

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
