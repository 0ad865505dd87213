package gemv

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
	"time"

	"mpbench/internal/problems"
	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
	"mpbench/pkg/superacc"
)

// reused is a configuration of deferred for so many products.
func reused(precision, threads int, reuse string) method.Config {
	return method.Config{Precision: precision, Threads: threads, Options: map[string]string{"reuse": reuse}}
}

// asBigs returns the problem with a matrix that is not binary64.
func asBigs(p *op.Problem) *op.Problem {
	q := *p
	data := p.A.Source.(numbers.Float64s)
	list := make(numbers.Bigs, len(data))
	for i, x := range data {
		if x == x {
			list[i] = big.NewFloat(x)
		}
	}
	q.A.Source = list
	return &q
}

// checkDirect compares a product in place with that of residues.
func checkDirect(t *testing.T, p *op.Problem, precision, threads int) {
	t.Helper()
	e := prepared(t, "deferred", reused(precision, threads, "1"), p)
	got, variant := run(t, e), e.Info().Variant
	if p.Multiplies() && p.A.Len() > 0 && variant != directVariant {
		t.Fatalf("variant %q", variant)
	}
	want := run(t, prepared(t, "deferred", reused(precision, threads, "0"), asBigs(p)))
	for i := range want.Len() {
		if x, y := numbers.At(got, i), numbers.At(want, i); !x.Equal(y) {
			t.Fatalf("component %d: %v, by residues %v", i, x, y)
		}
	}
}

// TestDirect: products in place have the bits of those by residues, for all strides, signs, exponents and factors.
func TestDirect(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 17))
		m, n := r.IntN(80), r.IntN(80)
		if seed%50 == 0 {
			m, n = 1+r.IntN(40), 400+r.IntN(700) // several panels
		}
		spread := []int{0, 3, 60, 600}[r.IntN(4)]
		list := func(length int) numbers.Float64s {
			x := make(numbers.Float64s, length)
			for i := range x {
				if r.IntN(10) > 0 {
					x[i] = math.Ldexp(2*r.Float64()-1, r.IntN(2*spread+1)-spread)
				}
			}
			return x
		}
		ld, inc := n+r.IntN(3), 1+r.IntN(3)
		l := numbers.RowMajor(m, n, ld)
		switch r.IntN(4) {
		case 1:
			ld = m + r.IntN(3)
			l = numbers.ColMajor(m, n, ld)
		case 2:
			l.ColStride, l.RowStride = 2, 2*ld+1
		case 3:
			l.Offset, l.RowStride = max(0, m-1)*ld, -ld
		}
		data := list(l.Size())
		p := &op.Problem{Op: op.Gemv, Trans: r.IntN(2) == 0, A: numbers.Array{Source: data, Layout: l}}
		rows, terms := m, n
		if p.Trans {
			rows, terms = n, m
		}
		p.X = numbers.Array{Source: list(terms*inc + 1), Layout: numbers.Strided(terms, inc)}
		p.Y = numbers.Vector(list(rows))
		c := problems.Choice{Seed: seed}
		if r.IntN(2) == 0 {
			p.Alpha = c.Number(2)
		}
		if r.IntN(2) == 0 {
			p.Beta = c.Number(3)
		}
		checkDirect(t, p, []int{2, 24, 53, 106, 300}[r.IntN(5)], 1+r.IntN(3))
	}
}

// TestDirectSpecial: infinities and NaN in the matrix, which products in place find on their way, and elsewhere.
func TestDirectSpecial(t *testing.T) {
	specials := []float64{math.Inf(1), math.Inf(-1), math.NaN(), 0, 1}
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 18))
		list := func(length int, share int) numbers.Float64s {
			x := make(numbers.Float64s, length)
			for i := range x {
				if x[i] = 2*r.Float64() - 1; r.IntN(share) == 0 {
					x[i] = specials[r.IntN(len(specials))]
				}
			}
			return x
		}
		n := 1 + r.IntN(12)
		p := &op.Problem{Op: op.Gemv, Trans: r.IntN(2) == 0,
			A: numbers.Array{Source: list(n*n, 8), Layout: numbers.RowMajor(n, n, n)},
			X: numbers.Vector(list(n, 20)), Y: numbers.Vector(list(n, 20)),
			Alpha: numbers.Vector(list(1, 6)), Beta: numbers.Vector(list(1, 6))}
		checkDirect(t, p, 53, 1+r.IntN(2))
	}
}

// TestVariant: what is used often is converted where residues are faster: where numbers are short.
func TestVariant(t *testing.T) {
	const n = 20
	short, long := make(numbers.Float64s, n*n), make(numbers.Float64s, n*n)
	for i := range short {
		short[i], long[i] = float64(i%9), 1/float64(i+1)
	}
	for _, c := range []struct {
		a      numbers.Float64s
		reuse  string
		direct bool
	}{
		{short, "0", false}, {short, "1", true}, {short, "8", true}, {short, "9", false},
		{long, "0", true}, {long, "1", true},
	} {
		p := &op.Problem{Op: op.Gemv, A: numbers.Array{Source: c.a, Layout: numbers.RowMajor(n, n, n)},
			X: numbers.Vector(c.a[:n])}
		info := prepared(t, "deferred", reused(53, 1, c.reuse), p).Info()
		if got := info.Variant == directVariant; got != c.direct || got != (info.Moduli == 0) {
			t.Errorf("reuse %s: variant %q, %d moduli", c.reuse, info.Variant, info.Moduli)
		}
	}
}

// BenchmarkOneShot times products of binary64 matrices in place in turns with what they are compared with: exact dot
// products of rows of the same length, and residues once they are converted. The best times count.
func BenchmarkOneShot(b *testing.B) {
	for _, n := range []int{200, 1000, 2000} {
		for _, trans := range []bool{false, true} {
			p := problems.Choice{Seed: 1}.Product(trans, n, n, 1, 0)
			data, x := p.A.Source.(numbers.Float64s), p.X.Source.(numbers.Float64s)
			place := prepared(b, "deferred", reused(53, 1, "1"), p)
			residues := prepared(b, "deferred", reused(53, 1, "0"), asBigs(p))
			ctx := context.Background()
			phases := []struct {
				name string
				run  func()
				best time.Duration
			}{
				{"direct", func() { _ = place.Run(ctx) }, math.MaxInt64},
				{"residues", func() { _ = residues.Run(ctx) }, math.MaxInt64},
				{"dot", func() {
					for i := 0; i < n*n; i += n {
						superacc.Dot(data[i:i+n], x, 1)
					}
				}, math.MaxInt64},
			}
			letter := map[bool]string{false: "N", true: "T"}[trans]
			b.Run(fmt.Sprintf("op=%s/n=%d", letter, n), func(b *testing.B) {
				for b.Loop() {
					for i := range phases {
						start := time.Now()
						phases[i].run()
						phases[i].best = min(phases[i].best, time.Since(start))
					}
				}
				for _, f := range phases {
					b.ReportMetric(float64(f.best.Nanoseconds())/float64(n*n), f.name+"-best-ns/elem")
				}
			})
		}
	}
}
