//go:build amd64 && !noasm

package intmat

import (
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
)

// residuePairs returns words of residues: random ones, or of the greatest magnitude.
func residuePairs(rng *rand.Rand, n int) []uint32 {
	list := make([]uint32, n)
	kind := rng.IntN(4)
	for i := range list {
		low, high := int32(maxResidue), int32(-maxResidue)
		switch kind {
		case 0:
			low, high = rng.Int32N(2*maxResidue+1)-maxResidue, rng.Int32N(2*maxResidue+1)-maxResidue
		case 1:
			low = high
		case 2:
			high = low
		}
		list[i] = uint32(uint16(low)) | uint32(high)<<16
	}
	return list
}

// checkMul compares a kernel with the plain version, up to the most terms that are added, which reach the ends of
// int32.
func checkMul(t *testing.T, rows, cols int, mul func(tile []int32, a, b []uint32, pairs int)) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, uint64(rows)))
	for _, pairs := range []int{0, 1, 2, 3, 7, 8, blockTerms/2 - 1, blockTerms / 2} {
		for range 12 {
			a, b := residuePairs(rng, rows*pairs), residuePairs(rng, cols*pairs)
			want := make([]int32, rows*cols)
			for i := range want {
				want[i] = rng.Int32N(2*maxResidue+1) - maxResidue
			}
			got := slices.Clone(want)
			mulGeneric(want, a, b, pairs, rows, cols)
			mul(got, a, b, pairs)
			if !slices.Equal(got, want) {
				t.Fatalf("%d pairs: %v, want %v", pairs, got, want)
			}
		}
	}
}

func TestMul(t *testing.T) {
	for _, k := range kernels() {
		t.Run(k.name, func(t *testing.T) { checkMul(t, k.rows, k.cols, k.mul) })
	}
}

// TestInterpreted runs the assembly of all products, whatever the processor, instruction by instruction.
func TestInterpreted(t *testing.T) {
	text, err := os.ReadFile("kernels_amd64.s")
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range []struct {
		name       string
		rows, cols int
	}{{"mulAVX2", 6, 16}, {"mulAVX512", 12, 32}, {"mulVNNI", 12, 32}} {
		t.Run(k.name, func(t *testing.T) {
			f := newFunction(t, string(text), k.name)
			checkMul(t, k.rows, k.cols, func(tile []int32, a, b []uint32, pairs int) { f.call(t, tile, a, b, pairs) })
		})
	}
}

// plainly runs f without vector code.
func plainly(f func()) {
	defer func(use bool) { useAVX2 = use }(useAVX2)
	useAVX2 = false
	f()
}

func TestReduce(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	ends := []int32{math.MinInt32, math.MinInt32 + 1, math.MaxInt32, math.MaxInt32 - 1, 0, 1, -1}
	for range 200 {
		cols, rows := 8*(1+rng.IntN(4)), 1+rng.IntN(5)
		list := make([]modulus, rows)
		for i := range list {
			list[i] = moduli()[rng.IntN(MaxModuli)]
		}
		tile := make([]int32, rows*cols)
		for i := range tile {
			m, k := list[i/cols].m, rng.Int32N(400000)-200000
			tile[i] = []int32{int32(rng.Uint32()), k * m, k*m + m/2, k*m - m/2, ends[rng.IntN(len(ends))]}[rng.IntN(5)]
		}
		got, want := slices.Clone(tile), slices.Clone(tile)
		reduce(got, cols, list)
		plainly(func() { reduce(want, cols, list) })
		for i, v := range tile {
			m := list[i/cols].m
			if got[i] != want[i] || (int64(v)-int64(got[i]))%int64(m) != 0 || max(got[i], -got[i]) > maxResidue {
				t.Fatalf("%d modulo %d is %d, in plain code %d", v, m, got[i], want[i])
			}
		}
	}
}

func TestPairAndCarry(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for range 100 {
		cols, rows := 8*(1+rng.IntN(4)), 1+rng.IntN(6)
		even, odd := make([]int32, rows*cols), make([]int32, rows*cols)
		for i := range even {
			even[i], odd[i] = rng.Int32N(2*maxResidue+1)-maxResidue, rng.Int32N(2*maxResidue+1)-maxResidue
		}
		stride := cols + rng.IntN(9)
		got, want := make([]uint32, rows*stride), make([]uint32, rows*stride)
		pair(got, stride, even, odd, cols)
		plainly(func() { pair(want, stride, even, odd, cols) })
		if !slices.Equal(got, want) {
			t.Fatalf("pairs %x, want %x", got, want)
		}
		digits := 1 + rng.IntN(400)
		sums, product := make([]int32, (digits+1)*cols), make([]int32, digits)
		for i := range sums {
			sums[i] = rng.Int32N(1<<31-1<<22) * (2*rng.Int32N(2) - 1)
		}
		for i := range product {
			product[i] = rng.Int32N(1<<digitBits) - 1<<(digitBits-1)
		}
		plain := slices.Clone(sums)
		carry(sums, cols, product)
		plainly(func() { carry(plain, cols, product) })
		if !slices.Equal(sums, plain) {
			t.Fatalf("%d digits of %d columns differ from those in plain code", digits, cols)
		}
	}
}

// useKernel makes plans use a kernel during a test.
func useKernel(t *testing.T, k kernel) {
	old := fastest
	t.Cleanup(func() { fastest = old })
	fastest = func() kernel { return k }
}

// TestKernels multiplies matrices with every kernel that the processor has, and with plain products of bytes.
func TestKernels(t *testing.T) {
	for _, k := range append(kernels(), plainBytes) {
		useKernel(t, k)
		rng := rand.New(rand.NewPCG(4, 4))
		a, b := random(rng, 13, 70, 200), random(rng, 70, 33, 90)
		checkProduct(t, a, b, 13, 70, 33, 200, 90, 2)
	}
}

// TestTiles32 multiplies with tiles as AVX-512 has them.
func TestTiles32(t *testing.T) {
	useKernel(t, kernel{"plain 12 x 32", 12, 32, func(tile []int32, a, b []uint32, pairs int) {
		mulGeneric(tile, a, b, pairs, 12, 32)
	}, nil})
	rng := rand.New(rand.NewPCG(5, 5))
	for range 4 {
		rows, terms, cols := 1+rng.IntN(110), rng.IntN(30), 1+rng.IntN(70)
		checkProduct(t, random(rng, rows, terms, 120), random(rng, terms, cols, 60), rows, terms, cols, 120, 60, 1)
	}
}

// TestExtremes multiplies matrices of the largest integers, of one sign or two, beyond and at the number of terms that
// an int32 holds.
func TestExtremes(t *testing.T) { testExtremes(t) }

func testExtremes(t *testing.T) {
	t.Helper()
	for _, bits := range []int{1, 24, 106, 424} {
		for _, terms := range []int{blockTerms, blockTerms + 1, 2*blockTerms - 1} {
			least := new(big.Int).Lsh(big.NewInt(1), uint(bits))
			least.Neg(least.Sub(least, big.NewInt(1)))
			a, b := &matrix{cols: terms}, &matrix{cols: 5}
			for i := range 7 * terms {
				a.x = append(a.x, least)
				if i < 5*terms {
					b.x = append(b.x, least)
				}
			}
			checkProduct(t, a, b, 7, terms, 5, bits, bits, 1)
			for i := range b.x {
				b.x[i] = new(big.Int).Neg(least)
			}
			checkProduct(t, a, b, 7, terms, 5, bits, bits, 1)
		}
	}
}
