package accurate

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// floats takes bytes as bit patterns of numbers.
func floats(data []byte) []float64 {
	var x []float64
	for ; len(data) >= 8 && len(x) < 1<<10; data = data[8:] {
		x = append(x, math.Float64frombits(binary.LittleEndian.Uint64(data)))
	}
	return x
}

// seeds adds numbers of every kind as bytes.
func seeds(add func(data []byte)) {
	r := newRand()
	for kind := range kinds {
		for _, n := range []int{0, 1, 2, 9, 40} {
			var data []byte
			for _, v := range random(r, n, kind) {
				data = binary.LittleEndian.AppendUint64(data, math.Float64bits(v))
			}
			add(data)
		}
	}
}

// FuzzSum compares sums with big.Float.
func FuzzSum(f *testing.F) {
	seeds(func(data []byte) { f.Add(data, uint16(100)) })
	f.Fuzz(func(t *testing.T, data []byte, prec uint16) {
		x := floats(data)
		checkSum(t, "sum", x)
		if got, want := SumPrec(x, uint(prec)), reference(termsOf(x)).rounded(uint(prec)); !sameBig(got, want) {
			t.Fatalf("%v at %d bits: %g, want %g", x, prec, got, want)
		}
	})
}

// FuzzDot compares dot products of the two halves of the numbers with big.Float.
func FuzzDot(f *testing.F) {
	seeds(func(data []byte) { f.Add(data) })
	f.Fuzz(func(t *testing.T, data []byte) {
		x := floats(data)
		n := len(x) / 2
		checkDot(t, "dot product", x[:n], x[n:2*n])
	})
}

// FuzzGemv compares products of a matrix of the given width, and of its transpose, with big.Float.
func FuzzGemv(f *testing.F) {
	seeds(func(data []byte) { f.Add(data, uint8(3), -1.0, 0.5) })
	f.Fuzz(func(t *testing.T, data []byte, cols uint8, alpha, beta float64) {
		numbers := floats(data)
		n := max(1, int(cols))
		m := max(0, len(numbers)-n) / (n + 1)
		if m == 0 {
			return
		}
		x, y, elements := numbers[:n], numbers[n:n+m], numbers[n+m:n+m+m*n]
		transposed := mat.DenseCopyOf(mat.NewDense(m, n, elements).T()).T()
		for _, a := range []mat.Matrix{RowMajor(m, n, elements), transposed} {
			got := append([]float64{}, y...)
			Gemv(alpha, a, x, beta, got)
			for i, v := range got {
				want := reference(gemvTerms(alpha, elements[i*n:(i+1)*n], x, beta, y[i])).nearest()
				if !same(v, want) {
					t.Fatalf("component %d is %g, want %g", i, v, want)
				}
			}
		}
	})
}

// FuzzUnmarshal reads any bytes: what is accepted is what would be written, and can be merged.
func FuzzUnmarshal(f *testing.F) {
	r := newRand()
	for kind := range kinds {
		for _, n := range []int{0, 1, 5} {
			var a Accumulator
			a.AddProducts(random(r, n, kind), random(r, n, kind))
			b, _ := a.MarshalBinary()
			f.Add(b)
			f.Add(b[:len(b)-1])
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, b := range [][]byte{data, sealedAny(data)} { // damaged, and with the right checksum
			var a, other Accumulator
			if a.UnmarshalBinary(b) != nil {
				continue
			}
			again, err := a.MarshalBinary()
			if err != nil || !bytes.Equal(again, b) {
				t.Fatalf("%x is read as %x", b, again)
			}
			other.Add(1)
			terms := a.Terms()
			a.Merge(&other)
			if again, _ = a.MarshalBinary(); other.UnmarshalBinary(again) != nil || other.Terms() != min(terms+1, mostTerms) {
				t.Fatalf("%x and one: %x, %d terms", b, again, other.Terms())
			}
			if !same(a.Float64(), other.Float64()) {
				t.Fatalf("%x and one: %g and %g", b, a.Float64(), other.Float64())
			}
		}
	})
}

// sealedAny is sealed for bytes of any length.
func sealedAny(b []byte) []byte {
	if len(b) < 4 {
		return b
	}
	return sealed(b)
}
