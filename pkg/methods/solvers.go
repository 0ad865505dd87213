package methods

import (
	"mpbench/pkg/format"
	"mpbench/pkg/krylov"
	"mpbench/pkg/method"
	"mpbench/pkg/multifloat"
	"mpbench/pkg/multifloat/multifloatgpu"
	"mpbench/pkg/superacc"
)

// Solvers are those of linear systems, in all formats.
func Solvers() []krylov.Solver {
	single := krylov.Of("float32", 24, 0, 0, func(method.Config) format.Format[[]float32, float32] {
		return format.Binary32
	})
	double := krylov.Of("float64", 53, 0, 0, func(method.Config) format.Format[[]float64, float64] {
		return format.Binary64
	})
	single.Parallel, double.Parallel = "float32-lanes", "float64-lanes"
	list := []krylov.Solver{
		single, double,
		krylov.Of("deferred", 53, 0, 0, func(method.Config) format.Format[[]float64, float64] { return exactDots() }),
		WideSolver(),
	}
	for _, f := range multifloat.Formats() {
		if f.Narrow {
			list = append(list, ofMultifloat[float32](f))
		} else {
			list = append(list, ofMultifloat[float64](f))
		}
	}
	return multifloatgpu.Solvers(append(list, refined()...))
}

// refined are solvers in binary64 whose solutions are refined in double-double.
func refined() (list []krylov.Solver) {
	for _, f := range multifloat.Formats() {
		if f.Scheme.DoubleWord && f.Packing == nil {
			in := multifloat.In[float64](f)
			list = append(list, krylov.Refined("refined", in, false), krylov.Refined("refined-exact", in, true))
		}
	}
	return list
}

func ofMultifloat[T multifloat.Float](f multifloat.Format) krylov.Solver {
	in := multifloat.In[T](f)
	type numbers = format.Format[multifloat.Vector[T], multifloat.Number[T]]
	return krylov.Of(f.Method, in.Bits, 0, 0, func(method.Config) numbers { return in })
}

// WideSolver works at any precision.
func WideSolver() krylov.Solver { return krylov.Of("bigfloat", 0, 2, 1<<16, format.BigFloat) }

// exactDots is binary64 with dot products that are exact until they are rounded once.
func exactDots() format.Format[[]float64, float64] {
	f := format.Binary64
	f.Name = "binary64, exact dot products"
	f.Dot = func(x, y []float64) float64 {
		var sum superacc.Accumulator
		sum.AddProducts(x, y)
		return sum.Float64()
	}
	return f
}
