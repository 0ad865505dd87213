package datasets

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
)

func parseMTX(text string, reading Reading) (*matrixMarket, error) {
	return readMTX(&file{Reader: strings.NewReader(text), name: "a.mtx", size: int64(len(text))}, reading)
}

// table returns all elements of a matrix, row by row; stored tells how many there are.
func (m *matrixMarket) table(t *testing.T) (list []string, stored int) {
	t.Helper()
	stored = len(m.float64s) + len(m.wide)
	m, err := m.full(&file{name: "a.mtx"})
	if err != nil {
		t.Fatal(err)
	}
	for i := range m.rows {
		for j := range m.cols {
			if k := j*m.rows + i; m.wide != nil {
				list = append(list, m.wide[k].RatString())
			} else {
				list = append(list, fmt.Sprint(m.float64s[k]))
			}
		}
	}
	return list, stored
}

// TestMatrixMarket reads what the format has.
func TestMatrixMarket(t *testing.T) {
	for _, c := range []struct {
		name, text string
		reading    Reading
		want       string
		stored     int
		notes      string
	}{
		{"any order, comments, empty lines", "%%MatrixMarket matrix coordinate real general\n% a comment\n\n" +
			"2 3 3\n2 3 1.5\n%more\n1 2 -2e1\n\n1 1 3\r\n", Double, "[3 -20 0 0 0 1.5]", 3, ""},
		{"upper case", "%%matrixmarket MATRIX Coordinate DOUBLE General\n1 1 1\n1 1 0x1p-3", Double, "[0.125]", 1, ""},
		{"integer", "%%MatrixMarket matrix coordinate integer general\n1 2 2\n1 1 -7\n1 2 +9007199254740993\n", Double,
			"[-7 9007199254740993]", 2, "1 of 2 numbers are no float64 and are kept exactly"},
		{"pattern", "%%MatrixMarket matrix coordinate pattern symmetric\n2 2 2\n1 1\n2 1\n", Double, "[1 1 1 0]", 3, ""},
		{"symmetric", "%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n1 1 1\n3 1 2\n3 2 5\n", Double,
			"[1 0 2 0 0 5 2 5 0]", 5, ""},
		{"skew-symmetric", "%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 1 2\n", Double, "[0 -2 2 0]", 2,
			""},
		{"array", "%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n", Double, "[1 3 2 4]", 4, ""},
		{"symmetric array", "%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n4\n", Double, "[1 2 2 4]", 4, ""},
		{"skew-symmetric array", "%%MatrixMarket matrix array integer skew-symmetric\n3 3\n1\n2\n3\n", Double,
			"[0 -1 -2 1 0 -3 2 3 0]", 9, ""},
		{"skew-symmetric array of decimals", "%%MatrixMarket matrix array real skew-symmetric\n2 2\n0.1\n", Exact,
			"[0 -1/10 1/10 0]", 4, "1 of 1 numbers are no float64 and are kept exactly"},
		{"zeros are kept", "%%MatrixMarket matrix coordinate real general\n1 3 2\n1 3 0\n1 1 -0\n", Double, "[-0 0 0]", 2,
			"2 stored elements are 0"},
		{"duplicates", "%%MatrixMarket matrix coordinate real general\n1 2 4\n1 2 1\n1 1 0.5\n1 2 2\n1 2 4\n", Double,
			"[0.5 7]", 2, "2 elements are added to others in the same place"},
		{"duplicates whose sum is no float64", "%%MatrixMarket matrix coordinate real general\n1 1 2\n1 1 1\n1 1 0x1p-80\n",
			Double, "[1208925819614629174706177/1208925819614629174706176]", 1,
			"1 elements are added to others in the same place"},
		{"duplicates of decimals", "%%MatrixMarket matrix coordinate real general\n1 1 2\n1 1 0.1\n1 1 0.2\n", Exact,
			"[3/10]", 1,
			"2 of 2 numbers are no float64 and are kept exactly; 1 elements are added to others in the same place"},
		{"infinities", "%%MatrixMarket matrix coordinate real general\n1 2 3\n1 1 inf\n1 1 1\n1 2 nan\n", Double,
			"[+Inf NaN]", 2, "1 elements are added to others in the same place"},
	} {
		m, err := parseMTX(c.text, c.reading)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		notes := strings.Join(m.notes, "; ")
		list, stored := m.table(t)
		if got := fmt.Sprint(list); got != c.want || stored != c.stored || notes != c.notes {
			t.Errorf("%s: %s, %d stored, %q; want %s, %d, %q", c.name, got, stored, notes, c.want, c.stored, c.notes)
		}
	}
	m, err := parseMTX("%%MatrixMarket matrix coordinate real general\n3 0 0\n", Double)
	if err != nil || m.rows != 3 || m.cols != 0 || m.pattern.Len() != 0 {
		t.Errorf("no columns: %+v, %v", m, err)
	}
}

