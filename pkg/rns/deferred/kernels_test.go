package deferred

import (
	"math"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"mpbench/pkg/numbers"
	"slices"
	"testing"
)

// residuesFor returns n residues that strain the kernels: all m-1, all 0, or mixed.
func residuesFor(rng *rand.Rand, n int, m uint32) []uint32 {
	x := alignedUint32(n)
	kind := rng.IntN(4)
	for i := range x {
		switch choice := rng.IntN(6); {
		case kind == 0 || kind == 1 && choice < 4:
			x[i] = m - 1
		case kind == 1:
			x[i] = 0
		case choice == 0:
			x[i] = uint32(choice) % m
		default:
			x[i] = rng.Uint32N(m)
		}
	}
	return x
}

func TestFold(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	list := moduli()
	check := func(s uint64, m uint32) {
		if got := fold(s, 1<<ModulusBits-m); uint64(got) != s%uint64(m) {
			t.Fatalf("fold(%d) mod %d = %d, want %d", s, m, got, s%uint64(m))
		}
	}
	for _, m := range []uint32{list[0], list[1], list[MaxModuli/2], list[MaxModuli-1]} {
		for _, s := range []uint64{0, 1, uint64(m) - 1, uint64(m), uint64(m) + 1, 2*uint64(m) - 1, 2 * uint64(m), limbMask,
			1 << 28, 1<<32 - 1, 1 << 32, 1<<40 - 1, 1<<52 - 1, 1<<60 - 1, math.MaxUint64} {
			check(s, m)
			check(s-s%uint64(m), m)
			check(s-s%uint64(m)-1, m)
		}
		for range 100_000 {
			check(rng.Uint64()>>rng.IntN(64), m)
		}
	}
}

// TestKernels compares the kernels in use with plain Go, at full lazy length with the greatest residues among the
// cases.
func TestKernels(t *testing.T) {
	t.Logf("instruction set: %s", SIMD())
	rng := rand.New(rand.NewPCG(2, 3))
	b := baseOf(100)
	for trial := range 600 {
		k := rng.IntN(b.n)
		m, delta := b.modulus[k], b.delta[k]
		n := laneMultiple * (1 + rng.IntN(20))
		if trial%10 == 0 {
			n = dotColumns
		}

		x, y := residuesFor(rng, n, m), residuesFor(rng, n, m)
		total := func(low, high uint64) (hi, lo uint64) {
			lo, carry := bits.Add64(low, high<<32, 0)
			return high>>32 + carry, lo
		}
		low, high := dot(x, y)
		wantLow, wantHigh := dotGeneric(x, y)
		gh, gl := total(low, high)
		wh, wl := total(wantLow, wantHigh)
		if gh != wh || gl != wl {
			t.Fatalf("dot of %d residues: %d, %d, want %d, %d", n, gh, gl, wh, wl)
		}

		if got, want := sumBlock(x), sumBlockGeneric(x); got != want {
			t.Fatalf("sumBlock of %d residues: %d, want %d", n, got, want)
		}

		rows, ld := 1+rng.IntN(20), n+laneMultiple*rng.IntN(2)
		if trial%10 == 1 {
			rows = lazyProducts
		}
		a := residuesFor(rng, rows*ld, m)
		c := residuesFor(rng, rows, m)
		sums := make([]uint64, n)
		for i, r := range residuesFor(rng, n, m) {
			sums[i] = uint64(r)
		}
		want, got, table := slices.Clone(sums), slices.Clone(sums), slices.Clone(sums)
		axpyBlockGeneric(want, a, ld, c)
		axpyBlock(got, a, ld, c)
		axpyTable(table, a, ld, c)
		if !slices.Equal(got, want) || !slices.Equal(table, want) {
			t.Fatalf("axpy of %d rows of %d residues differs", rows, n)
		}
		if rows == lazyProducts {
			exact, product := new(big.Int), new(big.Int)
			exact.SetUint64(sums[0])
			for r := range rows {
				exact.Add(exact, product.SetUint64(uint64(c[r])*uint64(a[r*ld])))
			}
			if !exact.IsUint64() || exact.Uint64() != want[0] {
				t.Fatalf("%d products overflow", rows)
			}
		}

		if trial%3 == 0 {
			for i := range want {
				want[i] = rng.Uint64() | uint64(trial%2)*math.MaxUint64
			}
			copy(got, want)
		}
		reduceSumsGeneric(want, delta)
		reduceSums(got, delta)
		if !slices.Equal(got, want) {
			t.Fatalf("reduceSums of %d sums differs", n)
		}

		count := 1 + rng.IntN(40)
		if trial%10 == 2 {
			count = lazyProducts
		}
		coef := residuesFor(rng, count, 1<<limbBits)
		combined := residuesFor(rng, count*b.lanes, b.modulus[b.n-1])
		z := residuesFor(rng, b.lanes, b.modulus[b.n-1])
		zWant := slices.Clone(z)
		neg := rng.IntN(2) == 0
		combine(z, combined, b.lanes, coef, b.delta, neg)
		combineGeneric(zWant, combined, b.lanes, coef, b.delta, neg)
		if !slices.Equal(z, zWant) {
			t.Fatalf("combine of %d coefficients, neg %v, differs", count, neg)
		}
	}
}

