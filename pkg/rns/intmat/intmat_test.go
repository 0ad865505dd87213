package intmat

import (
	"math/big"
	"math/rand/v2"
	"sync"
	"testing"
)

// matrix is a matrix of integers.
type matrix struct {
	cols int
	x    []*big.Int
}

func random(rng *rand.Rand, rows, cols, bits int) *matrix {
	m := &matrix{cols: cols, x: make([]*big.Int, rows*cols)}
	for i := range m.x {
		m.x[i] = randomInt(rng, bits)
	}
	return m
}

func randomInt(rng *rand.Rand, bits int) *big.Int {
	z := new(big.Int)
	for z.BitLen() < bits {
		z.Lsh(z, 64)
		z.Or(z, new(big.Int).SetUint64(rng.Uint64()))
	}
	z.Rsh(z, uint(z.BitLen()-bits))
	if rng.IntN(2) == 0 {
		z.Neg(z)
	}
	return z
}

func (m *matrix) at(i, j int) *big.Int { return m.x[i*m.cols+j] }

// source reads rows as vectors or, transposed, columns.
func (m *matrix) source(transposed bool) Source {
	return func(_ int, z *Integer, vector, term int) {
		if transposed {
			vector, term = term, vector
		}
		x := m.at(vector, term)
		z.Neg = x.Sign() < 0
		z.Words = z.Words[:0]
		for rest := new(big.Int).Abs(x); rest.Sign() > 0; rest.Rsh(rest, 64) {
			z.Words = append(z.Words, rest.Uint64())
		}
	}
}

func checkProduct(t *testing.T, a, b *matrix, rows, terms, cols, aBits, bBits, threads int) {
	t.Helper()
	p := NewPlan(aBits, bBits, terms)
	if p == nil {
		t.Fatalf("no plan for %d and %d bits", aBits, bBits)
	}
	left, right := p.Left(rows, a.source(false), threads), p.Right(cols, b.source(true), threads)
	z := make([]*big.Int, rows*cols)
	var mutex sync.Mutex
	p.NewMultiplier(threads).Multiply(left, right, func(_, i, j int, sum *big.Int) {
		mutex.Lock()
		defer mutex.Unlock()
		z[i*cols+j] = new(big.Int).Set(sum)
	})
	var want, term big.Int
	for i := range rows {
		for j := range cols {
			want.SetInt64(0)
			for k := range terms {
				want.Add(&want, term.Mul(a.at(i, k), b.at(k, j)))
			}
			if got := z[i*cols+j]; got == nil || got.Cmp(&want) != 0 {
				t.Fatalf("%d x %d x %d of %d and %d bits, kernel %s: entry (%d, %d) is %v, want %v",
					rows, terms, cols, aBits, bBits, p.Kernel(), i, j, got, &want)
			}
		}
	}
}

// entry returns the entry in row i and column j of a table of a base.
func entry(table []uint32, rows, pairs, i, j int) int64 {
	return int64(int16(table[(i/rows*pairs+j/2)*rows+i%rows] >> (j % 2 * 16)))
}

func magnitude(x int64) int64 { return max(x, -x) }

// TestPremises: moduli are pairwise coprime, residues are as small as promised, and no sum exceeds an int32, whatever
// the residues and digits are.
func TestPremises(t *testing.T) {
	product := big.NewInt(1)
	for _, m := range moduli() {
		x := big.NewInt(int64(m.m))
		if new(big.Int).GCD(nil, nil, product, x).Cmp(big.NewInt(1)) != 0 {
			t.Errorf("%d has a factor in common with the moduli above it", m.m)
		}
		if m.m/2+385 > maxResidue {
			t.Errorf("residues modulo %d may exceed %d", m.m, maxResidue)
		}
		product.Mul(product, x)
	}
	const limit = 1<<31 - 1
	if sum := blockTerms*maxResidue*maxResidue + maxResidue; sum > limit {
		t.Errorf("sums of products reach %d", sum)
	}
	b, rows := newBase(MaxModuli, 6), 6
	for k := range MaxModuli {
		for side := range b.powers {
			sum := int64(0)
			for d := range maxDigits {
				sum += digitMask * magnitude(entry(b.powers[side], rows, maxDigits/2, k, d))
			}
			if sum > limit {
				t.Errorf("digits modulo %d add up to %d", moduli()[k].m, sum)
			}
		}
	}
	fraction := int64(1 << (fractionBits - 1))
	for k := range MaxModuli {
		fraction += maxResidue * entry(b.crt, rows, b.pairs, b.digits, k)
	}
	if fraction > limit {
		t.Errorf("fractions add up to %d", fraction)
	}
	for d, m := range b.product {
		sum := int64(1 << (31 - digitBits)) // a carry
		for k := range MaxModuli {
			sum += maxResidue * magnitude(entry(b.crt, rows, b.pairs, d, k))
		}
		if sum += fraction >> fractionBits * magnitude(int64(m)); sum > limit {
			t.Errorf("digit %d is a sum of up to %d", d, sum)
		}
	}
}

func TestMultiply(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 40 {
		rows, terms, cols := rng.IntN(20), rng.IntN(20), rng.IntN(40)
		aBits, bBits := 1+rng.IntN(500), 1+rng.IntN(500)
		if i == 1 {
			rows, aBits = 3, 0 // zeros
		}
		if i == 0 { // more than a block of rows, of columns and of terms
			rows, terms, cols, aBits, bBits = 101, 261, 270, 30, 40
		}
		if rng.IntN(8) == 0 {
			aBits, rows, cols, terms = 1500+rng.IntN(900), min(rows, 9), min(cols, 20), min(terms, 50)
		}
		a, b := random(rng, rows, terms, aBits), random(rng, terms, cols, bBits)
		checkProduct(t, a, b, rows, terms, cols, aBits, bBits, 1+rng.IntN(2))
	}
}
