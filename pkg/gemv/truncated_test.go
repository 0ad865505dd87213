package gemv

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"mpbench/pkg/exact"
	"mpbench/pkg/gpu/gputest"
)

// wholeRange returns float64 numbers of every exponent, subnormal ones included.
func wholeRange(r *rand.Rand, n int) Numbers {
	list := make([]float64, n)
	for i := range list {
		for list[i] == 0 || math.IsNaN(list[i]) || math.IsInf(list[i], 0) {
			list[i] = math.Float64frombits(r.Uint64())
		}
	}
	return Numbers{Float64: list}
}

// spreadNumbers returns numbers of p bits with exponents from -spread to spread.
func spreadNumbers(r *rand.Rand, n, p, spread int) Numbers {
	g := random{r, 0, p}
	x := g.numbers(n)
	for _, v := range x.Wide {
		v.SetMantExp(v, r.IntN(2*spread+1)-spread)
	}
	return x
}

// truncatedProblem has factors whose exact products take several times as many moduli as truncated ones. Its first column and x_0 are large, so
// that they decide most sums. In two rows of every `every` the second column and x_1 = x_0 take that away: nothing is left in one, terms
// that truncation loses in the other.
func truncatedProblem(r *rand.Rand, op Op, m, n, precision, every int, wide bool) Problem {
	p := Problem{Op: op, M: m, N: n, LDA: m + r.IntN(3), IncX: []int{1, -1, 2}[r.IntN(3)], IncY: 1, Alpha: Number(-0.7), Beta: Number(0)}
	nx, spread := strided(p.Terms(), p.IncX), 1000
	p.A, p.X, p.Y = wholeRange(r, p.LDA*n), wholeRange(r, nx), wholeRange(r, p.Rows())
	if wide {
		spread = 600 + precision
		p.A, p.X, p.Y = spreadNumbers(r, p.LDA*n, precision, spread), spreadNumbers(r, nx, precision, spread), spreadNumbers(r, p.Rows(), precision, 3*spread)
		p.Alpha, p.Beta = Scalar{Wide: spreadNumbers(r, 1, precision, 9).Wide[0]}, Scalar{Wide: spreadNumbers(r, 1, precision, 9).Wide[0]}
	}
	large := func() *big.Float { return new(big.Float).SetMantExp(big.NewFloat(r.Float64()-2), spread-20) }
	x0 := large()
	p.X.set(p.xIndex(0), x0)
	p.X.set(p.xIndex(1), x0)
	for i := range p.Rows() {
		a0 := large()
		p.A.set(p.aIndex(i, 0), a0)
		if i%every > 1 {
			continue
		}
		p.A.set(p.aIndex(i, 1), a0.Neg(a0))
		p.Y.set(i, new(big.Float))
		for j := 2; j < p.Terms() && i%every == 0; j++ {
			p.A.set(p.aIndex(i, j), new(big.Float))
		}
	}
	return p
}

// set makes number i equal to v.
func (x Numbers) set(i int, v *big.Float) {
	if x.Wide != nil {
		x.Wide[i] = new(big.Float).Set(v)
	} else {
		x.Float64[i], _ = v.Float64()
	}
}

// TestTruncated compares deferred of numbers of widely different size, on the CPU, a device and both, with the naive exact sums.
func TestTruncated(t *testing.T) {
	gputest.Device(t)
	precisions := []int{24, 53, 106, 424, 1696, 4096}
	if testing.Short() {
		precisions = precisions[1:3]
	}
	for _, precision := range precisions {
		for turn := range 4 {
			wide := turn%2 == 1
			if precision > 424 && (!wide || turn/2 != precision/4096) { // float64 is not truncated to so many bits; many moduli take long
				continue
			}
			t.Run(fmt.Sprint(precision, "/", turn), func(t *testing.T) {
				r := rand.New(rand.NewPCG(uint64(precision), uint64(turn)))
				rows, terms := 40, 24
				if precision > 424 {
					rows, terms = 12, 6
				}
				if op := Op(turn / 2); op == Trans {
					checkTruncated(t, truncatedProblem(r, op, terms, rows, precision, 40, wide), precision)
				} else {
					checkTruncated(t, truncatedProblem(r, op, rows, terms, precision, 40, wide), precision)
				}
			})
		}
	}
}

