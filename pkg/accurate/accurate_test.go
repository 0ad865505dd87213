package accurate

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestSumDot compares sums and dot products with big.Float, in all precisions, by one goroutine and several, and by an
// Accumulator that takes them in parts.
func TestSumDot(t *testing.T) {
	r := newRand()
	for kind := range kinds {
		for _, n := range lengths {
			x, y := random(r, n, kind), random(r, n, kind)
			checkSum(t, fmt.Sprintf("kind %d, sum of %d", kind, n), x)
			checkDot(t, fmt.Sprintf("kind %d, dot product of %d", kind, n), x, y)
		}
	}
}

func checkSum(t *testing.T, name string, x []float64) {
	t.Helper()
	exact := reference(termsOf(x))
	want := exact.nearest()
	for _, threads := range []Threads{1, 3} {
		if got := threads.Sum(x); !same(got, want) {
			t.Fatalf("%s by %d: %g, want %g", name, threads, got, want)
		}
	}
	if got := Sum(x); !same(got, want) {
		t.Fatalf("%s: %g, want %g", name, got, want)
	}
	for _, prec := range []uint{1, 24, 53, 200, 0} {
		if got, want := SumPrec(x, prec), exact.rounded(prec); !sameBig(got, want) {
			t.Fatalf("%s at %d bits: %g, want %g", name, prec, got, want)
		}
	}
	var a, b Accumulator
	at := len(x) / 3
	a.AddSlice(x[:at])
	for _, v := range x[at:] {
		b.Add(v)
	}
	checkMerged(t, name, &a, &b, want, len(x))
}

func checkDot(t *testing.T, name string, x, y []float64) {
	t.Helper()
	exact := reference(productsOf(x, y))
	want := exact.nearest()
	for _, threads := range []Threads{1, 3} {
		if got := threads.Dot(x, y); !same(got, want) {
			t.Fatalf("%s by %d: %g, want %g", name, threads, got, want)
		}
	}
	if got := Dot(x, y); !same(got, want) {
		t.Fatalf("%s: %g, want %g", name, got, want)
	}
	for _, prec := range []uint{1, 53, 500, 0} {
		if got, want := DotPrec(x, y, prec), exact.rounded(prec); !sameBig(got, want) {
			t.Fatalf("%s at %d bits: %g, want %g", name, prec, got, want)
		}
	}
	var a, b Accumulator
	at := len(x) / 3
	Threads(2).AddProducts(&a, x[:at], y[:at])
	for i, v := range x[at:] {
		b.AddProduct(v, y[at+i])
	}
	checkMerged(t, name, &a, &b, want, len(x))
}

// checkMerged checks the sum of a and b.
func checkMerged(t *testing.T, name string, a, b *Accumulator, want float64, terms int) {
	t.Helper()
	before := b.Float64()
	a.Merge(b)
	if got := a.Float64(); !same(got, want) || a.Terms() != uint64(terms) {
		t.Fatalf("%s, merged: %g of %d terms, want %g of %d", name, got, a.Terms(), want, terms)
	}
	if got := b.Float64(); !same(got, before) {
		t.Fatalf("%s: merging changed %g to %g", name, before, got)
	}
	a.Reset()
	if a.Float64() != 0 || a.Terms() != 0 {
		t.Fatalf("%s, reset: %v", name, a)
	}
}

func TestExactPrecision(t *testing.T) {
	for _, c := range []struct {
		x    []float64
		prec uint
		text string
	}{
		{nil, 1, "0x0p+00"}, {[]float64{3}, 2, "0x1.8p+01"}, {[]float64{math.Inf(-1)}, 1, "-Inf"},
		{[]float64{1, 0x1p-60}, 61, "0x1.000000000000001p+00"},
	} {
		z := SumPrec(c.x, 0)
		if z.Prec() != c.prec || z.Text('x', -1) != c.text {
			t.Errorf("exact sum of %v: %x of %d bits", c.x, z, z.Prec())
		}
	}
}

func TestFloat32(t *testing.T) {
	var a Accumulator
	a.Add(1 + 0x1p-24) // a tie of float32, to which float64 would round what is just above
	a.Add(0x1p-60)
	if got := a.Float32(); got != 1+0x1p-23 {
		t.Errorf("%x", got)
	}
}

