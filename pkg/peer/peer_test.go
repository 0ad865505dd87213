package peer

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mpbench/pkg/device"
	"mpbench/pkg/exact"
	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
)

// random returns a number of so many bits, the lowest of which may be 0.
func random(r *rand.Rand, bits int) *big.Float {
	n := new(big.Int)
	for n.BitLen() < bits {
		n.Lsh(n, 32).Or(n, big.NewInt(int64(r.Uint32()|1<<31)))
	}
	x := new(big.Float).SetInt(n.Rsh(n, uint(n.BitLen()-bits)))
	if r.IntN(2) == 0 {
		x.Neg(x)
	}
	return x.SetMantExp(x, r.IntN(400)-200)
}

// TestLayouts: numbers of every length are what they were after they went through the layout of each library.
func TestLayouts(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for bits := 1; bits < 400; bits++ {
		list := numbers.Bigs{random(r, bits), new(big.Float), random(r, 1), random(r, min(bits, 60))}
		a := numbers.Vector(list)
		for room := bits; room < bits+200; room += 63 {
			inMPFR, lost := loadMPFR(a, room)
			inGMP := makeGMP(len(list), room)
			i := 0
			lost.Add(each(a, gmpBits(room), func(z *numbers.Number) {
				inGMP[i].set(z)
				i++
			}))
			inARF := loadARF(a, room, arbLength)
			for i, x := range list {
				want := exact.FromBig(x)
				for name, got := range map[string]exact.Value{
					"MPFR": inMPFR[i].value(), "GMP": inGMP[i].value(), "FLINT": inARF.value(i),
				} {
					if !got.Equal(want) || lost.Factors != 0 {
						t.Fatalf("%d bits in %d, %s: %v, want %v", bits, room, name, got, want)
					}
				}
			}
		}
	}
}

// TestRounding: longer numbers are rounded to nearest even, and that is told.
func TestRounding(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for range 200 {
		bits := 2 + r.IntN(200)
		x := random(r, bits+1+r.IntN(100))
		want := exact.FromBig(new(big.Float).SetPrec(uint(bits)).Set(x))
		list, rounded := loadMPFR(numbers.Vector(numbers.Bigs{x}), bits)
		if got := list[0].value(); !got.Equal(want) || rounded.Factors != 1 && !want.Equal(exact.FromBig(x)) {
			t.Errorf("%v in %d bits: %v, want %v; %+v", x, bits, got, want, rounded)
		}
	}
}

// TestMissing: what is not there is one line that says what, and what to do.
func TestMissing(t *testing.T) {
	nowhere := func() *library {
		return &library{name: "X", files: []string{"libnowhere.so.1"}, symbol: "x", install: "apt-get install x"}
	}
	check := func(what string, err error, parts ...string) {
		t.Helper()
		if !errors.Is(err, method.ErrUnavailable) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", what, err)
			return
		}
		for _, part := range parts {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s: %v, which lacks %q", what, err, part)
			}
		}
	}
	t.Setenv(Variable, "")
	check("no library", nowhere().open(), "X is not there", "libnowhere.so.1", "apt-get install x")
	folder := t.TempDir()
	t.Setenv(Variable, folder)
	if err := os.WriteFile(filepath.Join(folder, "libnowhere.so.1"), []byte("no library"), 0o666); err != nil {
		t.Fatal(err)
	}
	check("a file that is none", nowhere().open(), folder)
	_, err := findLoops()
	check("no loops", err, folder, "scripts/peers")
	t.Setenv(Variable, Off)
	check("off", nowhere().open(), "X is switched off by MPBENCH_PEERS=off")
	_, err = findLoops()
	check("no loops", err, "MPBENCH_PEERS=off")
}

// TestWithout: without libraries, methods are in the catalog, and running one is an error of its own.
func TestWithout(t *testing.T) {
	for _, m := range Methods() {
		if !m.Extra || m.Group != Group || m.Available == nil || len(m.Bound.Source) == 0 {
			t.Errorf("%s of %s is incomplete", m.Name, m.Operation.Name)
		}
		m.Available = func() error { return missing("nothing is there") }
		set := device.Set{}
		if !m.Runs(set) {
			set = device.GPU(0)
		}
		_, err := m.New(method.Config{Precision: 60, Devices: set})
		if !errors.Is(err, method.ErrUnavailable) || !strings.HasPrefix(err.Error(), m.Name+": ") {
			t.Errorf("%s of %s: %v", m.Name, m.Operation.Name, err)
		}
	}
}

