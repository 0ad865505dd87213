package network

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"mpbench/pkg/exact"
)

// schemes are those of all formats.
var schemes = []Scheme{
	{Components: 2, DoubleWord: true}, {Components: 2, Carries: 1}, Guarded(2), Guarded(3), Guarded(4), Guarded(5),
	Guarded(8), {Components: 2, Mixed: 24},
}

// narrow is a binary arithmetic of so many bits without ends of the exponent range, on float64 numbers. Its TwoSum is
// the program of six additions, so that a condition that does not hold shows.
type narrow int

// round rounds a normal number or zero to the nearest of p bits, ties to even.
func (p narrow) round(x float64) float64 {
	dropped := 53 - uint(p)
	b := math.Float64bits(x)
	b += 1<<(dropped-1) - 1 + b>>dropped&1
	return math.Float64frombits(b &^ (1<<dropped - 1))
}

// narrowed is the precision of a lower part of the mixed scheme, narrower than p.
func (p narrow) narrowed() narrow { return (p + 1) / 2 }

func (p narrow) Narrow(x float64) float64       { return p.narrowed().round(x) }
func (p narrow) Add(x, y float64) float64       { return p.round(x + y) }
func (p narrow) Mul(x, y float64) float64       { return p.round(x * y) }
func (p narrow) MulAdd(x, y, z float64) float64 { return p.round(float64(x*y) + z) }
func (p narrow) TwoSum(x, y float64) (s, e float64) {
	s = p.Add(x, y)
	z := p.Add(s, -x)
	return s, p.Add(p.Add(x, -p.Add(s, -z)), p.Add(y, -z))
}
func (p narrow) FastTwoSum(x, y float64) (s, e float64) {
	s = p.Add(x, y)
	return s, p.Add(y, -p.Add(s, -x))
}
func (p narrow) TwoProduct(x, y float64) (s, e float64) {
	s = p.Mul(x, y)
	return s, p.MulAdd(x, y, -s)
}

// pairs returns all numbers of two components of p bits in [1, 2), down to some binades below half a unit.
func (p narrow) pairs(binades int) (list [][]float64) {
	for hi := 1 << (p - 1); hi < 1<<p; hi++ {
		x := math.Ldexp(float64(hi), 1-int(p))
		list = append(list, []float64{x, 0})
		for b := range binades {
			for lo := 1 << (p - 1); lo < 1<<p; lo++ {
				for _, sign := range []float64{1, -1} {
					y := sign * math.Ldexp(float64(lo), 1-2*int(p)-b-1)
					if p.round(x+y) == x {
						list = append(list, []float64{x, y})
					}
				}
			}
			if b == 0 { // half a unit itself, to an even number
				for _, y := range []float64{math.Ldexp(1, -int(p)), -math.Ldexp(1, -int(p))} {
					if p.round(x+y) == x {
						list = append(list, []float64{x, y})
					}
				}
			}
		}
	}
	return list
}

func scaled(x []float64, c float64) []float64 { return []float64{c * x[0], c * x[1]} }

func total(x []float64) (s float64) { // exact for narrow numbers
	for _, v := range x {
		s += v
	}
	return s
}

