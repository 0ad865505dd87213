package reduce

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"mpbench/pkg/gpu"
	"mpbench/pkg/gpu/gputest"
	"mpbench/pkg/rns/deferred"
	"mpbench/pkg/superacc"
	"mpbench/pkg/superacc/superaccgpu"
)

// exactDevices are the names of the device under test, alone and with processors.
func exactDevices(t testing.TB) []string { return []string{gputest.Name(t), "cpu+" + gputest.Name(t)} }

// sumOn returns a Summer of deferred on a device after one sum.
func sumOn(t *testing.T, o Options, terms Terms) DeviceSummer {
	t.Helper()
	s, err := newDeferred(o)
	if err != nil {
		t.Fatal(err)
	}
	d := s.(DeviceSummer)
	t.Cleanup(func() { _ = d.Close() })
	if err := d.Load(terms); err != nil {
		t.Fatal(err)
	}
	p, err := d.SumPhases(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if p.CopyIn <= 0 || p.Kernel < 0 || p.CopyOut < 0 || p.Host < 0 {
		t.Errorf("phases %+v", p)
	}
	if both := strings.HasPrefix(o.Device, "cpu+"); both != (p.Host == 0) || both && p.Kernel == 0 {
		t.Errorf("%s: phases %+v; rounding belongs to the time by the clock, and to that of the host otherwise", o.Device, p)
	}
	return d
}

// TestGPUDeferredSum compares deferred on a GPU, alone and with processors, with deferred on the CPU.
func TestGPUDeferredSum(t *testing.T) {
	sets := []string{"mcnamee1", "mcnamee3", "uniform11:n=999", "anderson:n=33", "gensum:n=400,cond=1e40", "zhuhayes4:n=600,delta=400", "harmonic:n=300", "extremes:kind=subnormals,n=200", "extremes:kind=overflow"}
	if !gputest.Emulated() {
		sets = append(sets, "mcnamee2", "uniform01:n=16777216", "uniform11:n=10000001", "zhuhayes3:n=1000000,delta=2000", "harmonic:n=100000")
	}
	data := map[string]Terms{"1/i": {Wide: reciprocals(500)}, "1/i, far apart": {Wide: farApart(reciprocals(400))}}
	for _, set := range sets {
		data[set] = generate(t, set)
	}
	for _, device := range exactDevices(t) {
		for set, terms := range data {
			for _, precision := range []int{24, 53, 240, 1696, 4096} {
				o := Options{Precision: precision, Threads: 2}
				want := run(t, "deferred", o, terms)
				o.Device = device
				got := sumOn(t, o, terms)
				if !got.Value().Equal(want.Value()) {
					t.Errorf("%s at %d bits on %s: %s, want %s", set, precision, device, got.Value().Text(30), want.Value().Text(30))
				}
				f := got.Format()
				if variant := map[bool]string{true: "packed words", false: "binned float64"}[terms.Wide != nil]; !strings.HasPrefix(f.Variant, variant) {
					t.Errorf("%s on %s: variant %q, want %s", set, device, f.Variant, variant)
				}
				if name := strings.TrimPrefix(got.Device(), "cpu+"); name != "emulated" && name != gputest.Name(t) {
					t.Errorf("device %s", got.Device())
				}
			}
		}
	}
}

// reciprocals returns 1/i for i = 1 to n, every third negative.
func reciprocals(n int) []*big.Rat {
	x := make([]*big.Rat, n)
	for i := range x {
		x[i] = big.NewRat(int64(1-i%3/2*2), int64(i+1))
	}
	return x
}

// farApart scales numbers by powers of two from 2^-12000 to 2^12000.
func farApart(x []*big.Rat) []*big.Rat {
	for i, v := range x {
		scale := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(i%5*3000)))
		if i%2 == 0 {
			scale.Inv(scale)
		}
		v.Mul(v, scale)
	}
	return x
}

func TestGPUDeferredSpecial(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, terms := range [][]float64{{}, {math.Copysign(0, -1)}, {1, inf}, {-inf, 2, -inf}, {inf, -inf}, {1, nan, inf}} {
		for _, device := range exactDevices(t) {
			o := Options{Precision: 53, Threads: 2}
			want := run(t, "deferred", o, Terms{Float64: terms})
			o.Device = device
			got := sumOn(t, o, Terms{Float64: terms})
			if g, w := got.Value().Float64(), want.Value().Float64(); g != w && (g == g || w == w) {
				t.Errorf("%v on %s: %g, want %g", terms, device, g, w)
			}
		}
	}
}

