package methods_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"mpbench/pkg/bound"
	"mpbench/pkg/digits"
	"mpbench/pkg/exact"
	"mpbench/pkg/format"
	"mpbench/pkg/method"
	"mpbench/pkg/multifloat"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
)

// arithmetic is single operations of a format, on numbers of any type.
type arithmetic struct {
	name          string // of its methods
	bits          int
	sum, product  *big.Rat // errors
	divided       *big.Rat // errors of quotients and roots
	stored        *big.Rat // of conversion
	tiny          *big.Rat // what a product loses below the normal range; 0 for nothing
	add, mul, div func(x, y any) any
	sqrt          func(x any) any
	value         func(x any) exact.Value
	load          func(exact.Value) any
	compare       func(x, y any) (int, bool)
}

// formatOf returns the arithmetic of a format; parts is how many roundings a conversion has, each to half the bound.
func formatOf[V, S any](name string, f format.Format[V, S], parts int) arithmetic {
	unit := func(o *op.Operation) *big.Rat {
		m, ok := catalog.Lookup(o, name)
		if !ok {
			panic(name)
		}
		return m.Bound.Unit(bound.Vars{P: f.Bits})
	}
	divided := unit(op.Sum)
	if parts > 1 && f.Stored == "" {
		divided = new(big.Rat).Mul(f.Range.Unit, exact.PowerOfTwo(1-parts))
	}
	stored := divided
	if f.Stored != "" || f.Name == "double-single" {
		stored = f.Range.Unit
	}
	if f.Name == "double-single" && f.Stored == "" {
		divided = new(big.Rat).Mul(f.Range.Unit, big.NewRat(9, 8)) // a quotient is rounded to 2^-107 before
	}
	pair := func(g func(x, y S) S) func(x, y any) any {
		return func(x, y any) any { return g(x.(S), y.(S)) }
	}
	tiny := new(big.Rat)
	if f.Range.Tiny != nil {
		tiny = f.Range.Tiny
	}
	return arithmetic{
		name: name, bits: f.Bits, sum: unit(op.Sum), product: unit(op.Scal), divided: divided, stored: stored, tiny: tiny,
		add: pair(f.Add), mul: pair(f.Mul), div: pair(f.Div),
		sqrt:  func(x any) any { return f.Sqrt(x.(S)) },
		value: func(x any) exact.Value { return f.Value(x.(S)) },
		load: func(v exact.Value) any {
			x, _ := f.Load(numbers.Vector(numbers.Values{v}))
			return f.Get(x, 0)
		},
		compare: func(x, y any) (int, bool) { return f.Compare(x.(S), y.(S)) },
	}
}

// formats are the arithmetics of all formats.
func formats() (list []arithmetic) {
	c := method.Config{Precision: 106}
	list = append(list,
		formatOf("float32", format.Binary32, 1), formatOf("float64", format.Binary64, 1),
		formatOf("bigfloat", format.BigFloat(c), 1),
		formatOf("digits", digits.Truncating(c), 1), formatOf("digits-rounded", digits.Rounding(c), 1))
	for _, f := range multifloat.Formats() {
		if f.Narrow {
			list = append(list, formatOf(f.Method, multifloat.In[float32](f), f.Scheme.Components))
		} else {
			list = append(list, formatOf(f.Method, multifloat.In[float64](f), f.Scheme.Components))
		}
	}
	return list
}

// operand returns a number that strains rounding: full, with parts just below half a unit, with few bits, or 0.
func operand(r *rand.Rand, bits int) *big.Float {
	var x *big.Float
	switch r.IntN(6) {
	case 0:
		x = full(r, bits)
	case 1, 2:
		x = parts(r, bits)
	case 3:
		x = full(r, bits+3)
	case 4:
		x = big.NewFloat(1 + math.Ldexp(float64(r.IntN(3)-1), -r.IntN(52)))
	default:
		x = full(r, 1+r.IntN(bits))
	}
	if r.IntN(40) == 0 {
		x = new(big.Float)
	}
	if r.IntN(2) == 0 {
		x.Neg(x)
	}
	return x
}

// TestOperations compares single operations of every format, at all magnitudes of operands and where they nearly
// cancel, with exact ones: within the proved errors. MPBENCH_FULL_TESTS tries 10^6 of each.
func TestOperations(t *testing.T) {
	runs := 4000
	switch {
	case os.Getenv("MPBENCH_FULL_TESTS") != "":
		runs = 1_000_000
	case testing.Short():
		runs = 400
	}
	for _, f := range formats() {
		t.Run(f.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(uint64(f.bits), 5))
			worst := map[string]float64{}
			for range runs {
				testOperations(t, r, f, worst)
			}
			for _, what := range []string{"conversion", "+", "*", "/"} {
				t.Logf("the worst error of %s is %.3f of the bound", what, worst[what])
			}
		})
	}
}