// TestAllPairs tries all operands of narrow formats with algorithms of two components: every stated bound holds. The
// errors found are in the documentation of the bounds.
func TestAllPairs(t *testing.T) {
	p, binades := narrow(4), 2
	if !testing.Short() {
		p = 5
	}
	all := p.pairs(binades)
	unit := math.Ldexp(1, -int(p))
	for _, s := range schemes {
		if s.Components != 2 {
			continue
		}
		pairs := all
		if s.Mixed > 0 {
			s.Mixed = int(p.narrowed())
			pairs = slices.DeleteFunc(slices.Clone(all), func(x []float64) bool { return p.Narrow(x[1]) != x[1] })
		}
		b := s.Bounds(new(big.Rat).SetFloat64(unit))
		most, _ := b.Add.Float64()
		worst := 0.0
		for _, x := range pairs {
			for _, y := range pairs {
				for shift := range 2*int(p) + 2 {
					for _, c := range []float64{math.Ldexp(1, -shift), -math.Ldexp(1, -shift)} {
						y := scaled(y, c)
						z := Add(p, s, x, y)
						want := total(x) + total(y)
						scale := math.Abs(total(x)) + math.Abs(total(y))
						if s.DoubleWord {
							scale = math.Abs(want)
						}
						failure := math.Abs(total(z) - want)
						if failure > most*scale {
							t.Fatalf("%+v: %v + %v = %v, an error of %g u^2", s, x, y, z, failure/scale/unit/unit)
						}
						if failure > 0 {
							worst = max(worst, failure/scale)
						}
					}
				}
			}
		}
		t.Logf("%+v: the worst sum has an error of %.2f u^2 of %.2f", s, worst/unit/unit, most/unit/unit)
		if worst < most/4 && p > 4 {
			t.Errorf("%+v: the bound of sums is not attained within a factor of 4", s)
		}
		most, _ = b.Mul.Float64()
		worst = 0
		for _, x := range pairs {
			for _, y := range pairs {
				z, want := Mul(p, s, x, y), float64(total(x)*total(y))
				worst = max(worst, math.Abs(total(z)-want)/want)
			}
		}
		t.Logf("%+v: the worst product has an error of %.2f u^2 of %.2f", s, worst/unit/unit, most/unit/unit)
		if worst > most || worst < most/4 && p > 4 {
			t.Errorf("%+v: products have errors of up to %.2f u^2, the bound is %.2f", s, worst/unit/unit, most/unit/unit)
		}
	}
}

// random returns a number of k components, rounded or with parts missing, whose digits strain rounding. Some are just
// above 1, with further components as large as they can be: bounds are attained by such.
func random(r *rand.Rand, k, bits int) []float64 {
	x := make([]float64, k)
	exp := 0
	full := r.IntN(2) == 0
	for i := range x {
		m := r.Uint64() >> (64 - bits)
		if full {
			x[i] = math.Ldexp(float64(1<<bits-1-int(m>>9)), -bits*(i+1))
			if i == 0 {
				x[i] = 1 + math.Ldexp(float64(r.IntN(4)), 1-bits)
			}
			if r.IntN(8) == 0 {
				x[i] = -x[i]
			}
			continue
		}
		switch r.IntN(5) {
		case 0:
			m &= 7
		case 1:
			m |= ^uint64(7) & (1<<bits - 1)
		case 2:
			m = 0
		}
		x[i] = math.Ldexp(float64(1<<(bits-1)|m>>1), exp-bits+1)
		if i > 0 && x[i] > math.Ldexp(1, exp) || r.IntN(2) == 0 {
			x[i] = -x[i]
		}
		exp -= bits + 1
		if r.IntN(3) == 0 {
			exp -= r.IntN(2 * bits)
		}
		if r.IntN(16) == 0 {
			clear(x[i+1:])
			break
		}
	}
	return x
}

// TestAttained: for every number of components there are operands with errors of a quarter of the bounds. See
// [Scheme.Bounds] for these.
func TestAttained(t *testing.T) {
	for k := 2; k <= 8; k++ {
		testAttained[float64](t, Guarded(k), 53)
		testAttained[float32](t, Guarded(k), 24)
	}
}

func testAttained[T float32 | float64](t *testing.T, s Scheme, bits int) {
	b := s.Bounds(exact.PowerOfTwo(-bits))
	ties, last := make([]T, s.Components), make([]T, s.Components)
	const scale = 0x1p60 // eight components of binary32 are multiples of the least number, and products are finite
	for i := range ties {
		ties[i] = T(math.Ldexp(scale, -bits*i))
	}
	last[0] = T(math.Ldexp(scale, -bits*s.Components))
	factor := make([]T, s.Components)
	factor[0], factor[1] = scale, last[0]
	check := func(what string, z []T, sum *big.Float, bound *big.Rat) {
		t.Helper()
		want, _ := sum.Rat(nil)
		quarter := new(big.Rat).Mul(bound, big.NewRat(1, 4))
		e, _ := wide().Sub(value(z), sum).Rat(nil)
		e.Quo(e.Abs(e), want)
		if e.Cmp(bound) > 0 || e.Cmp(quarter) < 0 {
			found, _ := e.Float64()
			limit, _ := bound.Float64()
			t.Errorf("%d components of %d bits, %s: an error of %g, the bound is %g", s.Components, bits, what, found, limit)
		}
	}
	check("sum", Add(Float[T]{}, s, ties, last), wide().Add(value(ties), value(last)), b.Add)
	check("product", Mul(Float[T]{}, s, ties, factor), wide().Mul(value(ties), value(factor)), b.Mul)
}

