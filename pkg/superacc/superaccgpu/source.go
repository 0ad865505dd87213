package superaccgpu

// Source is an array of numbers in host memory or in a file. Its methods may be called by several goroutines at once.
type Source interface {
	// Len returns how many numbers there are.
	Len() int
	// Read sets x to the numbers from number `from` on.
	Read(x []float64, from int) error
}

// Slice is a Source in host memory.
type Slice []float64

// Len implements Source.
func (s Slice) Len() int { return len(s) }

// Read implements Source.
func (s Slice) Read(x []float64, from int) error {
	copy(x, s[from:])
	return nil
}

// terms returns n numbers of a source, where they are if it is a Slice, otherwise in buffer.
func terms(s Source, buffer *[]float64, from, n int) ([]float64, error) {
	if x, ok := s.(Slice); ok {
		return x[from : from+n], nil
	}
	if cap(*buffer) < n {
		*buffer = make([]float64, n)
	}
	x := (*buffer)[:n]
	return x, s.Read(x, from)
}