// TestGPUDeferredWideDot: dot products of numbers wider than float64 on a device are those of the CPU.
func TestGPUDeferredWideDot(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	sizes := []int{0, 1, 2, 333}
	if !gputest.Emulated() {
		sizes = append(sizes, 20_001)
	}
	for _, n := range sizes {
		x, y := Terms{Wide: make([]*big.Rat, n)}, Terms{Wide: make([]*big.Rat, n)}
		for i := range n {
			x.Wide[i] = big.NewRat(r.Int64()-1<<62, 1+r.Int64())
			y.Wide[i] = new(big.Rat).SetFrac64(r.Int64()-1<<62, 1<<(uint(r.IntN(60)))|1)
		}
		for _, precision := range []int{24, 106, 424} {
			o := Options{Precision: precision, Threads: 2}
			cpu, _ := newDeferredDot(o)
			if err := cpu.Load(x, y); err != nil {
				t.Fatal(err)
			}
			cpu.Dot()
			for _, o.Device = range exactDevices(t) {
				s, err := newDeferredDot(o)
				if err != nil {
					t.Fatal(err)
				}
				d := s.(DeviceDotter)
				if err := d.Load(x, y); err != nil {
					t.Fatal(err)
				}
				for range 2 {
					if d.Dot(); d.Err() != nil || !d.Value().Equal(cpu.Value()) {
						t.Errorf("n = %d, p = %d on %s: %s (%v), want %s", n, precision, o.Device, d.Value().Text(30), d.Err(), cpu.Value().Text(30))
					}
				}
				if err := d.Close(); err != nil {
					t.Error(err)
				}
			}
		}
	}
}

// TestGPUDeferredTruncatedDot has factors whose exact products take many moduli: sums that truncated ones decide, and sums that they do not,
// which are exact from then on.
func TestGPUDeferredTruncatedDot(t *testing.T) {
	r := rand.New(rand.NewPCG(33, 3))
	const n = 60
	for _, precision := range []int{24, 106, 424} {
		for _, cancel := range []bool{false, true} {
			x, y := Terms{Wide: make([]*big.Rat, n)}, Terms{Wide: make([]*big.Rat, n)}
			for i := range n {
				for _, list := range [][]*big.Rat{x.Wide, y.Wide} {
					v, _ := new(big.Float).SetMantExp(big.NewFloat(r.Float64()-0.5), r.IntN(9000)).Rat(nil)
					list[i] = v
				}
				if cancel && i < n-1 && i%2 == 1 {
					x.Wide[i], y.Wide[i] = new(big.Rat).Neg(x.Wide[i-1]), y.Wide[i-1]
				}
			}
			if cancel { // nothing but the last product is left, which has no factor near the largest
				x.Wide[n-2], y.Wide[n-2] = new(big.Rat), new(big.Rat)
				x.Wide[n-1], y.Wide[n-1] = big.NewRat(1, 3), big.NewRat(1, 7)
			}
			o := Options{Precision: precision, Threads: 2}
			cpu, _ := newDeferredDot(o)
			if err := cpu.Load(x, y); err != nil {
				t.Fatal(err)
			}
			cpu.Dot()
			for _, o.Device = range exactDevices(t) {
				s, err := newDeferredDot(o)
				if err != nil {
					t.Fatal(err)
				}
				d := s.(*deferredDotOn)
				if err := d.Load(x, y); err != nil {
					t.Fatal(err)
				}
				for range 2 {
					if d.Dot(); d.Err() != nil || !d.Value().Equal(cpu.Value()) {
						t.Errorf("p = %d on %s: %s (%v), want %s", precision, o.Device, d.Value().Text(30), d.Err(), cpu.Value().Text(30))
					}
				}
				product := d.work.(*planesDot).product
				if repaired, _ := product.Repaired(); product.Truncated() == cancel || repaired > 0 {
					t.Errorf("p = %d: truncated %v, computed again %d times, cancellation %v", precision, product.Truncated(), repaired, cancel)
				}
				if err := d.Close(); err != nil {
					t.Error(err)
				}
			}
		}
	}
}