// TestStatuses: every method is named by the library that it calls.
func TestStatuses(t *testing.T) {
	named := map[string]bool{}
	for _, s := range Statuses() {
		for _, name := range s.Methods {
			named[name] = true
		}
		if (s.Missing == nil) != (s.Path != "") && s.Name != "loops" {
			t.Errorf("%+v", s)
		}
		t.Log(s)
	}
	for _, m := range Methods() {
		if !named[m.Name] {
			t.Errorf("%s is of no library", m.Name)
		}
	}
}

// TestRadius: the midpoint of arb_dot is as near to the exact result as the library says, and that is within the bound
// that mpbench states, which is derived from the source of the library.
func TestRadius(t *testing.T) {
	m := method.Catalog(Methods())
	dot, _ := m.Lookup(op.Dot, "flint")
	if err := dot.Missing(); err != nil {
		t.Skip(err)
	}
	r := rand.New(rand.NewPCG(3, 3))
	for range 300 {
		n, bits := 2+r.IntN(40), 2+r.IntN(300)
		x, y := make(numbers.Bigs, n), make(numbers.Bigs, n)
		for i := range x {
			x[i], y[i] = random(r, 1+r.IntN(400)), random(r, 1+r.IntN(400))
		}
		p := &op.Problem{Op: op.Dot, X: numbers.Vector(x), Y: numbers.Vector(y)}
		e, err := dot.New(method.Config{Precision: bits})
		if err != nil {
			t.Fatal(err)
		}
		if err := method.Run(context.Background(), e, p); err != nil {
			t.Fatal(err)
		}
		z := e.(*wholeEngine).whole.(*arbRows).z.number(0)
		radius := exact.PowerOfTwo(int(int64(z[arfLength])) - 30)
		radius.Mul(radius, new(big.Rat).SetInt64(int64(z[arfLength+1])))
		exactly, err := op.Exact(p)
		if err != nil {
			t.Fatal(err)
		}
		s := exactly.Component(0)
		y0, _ := e.Result()
		if !s.Errors(numbers.At(y0, 0)).Within(radius) {
			t.Errorf("n = %d, %d bits: the radius is %v", n, bits, radius)
		}
		if limit := dot.ErrorBound(e.Info(), p).Of(s); radius.Cmp(twice(limit)) > 0 {
			t.Errorf("n = %d, %d bits: the radius is %v, the bound %v", n, bits, radius, limit)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
}

// twice allows for a radius that is rounded up, and counts a whole unit where less was cut off.
func twice(x *big.Rat) *big.Rat { return new(big.Rat).Add(x, x) }

// TestThreads: any number of threads gives the same bits.
func TestThreads(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	const rows, columns, n = 37, 3, 20
	a, x, y := make(numbers.Bigs, rows*n), make(numbers.Bigs, n*columns), make(numbers.Bigs, rows*columns)
	for _, list := range []numbers.Bigs{a, x, y} {
		for i := range list {
			list[i] = random(r, 90)
		}
	}
	p := &op.Problem{
		Op: op.Gemm, Alpha: numbers.Scalar(-3), Beta: numbers.Scalar(0.5),
		A: numbers.Array{Source: a, Layout: numbers.RowMajor(rows, n, n)},
		X: numbers.Array{Source: x, Layout: numbers.RowMajor(n, columns, columns)},
		Y: numbers.Array{Source: y, Layout: numbers.RowMajor(rows, columns, columns)},
	}
	for _, m := range Methods() {
		if m.Operation.Name != p.Op.Name || m.Missing() != nil || !m.Runs(device.Set{}) {
			continue
		}
		var first []string
		for threads := 1; threads < 5; threads++ {
			e, err := m.New(method.Config{Precision: 90, Threads: threads})
			if err != nil {
				t.Fatal(err)
			}
			if err := method.Run(context.Background(), e, p); err != nil {
				t.Fatal(err)
			}
			z, err := e.Result()
			if err != nil {
				t.Fatal(err)
			}
			var list []string
			for i := range z.Len() {
				list = append(list, numbers.At(z, i).Text(40))
			}
			if first == nil {
				first = list
			}
			if fmt.Sprint(list) != fmt.Sprint(first) {
				t.Errorf("%s: %d threads give another result", m.Name, threads)
			}
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}
