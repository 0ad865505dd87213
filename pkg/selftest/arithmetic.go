package selftest

import (
	"fmt"
	"math"
	"runtime"
	"sync"

	"mpbench/internal/mxcsr"
)

// Arithmetic is binary64 arithmetic under test.
type Arithmetic struct {
	Add, Mul, Div func(x, y float64) float64
	Sqrt          func(x float64) float64
	MulAdd        func(x, y, z float64) float64 // x*y rounded, plus z
	FMA           func(x, y, z float64) float64 // rounded once
	Control       func() string                 // the control register if it is not as it should be, else ""
}

// Hardware is the arithmetic of the processor, as the compiler uses it.
func Hardware() Arithmetic {
	return Arithmetic{Add: add, Mul: mul, Div: div, Sqrt: sqrt, MulAdd: mulAdd, FMA: fma, Control: control}
}

//go:noinline
func add(x, y float64) float64 { return x + y }

//go:noinline
func mul(x, y float64) float64 { return x * y }

//go:noinline
func div(x, y float64) float64 { return x / y }

//go:noinline
func sqrt(x float64) float64 { return math.Sqrt(x) }

// mulAdd is written as all numeric code of this module: the conversion forbids fusing.
//
//go:noinline
func mulAdd(x, y, z float64) float64 { return float64(x*y) + z }

//go:noinline
func fma(x, y, z float64) float64 { return math.FMA(x, y, z) }

// control names the bits of MXCSR that change results.
func control() string {
	word := mxcsr.Read()
	text := ""
	for _, bit := range []struct {
		mask uint32
		name string
	}{{mxcsr.FlushToZero, "flush-to-zero"}, {mxcsr.DenormalsAreZero, "denormals-are-zero"}, {mxcsr.RoundUp, "round up"},
		{mxcsr.RoundDown, "round down"}} {
		if word&bit.mask != 0 {
			text += fmt.Sprintf(", %s", bit.name)
		}
	}
	if text == "" {
		return ""
	}
	return fmt.Sprintf("MXCSR is %#x%s", word, text)
}

// operands strain rounding: ties, neighbours of ties, powers of two, long fractions, subnormal numbers.
var operands = []float64{
	1, -1, 3, -3, 0x1p-53, -0x1p-53, 0x1.8p-53, 0x1.0000000000001p-53, -0x1.8p-53, 0x1p-60, -0x1p-60, 0x1p-52,
	0x1.0000000000001p0, 0x1.fffffffffffffp0, -0x1.fffffffffffffp-1, 0x1.5555555555555p-2, -0x1.999999999999ap-4,
	0x1.921fb54442d18p+1,
	0x1.0000001p0, 0x1.fffffffp-1, 0x1p27, 0x1.0000002p30, 0x1.23456789abcdep-300, -0x1.fedcba9876543p-511,
	0x1p-1022, -0x1.8p-1022, 0x1.fffffffffffffp-1022, 0x1p-1023, 0x1p-1074, -0x1p-1074, 0x1.8p-1073,
	0x0.fffffffffffffp-1022,
	0x1p-537, 0x1.0000000000001p-537, -0x1.8p-538,
}

// testArithmetic compares the arithmetic with the model on as many threads as run goroutines.
func (s Suite) testArithmetic(t *tester) {
	var lock sync.Mutex
	var threads sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		threads.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			here := &tester{row: t.row}
			here.guarded("arithmetic", func() { here.compareArithmetic(s.Arithmetic) })
			lock.Lock()
			defer lock.Unlock()
			if t.row.Failed == 0 {
				t.row.Failure, t.row.Advice = here.row.Failure, here.row.Advice
			}
			t.row.Checks = here.row.Checks // of a thread
			t.row.Failed += here.row.Failed
		})
	}
	threads.Wait()
}

// An operation is one call with its operands, and what a model says of it.
type operation struct {
	name  string
	found float64
	model func(binary) number
}

// compareArithmetic runs all operations on all operands on the calling thread.
func (t *tester) compareArithmetic(a Arithmetic) {
	if a.Control != nil {
		text := a.Control()
		t.check(text == "", func() (string, string) { return text, adviceMode })
	}
	var list []operation
	for _, x := range operands {
		nx := fromFloat(x)
		if x > 0 {
			list = append(list, operation{fmt.Sprintf("sqrt(%x)", x), a.Sqrt(x), func(b binary) number { return b.sqrt(nx) }})
		}
		for _, y := range operands {
			ny := fromFloat(y)
			list = append(list,
				operation{fmt.Sprintf("%x + %x", x, y), a.Add(x, y), func(b binary) number { return b.add(nx, ny) }},
				operation{fmt.Sprintf("%x * %x", x, y), a.Mul(x, y), func(b binary) number { return b.mul(nx, ny) }},
			)
			if nx.top()-ny.top() < 1000 && !binary64().tiny(ny) { // no overflow, also where subnormal operands count as zero
				list = append(list, operation{fmt.Sprintf("%x / %x", x, y), a.Div(x, y), func(b binary) number {
					return b.div(nx, ny)
				}})
			}
			p := fromFloat(-binary64().mul(nx, ny).float())
			list = append(list,
				operation{fmt.Sprintf("%x * %x + %x", x, y, p.float()), a.MulAdd(x, y, p.float()), func(b binary) number {
					return b.mulAdd(nx, ny, p)
				}},
				operation{fmt.Sprintf("FMA(%x, %x, %x)", x, y, p.float()), a.FMA(x, y, p.float()), func(b binary) number {
					return b.fma(nx, ny, p)
				}},
			)
		}
	}
	t.judge(list)
}

// judge compares found results with the model, and names the fault that explains all of them.
func (t *tester) judge(list []operation) {
	for _, o := range list {
		want := o.model(binary64())
		t.check(same(o.found, want), func() (string, string) {
			text := fmt.Sprintf("%s: expected %x, found %x", o.name, want.float(), o.found)
			for _, f := range faults {
				if explains(f.model, list) {
					return text + ": " + f.name, f.advice
				}
			}
			return text, adviceReport
		})
	}
}

func explains(b binary, list []operation) bool {
	for _, o := range list {
		if !same(o.found, o.model(b)) {
			return false
		}
	}
	return true
}

// same reports whether x is the finite number n; zeros of both signs are the same.
func same(x float64, n number) bool {
	word := math.Float64bits(x)
	if word>>52&0x7ff == 0x7ff {
		return false
	}
	m := fromFloat(x)
	n = n.odd()
	return m.exp == n.exp && m.sig.Cmp(n.sig) == 0
}
