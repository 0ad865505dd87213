package datasets

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mpbench/pkg/exact"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
)

// makeSet generates a data set from the seed 1.
func makeSet(t testing.TB, f *Family, text string, opt Options) *Data {
	t.Helper()
	s, err := f.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	opt.Seed = 1
	d, err := Generate(s, opt)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func makeMatrix(t testing.TB, text string, opt Options) *Data {
	t.Helper()
	return makeSet(t, Matrices, text, opt)
}

func makePair(t testing.TB, text string) *Data {
	t.Helper()
	return makeSet(t, Pairs, text, Options{})
}

// TestMatrixChecksums compares every set of matrices and pairs with the committed table.
func TestMatrixChecksums(t *testing.T) {
	const path = "testdata/matrix-sha256.txt"
	var b strings.Builder
	line := func(hash, what, spec string) { fmt.Fprintf(&b, "%s  %s of %s\n", hash, what, spec) }
	matrix := func(text string, trans bool) {
		d := makeMatrix(t, text, Options{Trans: trans})
		spec := d.Spec()
		if trans {
			spec += " transposed"
		}
		line(d.A.SHA256, "A", spec)
		line(d.X.SHA256, "x", spec)
		line(d.Y.SHA256, "y", spec)
	}
	for _, name := range Matrices.Names() {
		matrix(name+":n=16", false)
		matrix(name+":n=16", true)
		if s, _ := Matrices.Parse(name); s.Set().param("bits") >= 0 {
			matrix(name+":bits=212,n=12", false)
		}
		if name != "hilbert" {
			matrix(name+":m=9,n=17", false)
		}
	}
	matrix("vandermonde:nodes=symmetric,n=20", false)
	matrix("uniform11:bits=100,n=7", false)
	for _, name := range Pairs.Names() {
		d := makePair(t, name+":n=1000")
		line(d.X.SHA256, "x", d.Spec())
		line(d.Y.SHA256, "y", d.Spec())
	}
	for _, name := range Sparses.Names() {
		d := makeSparse(t, name, Options{})
		line(d.A.SHA256, "A", d.Spec())
		line(d.X.SHA256, "x", d.Spec())
		line(d.Y.SHA256, "y", d.Spec())
	}
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got, table := strings.Split(b.String(), "\n"), strings.Split(string(want), "\n")
	for i := range max(len(got), len(table)) {
		if i >= len(got) || i >= len(table) || got[i] != table[i] {
			t.Fatalf("line %d of %s differs: the data have changed", i+1, path)
		}
	}
}

// TestMatrixSpecs checks that a spec makes its data again, and that errors are of their kind.
func TestMatrixSpecs(t *testing.T) {
	for _, name := range Matrices.Names() {
		d := makeMatrix(t, name+":n=10", Options{})
		again := makeMatrix(t, d.Spec(), Options{M: 77, N: 99})
		if d.Spec() != again.Spec() || d.A.SHA256 != again.A.SHA256 || d.X.SHA256 != again.X.SHA256 || again.M != 10 ||
			again.N != 10 {
			t.Errorf("%s makes %s", d.Spec(), again.Spec())
		}
		if d.Source == "" || d.A.Len() != 100 || d.X.Len() != 10 || d.Y.Len() != 10 {
			t.Errorf("%s: %d, %d, %d numbers", name, d.A.Len(), d.X.Len(), d.Y.Len())
		}
	}
	d := makeMatrix(t, "uniform11", Options{M: 3, N: 5, Trans: true, Bits: 80})
	if d.Spec() != "uniform11:bits=80,seed=1,m=3,n=5" || d.X.Len() != 3 || d.Y.Len() != 5 || floats(d.A) != nil {
		t.Errorf("%s, x %d, y %d", d.Spec(), d.X.Len(), d.Y.Len())
	}
	for text, want := range map[string]string{
		"hilbrt":               `unknown matrix "hilbrt" (did you mean hilbert?)`,
		"":                     "empty name of a matrix (known: blockcancel gengemv hilbert uniform11 vandermonde wide)",
		"hilbert:m=3,n=4":      "hilbert: m=3, n=4: want a square matrix",
		"hilbert:n=4,column=5": "hilbert: column=5: the matrix has 4 columns",
		"hilbert:n=600": "hilbert: m=600, n=600: x exceeds the range of float64; take fewer terms or the " +
			"parameter bits",
		"gengemv:n=7":         "gengemv: 7 terms: want at least 8",
		"gengemv:cond=0.5":    "gengemv: cond=0.5: want a number from 1 to 1e+300",
		"blockcancel:n=1":     "blockcancel: 1 terms: want at least 2",
		"uniform11:n=2000000": "uniform11: n=2000000: want an integer from 1 to 1048576",
		"uniform11:bits=-1":   "uniform11: bits=-1: want an integer from 0 to 65536",
	} {
		s, err := Matrices.Parse(text)
		if err == nil {
			_, err = Generate(s, Options{})
		}
		if err == nil || err.Error() != want || !errors.Is(err, ErrUsage) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	if _, err := Pairs.Parse("gendto"); err == nil ||
		err.Error() != `unknown pair of vectors "gendto" (did you mean gendot?)` {
		t.Error(err)
	}
	if _, err := Vectors.Parse("hilbert"); err == nil {
		t.Error("hilbert is no set of terms")
	}
}

// product returns the exact op(A)*x and the sums of magnitudes.
func product(t *testing.T, d *Data) *op.Reference {
	t.Helper()
	r, err := op.Exact(d.Problem(op.Gemv))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestHilbert checks that the product tends to a unit vector as the entries gain bits.
func TestHilbert(t *testing.T) {
	const n, column = 12, 5
	for _, bits := range []int{0, 100, 400} {
		d := makeMatrix(t, fmt.Sprintf("hilbert:bits=%d,column=%d,n=%d", bits, column, n), Options{})
		for i := range n {
			want := new(big.Rat)
			if i == column-1 {
				want.SetInt64(1)
			}
			s := product(t, d).Component(i)
			// Each entry is wrong by at most 2^-p relative (53 bits for float64); x is below 2^53 and exact.
			bound := new(big.Rat).Mul(s.SumAbs.Rat, new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1),
				uint(max(bits, 53)))))
			if diff := want.Sub(want, s.Sum.Rat); diff.Abs(diff).Cmp(bound) > 0 {
				t.Errorf("bits=%d, component %d is %v", bits, i, s.Sum)
			}
		}
	}
}

