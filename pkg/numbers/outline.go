package numbers

// Outline stands for numbers that are not there yet, neighbours in memory: what a problem is planned with. They read
// as 0.
type Outline struct {
	Count int
	Bytes int // of a number, at least; 8 for binary64
}

// Len returns how many numbers there will be.
func (o Outline) Len() int { return o.Count }

// Span returns that of 0.
func (o Outline) Span(int) Span { return Span{} }

// Read sets z to 0.
func (o Outline) Read(z *Number, _ int) { z.Class, z.Neg, z.Words = Zero, false, z.Words[:0] }

// Bytes returns how many bytes of memory the numbers of an array take at least, with those that are no elements.
func (a Array) Bytes() int64 {
	source := a.Source
	if q, ok := source.(*quotients); ok {
		source = q.Source
	}
	switch s := source.(type) {
	case nil, Chunked:
		return 0
	case Outline:
		return int64(s.Count) * int64(s.Bytes)
	case *triangle:
		return s.matrix.Bytes()
	}
	return 8 * int64(source.Len())
}
