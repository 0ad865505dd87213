package binned

import (
	"math"

	"mpbench/pkg/lanes"
)

// most is the number of terms of a block: with AVX2 a biased sum takes two of every lanes.Count terms, which change
// it by less than 2^39 units each, and 2^51 would leave its binade.
const most = 1 << 13

// AddSlice adds every element of x.
func (s *Sum) AddSlice(x []float64) {
	for len(x) > 0 {
		n := s.block(x, nil)
		x = x[n:]
	}
}

// AddProducts adds the rounded products x[i] * y[i]. It panics if the lengths differ.
func (s *Sum) AddProducts(x, y []float64) {
	if len(x) != len(y) {
		panic("binned: vectors of different lengths")
	}
	for len(x) > 0 {
		n := s.block(x, y)
		x, y = x[n:], y[n:]
	}
}

// block adds the first terms and returns how many: as biased sums in vector registers if it can. y is nil for terms
// that are no products.
func (s *Sum) block(x, y []float64) (n int) {
	n = min(len(x), most)
	x = x[:n]
	if y != nil {
		y = y[:n]
	}
	if n < lanes.Count {
		s.addEach(x, y)
		return n
	}
	n = n / lanes.Count * lanes.Count
	x = x[:n]
	if y != nil {
		y = y[:n]
	}
	s.raise(index(largestOf(x[:lanes.Count], y)))
	for {
		if s.top == 0 || s.top+s.fold-1 > lastIndex {
			s.addEach(x, y) // an anchor is out of range
			return n
		}
		var memory [MaxFold]lanes.Lane
		largest := s.run(memory[:s.fold], x, y)
		switch {
		case largest > math.MaxFloat64:
			s.addEach(x, y)
			return n
		case index(largest) < s.top:
			s.raise(index(largest)) // and once more
		case s.take(memory[:s.fold]):
			return n
		default:
			s.addEach(x, y) // NaN
			return n
		}
	}
}

// largestOf returns the largest finite magnitude of some terms.
func largestOf(x, y []float64) (largest float64) {
	for i, v := range x {
		if y != nil {
			v *= y[i]
		}
		if a := math.Abs(v); a > largest && a <= math.MaxFloat64 {
			largest = a
		}
	}
	return largest
}

// anchor returns what the biased sums of bin i start at: 1.5 times 2^52 units.
func anchor(i int) float64 { return math.Ldexp(1.5, firstUnit+52-width*i) }

// run adds a block to biased sums and returns the largest magnitude of its terms.
func (s *Sum) run(b lanes.Bins, x, y []float64) float64 {
	for k := range b {
		for l := range b[k] {
			b[k][l] = anchor(s.top + k)
		}
	}
	if y == nil {
		return b.AddSums(x)
	}
	return b.AddProducts(x, y)
}

// take adds biased sums to the bins, unless one is NaN. Their values are the differences of their bits to the
// anchor's.
func (s *Sum) take(b lanes.Bins) bool {
	var totals [MaxFold]int64
	for k := range b {
		zero := math.Float64bits(anchor(s.top + k))
		for _, v := range b[k] {
			if v != v {
				return false
			}
			totals[k] += int64(math.Float64bits(v) - zero)
		}
	}
	for k := range b {
		s.bins[k].add(small(totals[k]))
	}
	return true
}

// addEach adds terms one by one.
func (s *Sum) addEach(x, y []float64) {
	for i, v := range x {
		if y != nil {
			v *= y[i]
		}
		s.Add(v)
	}
}
