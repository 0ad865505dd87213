package deferred

import (
	"encoding/binary"
	"math"
	"math/big"
	"mpbench/pkg/numbers"
	"testing"
)

// FuzzGemv multiplies a binary64 matrix of arbitrary bit patterns, special values among them, in both directions.
func FuzzGemv(f *testing.F) {
	seed := func(op, cols byte, keep uint8, values ...float64) {
		var data []byte
		for _, v := range values {
			data = binary.LittleEndian.AppendUint64(data, math.Float64bits(v))
		}
		f.Add(op, cols, keep, data)
	}
	seed(0, 2, 0, 1, 2, 3, 4, 5, 6)
	seed(1, 2, 60, 1e300, -1e-300, 0x1p-1074, math.Inf(1), 0, math.Copysign(0, -1), 7, 8)
	seed(0, 3, 90, 1e16, 1, -1e16, 1, 1, 1, math.NaN())
	f.Fuzz(func(t *testing.T, op, cols, keep byte, data []byte) {
		n := int(cols%16) + 1
		values := make([]float64, min(len(data)/8, 300))
		for i := range values {
			values[i] = math.Float64frombits(binary.LittleEndian.Uint64(data[8*i:]))
		}
		m := (len(values) - n) / (n + 1) // a matrix of m x n, then x
		if m <= 0 {
			return
		}
		direction := Op(op % 2)
		l := numbers.RowMajor(m, n, n)
		rows, terms := m, n
		if direction == Trans { // the same data, transposed
			l = numbers.ColMajor(n, m, n)
		}
		a, x := values[:m*n], values[m*n:][:n]
		extent, err := Measure(numbers.Float64s(x), numbers.Strided(n, 1))
		if err != nil {
			t.Fatal(err)
		}
		matrix, err := newMatrix(numbers.Float64s(a), l, direction, extent, Options{KeepBits: int(keep), Threads: 1})
		if err != nil {
			t.Fatal(err)
		}
		vector, err := matrix.NewVector(numbers.Float64s(x), numbers.Strided(terms, 1))
		if err != nil {
			t.Fatal(err)
		}
		s := matrix.NewAccumulator(direction)
		got := make([]float64, rows)
		s.GemvFloat64(got, 1, matrix, vector, 0, 1)
		for i := range got {
			want := ieee(a[i*n:(i+1)*n], x, 1, 0, 0)
			if got[i] != want && (got[i] == got[i] || want == want) {
				t.Fatalf("row %d of %v times %v: %v, want %v", i, a, x, got[i], want)
			}
			dot, err := Dot(numbers.Float64s(a[i*n:(i+1)*n]), numbers.Strided(n, 1), numbers.Float64s(x), numbers.Strided(n, 1),
				1)
			if err != nil {
				t.Fatal(err)
			}
			if d := dot.Float64(); d != want && (d == d || want == want) {
				t.Fatalf("dot of row %d of %v and %v: %v, want %v", i, a, x, d, want)
			}
		}
	})
}

// FuzzSum compares sums in limbs at any precision with big.Float.
func FuzzSum(f *testing.F) {
	f.Add(uint16(53), []byte("0123456789abcdef0123456789abcdef"))
	f.Fuzz(func(t *testing.T, prec uint16, data []byte) {
		bits := uint(prec%2000) + 1
		var x []*big.Float
		for len(data) >= 12 && len(x) < 64 {
			width := min(8*int(1+data[0]%32), 8*(len(data)-4))
			v := new(big.Int).SetBytes(data[4 : 4+width/8])
			if data[1]%2 == 1 {
				v.Neg(v)
			}
			z := new(big.Float).SetInt(v)
			x = append(x, z.SetMantExp(z, int(int16(binary.LittleEndian.Uint16(data[2:])))>>4))
			data = data[4+width/8:]
		}
		packed, err := Pack(numbers.Bigs(x), numbers.Strided(len(x), 1), 0)
		if err != nil {
			t.Fatal(err)
		}
		want := exactProduct(x, ones(len(x)), big.NewFloat(1), new(big.Float), new(big.Float), bits)
		if got := packed.Sum(1).Round(nil, bits); got.Cmp(want) != 0 {
			t.Fatalf("sum of %v to %d bits: %v, want %v", x, bits, got, want)
		}
	})
}
