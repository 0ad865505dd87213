package methods_test

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"mpbench/pkg/device"
	"mpbench/pkg/exact"
	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
)

// loosest is what the least ratio of a bound to an error may be: a bound that no data bring nearer promises too
// little.
const loosest = 16

// term is number i of those made to attain a bound, for a format of p bits.
type term func(r *rand.Rand, i, p int) *big.Float

// attacks are data made to attain bounds.
var attacks = map[string]term{
	// each term is as large as can be lost when it is added to 1, by rounding to nearest
	"below half a unit": func(_ *rand.Rand, i, p int) *big.Float { return lost(i, -p, p) },
	// by truncation
	"below a unit": func(_ *rand.Rand, i, p int) *big.Float { return lost(i, 1-p, p) },
	// of parts that are full: half a unit of the last one
	"below half a unit of a part": func(r *rand.Rand, i, p int) *big.Float {
		if i == 0 {
			return parts(r, p)
		}
		return lost(i, -p-len(components(p))+1, p)
	},
	// each sum and product is rounded somewhere, upwards and downwards
	"positive": func(r *rand.Rand, _, p int) *big.Float { return full(r, p) },
	// sums grow to the same exponent and vanish
	"alternating": func(r *rand.Rand, i, p int) *big.Float {
		x := full(r, p)
		if i%2 == 1 {
			x.Neg(x)
		}
		return x
	},
}

// lost returns 1 for i = 0, otherwise (1 - 2^-8)*2^exponent.
func lost(i, exponent, p int) *big.Float {
	x := new(big.Float).SetPrec(uint(p)).SetInt64(1)
	if i > 0 {
		x.SetMantExp(big.NewFloat(1-0x1p-8), exponent)
	}
	return x
}

// full returns a number in [1, 2) whose significand has p bits.
func full(r *rand.Rand, p int) *big.Float {
	n := big.NewInt(1)
	for n.BitLen() < p {
		k := min(32, p-n.BitLen())
		n.Lsh(n, uint(k)).Or(n, big.NewInt(int64(r.Uint64()>>(64-k))))
	}
	n.SetBit(n, 0, 1)
	x := new(big.Float).SetPrec(uint(p)).SetInt(n)
	return x.SetMantExp(x, 1-p)
}

// parts returns a sum of binary64, or of binary32, numbers of p bits in all, each just below half a unit of the one
// before; full otherwise.
func parts(r *rand.Rand, p int) *big.Float {
	sizes := components(p)
	if len(sizes) == 1 {
		return full(r, p)
	}
	x := new(big.Float).SetPrec(uint(2 * p)).SetInt64(1)
	exponent := 0
	for i, bits := range sizes[1:] {
		exponent -= sizes[i] + 1
		part := full(r, bits)
		x.Add(x, part.SetMantExp(part, exponent))
	}
	return x
}

// components returns the bits of the components of numbers of p bits.
func components(p int) []int {
	if p == 53+24 {
		return []int{53, 24}
	}
	for _, bits := range []int{53, 24} {
		if p%bits == 0 {
			return slices.Repeat([]int{bits}, p/bits)
		}
	}
	return []int{p}
}

// size is the exponent of all terms: parts of binary32 are not subnormal.
const size = 64

// attack makes a problem of n terms; all factors beside one are 1, but that of an operation on one vector. Terms that
// are squares are those of the roots.
func attack(o *op.Operation, r *rand.Rand, n, p int, term term) *op.Problem {
	list := make(numbers.Bigs, n)
	ones := make(numbers.Float64s, n)
	for i := range list {
		list[i], ones[i] = term(r, i, p), 1
		list[i].SetMantExp(list[i], size)
		if o.Norm == 2 {
			list[i] = exact.RoundRoot(exact.FromBig(list[i]).Abs(), uint(p))
		}
	}
	x := numbers.Array{Source: list, Layout: numbers.Strided(n, 1)}
	if p <= 53 {
		floats := make(numbers.Float64s, n)
		for i, v := range list {
			floats[i], _ = v.Float64()
		}
		x.Source = floats
	}
	problem := &op.Problem{Op: o, X: x}
	switch {
	case o.Storage == op.Sparse:
		row := &numbers.Pattern{Start: []int{0, n}, Column: make([]int32, n)}
		for j := range row.Column {
			row.Column[j] = int32(j)
		}
		problem.A = numbers.Sparse(ones, n, row)
	case o.Storage != op.Full:
		all := make(numbers.Float64s, n*n)
		for i := range all {
			all[i] = 1
		}
		problem.A = numbers.Array{Source: all, Layout: numbers.RowMajor(n, n, n)}
		problem.Store(true, false)
	case o.Has(op.Matrix):
		problem.A = numbers.Array{Source: ones, Layout: numbers.RowMajor(1, n, n)}
	case len(o.Arrays()) == 2 && o.Scalar:
		problem.Y = numbers.Vector(ones)
	case len(o.Arrays()) == 2:
		y := make(numbers.Bigs, n)
		for i := range y {
			y[i] = parts(r, p)
			y[i].SetMantExp(y[i], size-3)
		}
		problem.Y = numbers.Vector(y)
	case !o.Scalar:
		problem.Alpha = numbers.Vector(numbers.Bigs{full(r, (p+1)/2)}) // no part of which is subnormal
	}
	return problem
}

