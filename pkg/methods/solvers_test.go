package methods_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"mpbench/datasets"
	"mpbench/pkg/device"
	"mpbench/pkg/gpu"
	"mpbench/pkg/gpu/gputest"
	"mpbench/pkg/krylov"
	"mpbench/pkg/methods"
	"mpbench/pkg/numbers"
)

// sparseSystem returns the system of a data set with random elements of b.
func sparseSystem(t *testing.T, text string) krylov.System {
	t.Helper()
	spec, err := datasets.Sparses.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	d, err := datasets.Generate(spec, datasets.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	b, r := make(numbers.Float64s, d.N), rand.New(rand.NewPCG(3, 3))
	for i := range b {
		b[i] = r.Float64() - 0.5
	}
	return krylov.System{A: numbers.Sparse(d.A.Source, d.N, d.Pattern), B: numbers.Vector(b)}
}

// gpuSolvers are the solvers that run on GPUs, with -short those of different storage and arithmetic.
func gpuSolvers() (list []krylov.Solver) {
	for _, s := range methods.Solvers() {
		if s.On(device.CUDA) && !(testing.Short() && strings.Contains(s.Name, ":")) {
			list = append(list, s)
		}
	}
	return list
}

// TestSolversOnGPU: a solver's bits on a GPU are those on the CPU: the solution, all residuals, how it ended; of
// systems with one segment of unknowns and with several, and with rows of different lengths.
func TestSolversOnGPU(t *testing.T) {
	gputest.Sanitize(t)
	gpus := device.Must(gputest.Name(t))
	for _, s := range gpuSolvers() {
		t.Run(s.Name, func(t *testing.T) {
			for _, c := range []struct {
				text string
				krylov.Options
			}{
				{"dominant:n=60,row=5,margin=0.2", krylov.Options{Algorithm: krylov.BiCGStab, Iterations: 12}},
				{"tridiagonal:n=40,cond=100", krylov.Options{Algorithm: krylov.CG, Precondition: krylov.Jacobi, Iterations: 99}},
				{"brusselator:n=50", krylov.Options{Algorithm: krylov.BiCGStab2, Precondition: krylov.Jacobi, Iterations: 20}},
				{"convdiff:n=8649", krylov.Options{Algorithm: krylov.BiCGStab, Iterations: 1}},
			} {
				compareOn(t, s, gpus, c.text, sparseSystem(t, c.text), c.Options)
			}
		})
	}
}

// TestILUOnGPU: the same with ILU(0), whose factors have levels of one row, of all rows, of more rows than a warp
// takes, and of rows of different lengths.
func TestILUOnGPU(t *testing.T) {
	gputest.Sanitize(t)
	gpus := device.Must(gputest.Name(t))
	systems := map[string]krylov.System{"diagonal": diagonalSystem(300)}
	for _, text := range []string{
		"tridiagonal:n=70,cond=100", "dominant:n=400,row=4,margin=0.2", "convdiff:n=2025", "brusselator:n=50",
	} {
		systems[text] = sparseSystem(t, text)
	}
	for _, s := range gpuSolvers() {
		t.Run(s.Name, func(t *testing.T) {
			for text, system := range systems {
				o := krylov.Options{Algorithm: krylov.BiCGStab, Precondition: krylov.ILU0, Iterations: 3}
				compareOn(t, s, gpus, text, system, o)
			}
		})
	}
}

// diagonalSystem returns one of n equations with an unknown each.
func diagonalSystem(n int) krylov.System {
	p, values := &numbers.Pattern{Start: []int{0}}, make(numbers.Float64s, n)
	for i := range n {
		p.Column, p.Start = append(p.Column, int32(i)), append(p.Start, i+1)
		values[i] = float64(i + 3)
	}
	return krylov.System{A: numbers.Sparse(values, n, p), B: krylov.Ones(n)}
}

// compareOn solves a system on the CPU and on a GPU.
func compareOn(t *testing.T, s krylov.Solver, gpus device.Set, what string, system krylov.System, o krylov.Options) {
	t.Helper()
	o.Tolerance = 1e-12
	want := solveOn(t, s, system, o)
	o.Devices = gpus
	sameSolution(t, what, solveOn(t, s, system, o), want)
}

func solveOn(t *testing.T, s krylov.Solver, system krylov.System, o krylov.Options) krylov.Result {
	t.Helper()
	r, err := s.Solve(context.Background(), s.Bits, system, o)
	if err != nil {
		t.Fatal(err)
	}
	var sum int64
	for _, d := range r.Shares {
		if d < 0 {
			t.Errorf("shares of %v: %v", r.Time, r.Shares)
		}
		sum += int64(d)
	}
	if sum != int64(r.Time) {
		t.Errorf("shares of %v: %v", r.Time, r.Shares)
	}
	return r
}

func sameSolution(t *testing.T, what string, got, want krylov.Result) {
	t.Helper()
	if got.Status != want.Status || got.Iterations != want.Iterations || !slices.Equal(got.History, want.History) {
		t.Fatalf("%s: %q after %d iterations, %v; on the CPU %q after %d, %v", what, got.Status, got.Iterations, got.History,
			want.Status, want.Iterations, want.History)
	}
	for i := range want.X.Len() {
		if x, y := numbers.At(got.X, i), numbers.At(want.X, i); !x.Equal(y) {
			t.Fatalf("%s: unknown %d is %v, on the CPU %v", what, i, x, y)
		}
	}
}

// TestScaledNorms: where squares leave the range of binary64, norms are scaled on the host, with the same bits.
func TestScaledNorms(t *testing.T) {
	gpus := device.Must(gputest.Name(t))
	for _, scale := range []float64{0x1p-500, 0x1p500} {
		system := sparseSystem(t, "dominant:n=60,row=5,margin=1")
		for i, x := range system.B.Source.(numbers.Float64s) {
			system.B.Source.(numbers.Float64s)[i] = x * scale
		}
		for _, s := range gpuSolvers() {
			if s.Name != "dd" && s.Name != "float64-lanes" {
				continue
			}
			o := krylov.Options{Tolerance: 1e-10, Iterations: 3, Algorithm: krylov.BiCGStab}
			want := solveOn(t, s, system, o)
			o.Devices = gpus
			sameSolution(t, s.Name, solveOn(t, s, system, o), want)
		}
	}
}

// TestRefusedSolves: whichever call of the driver is refused, a solver returns that error or the bits that it gives
// otherwise, and gives all memory back.
func TestRefusedSolves(t *testing.T) {
	d := gputest.Device(t)
	if !gputest.Emulated() {
		t.Skip("a GPU refuses no call on request; the emulator does")
	}
	system := sparseSystem(t, "dominant:n=50,row=4,margin=0.5")
	for _, s := range gpuSolvers() {
		if !slices.Contains([]string{"float32-lanes", "dd", "di"}, s.Name) {
			continue
		}
		o := krylov.Options{
			Tolerance: 1e-3, Iterations: 20, Algorithm: krylov.BiCGStab, Precondition: krylov.ILU0, Devices: device.GPU(0),
		}
		want := solveOn(t, s, system, o)
		before, failures := memory(t, d), 0
		for after, left := 0, -1; left < 0; after++ {
			refuse(t, d, after)
			r, err := s.Solve(context.Background(), s.Bits, system, o)
			left = refuse(t, d, -1)
			switch {
			case err == nil:
				sameSolution(t, s.Name, r, want)
			case !isRefusal(err):
				t.Fatalf("%s, call %d refused: %v", s.Name, after, err)
			default:
				failures++
			}
			if now := memory(t, d); now != before {
				t.Fatalf("%s, call %d refused: %d bytes of the device are in use, %d before", s.Name, after, now, before)
			}
		}
		if failures < 100 {
			t.Errorf("%s: %d refused calls were errors", s.Name, failures)
		}
	}
}

func isRefusal(err error) bool { return errors.Is(err, gpu.ErrOutOfMemory) }