// TestVandermonde checks that the product tends to -(1-t)^(n-1).
func TestVandermonde(t *testing.T) {
	for _, trans := range []bool{false, true} {
		d := makeMatrix(t, "vandermonde:bits=300,nodes=symmetric,m=9,n=9", Options{Trans: trans})
		for i := range 9 {
			at := d.M + i // the second column holds the nodes
			if trans {
				at = i*d.M + 1
			}
			t1 := numbers.At(d.A.Source, at).Number()
			want := big.NewRat(-1, 1)
			for range 8 {
				want.Mul(want, new(big.Rat).Sub(big.NewRat(1, 1), t1))
			}
			s := product(t, d).Component(i)
			diff := new(big.Rat).Sub(want, s.Sum.Rat)
			if diff.Abs(diff).Cmp(new(big.Rat).Mul(s.SumAbs.Rat, new(big.Rat).SetFrac(big.NewInt(1),
				new(big.Int).Lsh(big.NewInt(1), 299)))) > 0 {
				t.Errorf("component %d is %v, want %v", i, s.Sum, exact.FromRat(want))
			}
		}
	}
}

// TestGenGemv checks the condition numbers of the rows, and of the columns of what is multiplied transposed.
func TestGenGemv(t *testing.T) {
	for _, cond := range []float64{1e4, 1e10, 1e20, 1e40, 1e80, 1e200} {
		for _, trans := range []bool{false, true} {
			d := makeMatrix(t, fmt.Sprintf("gengemv:cond=%g,m=100,n=100", cond), Options{Trans: trans})
			for i := range 100 {
				if c := product(t, d).Component(i).Condition().Float64(); c < cond/10 || c > cond*10 {
					t.Errorf("cond %g, row %d has %g", cond, i, c)
				}
			}
			if len(d.Notes) != 1 || !strings.HasPrefix(d.Notes[0], "condition numbers of the rows from ") {
				t.Error(d.Notes)
			}
		}
	}
}