// broken returns more than 200 files with what is wrong in a line of each, 0 for the file as a whole.
func broken() (list []struct {
	text string
	line int
	want string
}) {
	add := func(line int, want, text string) {
		list = append(list, struct {
			text string
			line int
			want string
		}{text, line, want})
	}
	real, tail := "%%MatrixMarket matrix coordinate real general\n", "2 2 1\n1 1 1\n"
	for _, first := range []string{
		"", " ", "MatrixMarket matrix coordinate real general", "%MatrixMarket matrix coordinate real general",
		"% a comment",
		"%%MatrixMarke matrix coordinate real general", "%%MatrixMarketmatrix coordinate real general", "2 2 1", "\x00\x01",
		"\x93NUMPY",
	} {
		add(1, "the first line does not begin with %%MatrixMarket", first+"\n"+tail)
	}
	for _, words := range []string{"", "matrix", "matrix coordinate", "matrix coordinate real",
		"matrix coordinate real general more", "matrix coordinate real general % comment"} {
		add(1, "words; want 5", "%%MatrixMarket "+words+"\n"+tail)
	}
	for _, c := range [][2]string{
		{"vector coordinate real general", "want matrix"}, {"tensor coordinate real general", "want matrix"},
		{"matrix sparse real general", "want coordinate, array"}, {"matrix dense real general", "want coordinate, array"},
		{"matrix coordinate complex general", "want real, double, integer, pattern"},
		{"matrix coordinate float general", "want real, double, integer, pattern"},
		{"matrix coordinate reel general", "want real, double, integer, pattern"},
		{"matrix coordinate real hermitian", "want general, symmetric, skew-symmetric"},
		{"matrix coordinate real skew", "want general, symmetric, skew-symmetric"},
		{"matrix coordinate real upper", "want general, symmetric, skew-symmetric"},
		{"matrix array pattern general", "an array has no pattern"},
		{"matrix coordinate pattern skew-symmetric", "a pattern is not skew-symmetric"},
	} {
		add(1, c[1], "%%MatrixMarket "+c[0]+"\n"+tail)
	}
	for _, sizes := range []string{"2", "2 2", "1.5"} {
		add(2, "want those of rows, columns, elements", real+sizes+"\n1 1 1\n")
	}
	add(2, "after the third number", real+"2 2 1 1\n1 1 1\n")
	for _, array := range []string{"2", "2 2 4"} {
		add(2, "want those of rows, columns", "%%MatrixMarket matrix array real general\n"+array+"\n1\n2\n3\n4\n")
	}
	for _, bad := range []string{
		"-1", "+1", "1.0", "1e2", "x", "0x2", "2147483648", "99999999999999999999", "nan", "1_0", "٣",
	} {
		add(2, "rows; want an integer from 0 to 2^31 - 1", real+bad+" 2 1\n1 1 1\n")
		add(3, "columns; want an integer from 0 to 2^31 - 1", real+"% comment\n2 "+bad+" 1\n1 1 1\n")
	}
	for _, bad := range []string{"-1", "1.0", "x", "9223372036854775808", "0x1"} {
		add(2, "elements; want an integer from 0 to 2^62", real+"2 2 "+bad+"\n1 1 1\n")
	}
	for _, many := range []string{"100", "1000000", "4611686018427387903"} {
		add(2, "more than a file of", real+"2 2 "+many+"\n1 1 1\n")
	}
	for _, array := range []string{"1000 1000", "2147483647 2147483647", "100 2"} {
		add(2, "more than a file of", "%%MatrixMarket matrix array real general\n"+array+"\n1\n")
	}
	for _, symmetry := range []string{"symmetric", "skew-symmetric"} {
		add(2, "a symmetric matrix is square", "%%MatrixMarket matrix coordinate real "+symmetry+"\n2 3 1\n2 1 1\n")
		add(2, "a symmetric matrix is square", "%%MatrixMarket matrix array real "+symmetry+"\n3 2\n1\n2\n3\n")
		for _, at := range []string{"1 2", "1 3", "2 3"} {
			add(3, "above the diagonal", "%%MatrixMarket matrix coordinate real "+symmetry+"\n3 3 1\n"+at+" 1\n")
		}
	}
	for k := 1; k <= 3; k++ {
		add(3, "on the diagonal",
			fmt.Sprintf("%%%%MatrixMarket matrix coordinate integer skew-symmetric\n3 3 1\n%d %[1]d 0\n", k))
	}
	for _, field := range []string{"real", "integer"} {
		head := "%%MatrixMarket matrix coordinate " + field + " general\n% c\n2 3 2\n1 1 1\n"
		for _, bad := range []string{"0", "3", "-1", "1.0", "a", "99999999999", "1,", "+1", "1e0", "NaN"} {
			add(5, "row", head+bad+" 1 7\n")
		}
		for _, bad := range []string{"0", "4", "-2", "2.5", "b", "99999999999", ";", "0x1"} {
			add(5, "column", head+"2 "+bad+" 7\n")
		}
		for _, bad := range []string{"x", "1..2", "1e", "--1", "1d0", "0x1", "1,5", "(1,2)", "1+2", "٣", "%1", "#"} {
			want := "is not a number"
			if field == "integer" {
				want = "is no integer"
			}
			add(5, want, head+"2 2 "+bad+"\n")
		}
		for _, line := range []string{"2", "2 2"} {
			add(5, "want row, column and a number", head+line+"\n")
		}
		add(5, "after the third number", head+"2 2 1 0\n")
		add(6, "more than the 2 elements", head+"2 2 1\n1 2 3\n")
		add(0, "ends after 1 of the 2 elements", head)
		add(0, "ends after 1 of the 2 elements", head+"% 2 2 2\n\n")
	}
	for _, bad := range []string{"1.5", "1e3", "0x10", "inf", "nan", "-", "+", "1.", ".0"} {
		add(3, "is no integer", "%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 1 "+bad+"\n")
		add(3, "is no integer", "%%MatrixMarket matrix array integer general\n1 1\n"+bad+"\n")
	}
	for _, bad := range []string{"1e100001", "-1e-100001", "0x1p400001"} {
		add(3, "has an exponent beyond", real+"1 1 1\n1 1 "+bad+"\n")
	}
	add(3, "is longer than", real+"1 1 1\n1 1 "+strings.Repeat("1", maxNumberLength+1)+"\n")
	for _, line := range []string{"1", "1 1 1"} {
		add(3, "want row and column", "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n"+line+"\n")
	}
	for _, line := range []string{"1 2", "1 2 3"} {
		add(4, "an array has one in a line", "%%MatrixMarket matrix array real general\n2 1\n1\n"+line+"\n")
	}
	for _, bad := range []string{"x", "1..2", "1e", "--1", "1d0", "0x1", "1,5", "(1,2)", "1+2", "٣", "%1", "#", "0b1"} {
		if bad != "%1" { // a comment
			add(4, "is not a number", "%%MatrixMarket matrix array real symmetric\n2 2\n1\n"+bad+"\n3\n")
		}
	}
	add(5, "more than the 2 elements", "%%MatrixMarket matrix array real general\n2 1\n1\n2\n3\n")
	for _, text := range []string{real, real + "% nothing\n", strings.TrimSpace(real), real + "\n\n\n"} {
		add(0, "ends before the line with the numbers of rows and columns", text)
	}
	for _, text := range []string{"2 1\n1\n", "1 1\n", "2 2\n1\n2\n3\n"} {
		add(0, "ends after", "%%MatrixMarket matrix array real general\n"+text)
	}
	add(4, "cannot stand beside numbers that are kept exactly", real+"1 2 2\n1 1 1e-999\n1 2 inf\n")
	add(0, "whose sum is no float64", real+"1 2 3\n1 1 1\n1 1 1e-30\n1 2 nan\n")
	add(1, "the text is in UTF-16", "\xff\xfe%\x00%\x00\n")
	return list
}