// wide returns a number that sums and products of these tests fit in.
func wide() *big.Float { return new(big.Float).SetPrec(4096) }

func value[T float32 | float64](x []T) *big.Float {
	s := wide()
	for _, v := range x {
		s.Add(s, big.NewFloat(float64(v)))
	}
	return s
}

// TestBounds compares sums and products of random numbers, also of opposite signs and of far exponents, with the exact
// ones.
func TestBounds(t *testing.T) {
	runs := 20000
	switch {
	case testing.Short():
		runs = 1000
	case os.Getenv("MPBENCH_FULL_TESTS") != "":
		runs = 1_000_000
	}
	for _, s := range schemes {
		t.Run(fmt.Sprintf("%+v", s), func(t *testing.T) {
			testBounds[float64](t, s, 53, runs)
			if s.Mixed == 0 {
				testBounds[float32](t, s, 24, runs)
			}
		})
	}
}

// TestNarrow samples sums and products of several components of 6 and 7 bits, where errors of all kinds are frequent:
// the bounds hold. Found in 5000 of each, with 6 bits: sums of 3 components 0.96 of 2.82 u^K, products 0.98 of 6.29.
func TestNarrow(t *testing.T) {
	runs := 5000
	if testing.Short() {
		runs = 500
	}
	if os.Getenv("MPBENCH_FULL_TESTS") != "" {
		runs = 1_000_000
	}
	for _, p := range []narrow{6, 7} {
		for k := 2; k <= 4; k++ {
			s := Guarded(k)
			unit := exact.PowerOfTwo(-int(p))
			b := s.Bounds(unit)
			r := rand.New(rand.NewPCG(uint64(p), uint64(k)))
			var worst [2]float64
			for range runs {
				x, y := narrowNumber(r, p, k), narrowNumber(r, p, k)
				c := math.Ldexp(1, -r.IntN(2*int(p)*k)) * float64(1-2*r.IntN(2))
				if r.IntN(3) == 0 {
					y, c = slices.Clone(x), -1
					clear(y[1+r.IntN(k-1):])
				}
				for i := range y {
					y[i] *= c
				}
				exactX, exactY := value(x), value(y)
				want := wide().Add(exactX, exactY)
				scale := wide().Add(wide().Abs(exactX), wide().Abs(exactY))
				worst[0] = max(worst[0], checkError(t, "+", value(Add(p, s, x, y)), want, scale, b.Add))
				want.Mul(exactX, exactY)
				worst[1] = max(worst[1], checkError(t, "*", value(Mul(p, s, x, y)), want, scale.Abs(want), b.Mul))
			}
			power := math.Pow(2, float64(s.Bits(int(p))))
			most, _ := b.Add.Float64()
			mostOf, _ := b.Mul.Float64()
			t.Logf("%d components of %d bits: sums %.2f of %.2f u^K, products %.2f of %.2f u^K", k, p,
				worst[0]*power, most*power, worst[1]*power, mostOf*power)
		}
	}
}

// narrowNumber returns a number that was rounded component by component.
func narrowNumber(r *rand.Rand, p narrow, k int) []float64 {
	x := random(r, k, int(p))
	for i := k - 1; i > 0; i-- { // as a ring of digits, from the lowest
		x[i-1], x[i] = p.TwoSum(x[i-1], x[i])
	}
	for i := range k - 1 {
		x[i], x[i+1] = p.TwoSum(x[i], x[i+1])
	}
	for i := range k - 1 {
		if p.round(x[i]+x[i+1]) != x[i] || x[i] == 0 {
			clear(x[i+1:])
		}
	}
	return x
}

