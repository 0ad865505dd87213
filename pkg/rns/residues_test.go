package rns

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// operandsFor returns residues that strain the operations: 0, 1, m-1, about m/2, all ones below m, and random ones.
func operandsFor(rng *rand.Rand, modulus []uint32) []uint32 {
	x := make([]uint32, len(modulus))
	for i, m := range modulus {
		switch rng.IntN(8) {
		case 0:
			x[i] = 0
		case 1:
			x[i] = 1
		case 2:
			x[i] = m - 1
		case 3:
			x[i] = m / 2
		case 4:
			x[i] = m - 2
		default:
			x[i] = rng.Uint32N(m)
		}
	}
	return x
}

// TestResidueOperations compares the residue operations in use with plain Go, for every alignment of their operands
// with the destination, on moduli from the smallest to the largest and every length of the vectors' tails.
func TestResidueOperations(t *testing.T) {
	t.Logf("instruction set: %s", SIMD())
	rng := rand.New(rand.NewPCG(7, 8))
	for _, moduli := range [][]uint32{
		{1<<31 - 1, 1<<31 - 3}, {17, 1<<31 - 1, 1<<30 + 1, 19, 23, 29, 31},
		mustModuli(t, 30, 6), mustModuli(t, 30, 31), mustModuli(t, 120, 16), mustModuli(t, 240, 31), mustModuli(t, 240, 16),
		mustModuli(t, 400, 31), mustModuli(t, 848, 31),
	} {
		b, err := NewBase(moduli)
		if err != nil {
			t.Fatal(err)
		}
		for range 2000 {
			m := b.modulus
			x, y, w := operandsFor(rng, m), operandsFor(rng, m), newShoup(operandsFor(rng, m), m)
			want := make([]uint32, b.stride)
			check := func(name string, op func(z, x, y []uint32)) {
				for alias := range 3 {
					xx, yy := slices.Clone(x), slices.Clone(y)
					z := make([]uint32, b.stride)
					switch alias {
					case 1:
						z = xx
					case 2:
						z = yy
					}
					if op(z, xx, yy); !slices.Equal(z, want) {
						t.Fatalf("%s, alias %d, moduli %v:\nx %v\ny %v\nw %v\n%v, want\n%v", name, alias, m, x, y, w.value, z, want)
					}
				}
			}
			subModGeneric(want, x, y, m)
			check("subMod", func(z, x, y []uint32) { subMod(z, x, y, m) })
			mulModGeneric(want, x, y, m, b.mulhi)
			check("mulMod", func(z, x, y []uint32) { b.mulMod(z, x, y) })
			mulConstGeneric(want, x, &w, m)
			check("mulConst", func(z, x, _ []uint32) { mulConst(z, x, &w, m) })
			mulConstAddGeneric(want, x, &w, y, m)
			check("mulConstAdd", func(z, x, y []uint32) { mulConstAdd(z, x, &w, y, m) })
			mulConstSubGeneric(want, x, &w, y, m)
			check("mulConstSub", func(z, x, y []uint32) { mulConstSub(z, x, &w, y, m) })
			n := float64(rng.Uint64() >> (11 + rng.IntN(53)))
			floatModGeneric(want, n, m, b.mulhi)
			check("floatMod", func(z, _, _ []uint32) { b.floatMod(z, n) })
		}
	}
}

