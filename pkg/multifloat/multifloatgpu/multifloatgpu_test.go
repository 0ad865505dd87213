package multifloatgpu_test

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"mpbench/pkg/device"
	"mpbench/pkg/gpu/gputest"
	"mpbench/pkg/method"
	"mpbench/pkg/multifloat"
	"mpbench/pkg/multifloat/multifloatgpu"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
	"mpbench/pkg/reduce"
	sparsepkg "mpbench/pkg/sparse"
)

// vector returns n numbers of so many bits, of different magnitudes and signs.
func vector(r *rand.Rand, n, bits int) numbers.Array {
	list := make(numbers.Bigs, n)
	for i := range list {
		x := new(big.Float).SetPrec(uint(bits) + 8)
		for k := 0; k < bits; k += 32 {
			x.Add(x, new(big.Float).SetMantExp(big.NewFloat(float64(r.Uint32())), -k))
		}
		if r.IntN(2) == 0 {
			x.Neg(x)
		}
		list[i] = x.SetMantExp(x, r.IntN(20)-10)
	}
	return numbers.Vector(list)
}

func matrix(r *rand.Rand, m, n, bits int) numbers.Array {
	return numbers.Array{Source: vector(r, m*n, bits).Source, Layout: numbers.RowMajor(m, n, n)}
}

// sparse returns a matrix with rows of 0 to 4 elements, and one of so many.
func sparse(r *rand.Rand, m, n, long, bits int) numbers.Array {
	p := &numbers.Pattern{Start: make([]int, 1, m+1)}
	for i := range m {
		count := r.IntN(5)
		if i == m/2 {
			count = long
		}
		for range count {
			p.Column = append(p.Column, int32(r.IntN(n)))
		}
		p.Start = append(p.Start, len(p.Column))
	}
	return numbers.Sparse(vector(r, len(p.Column), bits).Source, n, p)
}

// problems returns some of every operation.
func problems(r *rand.Rand, bits int) (list []*op.Problem) {
	v := func(n int) numbers.Array { return vector(r, n, bits) }
	lengths := []int{0, 1, 33, 2048, 2049, 3 * 2048}
	if testing.Short() {
		lengths = []int{0, 33, 2049}
	}
	for _, n := range lengths {
		x, y := v(n), v(n)
		list = append(list, &op.Problem{Op: op.Sum, X: x}, &op.Problem{Op: op.Asum, X: x})
		list = append(list, &op.Problem{Op: op.Dot, X: x, Y: y})
	}
	x, y := v(300), v(300)
	tiny := numbers.Vector(numbers.Float64s{math.Ldexp(1, -600), math.Ldexp(3, -601)})
	return append(list,
		&op.Problem{Op: op.Nrm2, X: x}, &op.Problem{Op: op.Nrm2, X: tiny},
		&op.Problem{Op: op.Axpy, X: x, Y: y}, &op.Problem{Op: op.Axpy, Alpha: v(1), X: x, Y: y},
		&op.Problem{Op: op.Axpy, Alpha: numbers.Scalar(0), X: x, Y: y}, &op.Problem{Op: op.Scal, Alpha: v(1), X: x},
		&op.Problem{Op: op.Gemv, Alpha: v(1), A: matrix(r, 5, 70, bits), X: v(70), Beta: v(1), Y: v(5)},
		&op.Problem{Op: op.Gemv, A: matrix(r, 2, 2100, bits), X: v(2100)},
		&op.Problem{Op: op.Gemv, Alpha: numbers.Scalar(0), A: matrix(r, 3, 2, bits), X: v(2), Beta: v(1), Y: v(3)},
		&op.Problem{Op: op.Spmv, A: sparse(r, 40, 30, 4, bits), X: v(30)},
		&op.Problem{Op: op.Spmv, Alpha: v(1), A: sparse(r, 1100, 50, 300, bits), X: v(50), Beta: v(1), Y: v(1100)},
		&op.Problem{Op: op.Spmv, Trans: true, A: sparse(r, 70, 33, 90, 53), X: v(70)},
		&op.Problem{Op: op.Spmv, A: sparse(r, 3, 5, 0, bits), X: v(5), Beta: v(1), Y: v(3)},
		&op.Problem{Op: op.Gemm, Alpha: v(1), A: matrix(r, 3, 40, bits), X: matrix(r, 40, 4, bits), Beta: v(1),
			Y: matrix(r, 3, 4, bits)},
		&op.Problem{Op: op.Gemm, A: matrix(r, 19, 70, bits), X: matrix(r, 70, 21, bits)},
		&op.Problem{Op: op.Gemv, A: matrix(r, 103, 45, bits), X: v(45)}, // by tiles, as a device has few multiprocessors
	)
}

