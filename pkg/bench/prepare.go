package bench

import (
	"mpbench/pkg/gemv"
	"mpbench/pkg/reduce"
)

// Operation is a computation whose data are loaded, to be timed beside another (RatioSampler).
type Operation struct {
	Run    func()
	engine any // that Run belongs to; those of devices have errors and memory
}

// Err returns the error of a device that failed during Run, whose times then mean nothing.
func (o Operation) Err() error {
	if e, ok := o.engine.(interface{ Err() error }); ok {
		return e.Err()
	}
	return nil
}

// Close gives a device's memory back.
func (o Operation) Close() error {
	switch e := o.engine.(type) {
	case interface{ Close() error }:
		return e.Close()
	case interface{ Close() }:
		e.Close()
	}
	return nil
}

// PrepareSum loads a data set into a method. Its errors are those of MeasureSum.
func PrepareSum(m reduce.Method, o reduce.Options, in SumInput) (Operation, error) {
	summer, err := m.New(o)
	if err != nil {
		return Operation{}, err
	}
	if err := checkMemory(m.Name, in.Data.N, summer.Format().TermBytes); err != nil {
		return Operation{}, err
	}
	return Operation{summer.Sum, summer}, summer.Load(reduce.Terms{Float64: in.Data.Float64, Wide: in.Data.Wide})
}

// PrepareDot is as PrepareSum, of a dot product.
func PrepareDot(m reduce.Method, o reduce.Options, in DotInput) (Operation, error) {
	dotter, err := m.NewDot(o)
	if err != nil {
		return Operation{}, err
	}
	if err := checkMemory(m.Name, in.X.Len(), dotter.Format().TermBytes); err != nil {
		return Operation{}, err
	}
	return Operation{dotter.Dot, dotter}, dotter.Load(in.X, in.Y)
}

// PrepareGemv is as PrepareSum, of a matrix-vector product.
func PrepareGemv(m gemv.Method, o gemv.Options, in GemvInput) (Operation, error) {
	engine, err := m.New(withMemory(o))
	if err != nil {
		return Operation{}, err
	}
	return Operation{engine.Run, engine}, engine.Load(in.Problem)
}