// TestGenericResidues checks the plain Go operations against the % operator.
func TestGenericResidues(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	b := testBase(t, 240, 31)
	for range 20_000 {
		m := b.modulus
		x, y, w := operandsFor(rng, m), operandsFor(rng, m), newShoup(operandsFor(rng, m), m)
		z := make([]uint32, b.stride)
		expect := func(name string, f func(x, y, w, m uint64) uint64) {
			t.Helper()
			for i := range z {
				if want := f(uint64(x[i]), uint64(y[i]), uint64(w.value[i]), uint64(m[i])); uint64(z[i]) != want {
					t.Fatalf("%s(%d, %d, w = %d) mod %d = %d, want %d", name, x[i], y[i], w.value[i], m[i], z[i], want)
				}
			}
		}
		subModGeneric(z, x, y, m)
		expect("subMod", func(x, y, w, m uint64) uint64 { return (x + m - y) % m })
		mulModGeneric(z, x, y, m, b.mulhi)
		expect("mulMod", func(x, y, w, m uint64) uint64 { return x * y % m })
		mulConstGeneric(z, x, &w, m)
		expect("mulConst", func(x, y, w, m uint64) uint64 { return x * w % m })
		mulConstAddGeneric(z, x, &w, y, m)
		expect("mulConstAdd", func(x, y, w, m uint64) uint64 { return (x*w + y) % m })
		mulConstSubGeneric(z, x, &w, y, m)
		expect("mulConstSub", func(x, y, w, m uint64) uint64 { return (x*w + m - y) % m })
		n := rng.Uint64() >> 11
		floatModGeneric(z, float64(n), m, b.mulhi)
		expect("floatMod", func(_, _, _, m uint64) uint64 { return n % m })
	}
}

// TestFloatModEdges reduces multiples of the moduli and their neighbours, where a quotient estimate is one short or
// exact.
func TestFloatModEdges(t *testing.T) {
	for _, moduli := range [][]uint32{{17, 23, 1<<31 - 1, 1<<31 - 19}, mustModuli(t, 240, 16), mustModuli(t, 400, 31)} {
		b, err := NewBase(moduli)
		if err != nil {
			t.Fatal(err)
		}
		z := make([]uint32, b.stride)
		for _, m := range moduli {
			for _, q := range []uint64{0, 1, 2, 3, 1<<53/uint64(m) - 1, 1 << 52 / uint64(m), 1<<32 - 1, 1 << 31} {
				for _, d := range []int64{-1, 0, 1} {
					n := q*uint64(m) + uint64(d)
					if n >= 1<<53 {
						continue
					}
					b.floatMod(z, float64(n))
					for i, mi := range b.modulus {
						if uint64(z[i]) != n%uint64(mi) {
							t.Fatalf("%d mod %d = %d", n, mi, z[i])
						}
					}
				}
			}
		}
	}
}

func mustModuli(t testing.TB, p, width int) []uint32 {
	t.Helper()
	moduli, err := GenerateModuli(p, width, Ascending)
	if err != nil {
		t.Fatal(err)
	}
	return moduli
}

// BenchmarkResidues compares the residue operations in use with plain Go.
func BenchmarkResidues(b *testing.B) {
	for _, p := range []int{120, 240, 480, 1696} {
		base := testBase(b, p, 31)
		rng := rand.New(rand.NewPCG(1, 2))
		m := base.modulus
		x, y, w := operandsFor(rng, m), operandsFor(rng, m), newShoup(operandsFor(rng, m), m)
		z := make([]uint32, base.stride)
		for _, op := range []struct {
			name          string
			simd, generic func()
		}{
			{"sub", func() { subMod(z, x, y, m) }, func() { subModGeneric(z, x, y, m) }},
			{"mul", func() { base.mulMod(z, x, y) }, func() { mulModGeneric(z, x, y, m, base.mulhi) }},
			{"mulconst", func() { mulConst(z, x, &w, m) }, func() { mulConstGeneric(z, x, &w, m) }},
			{"mulconstadd", func() { mulConstAdd(z, x, &w, y, m) }, func() { mulConstAddGeneric(z, x, &w, y, m) }},
			{"fromfloat", func() {
				base.floatMod(z, 0x1.fffffffffffffp52)
			}, func() {
				floatModGeneric(z, 0x1.fffffffffffffp52, m, base.mulhi)
			}},
		} {
			for _, path := range []struct {
				name string
				f    func()
			}{{SIMD(), op.simd}, {"generic", op.generic}} {
				b.Run(fmt.Sprintf("op=%s/precision=%d/simd=%s", op.name, p, path.name), func(b *testing.B) {
					for range b.N {
						path.f()
					}
				})
			}
		}
	}
}
