package numbers

import "math"

// Magnitudes returns the magnitudes of the elements of an array: binary64 numbers in memory as a copy, others as they
// are read.
func (a Array) Magnitudes() Array {
	a = a.Tight()
	switch s := a.Source.(type) {
	case Float64s:
		x := make(Float64s, len(s))
		setMagnitudes(x, s)
		a.Source = x
	case Chunked:
		a.Source = chunkedMagnitudes{magnitudes{s}, s}
	default:
		a.Source = Quotients(magnitudes{s}, a.Denominator())
	}
	return a
}

func setMagnitudes(z, x []float64) {
	for i, v := range x {
		z[i] = math.Abs(v)
	}
}

// magnitudes are the magnitudes of numbers.
type magnitudes struct{ Source }

func (m magnitudes) Span(i int) Span {
	s := m.Source.Span(i)
	s.Neg = false
	return s
}

func (m magnitudes) Read(z *Number, i int) {
	m.Source.Read(z, i)
	z.Neg = false
}

// chunkedMagnitudes are those of numbers that are not in memory.
type chunkedMagnitudes struct {
	magnitudes
	chunked Chunked
}

func (m chunkedMagnitudes) ReadRun(x []float64, from int) error {
	err := m.chunked.ReadRun(x, from)
	setMagnitudes(x, x)
	return err
}