// TestBrokenMatrixMarket: each of 200 broken files gives one line that names file and line and what is wrong.
func TestBrokenMatrixMarket(t *testing.T) {
	list := broken()
	if len(list) < 200 {
		t.Errorf("%d files, want 200", len(list))
	}
	for _, c := range list {
		_, err := parseMTX(c.text, Double)
		if err == nil {
			t.Errorf("%q is read", c.text)
			continue
		}
		name := "a.mtx: "
		if c.line > 0 {
			name = fmt.Sprintf("a.mtx:%d:", c.line)
		}
		if text := err.Error(); !strings.HasPrefix(text, name) || !strings.Contains(text, c.want) || len(text) > 200 ||
			strings.Contains(text, "\n") || !errors.Is(err, ErrInput) {
			t.Errorf("%.100q: %q; want line %d: %q", c.text, text, c.line, c.want)
		}
	}
}

func FuzzMatrixMarket(f *testing.F) {
	for _, c := range broken() {
		f.Add(c.text)
	}
	f.Add("%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n1 1 1\n3 1 2\n3 2 5\n")
	f.Fuzz(func(t *testing.T, text string) {
		m, err := parseMTX(text, Exact)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("%q", err)
			}
			return
		}
		if m.pattern == nil {
			return
		}
		a := numbers.Sparse(m.numbers().Source, m.cols, m.pattern)
		if err := a.Check(a.Source.Len()); err != nil {
			t.Error(err)
		}
	})
}