// TestBits: all operations of all formats have the bits of the CPU, at lengths around those of lanes, segments and
// groups of segments, prepared again and run again.
func TestBits(t *testing.T) {
	gputest.Sanitize(t)
	gpu := device.Must(gputest.Name(t))
	catalog := multifloatgpu.On(multifloat.Methods())
	for _, f := range multifloat.Formats() {
		if testing.Short() && f.Scheme.Components > 4 && f.Scheme.Components < 8 {
			continue // nothing that others do not show
		}
		t.Run(f.Method, func(t *testing.T) {
			r := rand.New(rand.NewPCG(4, 4))
			for i, p := range problems(r, f.Methods()[0].Bits) {
				m, ok := catalog.Lookup(p.Op, f.Method)
				if !ok {
					continue // norms need more exponents than the format has
				}
				compare(t, fmt.Sprintf("%s, problem %d", p.Op.Name, i), m, gpu, p)
			}
		})
	}
}

// TestLongTiles: blocks that add all segments of their sums, of as many as leave some over in every turn of pairs.
func TestLongTiles(t *testing.T) {
	gpu := device.Must(gputest.Name(t))
	catalog := multifloatgpu.On(multifloat.Methods())
	r := rand.New(rand.NewPCG(8, 8))
	m, _ := catalog.Lookup(op.Gemm, "di")
	side := 26
	if !gputest.Emulated() {
		side = 400
	}
	const n = 6*2048 + 77
	compare(t, "gemm", m, gpu, &op.Problem{Op: op.Gemm, A: matrix(r, side, n, 60), X: matrix(r, n, side, 60)})
}

// TestBinary: so have compensated dot products, and binary32 numbers in binary64; also infinite ones, where products
// overflow.
func TestBinary(t *testing.T) {
	gputest.Sanitize(t)
	gpu := device.Must(gputest.Name(t))
	catalog := multifloatgpu.OnBinary(reduce.Methods())
	r := rand.New(rand.NewPCG(6, 6))
	huge := numbers.Vector(numbers.Float64s{math.MaxFloat64, 1, -math.MaxFloat64})
	list := append(problems(r, 53), &op.Problem{Op: op.Dot, X: huge, Y: huge},
		&op.Problem{Op: op.Gemm, A: matrix(r, 70, 33, 53), X: matrix(r, 33, 37, 53)})
	for _, name := range []string{"dot2", "float32-in-float64"} {
		for i, p := range list {
			if m, ok := catalog.Lookup(p.Op, name); ok {
				compare(t, fmt.Sprintf("%s, %s, problem %d", name, p.Op.Name, i), m, gpu, p)
			}
		}
	}
}

// TestManySegments: sums of more segments than one group has.
func TestManySegments(t *testing.T) {
	gpu := device.Must(gputest.Name(t))
	catalog := multifloatgpu.On(multifloat.Methods())
	n := 2048*67 + 5
	if !gputest.Emulated() {
		n = 2048*64*65 + 1
	}
	x := make(numbers.Float64s, n)
	r := rand.New(rand.NewPCG(9, 9))
	for i := range x {
		x[i] = math.Ldexp(r.Float64()-0.5, r.IntN(90))
	}
	m, _ := catalog.Lookup(op.Sum, "dd")
	compare(t, "sum", m, gpu, &op.Problem{Op: op.Sum, X: numbers.Vector(x)})
}

// TestFloat64Rows: products of sparse matrices in binary64 have the bits of the plain loop.
func TestFloat64Rows(t *testing.T) {
	gputest.Sanitize(t)
	r := rand.New(rand.NewPCG(5, 5))
	m := sparsepkg.Methods()[0]
	m.On[device.CUDA] = multifloatgpu.NewFloat64Rows
	p := &op.Problem{Op: op.Spmv, Alpha: vector(r, 1, 53), A: sparse(r, 500, 60, 99, 53), X: vector(r, 60, 53)}
	compare(t, "float64", m, device.Must(gputest.Name(t)), p)
}

func compare(t *testing.T, what string, m method.Method, gpu device.Set, p *op.Problem) {
	t.Helper()
	ctx := context.Background()
	var results []numbers.Source
	for _, set := range []device.Set{{}, gpu} {
		e, err := m.New(method.Config{Devices: set})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err = e.Prepare(ctx, p); err == nil {
				err = e.Run(ctx)
			}
			if timed, ok := e.(method.Timed); ok && err == nil {
				err = timed.RunTimed(ctx)
			}
			if err != nil {
				t.Fatal(what, ": ", err)
			}
		}
		y, err := e.Result()
		if err == nil {
			err = e.Close()
		}
		if err != nil {
			t.Fatal(what, ": ", err)
		}
		results = append(results, y)
	}
	for i := range results[0].Len() {
		if x, y := numbers.At(results[0], i), numbers.At(results[1], i); !x.Equal(y) {
			t.Fatalf("%s: component %d is %v, on the CPU %v", what, i, y, x)
		}
	}
}