func checkTruncated(t *testing.T, p Problem, precision int) {
	t.Helper()
	m, _ := Lookup("deferred")
	sums, _ := naive(p)
	device := gputest.Name(t)
	for _, name := range []string{"cpu", device, "cpu+" + device} {
		if precision > 424 && name != device {
			continue
		}
		got := valuesOf(t, m, Options{Precision: precision, Threads: 2, Device: name}, p)
		for i, v := range got {
			if !v.Equal(exact.FromBig(new(big.Float).SetPrec(uint(precision)).SetRat(sums[i]))) {
				t.Fatalf("%s, component %d: %s, want %s", name, i, v.Text(20), sums[i].FloatString(20))
			}
		}
	}
	// It was truncation that was tested, and repair.
	e, err := newDeviceDeferred(Options{Precision: precision, Device: device})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Load(p); err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	e.Run()
	if repaired, _ := e.product.Repaired(); !e.product.Truncated() || repaired < 1 || repaired > 3 {
		t.Errorf("truncated %v, %d of %d rows computed again", e.product.Truncated(), repaired, p.Rows())
	}
}

// TestReconsidered has so many rows that truncation leaves open that all sums are exact after Load, where there is memory for that.
func TestReconsidered(t *testing.T) {
	device := gputest.Name(t)
	m, _ := Lookup("deferred")
	for turn := range 4 {
		r := rand.New(rand.NewPCG(71, uint64(turn)))
		p := truncatedProblem(r, Op(turn/2), 16, 16, 106, 4, turn%2 == 1)
		sums, _ := naive(p)
		check := func(e Engine) {
			e.Run()
			for i, v := range e.Result() {
				if !v.Equal(exact.FromBig(new(big.Float).SetPrec(106).SetRat(sums[i]))) {
					t.Fatalf("%T, component %d: %s, want %s", e, i, v.Text(20), sums[i].FloatString(20))
				}
			}
		}
		onGPU, err := newDeviceDeferred(Options{Precision: 106, Device: device})
		if err != nil {
			t.Fatal(err)
		}
		if err := onGPU.Load(p); err != nil {
			t.Fatal(err)
		}
		if onGPU.product.Truncated() || len(onGPU.raw) > 0 {
			t.Error("the device's sums are truncated")
		}
		check(onGPU)
		moduli := onGPU.Format().Moduli
		onGPU.Close()
		for _, bytes := range []int64{0, 4 * int64(moduli) * 16 * 16 / 2} {
			cpu := newEngine(t, m, Options{Precision: 106, Threads: 1, MaxBytes: bytes}).(*deferredEngine)
			if err := cpu.Load(p); err != nil {
				t.Fatal(err)
			}
			if truncated := cpu.matrix.Truncated() || cpu.x.Truncated(); truncated != (bytes > 0) {
				t.Errorf("with %d bytes the CPU's sums are truncated: %v", bytes, truncated)
			}
			check(cpu)
		}
	}
}

// TestTruncatedSpecial has infinities and NaN among such numbers.
func TestTruncatedSpecial(t *testing.T) {
	device := gputest.Name(t)
	m, _ := Lookup("deferred")
	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(61, seed))
		p := truncatedProblem(r, Op(seed%2), 12, 12, 53, 6, false)
		p.A.Float64[p.aIndex(3, 2)] = math.Inf(-1)
		p.A.Float64[p.aIndex(7, 5)] = math.NaN()
		if seed > 3 {
			p.X.Float64[p.xIndex(4)] = math.Inf(1)
		}
		want := valuesOf(t, m, Options{Precision: 53, Threads: 1}, p)
		for _, name := range []string{device, "cpu+" + device} {
			got := valuesOf(t, m, Options{Precision: 53, Threads: 1, Device: name}, p)
			special := 0
			for i, v := range got {
				if !v.Equal(want[i]) {
					t.Fatalf("seed %d on %s, component %d: %v, want %v", seed, name, i, v, want[i])
				}
				if !v.IsFinite() {
					special++
				}
			}
			if special < 2 {
				t.Errorf("seed %d: %d infinities and NaN", seed, special)
			}
		}
	}
}
