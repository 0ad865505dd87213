package superacc

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// total returns the value of the counts of a block.
func total(w *window, levels int) *big.Float {
	sum, count := new(big.Float).SetPrec(referencePrec), new(big.Float)
	for l, c := range w.out.counts[:levels] {
		unit := int(math.Float64bits(w.anchor[l])>>fractionBits) - bias
		sum.Add(sum, count.SetMantExp(new(big.Float).SetInt64(c), unit))
	}
	return sum
}

// plain is what plain Go makes of a block, in parts, as its own groups are small. Its counts are not added up.
func plain(x, y []float64, anchor []float64) (all blockSums) {
	for n := 0; len(x) > 0; x = x[n:] {
		n = min(len(x), genericGroup*maxDotGroups)
		var part blockSums
		if y == nil {
			sumGeneric(x[:n], anchor, &part)
		} else {
			dotGeneric(x[:n], y[:n], anchor, &part)
			y = y[n:]
		}
		all.max, all.rest, all.tiny = max(all.max, part.max), all.rest|part.rest&^signMask, all.tiny|part.tiny
	}
	return all
}

// blockCheck compares what two routines make of a block, and with the exact value where the block is accepted. Which
// output says that a NaN or an infinity is refused depends on the instruction set.
func blockCheck(t *testing.T, w *window, levels int, want blockSums, x, y []float64) {
	t.Helper()
	got := w.out
	refused := func(o *blockSums) bool { return o.max > w.limit || o.rest&^signMask != 0 }
	if refused(&got) != refused(&want) {
		t.Fatalf("largest %x, rest %x; plain Go: largest %x, rest %x; x = %v, y = %v", got.max, got.rest, want.max,
			want.rest, x, y)
	}
	if (got.tiny != 0) != (want.tiny != 0) {
		t.Fatalf("tiny %x, plain Go %x; x = %v, y = %v", got.tiny, want.tiny, x, y)
	}
	if finite(math.Float64frombits(want.max)) && got.max != want.max {
		t.Fatalf("largest magnitude %x, plain Go %x; x = %v, y = %v", got.max, want.max, x, y)
	}
	if refused(&want) || want.tiny != 0 {
		return
	}
	exact, _, special := reference(x, y)
	if got := total(w, levels); special || got.Cmp(exact) != 0 {
		t.Fatalf("%v, want %v; x = %v, y = %v", got, exact, x, y)
	}
}

// blockKinds is the number of kinds of blockTerms.
const blockKinds = 7

// blockTerms returns terms of a magnitude of at most 2^limit. Their last places are multiples of a unit at, just above
// or just below the last level's, and in some blocks all have the largest magnitude and one sign, or leave most to the
// next level.
func blockTerms(rng *rand.Rand, n, limit, unit, kind int) []float64 {
	x := make([]float64, n)
	unit = max(-1074, unit+rng.IntN(3)-rng.IntN(12)/11)
	for i := range x {
		b := rng.Uint64()
		switch kind {
		case 0: // the largest and the least, mixed
			x[i] = math.Ldexp(1, limit)
			if b%2 == 0 {
				x[i] = math.Ldexp(float64(int64(b)>>60), unit)
			}
		case 1: // the largest of one sign
			x[i] = math.Ldexp(-0x1.fffffffffffffp0, limit-1)
		case 2: // the largest of both
			x[i] = math.Copysign(math.Ldexp(1, limit), float64(int64(b)))
		case 3: // odd halves of the first level's unit: ties everywhere
			x[i] = math.Ldexp(float64(2*(b%1024)+1), limit+laneRoom-fractionBits-1)
		case 6: // just under half of the first level's unit is left each time
			x[i] = math.Ldexp(1, limit-1) + math.Ldexp(1, limit+laneRoom-fractionBits-1)
			x[i] = math.Nextafter(x[i], 0)
		case 4: // significands of any length
			x[i] = math.Ldexp(float64(int64(b)>>(11+b%50)), max(unit, limit-53-int(b>>58)))
		case 5: // zeros and few others
			x[i] = math.Copysign(0, float64(int64(b)))
			if b%16 == 0 {
				x[i] = math.Ldexp(float64(b>>60), max(unit, limit-50))
			}
		}
	}
	return x
}

// special numbers that are put into blocks.
var specials = []float64{math.Inf(1), math.Inf(-1), math.NaN(), math.MaxFloat64, 0x1p-1074, -0x1p-1022, 0x1p-484,
	0x1p-485}