// TestBlockCancel checks that what is left is of the order of E.
func TestBlockCancel(t *testing.T) {
	for _, trans := range []bool{false, true} {
		d := makeMatrix(t, "blockcancel:drop=40,m=21,n=21", Options{Trans: trans})
		for i := range 21 {
			if c := product(t, d).Component(i).Condition().Float64(); c < 0x1p38 {
				t.Errorf("component %d has condition number %g", i, c)
			}
		}
	}
}

// TestWideMatrices checks ranges and lengths of significands.
func TestWideMatrices(t *testing.T) {
	d := makeMatrix(t, "wide:n=50", Options{})
	least, most := 0, 0
	for _, a := range floats(d.A) {
		least, most = min(least, math.Ilogb(a)), max(most, math.Ilogb(a))
	}
	if least < -300 || most > 300 || least > -290 || most < 290 {
		t.Errorf("exponents from %d to %d", least, most)
	}
	for _, bits := range []int{1, 64, 65, 424} {
		d := makeMatrix(t, fmt.Sprintf("uniform11:bits=%d,n=20", bits), Options{})
		longest := uint(0)
		for _, a := range d.A.Source.(numbers.Bigs) {
			longest = max(longest, a.MinPrec())
			if a.Prec() != uint(bits) || a.Cmp(big.NewFloat(1)) > 0 || a.Cmp(big.NewFloat(-1)) < 0 {
				t.Fatalf("%v at %d bits", a, bits)
			}
		}
		if int(longest) != bits {
			t.Errorf("longest significand of %d bits: %d", bits, longest)
		}
	}
}

// TestGenDotPair checks condition numbers.
func TestGenDotPair(t *testing.T) {
	for _, cond := range []float64{1e2, 1e8, 1e16, 1e32, 1e100, 1e300} {
		d := makePair(t, fmt.Sprintf("gendot:cond=%g,n=2000", cond))
		if c := 2 * summaryOf(d).Condition().Float64(); c < cond/10 || c > cond*10 {
			t.Errorf("cond %g reached %g", cond, c)
		}
		if again := makePair(t, d.Spec()); again.X.SHA256 != d.X.SHA256 || again.Y.SHA256 != d.Y.SHA256 ||
			again.Spec() != d.Spec() {
			t.Errorf("%s makes %s", d.Spec(), again.Spec())
		}
	}
}

// TestLoadMatrix reads C and Fortran order, and rejects other shapes.
func TestLoadMatrix(t *testing.T) {
	dir := t.TempDir()
	write := func(name, header string, numbers ...float64) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(npyFile(1, header, payload64(binary.LittleEndian, numbers...))),
			0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	c := write("c.npy", "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }", 1, 2, 3, 4, 5, 6)
	f := write("f.NPY", "{'descr': '<f8', 'fortran_order': True, 'shape': (2, 3), }", 1, 4, 2, 5, 3, 6)
	for _, path := range []string{c, f} {
		d, err := LoadMatrix(path, Double)
		if err != nil {
			t.Fatal(err)
		}
		if d.M != 2 || d.N != 3 || fmt.Sprint(floats(d.A)) != "[1 4 2 5 3 6]" || d.Spec() != filepath.Base(path) ||
			d.A.SHA256 != hashFloat64([]float64{1, 4, 2, 5, 3, 6}) {
			t.Errorf("%s: %d x %d %v", path, d.M, d.N, d.A)
		}
	}
	vector := write("v.npy", "{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }", 1, 2)
	text := filepath.Join(dir, "a.txt")
	if err := os.WriteFile(text, []byte("1 2\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		vector:                         ": has shape (2,); a matrix has two dimensions",
		text:                           `: a matrix is read from .mtx, .npy or .npz, not from ".txt"`,
		filepath.Join(dir, "none.npy"): ": no such file",
	} {
		if _, err := LoadMatrix(path, Double); err == nil || err.Error() != path+want || !errors.Is(err, ErrInput) {
			t.Errorf("%v, want %s", err, path+want)
		}
	}
	big := make([]float64, 130*70)
	for i := range big {
		big[i] = float64(i)
	}
	for i, x := range byColumns(big, 130, 70) {
		if want := float64(i%130*70 + i/130); x != want {
			t.Fatalf("number %d is %v, want %v", i, x, want)
		}
	}
}