// TestGenericKernels checks plain Go against math/big.
func TestGenericKernels(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 5))
	b := baseOf(40)
	for range 200 {
		k := rng.IntN(b.n)
		m, delta := b.modulus[k], b.delta[k]
		n := laneMultiple * (1 + rng.IntN(dotColumns/laneMultiple))
		x, y := residuesFor(rng, n, m), residuesFor(rng, n, m)
		exact, product := new(big.Int), new(big.Int)
		for i := range x {
			exact.Add(exact, product.SetUint64(uint64(x[i])*uint64(y[i])))
		}
		low, high := dotGeneric(x, y)
		got := new(big.Int).SetUint64(high)
		got.Lsh(got, 32).Add(got, product.SetUint64(low))
		if got.Cmp(exact) != 0 {
			t.Fatalf("dotGeneric of %d residues: %v, want %v", n, got, exact)
		}
		z := rng.Uint32N(m)
		exact.Add(exact, product.SetUint64(uint64(z))).Mod(exact, product.SetUint64(uint64(m)))
		if got := addHalves(z, low, high, delta); uint64(got) != exact.Uint64() {
			t.Fatalf("addHalves: %d, want %d", got, exact)
		}

		count := 1 + rng.IntN(lazyProducts)
		coef := residuesFor(rng, count, 1<<limbBits)
		zs := slices.Clone(b.modulus)
		for i := range zs {
			zs[i] = rng.Uint32N(zs[i])
		}
		table := residuesFor(rng, count*b.lanes, b.modulus[b.n-1])
		before := slices.Clone(zs)
		neg := rng.IntN(2) == 0
		combineGeneric(zs, table, b.lanes, coef, b.delta, neg)
		for k := range b.n {
			exact.SetUint64(uint64(before[k]))
			for l, c := range coef {
				exact.Add(exact, product.SetUint64(uint64(c)*uint64(table[l*b.lanes+k])))
			}
			if neg {
				exact.Neg(exact)
			}
			if exact.Mod(exact, product.SetUint64(uint64(b.modulus[k]))); uint64(zs[k]) != exact.Uint64() {
				t.Fatalf("combineGeneric of %d coefficients: %d, want %v", count, zs[k], exact)
			}
		}
	}
}

// TestAddHalvesHuge checks the counters of sums of 10^12 products: halves far above 2^32.
func TestAddHalvesHuge(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 7))
	for range 10_000 {
		m := moduli()[rng.IntN(MaxModuli)]
		low, high, z := rng.Uint64(), rng.Uint64(), rng.Uint32N(m)
		want := new(big.Int).SetUint64(high)
		want.Lsh(want, 32).Add(want, new(big.Int).SetUint64(low)).Add(want, big.NewInt(int64(z)))
		want.Mod(want, big.NewInt(int64(m)))
		if got := addHalves(z, low, high, 1<<ModulusBits-m); uint64(got) != want.Uint64() {
			t.Fatalf("%d, want %v", got, want)
		}
	}
}

// TestPackedAdd compares the kernel in use with plain Go, number by number.
func TestPackedAdd(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 9))
	for _, prec := range []uint{1, 53, 64, 65, 128, 212, 320, 424, 848, 1696} {
		g := generator{rng, prec, 20}
		p, err := Pack(numbers.Bigs(g.numbers(200)), numbers.Strided(200, 1))
		if err != nil {
			t.Fatal(err)
		}
		var s, want LimbSum
		for _, sum := range []*LimbSum{&s, &want} {
			sum.widen(p.width)
			for _, h := range p.exponents {
				sum.bucket(h)
			}
			sum.window[len(sum.window)-1] = -1
		}
		for i := 0; i < 200; {
			n := min(rng.IntN(9), 200-i)
			if got, want := packedAdd(&s, p, i, n), packedAddGeneric(&want, p, i, n); got != want || got != n {
				t.Fatalf("%d numbers added, want %d", got, want)
			}
			i += n
		}
		terms, wantTerms := s.terms(), want.terms()
		if len(terms) != len(wantTerms) {
			t.Fatalf("%d buckets, want %d", len(terms), len(wantTerms))
		}
		for i := range terms {
			if terms[i].exp != wantTerms[i].exp || terms[i].x.Cmp(&wantTerms[i].x) != 0 {
				t.Fatalf("bits %d: bucket %d: %v, want %v", prec, i, &terms[i].x, &wantTerms[i].x)
			}
		}
	}
}
