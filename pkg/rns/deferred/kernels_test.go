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
			count = lazyProducts - 1
		}
		moduli, stride := 1+rng.IntN(b.n), laneMultiple+rng.IntN(20)
		limbs := make([][laneMultiple]uint64, count)
		var neg [laneMultiple]uint64
		for l := range limbs {
			for t, r := range residuesFor(rng, laneMultiple, 1<<limbBits) {
				limbs[l][t] = uint64(r)
			}
		}
		for t := range neg {
			if rng.IntN(2) == 0 {
				neg[t] = math.MaxUint64
			}
			if limbs[0][t] |= 1; rng.IntN(8) == 0 {
				for l := range limbs {
					limbs[l][t] = 0
				}
				neg[t] = 0
			}
		}
		powers := residuesFor(rng, count*b.lanes, b.modulus[b.n-1])
		for i := range powers {
			powers[i] = max(1, powers[i])
		}
		z := make([]uint32, moduli*stride)
		if count > shortLimbs {
			copy(z, residuesFor(rng, len(z), b.modulus[b.n-1]))
		}
		zWant := slices.Clone(z)
		convertBlock(z, stride, limbs, powers, b.lanes, b.delta[:moduli], &neg)
		convertGeneric(zWant, stride, limbs, powers, b.lanes, b.delta[:moduli], &neg)
		if !slices.Equal(z, zWant) {
			t.Fatalf("residues of %d limbs modulo %d moduli differ", count, moduli)
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

		limbs := make([][laneMultiple]uint64, 1+rng.IntN(lazyProducts-1))
		var neg [laneMultiple]uint64
		neg[0] = rng.Uint64() & 1 * math.MaxUint64
		for l := range limbs {
			limbs[l][0] = uint64(residuesFor(rng, laneMultiple, 1<<limbBits)[0])
		}
		powers := residuesFor(rng, len(limbs)*b.lanes, b.modulus[b.n-1])
		residues := make([]uint32, b.n*laneMultiple)
		for k := range b.n {
			residues[k*laneMultiple] = rng.Uint32N(b.modulus[k])
		}
		before := slices.Clone(residues)
		convertGeneric(residues, laneMultiple, limbs, powers, b.lanes, b.delta[:b.n], &neg)
		for k := range b.n {
			exact.SetUint64(uint64(before[k*laneMultiple]))
			for l := range limbs {
				exact.Add(exact, product.SetUint64(limbs[l][0]*uint64(powers[l*b.lanes+k])))
			}
			if neg[0] != 0 {
				exact.Neg(exact)
			}
			exact.Mod(exact, product.SetUint64(uint64(b.modulus[k])))
			if got := residues[k*laneMultiple]; uint64(got) != exact.Uint64() {
				t.Fatalf("convertGeneric of %d limbs: %d, want %v", len(limbs), got, exact)
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
		p, err := Pack(numbers.Bigs(g.numbers(200)), numbers.Strided(200, 1), 0)
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