// TestWriteMatrixMarket: what is written is read again as the same numbers.
func TestWriteMatrixMarket(t *testing.T) {
	p := &numbers.Pattern{Start: []int{0, 2, 2, 3}, Column: []int32{0, 3, 2}}
	big3 := new(big.Float).SetPrec(200).SetInt64(3)
	tenth := big.NewRat(1, 10)
	for _, s := range []numbers.Source{
		numbers.Float64s{0.1, -5e-324, math.MaxFloat64},
		numbers.Bigs{big3, new(big.Float).SetMantExp(big3, -300), big.NewFloat(0.1)},
		numbers.Rationals([]*big.Rat{tenth, big.NewRat(-1, 8), big.NewRat(7, 1)}),
	} {
		for _, a := range []numbers.Array{numbers.Sparse(s, 4, p), {Source: s, Layout: numbers.RowMajor(1, 3, 3)}} {
			var b bytes.Buffer
			if err := WriteMatrixMarket(&b, a); err != nil {
				t.Fatal(err)
			}
			reading := Exact
			if _, ok := s.(numbers.Float64s); ok {
				reading = Double
			}
			m, err := parseMTX(b.String(), reading)
			if err != nil {
				t.Fatal(err)
			}
			if a.Pattern != nil && (!slices.Equal(m.pattern.Start, p.Start) || !slices.Equal(m.pattern.Column, p.Column)) {
				t.Errorf("the pattern is %+v", m.pattern)
			}
			for k := range 3 {
				if got, want := numbers.At(m.numbers().Source, k), numbers.At(s, k); !got.Equal(want) {
					t.Errorf("number %d is %v, want %v", k, got, want)
				}
			}
		}
	}
	third := numbers.Vector(numbers.Rationals([]*big.Rat{big.NewRat(1, 3)}))
	err := WriteMatrixMarket(new(bytes.Buffer), third)
	if err == nil || !strings.HasPrefix(err.Error(), "1/3 is no decimal") {
		t.Errorf("1/3: %v", err)
	}
}

// TestMatrixMarketFiles: one file is a full matrix, a sparse one and, with one column, a vector.
func TestMatrixMarketFiles(t *testing.T) {
	write := func(name, text string) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	coordinates := write("a.mtx", "%%MatrixMarket matrix coordinate real general\n2 3 3\n2 3 1.5\n1 2 -2\n1 1 3\n")
	array := write("b.mtx", "%%MatrixMarket matrix array real general\n2 3\n3\n0\n-2\n0\n0\n1.5\n")
	vector := write("x.mtx", "%%MatrixMarket matrix coordinate real general\n3 1 1\n2 1 7\n")
	for _, path := range []string{coordinates, array} {
		full, err := LoadMatrix(path, Double)
		if err != nil || full.M != 2 || full.N != 3 || full.Pattern != nil ||
			!slices.Equal(floats(full.A), []float64{3, 0, -2, 0, 0, 1.5}) {
			t.Errorf("%s: %+v, %v", path, full, err)
		}
		sparse, err := LoadSparse(path, Double)
		if err != nil {
			t.Fatal(err)
		}
		sparse.X = float64s([]float64{1, 1, 2})
		r, err := op.Exact(sparse.Problem(op.Spmv))
		if err != nil || r.Component(0).Sum.Float64() != 1 || r.Component(1).Sum.Float64() != 3 {
			t.Errorf("%s: %v", path, err)
		}
	}
	if x, err := Load(vector, Double); err != nil || !slices.Equal(floats(x.X), []float64{0, 7, 0}) {
		t.Errorf("%+v, %v", x, err)
	}
	want := array + ": is a 2 x 3 matrix; a vector has one column or one row"
	if _, err := Load(array, Double); err == nil || err.Error() != want {
		t.Error(err)
	}
}
