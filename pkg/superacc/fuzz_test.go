package superacc

import (
	"encoding/binary"
	"math"
	"testing"
)

// fuzzTerms takes the input as bit patterns and repeats them up to a length at which kernels work on whole blocks.
func fuzzTerms(data []byte, times uint8) []float64 {
	var x []float64
	for ; len(data) >= 8; data = data[8:] {
		x = append(x, math.Float64frombits(binary.LittleEndian.Uint64(data)))
	}
	if len(x) == 0 {
		return nil
	}
	n := len(x) + int(times)
	for i := 0; len(x) < n; i++ {
		x = append(x, x[i])
	}
	return x
}

func fuzzSeeds(add func(data []byte)) {
	var all []byte
	for _, x := range edges {
		all = binary.LittleEndian.AppendUint64(all, math.Float64bits(x))
		add(all)
	}
	add(all[:16*8])
	for kind := range kinds {
		add(encode(randomTerms(newRand(), 40, kind), Float64LittleEndian))
	}
}

// FuzzSum compares sums, as a slice, one by one and in two merged parts, with big.Float.
func FuzzSum(f *testing.F) {
	fuzzSeeds(func(data []byte) { f.Add(data, uint8(len(data)), uint8(3)) })
	f.Fuzz(func(t *testing.T, data []byte, times, cut uint8) {
		x := fuzzTerms(data, times)
		checkSum(t, sumOf(x...), x, nil)
		at := min(int(cut), len(x))
		left, right := sumOf(x[:at]...), new(Accumulator)
		for _, v := range x[at:] {
			right.Add(v)
		}
		left.Merge(right)
		checkSum(t, left, x, nil)
	})
}

// FuzzDot compares dot products with big.Float; the second vector is the first, rotated.
func FuzzDot(f *testing.F) {
	fuzzSeeds(func(data []byte) { f.Add(data, uint8(len(data)), uint8(1)) })
	f.Fuzz(func(t *testing.T, data []byte, times, rotate uint8) {
		x := fuzzTerms(data, times)
		at := min(int(rotate), len(x))
		y := append(append([]float64{}, x[at:]...), x[:at]...)
		var a Accumulator
		a.AddProducts(x, y)
		checkSum(t, &a, x, y)
	})
}

// FuzzBuckets compares sums and dot products by buckets with those by windows.
func FuzzBuckets(f *testing.F) {
	fuzzSeeds(func(data []byte) { f.Add(data) })
	f.Fuzz(func(t *testing.T, data []byte) {
		x := fuzzTerms(data, 0)
		if len(x) == 0 {
			return
		}
		for n := manyProducts; len(x) < n; {
			x = append(x, x[:min(len(x), n-len(x))]...)
		}
		var windows, buckets Accumulator
		windows.AddSlice(x)
		windows.AddProducts(x, x)
		buckets.addEach(x)
		buckets.addEachProduct(x, x)
		if got, want := buckets.Float64(), windows.Float64(); !same(got, want) {
			t.Fatalf("buckets %g, windows %g", got, want)
		}
	})
}
