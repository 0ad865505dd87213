package primer

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"mpbench/pkg/exact"
)

// eachType calls the tests, by type, for each operation that the type has.
func eachType(t *testing.T, tests map[string]func(t *testing.T, o Operation)) {
	for _, o := range Operations {
		for _, elements := range Types {
			test, wanted := tests[elements]
			if o, err := Reduction.Parse(o.Name, elements); err == nil && wanted {
				t.Run(o.Name+" "+elements, func(t *testing.T) { test(t, o) })
			}
		}
	}
}

// lengths are around those of threads' parts, warps and blocks.
var lengths = []int{0, 1, 2, 31, 32, 33, 255, 256, 257, 1000, 1<<12 + 3}

func TestNotation(t *testing.T) {
	for _, c := range []struct {
		kind     Kind
		name     string
		elements string
		want     string // or a part of the error
		wrong    bool
	}{
		{Reduction, "+/", "int32", "+", false}, {Reduction, "max/", "float64", "max", false},
		{Scan, `+\`, "float32", "+", false}, {Scan, `min\`, "int64", "min", false}, {Scan, "&&", "float32", "&&", false},
		{Reduction, `+\`, "int32", "is one of scan", true}, {Scan, "max/", "int32", "is one of reduce", true},
		{Reduction, "&", "float64", "use int32 or int64", true}, {Reduction, "mx", "int32", "unknown operation", true},
		{Reduction, "+", "int16", "unknown type", true}, {Reduction, "/", "int32", "unknown operation", true},
	} {
		o, err := c.kind.Parse(c.name, c.elements)
		switch {
		case c.wrong && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s %s of %s: %v, want %q", c.kind.Name, c.name, c.elements, err, c.want)
		case !c.wrong && (err != nil || o.Name != c.want):
			t.Errorf("%s %s of %s: %q, %v", c.kind.Name, c.name, c.elements, o.Name, err)
		}
	}
}

// TestInteger compares operations with integers of any size modulo 2^w.
func TestInteger(t *testing.T) {
	eachType(t, map[string]func(*testing.T, Operation){
		"int32": func(t *testing.T, o Operation) { compareIntegers[int32](t, o, 32) },
		"int64": func(t *testing.T, o Operation) { compareIntegers[int64](t, o, 64) },
	})
}

func compareIntegers[T int32 | int64](t *testing.T, o Operation, width uint) {
	c := CombinerOf[T](o)
	r := rand.New(rand.NewPCG(1, 1))
	values := []T{0, 1, -1, 2}
	greatest, least := extremes[T]()
	values = append(values, greatest, least)
	for range 20 {
		values = append(values, T(r.Int64()<<1^r.Int64()))
	}
	for _, a := range values {
		if c.Combine(c.Identity, a) != a && o.Name != "&&" && o.Name != "||" {
			t.Errorf("identity %s %d is %d", o.Name, a, c.Combine(c.Identity, a))
		}
		for _, b := range values {
			if got, want := c.Combine(a, b), wide[T](o.Name, a, b, width); got != want {
				t.Fatalf("%d %s %d is %d, want %d", a, o.Name, b, got, want)
			}
		}
	}
}

// wide computes with integers of any size.
func wide[T int32 | int64](name string, a, b T, width uint) T {
	x, y, z := big.NewInt(int64(a)), big.NewInt(int64(b)), new(big.Int)
	switch name {
	case "+":
		z.Add(x, y)
	case "*":
		z.Mul(x, y)
	case "&":
		z.And(x, y)
	case "|":
		z.Or(x, y)
	case "^":
		z.Xor(x, y)
	case "min", "max":
		if z.Set(x); (x.Cmp(y) < 0) != (name == "min") {
			z.Set(y)
		}
	case "&&":
		z.SetInt64(int64(x.Sign() * x.Sign() * y.Sign() * y.Sign()))
	case "||":
		z.SetInt64(int64(min(1, x.Sign()*x.Sign()+y.Sign()*y.Sign())))
	}
	z.And(z, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), width), big.NewInt(1))) // modulo 2^width
	if z.Bit(int(width)-1) == 1 {
		z.Sub(z, new(big.Int).Lsh(big.NewInt(1), width))
	}
	return T(z.Int64())
}

// TestMinimum: NaN wins, and -0 is less than +0 (IEEE 754-2019, section 9.6).
func TestMinimum(t *testing.T) {
	nan, inf, minus := math.NaN(), math.Inf(1), math.Copysign(0, -1)
	low, high := CombinerOf[float64](Operations[2]), CombinerOf[float64](Operations[3])
	for _, c := range []struct{ a, b, low, high float64 }{
		{1, 2, 1, 2}, {2, 1, 1, 2}, {0, minus, minus, 0}, {minus, 0, minus, 0}, {nan, 1, nan, nan}, {1, nan, nan, nan},
		{nan, -inf, nan, nan}, {inf, -inf, -inf, inf}, {inf, 5, 5, inf},
	} {
		if got := low.Combine(c.a, c.b); !same(got, c.low) {
			t.Errorf("min(%g, %g) is %g", c.a, c.b, got)
		}
		if got := high.Combine(c.a, c.b); !same(got, c.high) {
			t.Errorf("max(%g, %g) is %g", c.a, c.b, got)
		}
	}
	if low.Identity != inf || high.Identity != -inf {
		t.Error("identities are", low.Identity, high.Identity)
	}
}

// TestReducers: all ways give the exact result, or one within its bound, for lengths that threads do not divide.
func TestReducers(t *testing.T) {
	eachType(t, map[string]func(*testing.T, Operation){
		"int32": testReducers[int32], "int64": testReducers[int64],
		"float32": testReducers[float32], "float64": testReducers[float64],
	})
}

func testReducers[T Number](t *testing.T, o Operation) {
	for _, n := range lengths {
		for _, threads := range []int{1, 2, 7} {
			p := NewProblem[T](o, n, uint64(n), threads)
			for _, r := range Reducers[T]() {
				if v := p.Reference.Judge(r.Reduce(p.Combiner, p.X, threads)); !v.Right {
					t.Errorf("%s of %d elements by %d threads: %+v", r.Name, n, threads, v)
				}
			}
			if p.Reference.rounds() && p.Reference.scale == nil {
				t.Errorf("nothing is proved for %d elements", n)
			}
		}
	}
}

// TestJudge: a result that is wrong is found, by the bound and exactly.
func TestJudge(t *testing.T) {
	for _, o := range Operations[:2] {
		p := NewProblem[float32](o, 1000, 1, 1)
		right := p.Fold(p.Identity, p.X)
		if v := p.Reference.Judge(right); !v.Right || v.Bound == "" {
			t.Errorf("%s: %+v", o.Name, v)
		}
		if v := p.Reference.Judge(p.Fold(p.Identity, p.X[1:])); v.Right {
			t.Errorf("%s: without one element: %+v", o.Name, v)
		}
	}
	p := NewProblem[int64](Operations[0], 1000, 1, 1)
	if v := p.Reference.Judge(p.Reference.exact + 1); v.Right {
		t.Errorf("%+v", v)
	}
	one := NewProblem[float64](Operations[0], 1, 1, 1)
	if v := one.Reference.Judge(math.Nextafter(one.X[0], 9)); v.Right {
		t.Errorf("one element: %+v", v)
	}
}

// TestOverflow: where partial products overflow, nothing is proved.
func TestOverflow(t *testing.T) {
	c := CombinerOf[float32](Operations[1])
	x := []float32{1e30, 1e30, 1e-30, 1e-30}
	if v := NewReference(c, x).Judge(c.Fold(1, x)); !v.Right || v.Bound != "" {
		t.Errorf("%+v", v)
	}
}

// TestProduct: the reference of few factors is exact.
func TestProduct(t *testing.T) {
	c := CombinerOf[float64](Operations[1])
	x := []float64{1 + 0x1p-52, 1 + 0x1p-52, 1 + 0x1p-52}
	r := NewReference(c, x)
	want, _ := new(big.Rat).SetString("4503599627370497/4503599627370496")
	cube := new(big.Rat).Mul(want, new(big.Rat).Mul(want, want))
	if r.slack.Sign() != 0 || r.value.Number().Cmp(cube) != 0 {
		t.Errorf("%v, %v", r.value, r.slack)
	}
	if v := r.Judge(c.Fold(1, x)); !v.Right {
		t.Errorf("%+v", v)
	}
	if v := r.Judge(1 + 6*0x1p-52); v.Right {
		t.Errorf("3 units beside a product of two roundings: %+v", v)
	}
}

// TestLocalResultIsABarrier: with a local result no thread goes on before all have come, again and again.
func TestLocalResultIsABarrier(t *testing.T) {
	const threads, turns = 5, 50
	team := NewTeam(CombinerOf[int64](Operations[0]), threads)
	var arrived atomic.Int64
	var group sync.WaitGroup
	for rank := range threads {
		group.Go(func() {
			for turn := range turns {
				arrived.Add(1)
				value := int64(rank + 10*turn)
				if got, want := team.Reduce(rank, value), int64(10+50*turn); got != want {
					t.Errorf("rank %d, turn %d: %d, want %d", rank, turn, got, want)
				}
				if n := arrived.Load(); n < int64(threads*(2*turn+1)) {
					t.Errorf("turn %d: rank %d went on when %d had come", turn, rank, n)
				}
				arrived.Add(1)
				want := int64(0)
				for r := range rank + 1 {
					want += int64(r + 10*turn)
				}
				if got, before := team.Scan(rank, value); got != want || before != want-value {
					t.Errorf("scan, rank %d, turn %d: %d behind %d, want %d", rank, turn, got, before, want)
				}
				if n := arrived.Load(); n < int64(threads*(2*turn+2)) {
					t.Errorf("turn %d: rank %d went on behind a scan when %d had come", turn, rank, n)
				}
			}
		})
	}
	group.Wait()
}

// TestGlobalResultIsNone: with a global result a thread goes on at once. The second thread comes only after the first
// has gone on, so that a barrier would never end.
func TestGlobalResultIsNone(t *testing.T) {
	team := NewTeam(CombinerOf[int32](Operations[0]), 2)
	wentOn := make(chan bool)
	go func() {
		team.Contribute(0, 3)
		close(wentOn)
	}()
	<-wentOn
	team.Contribute(1, 4)
	if got := team.Total(1); got != 7 {
		t.Error("the total is", got)
	}
}

// TestTeamOrder: a rounding operation is in the order of ranks, whoever comes first.
func TestTeamOrder(t *testing.T) {
	values := []float32{1e8, 1, -1e8, 1}
	for _, order := range [][]int{{0, 1, 2, 3}, {3, 2, 1, 0}, {2, 0, 3, 1}} {
		team := NewTeam(CombinerOf[float32](Operations[0]), 4)
		for _, rank := range order {
			team.Contribute(rank, values[rank])
		}
		if got := team.Total(1); got != 1 {
			t.Errorf("%v: %g", order, got)
		}
	}
}

func TestData(t *testing.T) {
	for _, o := range Operations {
		p := NewProblem[int32](o, 1000, 1, 1)
		if v := fmt.Sprint(p.Reference.exact); v == "0" && o.Name != "||" || v == fmt.Sprint(p.Identity) && o.Name != "&&" {
			t.Errorf("the result by %s is %s: it says nothing", o.Name, v)
		}
	}
}

// TestPatterns: the patterns add all elements, in log2 steps, without conflicts where they are to have none.
func TestPatterns(t *testing.T) {
	for _, p := range Patterns {
		for block, want := range map[int]int{2: 1, 32: 5, 512: 9, 1024: 10} {
			steps := p.Steps(block)
			if len(steps) != want || steps[want-1].First != int64(block)*int64(block-1)/2 {
				t.Errorf("%s, block of %d: %+v", p.Name, block, steps)
			}
			for _, s := range steps {
				if (s.Conflicts > 0) != (p.Name == "strided" && s.Threads > 1 && block > banks) {
					t.Errorf("%s, s = %d: %d conflicts", p.Name, s.S, s.Conflicts)
				}
			}
		}
	}
}

// TestScanners: all ways are right, inclusive and exclusive, for lengths around those of parts, rows and tiles.
func TestScanners(t *testing.T) {
	eachType(t, map[string]func(*testing.T, Operation){
		"int32": testScanners[int32], "int64": testScanners[int64],
		"float32": testScanners[float32], "float64": testScanners[float64],
	})
}

func testScanners[T Number](t *testing.T, o Operation) {
	c := CombinerOf[T](o)
	tile := TileElements[T]()
	for _, n := range []int{0, 1, 2, 31, 32, 33, 127, 129, tile - 1, tile, tile + 1, 3*tile + 5} {
		x := Data[T](o, n, uint64(n))
		for _, exclusive := range []bool{false, true} {
			r := NewPrefixReference(c, x, exclusive)
			for _, s := range Scanners[T](o) {
				y := make([]T, n)
				s.Scan(c, y, x, exclusive, 3)
				if v := r.Judge(y, s.Name == exactName); !v.Right {
					t.Errorf("%s of %d elements, exclusive %v: %+v", s.Name, n, exclusive, v)
				}
			}
		}
	}
}

// TestPrefixJudge: a single result that is wrong is found.
func TestPrefixJudge(t *testing.T) {
	for _, o := range Operations[:2] {
		c := CombinerOf[float32](o)
		x := Data[float32](o, 100, 3)
		y := make([]float32, len(x))
		scanSerial(c, y, x, false, 1)
		r := NewPrefixReference(c, x, false)
		for _, i := range []int{0, 1, 50, 99} {
			z := slices.Clone(y)
			z[i] *= 1 + 0x1p-6
			if v := r.Judge(z, false); v.Right {
				t.Errorf("%s: element %d: %+v", o.Name, i, v)
			}
		}
		if v := r.Judge(y, true); v.Right {
			t.Errorf("%s: a scan from left to right is exact: %+v", o.Name, v)
		}
	}
}

// TestGroupedBits: the grouping depends neither on threads nor on what is behind the elements.
func TestGroupedBits(t *testing.T) {
	c := CombinerOf[float32](Operations[0])
	x := Data[float32](Operations[0], 5*TileElements[float32]()+77, 9)
	want := make([]float32, len(x))
	scanGrouped(c, want, x, false, 1)
	for _, n := range []int{1, 100, TileElements[float32](), len(x) - 1, len(x)} {
		y := make([]float32, n)
		if scanGrouped(c, y, x[:n], false, 4); !slices.Equal(y, want[:n]) {
			t.Errorf("the first %d of %d elements have other bits", n, len(x))
		}
	}
}

// TestExactScan: sums that cancel, of numbers of every magnitude, in fixed point and in accumulators, rounded once;
// halfway cases go to even.
func TestExactScan(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for _, spread := range []int{1, 20, 60, 70, 71, 300, 2000} {
		x := make([]float64, 400)
		for i := range x {
			x[i] = math.Ldexp(float64(r.Int64N(1<<53)-1<<52), r.IntN(spread)-spread/2-40)
			if i%3 == 2 {
				x[i] = -x[i-1]
			}
		}
		checkExactScan(t, x)
	}
	checkExactScan(t, []float64{1, 0x1p-53, 0x1p-53, -0x1p-60, 1 << 53, 1, 1, -1, 0, math.SmallestNonzeroFloat64})
	checkExactScan(t, []float64{math.SmallestNonzeroFloat64, -math.SmallestNonzeroFloat64, 0x1p-1022, -0x1.8p-1022})
	checkExactScan(t, []float32{1, 0x1p-24, 0x1p-24, 0x1p-24, 1 << 24, 1, 0x1p-40, math.SmallestNonzeroFloat32})
}

func checkExactScan[T Number](t *testing.T, x []T) {
	t.Helper()
	c := CombinerOf[T](Operations[0])
	y := make([]T, len(x))
	scanExact(c, y, x, false, 1)
	if v := NewPrefixReference(c, x, false).Judge(y, true); !v.Right {
		t.Errorf("%+v", v)
	}
	if len(x) > 10 {
		return
	}
	var s exact.Sum
	for i, v := range x {
		s.Add(float64(v))
		if want := s.Value().Float64(); precisionOf[T]() == 53 && float64(y[i]) != want {
			t.Errorf("sum %d is %v, want %v", i, y[i], want)
		}
		if want := s.Value().Float32(); precisionOf[T]() == 24 && float32(y[i]) != want {
			t.Errorf("sum %d is %v, want %v", i, y[i], want)
		}
	}
}
