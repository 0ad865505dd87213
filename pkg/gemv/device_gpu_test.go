package gemv

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"mpbench/pkg/gpu/gputest"
	"mpbench/pkg/rns"
)

// wideProblem has an m x n matrix and vectors of full p-bit significands in [-1, 1), the timing data of the 2020 paper.
func wideProblem(op Op, m, n, bits int) Problem {
	rng := rand.New(rand.NewPCG(uint64(bits), uint64(m*n)))
	numbers := func(count int) Numbers {
		list := make([]*big.Float, count)
		words := make([]big.Word, (bits+63)/64)
		for i := range list {
			for k := range words {
				words[k] = big.Word(rng.Uint64())
			}
			x := new(big.Int).SetBits(slices.Clone(words))
			x.Rsh(x, uint(64*len(words)-bits))
			x.SetBit(x, bits-1, 1).SetBit(x, 0, 1)
			if words[0]&2 != 0 {
				x.Neg(x)
			}
			list[i] = new(big.Float).SetPrec(uint(bits)).SetMantExp(new(big.Float).SetPrec(uint(bits)).SetInt(x), -bits)
		}
		return Numbers{Wide: list}
	}
	p := Problem{Op: op, M: m, N: n, LDA: m, IncX: 1, IncY: 1}
	p.Alpha, p.Beta = Scalar{Wide: numbers(1).Wide[0]}, Scalar{Wide: numbers(1).Wide[0]}
	p.A, p.X, p.Y = numbers(m*n), numbers(p.Terms()), numbers(p.Rows())
	return p
}

// TestGPU is the full comparison with the CPU, for GPUs: every precision, sizes at all boundaries, with and without tuning.
func TestGPU(t *testing.T) {
	if gputest.Emulated() {
		t.Skip("needs a GPU (MPBENCH_TEST_DEVICE=cuda:0): TestDevice, TestShapes and TestManySlots compare on the emulator")
	}
	gputest.Device(t)
	t.Setenv("MPBENCH_TUNE_CACHE", t.TempDir()+"/tune.json")
	sizes := [][2]int{
		{1, 1}, {1, 63}, {1, 64}, {1, 65}, {63, 1}, {64, 1}, {65, 1}, {31, 33}, {32, 32}, {33, 31}, {127, 129}, {128, 128}, {129, 127}, {255, 257}, {256, 256}, {1, 4097}, {4097, 1},
	}
	for i, b := range deviceBases {
		for k, size := range append(sizes, [2]int{1000 * 106 / max(b.precision, 106), 1000}) {
			p := wideProblem(Op((i+k)%2), size[0], size[1], b.precision)
			compareOnDevice(t, p, Options{
				Precision: b.precision, ModuliBits: b.moduli, Rounding: rns.Rounding(k % 2), Alignment: rns.Alignment(i % 2), BlockSize: []int{64, 1, 63, 128, 1024}[k%5],
			}, Tune(k%3))
		}
		t.Logf("precision %d, moduli of %d bits: equal", b.precision, b.moduli)
	}
}

// compareOnDevice compares both methods on the device under test with the CPU.
func compareOnDevice(t *testing.T, p Problem, o Options, tune Tune) {
	t.Helper()
	for _, name := range []string{"rns-split", "rns-basic"} {
		m, _ := Lookup(name)
		o.Device, o.Tune = "", TuneOff
		want := resultOf(t, m, o, p, 1)
		o.Device, o.Tune = gputest.Name(t), tune
		compareFields(t, fmt.Sprintf("%s, %v %d x %d, %+v", name, p.Op, p.M, p.N, o), resultOf(t, m, o, p, 2), want)
	}
}

// BenchmarkGPU times products of 1000 x 1000 matrices of full significands by the device's events, with a cold cache, and prints the
// median and every kernel's share. Times of the emulator mean nothing: it gets small matrices.
func BenchmarkGPU(b *testing.B) {
	gputest.Device(b)
	b.Setenv("MPBENCH_TUNE_CACHE", b.TempDir()+"/tune.json")
	size := 1000
	if gputest.Emulated() {
		size = 10
	}
	for _, precision := range []int{106, 212, 424, 848, 1696} {
		for _, op := range []Op{NoTrans, Trans} {
			p := wideProblem(op, size, size, precision)
			for _, name := range []string{"rns-split", "rns-basic"} {
				for _, tune := range []Tune{TuneOff, TuneForce} {
					if name == "rns-basic" && tune != TuneOff {
						continue
					}
					b.Run(fmt.Sprintf("%s/p=%d/%v/tune=%v", name, precision, op, tune), func(b *testing.B) {
						m, _ := Lookup(name)
						benchmarkOnDevice(b, m, Options{Precision: precision, Device: gputest.Name(b), Tune: tune}, p)
					})
				}
			}
		}
	}
}

