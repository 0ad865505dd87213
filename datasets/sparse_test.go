package datasets

import (
	"errors"
	"math"
	"slices"
	"testing"

	"mpbench/internal/problems"
)

func makeSparse(t testing.TB, text string, opt Options) *Data {
	t.Helper()
	return makeSet(t, Sparses, text, opt)
}

// tied is the element of PDE900 that the collection has one unit lower in the last digit: it is
// -0.01082101979535010..., and rounding errors of binary64 decide how it is rounded to 12 digits.
const tied, tiedHere, tiedThere = 4290, -0.0108210197954, -0.0108210197953

// TestCollection: the generators make the matrices of the collection, entry for entry but for one.
func TestCollection(t *testing.T) {
	for name, spec := range map[string]string{
		"olm500": "olmstead", "rdb800l": "brusselator", "rdb3200l": "brusselator:n=3200", "pde900": "convdiff",
	} {
		t.Run(name, func(t *testing.T) {
			path, err := problems.MatrixFile("..", name)
			if err != nil {
				t.Skip(err)
			}
			want, err := LoadSparse(path, Double)
			if err != nil {
				t.Fatal(err)
			}
			got := makeSparse(t, spec, Options{})
			if !slices.Equal(got.Pattern.Start, want.Pattern.Start) || !slices.Equal(got.Pattern.Column, want.Pattern.Column) {
				t.Fatal("other elements are stored")
			}
			x, y := floats(got.A), floats(want.A)
			for k := range x {
				if name == "pde900" && k == tied && x[k] == tiedHere && y[k] == tiedThere {
					continue
				}
				if x[k] != y[k] {
					t.Fatalf("element %d in column %d is %v, want %v", k, want.Pattern.Column[k]+1, x[k], y[k])
				}
			}
			if got.A.SHA256 != want.A.SHA256 && name != "pde900" {
				t.Error("the hashes differ")
			}
		})
	}
}

// TestSparseSets: rows are what their definitions promise, and specs make their data again.
func TestSparseSets(t *testing.T) {
	for _, name := range Sparses.Names() {
		d := makeSparse(t, name, Options{})
		again := makeSparse(t, d.Spec(), Options{N: 77, M: 99})
		if d.Spec() != again.Spec() || d.A.SHA256 != again.A.SHA256 || d.X.SHA256 != again.X.SHA256 {
			t.Errorf("%s makes %s", d.Spec(), again.Spec())
		}
		for i := range d.N {
			if row := d.Pattern.Row(i); !slices.IsSorted(row) || len(slices.Compact(slices.Clone(row))) != len(row) {
				t.Errorf("%s: row %d has columns %v", name, i, row)
			}
		}
	}
	d := makeSparse(t, "dominant:n=50,row=5,margin=0.25", Options{})
	for i := range d.N {
		sum, diagonal := 0.0, 0.0
		for k := d.Pattern.Start[i]; k < d.Pattern.Start[i+1]; k++ {
			x := math.Abs(floats(d.A)[k])
			if int(d.Pattern.Column[k]) == i {
				diagonal = x
			} else {
				sum += x
			}
		}
		if len(d.Pattern.Row(i)) != 6 || diagonal < 1.249*sum || diagonal > 1.251*sum {
			t.Errorf("row %d has %d elements, diagonal %v, others %v", i, len(d.Pattern.Row(i)), diagonal, sum)
		}
	}
	// n = 2: eigenvalues d - 1 and d + 1
	x := floats(makeSparse(t, "tridiagonal:n=2,cond=3", Options{}).A)
	if math.Abs((x[0]+1)/(x[0]-1)-3) > 0x1p-50 || x[1] != -1 {
		t.Errorf("tridiagonal: %v", x)
	}
	for text, want := range map[string]string{
		"olmstead:n=7":          "olmstead: n=7: want an even number",
		"brusselator:n=801":     "brusselator: n=801: want 2 times a square, such as 800 or 882",
		"convdiff:n=99":         "convdiff: n=99: want a square, such as 81 or 100",
		"dominant:n=5,row=5":    "dominant: row=5: want fewer than the 5 columns",
		"tridiagonal:n=1":       "tridiagonal: n=1: want at least 2 terms",
		"tridiagonal:cond=1":    "tridiagonal: cond=1: want a number from 1.001 to 1e+12",
		"dominant:n=2147483648": "dominant: n=2147483648: want at most 2^31 - 1",
	} {
		s, err := Sparses.Parse(text)
		if err == nil {
			_, err = Generate(s, Options{})
		}
		if err == nil || err.Error() != want || !errors.Is(err, ErrUsage) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