func testOperations(t *testing.T, r *rand.Rand, f arithmetic, worst map[string]float64) {
	t.Helper()
	check := func(what string, got any, want, scale, unit *big.Rat) {
		t.Helper()
		e := new(big.Rat).Sub(f.value(got).Number(), want)
		limit := new(big.Rat).Mul(unit, scale)
		if what == "*" {
			limit.Add(limit, f.tiny)
		}
		if e.Abs(e).Cmp(limit) > 0 {
			t.Fatalf("%s is %v, want %v: an error of %v, the bound is %v", what, f.value(got), exact.FromRat(want),
				exact.FromRat(e), exact.FromRat(limit))
		}
		if limit.Sign() > 0 {
			share, _ := e.Quo(e, limit).Float64()
			worst[what] = max(worst[what], share)
		}
	}
	abs := func(x *big.Rat) *big.Rat { return new(big.Rat).Abs(x) }
	// All parts of numbers of binary32 are normal: the least is 2^-168 times the first one, of 2^60.
	a := operand(r, f.bits)
	a.SetMantExp(a, 60)
	given := exact.FromBig(a)
	x := f.load(given)
	check("conversion", x, given.Number(), abs(given.Number()), f.stored)
	y := f.load(exact.FromBig(func() *big.Float {
		b := operand(r, f.bits)
		if r.IntN(3) == 0 {
			b.Neg(a).SetMantExp(b, -60)
			b.Add(b, new(big.Float).SetMantExp(operand(r, 24), -r.IntN(f.bits)))
		}
		return b.SetMantExp(b, 60-r.IntN(2)*r.IntN(20))
	}()))
	p, q := f.value(x).Number(), f.value(y).Number()
	check("+", f.add(x, y), new(big.Rat).Add(p, q), new(big.Rat).Add(abs(p), abs(q)), f.sum)
	one := f.load(exact.FromFloat64(math.Ldexp(1, -60)))
	small := f.mul(x, one) // of magnitude 1
	s := f.value(small).Number()
	product := new(big.Rat).Mul(s, q)
	check("*", f.mul(small, y), product, abs(product), f.product)
	if divisor := f.mul(y, one); f.value(divisor).Sign() != 0 {
		d := f.value(divisor).Number()
		dividend := f.load(exact.FromRat(new(big.Rat).Mul(p, d)))
		quotient := new(big.Rat).Quo(f.value(dividend).Number(), d)
		check("/", f.div(dividend, divisor), quotient, abs(quotient), f.divided)
	}
	if order, ok := f.compare(x, y); !ok || order != p.Cmp(q) {
		t.Fatalf("%v compared with %v: %d, %v", f.value(x), f.value(y), order, ok)
	}
	radicand := f.load(exact.FromRat(new(big.Rat).Mul(abs(p), exact.PowerOfTwo(50))))
	root, square := f.value(f.sqrt(radicand)), f.value(radicand).Number()
	lower, upper := new(big.Rat).Sub(big.NewRat(1, 1), f.divided), new(big.Rat).Add(big.NewRat(1, 1), f.divided)
	got := new(big.Rat).Mul(root.Number(), root.Number())
	lower, upper = lower.Mul(lower.Mul(lower, lower), square), upper.Mul(upper.Mul(upper, upper), square)
	if got.Cmp(lower) < 0 || got.Cmp(upper) > 0 {
		t.Fatalf("the root of %v is %v", exact.FromRat(square), root)
	}
}

// TestConversions: numbers of every format become numbers of every other one, and decimals, rounded once: exactly
// where the other one has the digits.
func TestConversions(t *testing.T) {
	all := formats()
	r := rand.New(rand.NewPCG(6, 6))
	for _, from := range all {
		for _, to := range all {
			for range 20 {
				a := operand(r, from.bits)
				v := from.value(from.load(exact.FromBig(a.SetMantExp(a, 60))))
				got := to.value(to.load(v))
				limit := new(big.Rat).Mul(to.stored, new(big.Rat).Abs(v.Number()))
				if !exact.Measure(got, v).Within(limit) {
					t.Fatalf("%v of %s becomes %v in %s", v, from.name, got, to.name)
				}
				if back := from.value(from.load(got)); to.bits > 2*from.bits && !back.Equal(v) {
					t.Fatalf("%v of %s is %v after %s", v, from.name, back, to.name)
				}
				text, ok := new(big.Rat).SetString(v.Text(3 + from.bits*2/5))
				if again := from.value(from.load(exact.FromRat(text))); !ok || from.bits < 60 && !again.Equal(v) {
					t.Fatalf("%v of %s is %v after decimals", v, from.name, again)
				}
			}
		}
	}
}

// TestExtremes: operations on infinities, NaN, subnormal and the largest numbers end; those of plain numbers are IEEE
// 754's.
func TestExtremes(t *testing.T) {
	extremes := []float64{0, math.Inf(1), math.Inf(-1), math.NaN(), math.MaxFloat64, math.SmallestNonzeroFloat64,
		0x1p-1030, -1, 0x1p-149, math.MaxFloat32}
	for _, f := range formats() {
		finite := slices.Contains([]string{"bigfloat", "digits", "digits-rounded"}, f.name)
		for _, a := range extremes {
			for _, b := range extremes {
				if finite && (a-a != 0 || b-b != 0) {
					continue // engines take such numbers out before
				}
				x, y := f.load(exact.FromFloat64(a)), f.load(exact.FromFloat64(b))
				results := []any{f.add(x, y), f.mul(x, y)}
				if b != 0 || !finite {
					results = append(results, f.div(x, y))
				}
				for i, z := range results {
					want := []float64{a + b, a * b, a / b}[i]
					if got := f.value(z).Float64(); f.name == "float64" && got != want && (got == got || want == want) {
						t.Errorf("operation %d of %g and %g is %g, want %g", i, a, b, got, want)
					}
				}
			}
		}
	}
}