func testBounds[T float32 | float64](t *testing.T, s Scheme, bits, runs int) {
	b := s.Bounds(exact.PowerOfTwo(-bits))
	r := rand.New(rand.NewPCG(uint64(s.Components), uint64(bits)))
	number := func() (x []T) {
		for _, v := range random(r, s.Components, bits) {
			x = append(x, T(0x1p50*v)) // eight products of binary32 do not underflow
		}
		if s.Mixed > 0 {
			x[1] = Float[T]{}.Narrow(x[1])
		}
		return x
	}
	var worst [2]float64
	for range runs {
		x, y := number(), number()
		c := T(math.Ldexp(1, -r.IntN(bits)))
		if r.IntN(3) == 0 {
			y = slices.Clone(x)
			c = -1
			y[r.IntN(len(y))] *= 1 + T(math.Ldexp(1, -r.IntN(bits)))
		}
		for i := range y {
			if y[i] *= c; s.Mixed > 0 && i == 1 {
				y[i] = Float[T]{}.Narrow(y[i])
			}
		}
		exactX, exactY := value(x), value(y)
		want := wide().Add(exactX, exactY)
		scale := wide().Add(wide().Abs(exactX), wide().Abs(exactY))
		if s.DoubleWord {
			scale.Abs(want)
		}
		worst[0] = max(worst[0], checkError(t, "+", value(Add(Float[T]{}, s, x, y)), want, scale, b.Add))
		want.Mul(exactX, exactY)
		scale.Abs(want)
		worst[1] = max(worst[1], checkError(t, "*", value(Mul(Float[T]{}, s, x, y)), want, scale, b.Mul))
	}
	for i, most := range []*big.Rat{b.Add, b.Mul} {
		limit, _ := most.Float64()
		power := math.Pow(2, float64(s.Bits(bits)))
		t.Logf("%d bits, operation %d: bound %.2f u^K, found %.2f u^K", bits, i, limit*power, worst[i]*power)
	}
}

// checkError returns the error relative to scale.
func checkError(t *testing.T, what string, got, want, scale *big.Float, most *big.Rat) float64 {
	t.Helper()
	failure := wide().Sub(got, want)
	failure.Abs(failure)
	// failure <= most*scale, where most is a fraction
	left, right := wide().SetInt(most.Denom()), wide().SetInt(most.Num())
	left.Mul(left, failure)
	right.Mul(right, scale)
	if left.Cmp(right) > 0 {
		t.Fatalf("%s: %.60f, want %.60f", what, got, want)
	}
	for _, x := range []*big.Float{got, want, scale, failure, left, right} {
		if x.Acc() != big.Exact {
			t.Fatalf("%s: more than %d bits", what, x.Prec())
		}
	}
	if scale.Sign() == 0 {
		return 0
	}
	f, _ := failure.Quo(failure, scale).Float64()
	return f
}

// TestMulAdd32 compares multiply-adds in binary32 with exact ones that are rounded once, ties among them.
func TestMulAdd32(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 200000 {
		x, y := binary32(r), binary32(r)
		z := binary32(r)
		if r.IntN(2) == 0 {
			z = -x * y * float32(math.Ldexp(1, r.IntN(50)-25))
		}
		want := wide().Mul(value([]float32{x}), value([]float32{y}))
		want.Add(want, value([]float32{z}))
		f, _ := want.Float32()
		if got := (Float[float32]{}).MulAdd(x, y, z); got != f {
			t.Fatalf("%g*%g + %g = %g, want %g", x, y, z, got, f)
		}
	}
}

// binary32 returns a number in binary32 with few digits, or many.
func binary32(r *rand.Rand) float32 {
	x := float32(1 + r.IntN(1<<24))
	if r.IntN(2) == 0 {
		x = float32(int(1)<<r.IntN(24) + 1)
	}
	if r.IntN(2) == 0 {
		x = -x
	}
	return x * float32(math.Ldexp(1, r.IntN(40)-30))
}

// TestProgram: programs have the same bits as what they were recorded from, in generic and in vector code, for several
// chains, infinities and NaN included.
func TestProgram(t *testing.T) {
	for _, s := range schemes {
		testProgram[float64](t, s)
		if s.Mixed == 0 {
			testProgram[float32](t, s)
		}
	}
}