// TestTightness finds for every method the least ratio of its bound to its error on data made to attain it: short
// ones, and long ones where those do not, or where all tests are asked for.
func TestTightness(t *testing.T) {
	everything := os.Getenv("MPBENCH_FULL_TESTS") != ""
	for _, m := range catalog {
		if _, ok := twins[m.Name]; ok {
			continue // the same formula as on the CPU, and the same bits
		}
		if testing.Short() && takesLong(m) {
			t.Logf("%s of %s is left out with -short: it takes long", m.Name, m.Operation.Name)
			continue
		}
		allowed := float64(loosest)
		if strings.Contains(m.Format, " x binary") || strings.HasSuffix(m.Format, "-double") ||
			strings.HasSuffix(m.Format, "-single") {
			allowed *= math.Ldexp(1, len(components(m.Bits))-1) // see network.Scheme.Bounds
		}
		least, at := math.Inf(1), ""
		for _, n := range []int{8, 100, 1000} {
			if n == 1000 && (m.Operation.Storage.Triangle() || least <= allowed && !everything) {
				continue // n^2 numbers, or nothing new
			}
			for name, term := range attacks {
				if ratio := tightness(t, m, n, name, term); ratio < least {
					least, at = ratio, fmt.Sprintf("%s, %d terms", name, n)
				}
			}
		}
		t.Logf("%-4s %-10s %6.2f  %s", m.Operation.Name, m.Name, least, at)
		if least > allowed || least < 1 {
			t.Errorf("%s %s: the least ratio of bound to error is %.2f", m.Operation.Name, m.Name, least)
		}
	}
}

// tightness returns the least ratio on data of one kind, +Inf if there is no error.
func tightness(t *testing.T, m method.Method, n int, name string, term term) float64 {
	t.Helper()
	least := math.Inf(1)
	for _, precision := range []int{53, 106} {
		if m.Bits != 0 && precision != 53 {
			continue
		}
		for seed := range uint64(2) {
			options := map[string]string{"blocks": "4", "block-size": "4"}
			c := method.Config{Precision: precision, Devices: device.Set{}, Options: options}
			e, err := m.New(c)
			if err != nil {
				t.Fatal(err)
			}
			bits := max(m.Bits, actualBits(t, m, c))
			p, r := known(t, attacked{m.Operation, name, seed, n, bits}, func() *op.Problem {
				return attack(m.Operation, rand.New(rand.NewPCG(seed, 1)), n, bits, term)
			})
			if err := method.Run(context.Background(), e, p); err != nil {
				t.Fatal(err)
			}
			y, err := e.Result()
			if err != nil {
				t.Fatal(err)
			}
			limit := m.ErrorBound(e.Info(), p)
			for i := range r.Shape.Components {
				s := r.Component(i)
				failure := s.Errors(numbers.At(y, i)).Abs.Number()
				if failure.Sign() > 0 {
					ratio, _ := new(big.Rat).Quo(limit.Of(s), failure).Float64()
					least = min(least, ratio)
				}
			}
		}
	}
	return least
}

// attacked is what a problem of an attack depends on.
type attacked struct {
	operation *op.Operation
	name      string
	seed      uint64
	n, bits   int
}

// actualBits returns the precision that an engine gives where one is asked for.
func actualBits(t *testing.T, m method.Method, c method.Config) int {
	t.Helper()
	e, err := m.New(c)
	if err != nil {
		t.Fatal(err)
	}
	p := attack(m.Operation, rand.New(rand.NewPCG(1, 1)), 1, 53, attacks["below a unit"])
	if err := e.Prepare(context.Background(), p); err != nil {
		t.Fatal(err)
	}
	return e.Info().Bits
}