func benchmarkOnDevice(b *testing.B, m Method, o Options, p Problem) {
	engine, err := m.New(o)
	if err != nil {
		b.Fatal(err)
	}
	e := engine.(DeviceEngine)
	defer e.Close()
	start := time.Now()
	if err := e.Load(p); err != nil {
		b.Fatal(err)
	}
	load := time.Since(start)
	var times []time.Duration
	for b.Loop() {
		if err := e.RunCold(); err != nil {
			b.Fatal(err)
		}
		times = append(times, e.Times().Kernels)
	}
	slices.Sort(times)
	median := times[len(times)/2]
	b.ReportMetric(float64(median)/1e6, "kernel-ms")
	var text strings.Builder // one message: a benchmark prints ten at most
	fmt.Fprintf(&text, "median %v of %d runs; loaded in %v (conversion %v, copy in %v)\n", median, len(times), load, e.Times().Convert, e.Times().CopyIn)
	if s, ok := engine.(*deviceSplit); ok {
		fmt.Fprintf(&text, "shape %+v\n", s.shape)
	}
	for _, k := range e.Kernels() {
		fmt.Fprintf(&text, "%-18s %-16s %10.1f us %5.1f %% of peak bandwidth, occupancy %3.0f %%, %3d registers, %d local, %d x %d\n", k.Name, k.Phase,
			float64(k.Time)/1e3, 100*float64(k.Bytes)/max(k.Time.Seconds(), 1e-9)/max(k.Bandwidth, 1), 100*k.Occupancy, k.Registers, k.Local, k.Blocks, k.Threads)
	}
	b.Log(text.String())
}

// BenchmarkFromHost is a product of float64 numbers from host memory to results there, streamed, and by copy, conversion and product one after
// the other. The bus bounds it: 8 bytes an element.
func BenchmarkFromHost(b *testing.B) {
	if gputest.Emulated() {
		b.Skip("times of the emulator say nothing")
	}
	const n = 20000
	p := Problem{M: n, N: n, LDA: n, IncX: 1, IncY: 1, Alpha: Number(1), Beta: Number(0)}
	p.A.Float64, p.X.Float64, p.Y.Float64 = make([]float64, n*n), make([]float64, n), make([]float64, n)
	parallel(16, n, 64, func(_, first, last int) {
		r := rand.New(rand.NewPCG(5, uint64(first)))
		for i := first * n; i < last*n; i++ {
			p.A.Float64[i] = 2*r.Float64() - 1
		}
	})
	for i := range p.X.Float64 {
		p.X.Float64[i] = math.Sin(float64(i))
	}
	for _, stream := range []bool{true, false} {
		for _, precision := range []int{53, 106} {
			for _, p.Op = range []Op{NoTrans, Trans} {
				o := Options{Precision: precision, Device: gputest.Name(b), Stream: stream}
				name := fmt.Sprintf("n=%d/p=%d", n, precision)
				if p.Op == Trans {
					name += "/T"
				}
				if !stream {
					name += "/resident"
				}
				b.Run(name, func(b *testing.B) { benchmarkFromHost(b, o, p) })
			}
		}
	}
}

// benchmarkFromHost reports the median of some products, each by a new engine, from its loading to its result; and the parts of the last.
func benchmarkFromHost(b *testing.B, o Options, p Problem) {
	m, _ := Lookup("deferred")
	var e DeviceEngine
	var total []float64
	var load, result time.Duration
	for range 8 {
		if e != nil {
			e.Close()
		}
		start := time.Now()
		e = newEngine(b, m, o).(DeviceEngine)
		if err := e.Load(p); err != nil {
			b.Fatal(err)
		}
		load = time.Since(start)
		e.Run()
		resultStart := time.Now()
		e.Result()
		result = time.Since(resultStart)
		total = append(total, time.Since(start).Seconds())
		if err := e.Err(); err != nil {
			b.Fatal(err)
		}
	}
	defer e.Close()
	slices.Sort(total[1:]) // the first allocates pinned memory
	t := total[4]
	ms := func(t time.Duration) float64 { return float64(t) / 1e6 }
	b.ReportMetric(t*1e3, "ms")
	b.ReportMetric(8*float64(p.M)*float64(p.N)/t/1e9, "GB/s")
	b.ReportMetric(ms(load), "load-ms")
	b.ReportMetric(ms(e.Times().CopyIn), "copy-ms")
	b.ReportMetric(ms(e.Times().Convert), "host-ms")
	b.ReportMetric(ms(e.Times().Kernels), "run-ms")
	b.ReportMetric(ms(e.Times().CopyOut), "fetch-ms")
	b.ReportMetric(ms(result), "result-ms")
	b.ReportMetric(0, "ns/op")
	var text strings.Builder
	fmt.Fprintf(&text, "first time %.1f ms; %d moduli; %s\n", total[0]*1e3, e.Format().Moduli, e.Format().Variant)
	for _, phase := range e.Phases() {
		fmt.Fprintf(&text, "phase %-14s %8.3f ms  %s\n", phase.Name, ms(phase.Time), phase.Summary)
	}
	for _, k := range e.Kernels() {
		fmt.Fprintf(&text, "kernel %-16s %8.3f ms, %6.1f GB/s\n", k.Name, ms(k.Time), float64(k.Bytes)/max(k.Time.Seconds(), 1e-9)/1e9)
	}
	b.Log(text.String())
}
