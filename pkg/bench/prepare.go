package bench

import (
	"mpbench/pkg/gemv"
	"mpbench/pkg/reduce"
)

// PrepareSum loads a data set into a method and returns its Sum, to be timed beside another (RatioSampler). Its errors are those
// of MeasureSum.
func PrepareSum(m reduce.Method, o reduce.Options, in SumInput) (func(), error) {
	summer, err := m.New(o)
	if err != nil {
		return nil, err
	}
	if err := checkMemory(m.Name, in.Data.N, summer.Format().TermBytes); err != nil {
		return nil, err
	}
	return summer.Sum, summer.Load(reduce.Terms{Float64: in.Data.Float64, Wide: in.Data.Wide})
}

// PrepareDot is as PrepareSum, of a dot product.
func PrepareDot(m reduce.Method, o reduce.Options, in DotInput) (func(), error) {
	dotter, err := m.NewDot(o)
	if err != nil {
		return nil, err
	}
	if err := checkMemory(m.Name, in.X.Len(), dotter.Format().TermBytes); err != nil {
		return nil, err
	}
	return dotter.Dot, dotter.Load(in.X, in.Y)
}

// PrepareGemv is as PrepareSum, of a matrix-vector product.
func PrepareGemv(m gemv.Method, o gemv.Options, in GemvInput) (func(), error) {
	engine, err := m.New(withMemory(o))
	if err != nil {
		return nil, err
	}
	return engine.Run, engine.Load(in.Problem)
}