func testProgram[T float32 | float64](t *testing.T, s Scheme) {
	p := Record[T](s.Components, 3, func(r Arithmetic[int], x [][]int) []int {
		return Add(r, s, x[0], Mul(r, s, x[1], x[2]))
	})
	r := rand.New(rand.NewPCG(7, 7))
	for chains := range 4 {
		memory := make([][Lanes]T, chains*p.Registers)
		table, again := make([]*T, len(memory)), make([]*T, len(memory))
		for c := range chains {
			for i := range p.Inputs {
				for l := range Lanes {
					v := T(random(r, 1, 20)[0] * math.Ldexp(1, -20*(i%s.Components)))
					if r.IntN(100) == 0 {
						v = T([]float64{0, math.Inf(1), math.NaN(), math.Copysign(0, -1)}[r.IntN(4)])
					}
					memory[c*p.Registers+i][l] = v
				}
			}
		}
		other := slices.Clone(memory)
		for i := range memory {
			table[i], again[i] = &memory[i][0], &other[i][0]
		}
		p.Run(table, chains)
		if chains > 0 {
			p.runGeneric(again, chains)
		}
		for c := range chains {
			for l := range Lanes {
				lane := func(operand int) (x []T) {
					for k := range s.Components {
						x = append(x, memory[c*p.Registers+operand*s.Components+k][l])
					}
					return x
				}
				want := Add(Float[T]{}, s, lane(0), Mul(Float[T]{}, s, lane(1), lane(2)))
				for k, reg := range p.Results {
					got, generic := memory[c*p.Registers+reg][l], other[c*p.Registers+reg][l]
					if !same(got, want[k]) || !same(generic, want[k]) {
						t.Fatalf("%+v, %d chains, lane %d: %v and %v, want %v", s, chains, l, got, generic, want)
					}
				}
			}
		}
	}
}

// TestLoops: loops have the same bits as the arithmetic of one number after the other, in all registers at once and
// step by step, also where results replace an operand.
func TestLoops(t *testing.T) {
	for _, s := range schemes {
		testLoops[float64](t, s)
		if s.Mixed == 0 {
			testLoops[float32](t, s)
		}
	}
}

func testLoops[T float32 | float64](t *testing.T, s Scheme) {
	loops := NewLoops[T](s)
	r := rand.New(rand.NewPCG(8, 8))
	for i, of := range LoopsOf[T](s) {
		l := *[]*Loop[T]{&loops.Add, &loops.AddProduct, &loops.Mul, &loops.Axpy}[i]
		interpreted := l
		interpreted.fused = nil
		for _, n := range []int{Lanes, 5 * Lanes, 6 * Lanes} {
			number := func(i int) T {
				if r.IntN(300) == 0 {
					return T([]float64{0, math.Inf(1), math.NaN(), math.Copysign(0, -1)}[r.IntN(4)])
				}
				return T(random(r, 1, 20)[0] * math.Ldexp(1, -20*(i%s.Components)))
			}
			operands := make([][]T, (of.Operands-1)*s.Components)
			for i := range operands {
				operands[i] = make([]T, n)
				for j := range operands[i] {
					operands[i][j] = number(i)
				}
			}
			lanes := make([]T, s.Components*Lanes)
			for i := range lanes {
				if lanes[i] = number(i / Lanes); !of.Accumulates {
					lanes[i] = lanes[i/Lanes*Lanes]
				}
			}
			wantLanes, want := slices.Clone(lanes), make([][]T, s.Components)
			for j := range n {
				x := make([][]T, of.Operands)
				for k := range s.Components {
					x[0] = append(x[0], wantLanes[k*Lanes+j%Lanes])
				}
				for i, o := range operands {
					x[1+i/s.Components] = append(x[1+i/s.Components], o[j])
				}
				for k, z := range of.Network(Float[T]{}, x) {
					want[k] = append(want[k], z)
					if of.Accumulates {
						wantLanes[k*Lanes+j%Lanes] = z
					}
				}
			}
			for _, run := range []Loop[T]{l, interpreted} {
				got := slices.Clone(lanes)
				var table []*T
				var results [][]T
				for i, o := range operands {
					o = slices.Clone(o)
					table = append(table, &o[0])
					if i >= len(operands)-s.Components {
						results = append(results, o)
					}
				}
				if !of.Accumulates {
					table = append(table, table[len(table)-s.Components:]...)
				}
				run.Run(got, table, n)
				if !slices.EqualFunc(got, wantLanes, same[T]) {
					t.Fatalf("%+v, %s of %d, fused %v: lanes differ", s, of.Name, n, run.fused != nil)
				}
				for k := range results {
					if !of.Accumulates && !slices.EqualFunc(results[k], want[k], same[T]) {
						t.Fatalf("%+v, %s of %d, fused %v: component %d differs", s, of.Name, n, run.fused != nil, k)
					}
				}
			}
		}
	}
}

func same[T float32 | float64](x, y T) bool {
	return x == y && math.Signbit(float64(x)) == math.Signbit(float64(y)) || x != x && y != y
}
