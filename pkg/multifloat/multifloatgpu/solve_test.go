package multifloatgpu_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"mpbench/pkg/device"
	"mpbench/pkg/format"
	"mpbench/pkg/gpu/gputest"
	"mpbench/pkg/krylov"
	"mpbench/pkg/method"
	"mpbench/pkg/multifloat"
	"mpbench/pkg/multifloat/multifloatgpu"
	"mpbench/pkg/numbers"
)

// TestILU: two iterations with ILU(0), of a matrix with rows of different lengths and with levels of few rows and of
// many, have the bits of the CPU in all formats. More systems are in TestILUOnGPU of package methods.
func TestILU(t *testing.T) {
	gputest.Sanitize(t)
	gpus := device.Must(gputest.Name(t))
	r := rand.New(rand.NewPCG(6, 6))
	const n = 150
	p, values := &numbers.Pattern{Start: []int{0}}, numbers.Float64s{}
	for i := range n {
		for _, j := range r.Perm(n)[:r.IntN(4)] {
			if j != i {
				p.Column, values = append(p.Column, int32(j)), append(values, r.Float64()-0.5)
			}
		}
		p.Column, values = append(p.Column, int32(i)), append(values, 4+r.Float64())
		p.Start = append(p.Start, len(values))
	}
	system := krylov.System{A: numbers.Sparse(values, n, p), B: vector(r, n, 53)}
	for _, f := range multifloat.Formats() {
		if testing.Short() && f.Scheme.Components > 4 && f.Scheme.Components < 8 {
			continue // nothing that others do not show
		}
		s := solver[float64](f)
		if f.Narrow {
			s = solver[float32](f)
		}
		o := krylov.Options{Tolerance: 1e-30, Iterations: 2, Precondition: krylov.ILU0}
		var results []krylov.Result
		for _, o.Devices = range []device.Set{{}, gpus} {
			result, err := s.Solve(context.Background(), 0, system, o)
			if err != nil {
				t.Fatal(f.Method, ": ", err)
			}
			results = append(results, result)
		}
		for i := range n {
			if x, y := numbers.At(results[0].X, i), numbers.At(results[1].X, i); !x.Equal(y) || x.Sign() == 0 {
				t.Fatalf("%s: unknown %d is %v, on the CPU %v", f.Method, i, y, x)
			}
		}
	}
}

// solver returns that of a format, on GPUs, too.
func solver[T multifloat.Float](f multifloat.Format) krylov.Solver {
	in := multifloat.In[T](f)
	type numbers = format.Format[multifloat.Vector[T], multifloat.Number[T]]
	s := krylov.Of(f.Method, in.Bits, 0, 0, func(method.Config) numbers { return in })
	return multifloatgpu.Solvers([]krylov.Solver{s})[0]
}