func TestString(t *testing.T) {
	var a Accumulator
	for _, c := range []struct {
		add  float64
		want string
	}{{0.1, "0.1"}, {math.MaxFloat64, "1.7976931348623157e+308"}, {math.MaxFloat64, "3.5953862697246314e+308"},
		{math.Inf(1), "+Inf"}, {math.NaN(), "NaN"}} {
		a.Add(c.add)
		if got := a.String(); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

// shaped returns an m x n matrix of the given numbers in every type that is read in a way of its own.
func shaped(m, n int, data []float64) map[string]mat.Matrix {
	transposed, spread := make([]float64, m*n), make([]float64, 2*m*(n+3))
	for i := range spread {
		spread[i] = math.NaN()
	}
	for i := range m {
		for j := range n {
			transposed[j*m+i] = data[i*n+j]
			spread[2*(i*(n+3)+j)] = data[i*n+j]
		}
	}
	all := map[string]mat.Matrix{
		"row-major": RowMajor(m, n, data), "column-major": ColMajor(m, n, transposed),
		"strided":            Strided{m, n, spread, 2 * (n + 3), 2},
		"transposed":         RowMajor(n, m, transposed).T(),
		"general":            general{ColMajor(m, n, transposed)},
		"transposed general": general{RowMajor(n, m, transposed)}.T(),
	}
	if m > 0 && n > 0 {
		all["Dense"] = mat.NewDense(m, n, data)
		all["Dense.T"] = mat.NewDense(n, m, transposed).T()
		wide := mat.NewDense(m+2, n+3, nil)
		wide.Slice(1, m+1, 2, n+2).(*mat.Dense).Copy(mat.NewDense(m, n, data))
		all["Dense.Slice"] = wide.Slice(1, m+1, 2, n+2)
		if n == 1 {
			all["VecDense"] = mat.NewVecDense(m, data)
			all["VecDense.T.T"] = mat.NewVecDense(m, data).T().T()
			all["column"] = mat.NewDense(m, 3, spreadColumn(data)).ColView(1)
		}
	}
	return all
}

// spreadColumn returns the middle column of three.
func spreadColumn(data []float64) []float64 {
	x := make([]float64, 3*len(data))
	for i, v := range data {
		x[3*i+1] = v
	}
	return x
}

// general hides what a matrix is.
type general struct{ s Strided }

func (g general) Dims() (int, int)    { return g.s.Dims() }
func (g general) At(i, j int) float64 { return g.s.At(i, j) }
func (g general) T() mat.Matrix       { return mat.Transpose{Matrix: g} }

// TestMulVec compares products with big.Float, for all types of matrices, shapes around tiles, and numbers.
func TestMulVec(t *testing.T) {
	r := newRand()
	for _, shape := range [][2]int{{0, 0}, {0, 3}, {3, 0}, {1, 1}, {5, 1}, {1, 9}, {7, 8}, {9, 257}, {17, 33}, {11, 11}} {
		m, n := shape[0], shape[1]
		for kind := range kinds {
			data, x := random(r, m*n, kind), random(r, n, kind)
			for name, a := range shaped(m, n, data) {
				for _, threads := range []Threads{1, 2} {
					checkMulVec(t, fmt.Sprintf("%s %d x %d, kind %d, threads %d", name, m, n, kind, threads), threads, a, data, x)
				}
			}
		}
	}
}

func checkMulVec(t *testing.T, name string, threads Threads, a mat.Matrix, data, x []float64) {
	t.Helper()
	m, n := a.Dims()
	dst := make([]float64, m)
	threads.MulVec(dst, a, x)
	bigs := threads.MulVecPrec(a, x, 100)
	for i, got := range dst {
		exact := reference(productsOf(data[i*n:(i+1)*n], x))
		if want := exact.nearest(); !same(got, want) {
			t.Fatalf("%s: component %d is %g, want %g", name, i, got, want)
		}
		if want := exact.rounded(100); !sameBig(bigs[i], want) {
			t.Fatalf("%s: component %d to 100 bits is %g, want %g", name, i, bigs[i], want)
		}
	}
}

// TestThreads adds by several goroutines, to what one makes of it.
func TestThreads(t *testing.T) {
	r := newRand()
	for kind := range kinds {
		const n = 3 << 15
		x, y := random(r, n, kind), random(r, n, kind)
		if got, want := Threads(3).Sum(x), Sum(x); !same(got, want) {
			t.Errorf("kind %d, sum: %g, want %g", kind, got, want)
		}
		if got, want := Threads(3).Dot(x, y), Dot(x, y); !same(got, want) {
			t.Errorf("kind %d, dot product: %g, want %g", kind, got, want)
		}
		if got, want := Threads(3).DotPrec(x, y, 0), DotPrec(x, y, 0); !sameBig(got, want) {
			t.Errorf("kind %d, exact dot product: %g, want %g", kind, got, want)
		}
	}
}

// TestMulVecThreads shares the rows among goroutines.
func TestMulVecThreads(t *testing.T) {
	r := newRand()
	const m, n = 203, 1000
	data, x := random(r, m*n, 2), random(r, n, 0)
	want := make([]float64, m)
	MulVec(want, RowMajor(m, n, data), x)
	for name, a := range shaped(m, n, data) {
		got := make([]float64, m)
		Threads(3).MulVec(got, a, x)
		for i := range got {
			if !same(got[i], want[i]) {
				t.Fatalf("%s: component %d is %g, want %g", name, i, got[i], want[i])
			}
		}
	}
}

// factors are values of alpha and beta at which something changes.
var factors = []float64{
	0, math.Copysign(0, -1), 1, -1, 0.1, -3, 0x1p-1074, math.MaxFloat64, math.Inf(1), math.Inf(-1), math.NaN(),
}

// TestGemv compares with big.Float for all alpha and beta, and numbers of all kinds.
func TestGemv(t *testing.T) {
	r := newRand()
	const m, n = 9, 5
	for kind := range kinds {
		data, x, y := random(r, m*n, kind), random(r, n, kind), random(r, m, kind)
		clear(data[:n]) // a zero
		y[0], y[1], y[2] = 0, math.NaN(), math.Inf(1)
		for _, alpha := range factors {
			for _, beta := range factors {
				got := append([]float64{}, y...)
				Gemv(alpha, RowMajor(m, n, data), x, beta, got)
				for i, v := range got {
					if want := reference(gemvTerms(alpha, data[i*n:(i+1)*n], x, beta, y[i])).nearest(); !same(v, want) {
						t.Fatalf("kind %d, alpha %g, beta %g: component %d is %g, want %g", kind, alpha, beta, i, v, want)
					}
				}
			}
		}
	}
}

// TestGemvTie has a tie that is decided 4150 bits below.
func TestGemvTie(t *testing.T) {
	a, x := RowMajor(1, 2, []float64{0x1p1000, -0x1p-1074}), []float64{0x1p1001, 0x1p-1074}
	y := []float64{0x3p979}
	Gemv(0x3p-1074, a, x, 1, y)
	if want := 0x3p979 + 0x1p928; y[0] != want {
		t.Errorf("%x, want %x", y[0], want)
	}
}

// gemvTerms returns the terms of alpha*row*x + beta*y. Where alpha or the sum is infinite or NaN, the sum of the
// products is a factor.
func gemvTerms(alpha float64, row, x []float64, beta, y float64) (terms [][]float64) {
	if alpha != 0 {
		sum := reference(productsOf(row, x))
		switch {
		case sum.finite == nil:
			terms = append(terms, []float64{alpha, sum.special})
		case alpha-alpha != 0:
			terms = append(terms, []float64{alpha, float64(sum.finite.Sign())})
		default:
			for j, v := range row {
				terms = append(terms, []float64{alpha, v, x[j]})
			}
		}
	}
	if beta != 0 {
		terms = append(terms, []float64{beta, y})
	}
	return terms
}

// TestMulVecDense checks what it has beyond MulVec: increments, an empty result, operands that are the result.
func TestMulVecDense(t *testing.T) {
	data := []float64{1, 2, 3, 4}
	a := mat.NewDense(2, 2, data)
	check := func(name string, got mat.Vector) {
		t.Helper()
		if got.Len() != 2 || got.AtVec(0) != 17 || got.AtVec(1) != 39 {
			t.Errorf("%s: %v", name, mat.Formatted(got))
		}
	}
	var empty mat.VecDense
	MulVecDense(&empty, a, mat.NewVecDense(2, []float64{5, 6}))
	check("empty result", &empty)

	same := mat.NewVecDense(2, []float64{5, 6})
	MulVecDense(same, a, same)
	check("x is the result", same)

	column := mat.NewDense(2, 2, []float64{5, 0, 6, 0}).ColView(0).(*mat.VecDense)
	MulVecDense(column, a, column)
	check("with an increment", column)

	row := mat.NewDense(1, 2, []float64{5, 6})
	var result mat.VecDense
	MulVecDense(&result, a, vector{row.T()})
	check("general vector", &result)

	MulVecDense(a.ColView(0).(*mat.VecDense), a, mat.NewVecDense(2, []float64{5, 6}))
	check("result in the matrix", a.ColView(0))
}

// vector is a column as a mat.Vector of another type.
type vector struct{ mat.Matrix }

func (v vector) AtVec(i int) float64 { return v.At(i, 0) }
func (v vector) Len() int            { r, _ := v.Dims(); return r }

// TestPanics checks what is said of arguments that do not fit.
func TestPanics(t *testing.T) {
	two, three := []float64{1, 2}, []float64{1, 2, 3}
	a := RowMajor(2, 3, make([]float64, 6))
	var sum Accumulator
	for name, c := range map[string]struct {
		call func()
		want error
		text string
	}{
		"Dot": {func() { Dot(two, three) }, &LengthError{"Dot", "y", 3, 2},
			"accurate.Dot: y has 3 elements instead of 2"},
		"DotPrec":     {func() { DotPrec(three, two, 53) }, &LengthError{"DotPrec", "y", 2, 3}, ""},
		"AddProducts": {func() { sum.AddProducts(two, three) }, &LengthError{"AddProducts", "y", 3, 2}, ""},
		"MulVec, x":   {func() { MulVec(two, a, two) }, &LengthError{"MulVec", "x", 2, 3}, ""},
		"MulVec, dst": {func() { MulVec(three, a, three) }, &LengthError{"MulVec", "dst", 3, 2}, ""},
		"MulVecPrec":  {func() { MulVecPrec(a, two, 53) }, &LengthError{"MulVecPrec", "x", 2, 3}, ""},
		"Gemv":        {func() { Gemv(1, a, three, 0, three) }, &LengthError{"Gemv", "y", 3, 2}, ""},
		"MulVecDense": {func() { MulVecDense(mat.NewVecDense(3, nil), a, mat.NewVecDense(3, nil)) },
			&LengthError{"MulVecDense", "dst", 3, 2}, ""},
		"RowMajor":           {func() { RowMajor(2, 2, three) }, &LengthError{"RowMajor", "data", 3, 4}, ""},
		"ColMajor":           {func() { ColMajor(-1, -3, three) }, &LengthError{"ColMajor", "data", 3, -1}, ""},
		"product beyond int": {func() { RowMajor(math.MaxInt/2+1, 4, nil) }, &LengthError{"RowMajor", "data", 0, -1}, ""},
		"dst is x": {func() { MulVec(three[:2], a, three) }, &OverlapError{"MulVec", "dst", "x"},
			"accurate.MulVec: dst shares memory with x"},
		"y in a": {func() { Gemv(1, a, three, 0, a.Data[4:]) }, &OverlapError{"Gemv", "y", "a"}, ""},
	} {
		err := panicOf(c.call)
		if fmt.Sprintf("%#v", err) != fmt.Sprintf("%#v", c.want) || c.text != "" && err.Error() != c.text {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	for _, a := range []Strided{
		{2, 3, make([]float64, 5), 3, 1}, {2, 3, make([]float64, 6), -1, 1},
		{1 << 30, 3, make([]float64, 6), math.MaxInt / 4, 1},
	} {
		if err := panicOf(func() { MulVec(make([]float64, 2), a, three) }); err == nil {
			t.Errorf("no panic for %+v", a)
		}
	}
	if err := panicOf(func() { a.At(0, 3) }); err == nil {
		t.Error("no panic for an element that there is not")
	}
}

// panicOf returns what f panics with.
func panicOf(f func()) (err error) {
	defer func() {
		switch r := recover().(type) {
		case error:
			err = r
		case string:
			err = errors.New(r)
		}
	}()
	f()
	return nil
}

// TestAllocations: nothing is allocated where nothing has to be.
func TestAllocations(t *testing.T) {
	r := newRand()
	const m, n = 20, 300
	x, y, dst := random(r, n, 0), random(r, n, 0), make([]float64, m)
	data := random(r, m*n, 0)
	var rows, cols mat.Matrix = RowMajor(m, n, data), ColMajor(m, n, data)
	dense := mat.NewDense(m, n, data)
	denseX, denseDst := mat.NewVecDense(n, x), mat.NewVecDense(m, nil)
	symmetric := mat.NewSymDense(m, random(r, m*m, 0))
	var a, b Accumulator
	a.AddSlice(x)
	code, err := a.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]func(){
		"Sum":              func() { Sum(x) },
		"Dot":              func() { Dot(x, y) },
		"MulVec rows":      func() { MulVec(dst, rows, x) },
		"MulVec columns":   func() { MulVec(dst, cols, x) },
		"MulVec Dense":     func() { MulVec(dst, dense, x) },
		"MulVec symmetric": func() { MulVec(dst, symmetric, x[:m]) },
		"MulVecDense":      func() { MulVecDense(denseDst, dense, denseX) },
		"Gemv":             func() { Gemv(-1, dense, x, 0.5, dst) },
		"Accumulator": func() {
			b.Reset()
			b.Add(1)
			b.AddProduct(2, 3)
			b.AddSlice(x)
			b.AddProducts(x, y)
			b.Merge(&a)
			b.Float64()
		},
		"AppendBinary":    func() { code, _ = a.AppendBinary(code[:0]) },
		"UnmarshalBinary": func() { _ = b.UnmarshalBinary(code) },
	} {
		if got := testing.AllocsPerRun(10, f); got != 0 {
			t.Errorf("%s: %g allocations", name, got)
		}
	}
}
