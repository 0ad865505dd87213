//go:build amd64 && !noasm

package intmat

import (
	"math/rand/v2"
	"os"
	"slices"
	"testing"
)

// plainBytes is the plain kernel with products of bytes.
var plainBytes = kernel{"plain bytes", 12, byteCols, func(tile []int32, a, b []uint32, pairs int) {
	mulGeneric(tile, a, b, pairs, 12, byteCols)
}, mulBytesGeneric}

// checkBytes compares a product of bytes with the plain version on random bytes and those of the greatest magnitude.
func checkBytes(t *testing.T, mul mulBytes) {
	t.Helper()
	rng := rand.New(rand.NewPCG(6, 6))
	fill := func(n int) []uint32 {
		list, kind := make([]uint32, n), rng.IntN(4)
		for i := range list {
			list[i] = []uint32{rng.Uint32(), 0x80808080, 0x7F7F7F7F, 0x807F7F80}[kind]
		}
		return list
	}
	for _, blocks := range []int{1, 2, 3, stepBlocks} {
		for range 12 {
			panels := 1 + rng.IntN(3)
			size, stride := byteRows*byteCols+32*rng.IntN(3), (blocks+rng.IntN(3))*blockWords*byteRows
			a, b := fill(panels*stride), fill(blocks*blockWords*2*byteCols)
			want := [2][]int32{make([]int32, panels*size), make([]int32, panels*size)}
			for _, tile := range want {
				for i := range tile {
					tile[i] = int32(rng.Uint32())
				}
			}
			got := [2][]int32{slices.Clone(want[0]), slices.Clone(want[1])}
			mulBytesGeneric(want[0], want[1], size, a, stride, b, blocks, panels)
			mul(got[0], got[1], size, a, stride, b, blocks, panels)
			if !slices.Equal(got[0], want[0]) || !slices.Equal(got[1], want[1]) {
				t.Fatalf("%d blocks, %d panels: sums differ from those of the plain version", blocks, panels)
			}
		}
	}
}

func TestTiles(t *testing.T) {
	if len(tileKernels()) == 0 {
		t.Skip("the processor has no AMX, or the system keeps it")
	}
	checkBytes(t, tiles)
}

// TestTilesInterpreted runs the assembly of products of bytes, whatever the processor, instruction by instruction.
func TestTilesInterpreted(t *testing.T) {
	text, err := os.ReadFile("kernels_amd64.s")
	if err != nil {
		t.Fatal(err)
	}
	f := newFunction(t, string(text), "mulAMX")
	checkBytes(t, func(low, high []int32, size int, a []uint32, stride int, b []uint32, blocks, panels int) {
		numbers := map[string]int64{"size+16": int64(size), "stride+32": int64(stride), "blocks+48": int64(blocks),
			"panels+56": int64(panels)}
		arrays := map[string]any{"low+0": low, "high+8": high, "a+24": a, "b+40": b}
		if m := f.run(t, arrays, numbers); m.tiles != nil {
			t.Fatal("tiles are not released")
		}
	})
}

// TestSplit: bytes of residues are the residues, and exchanging them loses none.
func TestSplit(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	for range 50 {
		n := 8 * (1 + rng.IntN(9))
		words, turned := residuePairs(rng, n), residuePairs(rng, n)
		x, y := slices.Clone(words), slices.Clone(turned)
		low, high := make([]uint32, n), make([]uint32, n)
		split(words)
		split(turned)
		interleave(low, high, words, turned)
		plain := [4][]uint32{slices.Clone(x), slices.Clone(y), make([]uint32, n), make([]uint32, n)}
		plainly(func() {
			split(plain[0])
			split(plain[1])
			interleave(plain[2], plain[3], plain[0], plain[1])
		})
		for i, got := range [4][]uint32{words, turned, low, high} {
			if !slices.Equal(got, plain[i]) {
				t.Fatalf("array %d differs from that in plain code", i)
			}
		}
		for i := range 2 * n {
			s := i % 2 * 16
			for h, list := range [2][]uint32{x, y} {
				r := int32(int8(low[i/2]>>(s+8*h))) + 256*int32(int8(high[i/2]>>(s+8*h)))
				if want := int32(int16(list[i/2] >> s)); r != want {
					t.Fatalf("the bytes of %d are those of %d", want, r)
				}
			}
		}
	}
}

func TestFold(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	for range 100 {
		cols, rows := 8*(1+rng.IntN(4)), 1+rng.IntN(5)
		list := make([]modulus, rows)
		for i := range list {
			list[i] = moduli()[rng.IntN(MaxModuli)]
		}
		low, high := make([]int32, rows*cols), make([]int32, rows*cols)
		for i := range low { // together within an int32
			low[i], high[i] = rng.Int32N(1<<31-1)-1<<30, rng.Int32N(1<<23-1)-1<<22
		}
		got, want := slices.Clone(low), slices.Clone(low)
		fold(got, high, cols, list)
		plainly(func() { fold(want, high, cols, list) })
		for i := range low {
			m := int64(list[i/cols].m)
			rest := (int64(low[i]) + 256*int64(high[i]) - int64(got[i])) % m
			if got[i] != want[i] || rest != 0 || max(got[i], -got[i]) > maxResidue {
				t.Fatalf("%d + 256*%d modulo %d is %d, in plain code %d", low[i], high[i], m, got[i], want[i])
			}
		}
	}
}

// TestBytePremises: bytes of residues are small enough that sums of foldTerms products stay below 2^31.
func TestBytePremises(t *testing.T) {
	const upper = (maxResidue + 128) >> 8 // a high byte, in magnitude
	const sum = maxResidue + foldTerms*(128+upper)*maxResidue
	if sum >= 1<<31 || blockRows%byteRows != 0 || byteCols > leastCols {
		t.Errorf("sums reach %d", int64(sum))
	}
}

// TestBytes multiplies matrices of ragged shapes, of elements of the greatest residues, and of more terms than are
// folded at a time, with products of bytes.
func TestBytes(t *testing.T) {
	for _, k := range append(tileKernels(), plainBytes) {
		t.Run(k.name, func(t *testing.T) {
			useKernel(t, k)
			rng := rand.New(rand.NewPCG(9, 9))
			for range 8 {
				rows, terms, cols := 1+rng.IntN(110), rng.IntN(80), 1+rng.IntN(70)
				a, b := random(rng, rows, terms, 120), random(rng, terms, cols, 60)
				checkProduct(t, a, b, rows, terms, cols, 120, 60, 1+rng.IntN(2))
			}
			for _, terms := range []int{foldTerms - 1, foldTerms, foldTerms + 1, 2*foldTerms + 33} {
				checkProduct(t, random(rng, 3, terms, 24), random(rng, terms, 4, 24), 3, terms, 4, 24, 24, 1)
			}
			testExtremes(t)
		})
	}
}
