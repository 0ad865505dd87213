package numbers

import "sort"

// joined are the numbers of sources, one after the other.
type joined struct {
	sources []Source
	ends    []int // of sources, in numbers
}

// Join returns the numbers of sources, of which none is [Scaled], one after the other. They are not copied.
func Join(sources ...Source) Source {
	j := joined{sources: sources}
	n := 0
	for _, s := range sources {
		n += s.Len()
		j.ends = append(j.ends, n)
	}
	return j
}

func (j joined) Len() int {
	if len(j.ends) == 0 {
		return 0
	}
	return j.ends[len(j.ends)-1]
}

// find returns the source of number i, and which one of its numbers that is.
func (j joined) find(i int) (Source, int) {
	k := sort.SearchInts(j.ends, i+1)
	if k > 0 {
		i -= j.ends[k-1]
	}
	return j.sources[k], i
}

func (j joined) Span(i int) Span {
	s, i := j.find(i)
	return s.Span(i)
}

func (j joined) Read(z *Number, i int) {
	s, i := j.find(i)
	s.Read(z, i)
}