// TestGPUDeferredDot: so are those of float64 numbers.
func TestGPUDeferredDot(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	sizes := []int{0, 1, 2, 777}
	if !gputest.Emulated() {
		sizes = append(sizes, 1_000_001)
	}
	for _, n := range sizes {
		x, y := make([]float64, n), make([]float64, n)
		for i := range n {
			x[i], y[i] = math.Ldexp(r.NormFloat64(), r.IntN(1200)-600), math.Ldexp(r.Float64(), r.IntN(900)-450)
		}
		o := Options{Precision: 200, Threads: 2}
		cpu, _ := newDeferredDot(o)
		if err := cpu.Load(Terms{Float64: x}, Terms{Float64: y}); err != nil {
			t.Fatal(err)
		}
		cpu.Dot()
		for _, o.Device = range exactDevices(t) {
			s, err := newDeferredDot(o)
			if err != nil {
				t.Fatal(err)
			}
			d := s.(DeviceDotter)
			if err := d.Load(Terms{Float64: x}, Terms{Float64: y}); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if d.Dot(); d.Err() != nil || !d.Value().Equal(cpu.Value()) {
					t.Errorf("n = %d on %s: %s (%v), want %s", n, o.Device, d.Value().Text(30), d.Err(), cpu.Value().Text(30))
				}
			}
			if err := d.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// Numbers for which a device has no room go through it in parts.
func TestGPUDeferredStreamed(t *testing.T) {
	device, err := gpu.OpenName(gputest.Name(t))
	if err != nil {
		t.Fatal(err)
	}
	x := generate(t, "uniform11:n=40001").Float64
	p, err := packed(reciprocals(500), 240)
	if err != nil {
		t.Fatal(err)
	}
	a := new(superacc.Accumulator)
	a.AddSlice(x)
	var products superacc.Accumulator
	products.AddProducts(x, x)
	wide := make([]*big.Float, 500)
	squares := new(big.Float).SetPrec(0)
	for i, v := range reciprocals(500) {
		wide[i] = new(big.Float).SetPrec(240).SetRat(v)
		squares.SetPrec(5000).Add(squares, new(big.Float).SetPrec(480).Mul(wide[i], wide[i])) // exact
	}
	squares.SetPrec(300)
	for _, c := range []struct {
		work exactWork
		want *big.Float
	}{
		{mustWork(t)(newStreamedFloats(device, x, nil, superaccgpu.Options{Readers: 2})), a.Round(300)},
		{mustWork(t)(newStreamedFloats(device, x, x, superaccgpu.Options{Readers: 2, Threads: 1})), products.Round(300)},
		{mustWork(t)(newStreamedDot(device, wide, wide, 300, 77)), squares},
		{mustWork(t)(newStreamedDot(device, wide, wide, 300, 0)), squares},
		{&streamedPacked{device: device, numbers: p, part: 77}, p.Sum(1).Round(new(big.Float), 300)},
		{&streamedPacked{device: device, numbers: deferred.NewPacked(0, 100)}, new(big.Float)},
	} {
		var phases Phases
		s, err := c.work.sum(context.Background(), &phases)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.rounded(300); got.Cmp(c.want) != 0 || phases.Kernel <= 0 || !strings.Contains(c.work.variant(), ", streamed") {
			t.Errorf("%s: %g, want %g; %+v", c.work.variant(), got, c.want, phases)
		}
		c.work.Free()
	}
}

// TestGPUDeferredDotMemory: a dot product whose residues do not fit the device is streamed, and one whose numbers do not fit is an error.
func TestGPUDeferredDotMemory(t *testing.T) {
	device := gputest.Device(t)
	if !gputest.Emulated() {
		t.Skip("a GPU has too much memory: the emulator is given less")
	}
	const n = 4000
	x := Terms{Wide: reciprocals(n)}
	o := Options{Precision: 106, Threads: 2}
	cpu, _ := newDeferredDot(o)
	if err := cpu.Load(x, x); err != nil {
		t.Fatal(err)
	}
	cpu.Dot()
	var used int64
	if err := device.Do(func() error { used = device.Memory().Current; return nil }); err != nil {
		t.Fatal(err)
	}
	o.Device = gputest.Name(t)
	for _, c := range []struct {
		bytes   int64
		variant string
	}{{1 << 30, variantPlanes}, {50 * n, variantPlanes + ", streamed in "}, {20 * n, ""}} {
		t.Setenv("MPBENCH_EMULATOR_MEMORY", fmt.Sprint(used+c.bytes))
		d, err := newDeferredDotOn(o)
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Load(x, x); err != nil {
			t.Fatal(err)
		}
		d.Dot()
		switch got := d.(DeviceDotter); {
		case c.variant == "":
			if !errors.Is(got.Err(), gpu.ErrOutOfMemory) {
				t.Errorf("with %d bytes: %v", c.bytes, got.Err())
			}
		case got.Err() != nil || !d.Value().Equal(cpu.Value()) || !strings.HasPrefix(d.Format().Variant, c.variant):
			t.Errorf("with %d bytes: %v (%s, %v), want %v (%s)", c.bytes, d.Value(), d.Format().Variant, got.Err(), cpu.Value(), c.variant)
		}
		d.(DeviceDotter).Close()
	}
}

func mustWork(t *testing.T) func(exactWork, error) exactWork {
	return func(w exactWork, err error) exactWork {
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
}

// TestGPUDeferredStream sums a file, by reads at any place and piece by piece.
func TestGPUDeferredStream(t *testing.T) {
	x := generate(t, "uniform11:n=30001").Float64
	for _, device := range exactDevices(t) {
		s, err := newDeferredStream(Options{Precision: 100, Threads: 2, Device: device})
		if err != nil {
			t.Fatal(err)
		}
		want := run(t, "deferred", Options{Precision: 100}, Terms{Float64: x}).Value()
		d := s.(SourceSummer)
		if err := d.SumSource(context.Background(), superaccgpu.Slice(x)); err != nil || !d.Value().Equal(want) {
			t.Errorf("a source on %s: %v, want %v (%v)", device, d.Value(), want, err)
		}
		left := x
		err = d.SumStream(func(buffer []float64) (int, error) {
			n := copy(buffer[:min(len(buffer), 7000)], left)
			left = left[n:]
			return n, nil
		})
		if err != nil || !d.Value().Equal(want) || d.Format().Variant == "" {
			t.Errorf("pieces on %s: %v, want %v (%v)", device, d.Value(), want, err)
		}
		if err := d.SumSource(context.Background(), failing{}); !errors.Is(err, os.ErrClosed) {
			t.Errorf("a source that fails: %v", err)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
}

// failing is a source that cannot be read.
type failing struct{}

func (failing) Len() int                  { return 5000 }
func (failing) Read([]float64, int) error { return os.ErrClosed }

func TestGPUDeferredDevices(t *testing.T) {
	m, _ := Lookup("deferred")
	for device, want := range map[string]bool{"": true, "cpu": true, "cuda:0": true, "cuda": true, "cpu+cuda:1": true, "cpu+cpu": false, "cuda:x": false, "gpu": false, "cpu+": false} {
		if got := m.RunsOn(device); got != want || m.RunsDotOn(device) != want {
			t.Errorf("device %q: %v, want %v", device, got, want)
		}
		if _, err := m.New(Options{Precision: 53, Device: device}); !want && !errors.Is(err, ErrOption) {
			t.Errorf("device %q: %v", device, err)
		}
	}
	gputest.Name(t)
	for _, device := range []string{"cuda:9", "cpu+cuda:9"} {
		if _, err := m.New(Options{Precision: 53, Device: device}); !errors.Is(err, gpu.ErrNoDevice) {
			t.Errorf("device %s: %v", device, err)
		}
		if _, err := m.NewDot(Options{Precision: 53, Device: device}); !errors.Is(err, gpu.ErrNoDevice) {
			t.Errorf("device %s: %v", device, err)
		}
	}
	reduce3, _ := Lookup("reduce3")
	if _, err := reduce3.NewDot(Options{Precision: 53, Device: "cuda:0"}); err == nil || !strings.Contains(err.Error(), "reduce3 has no dot product on device cuda:0; it runs on cpu") {
		t.Errorf("reduce3: %v", err)
	}
}