// TestSumKernels compares every kernel with plain Go, at lengths up to the largest block.
func TestSumKernels(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	for _, k := range append(sumKernels, kernel{2, genericGroup}, kernel{3, genericGroup}, kernel{8, genericGroup}) {
		run := sumBlock
		if k.group == genericGroup {
			run = sumBlockGeneric
		}
		name := fmt.Sprintf("levels=%d/group=%d", k.levels, k.group)
		t.Run(name, func(t *testing.T) {
			for round := range 70 * blockKinds {
				groups := 1 + rng.IntN(6)
				if round < 2*blockKinds {
					groups = maxSumGroups
				}
				var w window
				limit := rng.IntN(maxLimit-minAnchor+1) + minAnchor
				if round < 20*blockKinds {
					limit = []int{minAnchor, maxLimit}[round/blockKinds%2]
				}
				w.move(limit)
				unit := int(math.Float64bits(w.anchor[k.levels-1])>>fractionBits) - bias
				x := blockTerms(rng, groups*k.group, limit, unit, round%blockKinds)
				if round%(2*blockKinds) == 9 {
					x[rng.IntN(len(x))] = specials[rng.IntN(len(specials))]
				}
				want := plain(x, nil, w.anchor[:k.levels])
				run(k, x, &w.anchor, &w.out)
				w.out.tiny = 0 // not set by sums
				blockCheck(t, &w, k.levels, want, x, nil)
			}
		})
	}
}

// TestDotKernels does the same for products.
func TestDotKernels(t *testing.T) {
	rng := rand.New(rand.NewPCG(23, 24))
	for _, k := range append(dotKernels, kernel{3, genericGroup}, kernel{6, genericGroup}) {
		run := dotBlock
		if k.group == genericGroup {
			run = dotBlockGeneric
		}
		name := fmt.Sprintf("levels=%d/group=%d", k.levels, k.group)
		t.Run(name, func(t *testing.T) {
			for round := range 100 * blockKinds {
				groups := 1 + rng.IntN(6)
				if round < 4*blockKinds {
					groups = maxDotGroups
				}
				var w window
				limit := rng.IntN(maxLimit-minAnchor+1) + minAnchor
				w.move(limit)
				unit := int(math.Float64bits(w.anchor[k.levels-1])>>fractionBits) - bias
				scale := limit/2 + rng.IntN(41) - 20
				x := blockTerms(rng, groups*k.group, scale, unit/2, round%blockKinds)
				y := blockTerms(rng, groups*k.group, limit-scale, unit/2, rng.IntN(blockKinds))
				if round%(2*blockKinds) == 9 {
					x[rng.IntN(len(x))] = specials[rng.IntN(len(specials))]
					y[rng.IntN(len(y))] = specials[rng.IntN(len(specials))]
				}
				want := plain(x, y, w.anchor[:k.levels])
				run(k, x, y, &w.anchor, &w.out)
				blockCheck(t, &w, k.levels, want, x, y)
			}
		})
	}
}

// TestColumnsKernels does the same for the products of rows side by side, each compared with its exact value.
func TestColumnsKernels(t *testing.T) {
	if columnLanes == 0 {
		t.Skip("no vector kernels")
	}
	rng := rand.New(rand.NewPCG(25, 26))
	for _, k := range dotKernels {
		for round := range 60 * blockKinds {
			n, stride := 1+rng.IntN(20), columnLanes+rng.IntN(4)
			if round < 2*blockKinds {
				n = maxDotGroups
			}
			var w window
			w.move(rng.IntN(maxLimit-minAnchor+1) + minAnchor)
			limit := w.limitExponent()
			unit := int(math.Float64bits(w.anchor[k.levels-1])>>fractionBits) - bias
			scale := limit/2 + rng.IntN(41) - 20
			a := blockTerms(rng, n*stride, scale, unit/2, round%blockKinds)
			x := blockTerms(rng, n, limit-scale, unit/2, rng.IntN(blockKinds))
			if round%(2*blockKinds) == 9 {
				a[rng.IntN(columnLanes)] = specials[rng.IntN(len(specials))]
			}
			rows := make([][]float64, columnLanes)
			var all, factors []float64
			for r := range rows {
				for c := range n {
					rows[r] = append(rows[r], a[c*stride+r])
				}
				all, factors = append(all, rows[r]...), append(factors, x...)
			}
			want := plain(all, factors, w.anchor[:k.levels])
			var out columnSums
			columnsBlock(k, &a[0], 8*stride, x, &w.anchor, &out)
			for r := range rows {
				w.out = blockSums{max: out.max, rest: out.rest, tiny: out.tiny}
				for l := range k.levels {
					w.out.counts[l] = out.counts[l][r]
				}
				blockCheck(t, &w, k.levels, want, rows[r], x)
			}
		}
	}
}
