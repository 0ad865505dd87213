package superacc

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestHeadroom merges an accumulator with itself: 2^62 times the largest term and the largest product.
func TestHeadroom(t *testing.T) {
	for _, sign := range []float64{1, -1} {
		var sum, dot Accumulator
		sum.AddSlice(slices.Repeat([]float64{sign * math.MaxFloat64}, 4))
		dot.AddProducts(slices.Repeat([]float64{sign * math.MaxFloat64}, 4), slices.Repeat([]float64{math.MaxFloat64}, 4))
		for range 60 {
			sum.Merge(&sum)
			dot.Merge(&dot)
		}
		want := new(big.Rat).SetFloat64(sign * math.MaxFloat64)
		want.Mul(want, new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), 62)))
		if got := sum.Value().Rat; got.Cmp(want) != 0 {
			t.Errorf("sum %v, want %v", got, want)
		}
		want.Mul(want, new(big.Rat).SetFloat64(math.MaxFloat64))
		if got := dot.Value().Rat; got.Cmp(want) != 0 {
			t.Errorf("dot product %v, want %v", got, want)
		}
		if got := dot.Float64(); !math.IsInf(got, int(sign)) {
			t.Errorf("dot product %g", got)
		}
	}
}

// TestRepeated adds the same extreme term so often that chunks are full and every carry is needed, by all routes.
func TestRepeated(t *testing.T) {
	const n = 3*maxAdds + 5
	terms := []float64{maxNormal, -maxNormal, minSubnormal, -minSubnormal, -maxSubnormal, minNormal, 1}
	for e := range chunkBits { // every position in a chunk
		terms = append(terms, math.Ldexp(0x1.fffffffffffffp0, e), math.Ldexp(-0x1.fffffffffffffp0, e))
	}
	for _, x := range terms {
		want := new(big.Rat).SetFloat64(x)
		square := new(big.Rat).Mul(want, want)
		want.Mul(want, big.NewRat(n, 1))
		square.Mul(square, big.NewRat(n, 1))
		xs := slices.Repeat([]float64{x}, n)
		var single, products, slice, pairs Accumulator
		for range n {
			single.Add(x)
			products.AddProduct(x, x)
		}
		slice.AddSlice(xs)
		pairs.AddProducts(xs, xs)
		for _, a := range []*Accumulator{&single, &slice} {
			if got := a.Value(); got.Rat.Cmp(want) != 0 {
				t.Errorf("%d times %g: %v", n, x, got)
			}
		}
		for _, a := range []*Accumulator{&products, &pairs} {
			if got := a.Value(); got.Rat.Cmp(square) != 0 {
				t.Errorf("%d times %g squared: %v", n, x, got)
			}
		}
	}
}

// TestBuckets fills buckets up to their limits and compares with the sum term by term.
func TestBuckets(t *testing.T) {
	rng := rand.New(rand.NewPCG(51, 52))
	for _, n := range []int{manyTerms, manyTerms + 1, manyProducts + 3, 100_000} {
		for _, kind := range []int{0, 1, 2, 3, 5, 11} {
			x, y := randomTerms(rng, n, kind), randomTerms(rng, n, kind)
			if rng.IntN(2) == 0 {
				y = randomTerms(rng, n, 0)
			}
			var buckets, single Accumulator
			buckets.addEach(x)
			buckets.addEachProduct(x, y)
			for i, v := range x {
				single.Add(v)
				single.AddProduct(v, y[i])
			}
			if got, want := buckets.Value(), single.Value(); !got.Equal(want) {
				t.Fatalf("kind %d, %d terms: %v, want %v", kind, n, got, want)
			}
		}
	}
}

// TestManyProducts moves the buckets of products on when they are full: more than 2^21 products of the largest
// significands.
func TestManyProducts(t *testing.T) {
	x := slices.Repeat([]float64{0x1.fffffffffffffp0}, mostProducts+manyProducts)
	var a Accumulator
	a.addEachProduct(x[:manyProducts], x[:manyProducts])
	a.addEachProduct(x, x)
	want := new(big.Rat).SetFloat64(x[0])
	want.Mul(want, want)
	want.Mul(want, big.NewRat(int64(len(x)+manyProducts), 1))
	if got := a.Value(); got.Rat.Cmp(want) != 0 {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestBitsFrom compares with big.Int.
func TestBitsFrom(t *testing.T) {
	rng := rand.New(rand.NewPCG(53, 54))
	for range 10_000 {
		words := make([]uint64, 4)
		x := new(big.Int)
		for i := range words {
			if words[i] = rng.Uint64(); rng.IntN(2) == 0 {
				words[i] = 1 << rng.IntN(64) * uint64(rng.IntN(2))
			}
			x.Or(x, new(big.Int).Lsh(new(big.Int).SetUint64(words[i]), uint(64*i)))
		}
		length := bitLen(words)
		if length != x.BitLen() {
			t.Fatalf("%x: length %d", words, length)
		}
		shift := uint(64 + rng.IntN(max(1, length-64))) // at least a word, and at most 64 bits left
		shift = max(shift, uint(max(64, length-64)))
		if shift >= 256 {
			continue
		}
		m, half, more := bitsFrom(words, shift)
		rest := new(big.Int).Sub(x, new(big.Int).Lsh(new(big.Int).Rsh(x, shift), shift))
		wantHalf := rest.Bit(int(shift)-1) == 1
		rest.SetBit(rest, int(shift)-1, 0)
		if m != new(big.Int).Rsh(x, shift).Uint64() || half != wantHalf || more != (rest.Sign() != 0) {
			t.Fatalf("%x from bit %d: %x, %t, %t", words, shift, m, half, more)
		}
	}
}

// TestTransformations checks the error-free transformations with big.Float, where they are promised to hold.
func TestTransformations(t *testing.T) {
	rng := rand.New(rand.NewPCG(55, 56))
	sum := func(x, y float64) *big.Float {
		z := new(big.Float).SetPrec(referencePrec).SetFloat64(x)
		return z.Add(z, big.NewFloat(y))
	}
	for range 20_000 {
		pair := randomTerms(rng, 2, rng.IntN(kinds))
		x, y := pair[0], pair[1]
		if !math.IsInf(x+y, 0) {
			if s, e := TwoSum(x, y); s != x+y || sum(s, e).Cmp(sum(x, y)) != 0 {
				t.Fatalf("TwoSum(%x, %x) = %x, %x", x, y, s, e)
			}
			if math.Abs(x) < math.Abs(y) {
				x, y = y, x
			}
			if s, e := FastTwoSum(x, y); s != x+y || sum(s, e).Cmp(sum(x, y)) != 0 {
				t.Fatalf("FastTwoSum(%x, %x) = %x, %x", x, y, s, e)
			}
		}
		if p := x * y; math.Abs(p) >= tinyProduct && !math.IsInf(p, 0) || x == 0 || y == 0 {
			exact, _, _ := reference(pair[:1], pair[1:])
			if p, e := TwoProduct(x, y); p != x*y || sum(p, e).Cmp(exact) != 0 {
				t.Fatalf("TwoProduct(%x, %x) = %x, %x", x, y, p, e)
			}
		}
	}
	// Just below the limit the error can be lost.
	if p, e := TwoProduct(0x1.0000000000001p-485, 0x1.0000000000001p-485); p < tinyProduct && sum(p, e).MinPrec() > 105 {
		t.Errorf("the error %x of %x is exact", e, p)
	}
}
