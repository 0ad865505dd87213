package numbers

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"testing"

	"mpbench/pkg/exact"
)

// counted are n numbers, each of which is its own place.
func counted(n int) Float64s {
	x := make(Float64s, n)
	for i := range x {
		x[i] = float64(i)
	}
	return x
}

// table is a matrix row by row, as tests make it.
type table [][]float64

// tabulate makes the table of a matrix from its definition.
func tabulate(rows, cols int, at func(i, j int) int) table {
	m := make(table, rows)
	for i := range m {
		m[i] = make([]float64, cols)
		for j := range m[i] {
			m[i][j] = float64(at(i, j))
		}
	}
	return m
}

func (m table) transposed(cols int) table {
	return tabulate(cols, len(m), func(i, j int) int { return int(m[j][i]) })
}

func (m table) column(j int) table {
	return tabulate(len(m), 1, func(i, _ int) int { return int(m[i][j]) })
}

// checkTable compares every way of reading an array with a table.
func checkTable(t *testing.T, what string, a Array, want table, cols int) {
	t.Helper()
	if a.Rows != len(want) || a.Cols != cols || a.Len() != len(want)*cols {
		t.Fatalf("%s: %d x %d, %d elements; want %d x %d", what, a.Rows, a.Cols, a.Len(), len(want), cols)
	}
	var z Number
	for i := range want {
		for j, x := range want[i] {
			a.ReadAt(&z, i, j)
			if !z.Value().Equal(exact.FromFloat64(x)) || a.SpanAt(i, j) != (Float64s{x}).Span(0) {
				t.Errorf("%s: element (%d, %d) is %v, want %v", what, i, j, z.Value(), x)
			}
		}
	}
	var got []float64
	a.Each(53, func(z *Number) { got = append(got, z.Value().Float64()) })
	if !slices.Equal(got, slices.Concat(want...)) {
		t.Errorf("%s: Each gives %v, want %v", what, got, want)
	}
}

// matrices are layouts of 4 x 3 numbers among 60, with their definitions.
var matrices = map[string]struct {
	layout Layout
	at     func(i, j int) int
}{
	"row major":       {RowMajor(4, 3, 3), func(i, j int) int { return 3*i + j }},
	"row major, ld 5": {RowMajor(4, 3, 5), func(i, j int) int { return 5*i + j }},
	"column major":    {ColMajor(4, 3, 6), func(i, j int) int { return i + 6*j }},
	"backwards":       {Layout{4, 3, 59, -5, -20}, func(i, j int) int { return 59 - 5*i - 20*j }},
	"one row":         {Layout{4, 3, 2, 0, 4}, func(_, j int) int { return 2 + 4*j }},
}

// TestMatrices: layouts, their parts, rows, columns and transposes are what the definitions say.
func TestMatrices(t *testing.T) {
	for name, c := range matrices {
		a, m := Array{Source: counted(60), Layout: c.layout}, tabulate(4, 3, c.at)
		if err := a.Check(60); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		checkTable(t, name, a, m, 3)
		checkTable(t, name+", transposed", a.Transposed(), m.transposed(3), 4)
		checkTable(t, name+", tight", a.Tight(), m, 3)
		checkTable(t, name+", transposed and tight", a.Transposed().Tight(), m.transposed(3), 4)
		for from := range 5 {
			for to := from; to <= 4; to++ {
				checkTable(t, fmt.Sprintf("%s, rows %d to %d", name, from, to), a.Part(from, to), m[from:to], 3)
			}
		}
		for i := range 4 {
			checkTable(t, fmt.Sprintf("%s, row %d", name, i), a.Row(i), m[i:i+1].transposed(3), 1)
		}
		for j := range 3 {
			checkTable(t, fmt.Sprintf("%s, column %d", name, j), a.Column(j), m.column(j), 1)
		}
		checkTable(t, name+", a part of the transpose", a.Transposed().Part(1, 3), m.transposed(3)[1:3], 4)
	}
}

// TestStrided: element i of BLAS's vectors is at i*inc, or (n-1-i)*|inc| for negative increments.
func TestStrided(t *testing.T) {
	for n := range 6 {
		for _, inc := range []int{1, 2, 7, 0, -1, -3} {
			want := tabulate(n, 1, func(i, _ int) int {
				if inc < 0 {
					return (n - 1 - i) * -inc
				}
				return i * inc
			})
			checkTable(t, fmt.Sprintf("%d by %d", n, inc), Array{Source: counted(40), Layout: Strided(n, inc)}, want, 1)
		}
	}
	checkTable(t, "a vector", Vector(counted(4)), table{{0}, {1}, {2}, {3}}, 1)
	checkTable(t, "a scalar", Scalar(-2.5), table{{-2.5}}, 1)
}

// TestCheck: a layout is refused exactly where an element is outside of the numbers, or where places are no integers.
func TestCheck(t *testing.T) {
	for _, rows := range []int{0, 1, 3} {
		for _, cols := range []int{0, 1, 2} {
			for offset := -2; offset < 9; offset++ {
				for stride := -4; stride < 5; stride++ {
					l := Layout{rows, cols, offset, stride, 3 - stride}
					outside, before, size := false, false, 0
					for i := range rows {
						for j := range cols {
							k := offset + i*stride + j*(3-stride)
							outside = outside || k < 0 || k >= 8
							size = max(size, k+1)
							before = before || k < 0
						}
					}
					if err := l.Check(8); (err != nil) != outside {
						t.Errorf("%+v: %v", l, err)
					}
					if before {
						size = -1
					}
					if got := l.Size(); got != size {
						t.Errorf("%+v takes %d numbers, want %d", l, got, size)
					}
				}
			}
		}
	}
	for want, l := range map[string]Layout{
		"a matrix of -1 rows and 2 columns": {Rows: -1, Cols: 2},
		"a matrix of 1 rows and -2 columns": {Rows: 1, Cols: -2},
		"3 rows 9223372036854775807 apart and 1 columns 0 apart reach too far": {
			Rows: 3, Cols: 1, RowStride: math.MaxInt,
		},
		"2 rows 9223372036854775807 apart and 1 columns 0 apart reach too far": {
			Rows: 2, Cols: 1, Offset: 9, RowStride: math.MaxInt,
		},
		"1 rows 0 apart and 2 columns -9223372036854775808 apart reach too far": {
			Rows: 1, Cols: 2, Offset: -1, ColStride: math.MinInt,
		},
		"the layout reaches numbers 0 to 10 of 10": Strided(6, 2),
	} {
		if err := l.Check(10); err == nil || err.Error() != want {
			t.Errorf("%+v: %v, want %s", l, err, want)
		}
	}
}

// TestTight: no number is left that is no element or between two, and sources that cannot be cut stay.
func TestTight(t *testing.T) {
	l := Layout{Rows: 2, Cols: 2, Offset: 30, RowStride: -7, ColStride: 2} // 23, 25, 30, 32
	want := table{{30, 32}, {23, 25}}
	bigs := make(Bigs, 60)
	for i := range bigs {
		bigs[i] = big.NewFloat(float64(i))
	}
	values := make(Values, 60)
	for i := range values {
		values[i] = exact.FromFloat64(float64(i))
	}
	for _, c := range []struct {
		source Source
		count  int
	}{{counted(60), 10}, {bigs, 10}, {values, 60}} {
		a := Array{Source: c.source, Layout: l}.Tight()
		checkTable(t, fmt.Sprintf("%T", c.source), a, want, 2)
		if a.Source.Len() != c.count {
			t.Errorf("%T: %d numbers, want %d", c.source, a.Source.Len(), c.count)
		}
	}
	for _, l := range []Layout{{}, {Rows: 3, Cols: 1, RowStride: math.MaxInt}} {
		a := Array{Source: counted(4), Layout: l}
		if got := a.Tight(); got.Layout != l || got.Source.Len() != 4 {
			t.Errorf("%+v became %+v", l, got.Layout)
		}
	}
}

func TestContiguous(t *testing.T) {
	x := counted(9)
	for _, c := range []struct {
		a    Array
		want []float64 // nil where there is none
	}{
		{Vector(x), x},
		{Vector(x).Part(2, 5), []float64{2, 3, 4}},
		{Vector(Float64s{}), []float64{}},
		{Array{Source: x, Layout: Strided(1, 3)}, []float64{0}},
		{Array{Source: x, Layout: ColMajor(3, 3, 3)}.Column(1), []float64{3, 4, 5}},
		{Array{Source: x, Layout: Strided(3, 2)}, nil},
		{Array{Source: x, Layout: Strided(3, -1)}, nil},
		{Array{Source: x, Layout: ColMajor(3, 3, 3)}, nil},
		{Vector(Bigs{big.NewFloat(1)}), nil},
		{Array{}, nil},
	} {
		got, ok := c.a.Contiguous()
		if ok != (c.want != nil) || !slices.Equal(got, c.want) {
			t.Errorf("%+v: %v, %v; want %v", c.a, got, ok, c.want)
		}
		if _, floats := c.a.Source.(Float64s); c.a.Binary64() != floats {
			t.Errorf("%T: Binary64 is %v", c.a.Source, c.a.Binary64())
		}
	}
}

// onDisk are numbers that are not in memory; reading beyond the last fails.
type onDisk struct{ Float64s }

var errShort = errors.New("the file is too short")

func (d onDisk) ReadRun(x []float64, from int) error {
	if from+len(x) > len(d.Float64s) {
		return errShort
	}
	copy(x, d.Float64s[from:])
	return nil
}

// TestReadRun: runs of neighbours are read from memory and from files alike, and an error of a file is returned as is.
func TestReadRun(t *testing.T) {
	for _, s := range []Source{counted(12), onDisk{counted(12)}} {
		a := Array{Source: s, Layout: ColMajor(4, 3, 4)}.Column(1)
		x := make([]float64, 3)
		if err := a.ReadRun(x, 1); err != nil || !slices.Equal(x, []float64{5, 6, 7}) {
			t.Errorf("%T: %v, %v", s, x, err)
		}
		_, chunked := s.(onDisk)
		if a.Chunked() != chunked || a.Binary64() == chunked {
			t.Errorf("%T: chunked %v, binary64 in memory %v", s, a.Chunked(), a.Binary64())
		}
	}
	if err := Vector(onDisk{counted(12)}).ReadRun(make([]float64, 4), 9); err != errShort {
		t.Error(err)
	}
	err := Vector(Bigs{nil}).ReadRun(make([]float64, 1), 0)
	if err == nil || !strings.Contains(err.Error(), "numbers.Bigs has no runs") {
		t.Error(err)
	}
}

func TestAbsent(t *testing.T) {
	var a Array
	if !a.Absent() || a.Len() != 0 || !a.AllFinite() || a.Chunked() || a.Binary64() || a.Denominator() != nil {
		t.Errorf("%+v", a)
	}
	if part := a.Part(2, 5); !reflect.DeepEqual(part, a) {
		t.Errorf("a part of nothing is %+v", part)
	}
	if Vector(Float64s{}).Absent() {
		t.Error("a vector of no numbers is absent")
	}
}

// TestAllFinite: a special number is found in every place that is read, and nowhere else.
func TestAllFinite(t *testing.T) {
	for _, l := range []Layout{ColMajor(3, 2, 4), RowMajor(3, 2, 3), Strided(4, 2), Strided(4, -2), {Rows: 2, Cols: 2}} {
		read := map[int]bool{}
		for i := range l.Rows {
			for j := range l.Cols {
				read[l.Index(i, j)] = true
			}
		}
		for _, special := range []float64{math.Inf(1), math.Inf(-1), math.NaN()} {
			for k := range 9 {
				x := counted(9)
				x[k] = special
				bigs := make(Bigs, 9)
				for i := range x {
					if x[i] == x[i] {
						bigs[i] = big.NewFloat(x[i])
					}
				}
				for _, s := range []Source{x, bigs, onDisk{x}} {
					if got := (Array{Source: s, Layout: l}).AllFinite(); got == read[k] {
						t.Errorf("%T %+v: %v with %v at %d", s, l, got, special, k)
					}
				}
			}
		}
	}
	if !Vector(Float64s{math.MaxFloat64, -0x1p-1074, 0}).AllFinite() {
		t.Error("the ends of binary64 are not finite")
	}
}

func TestEquals(t *testing.T) {
	third := Rationals([]*big.Rat{big.NewRat(4, 3), big.NewRat(2, 1), big.NewRat(6, 3)})
	for _, c := range []struct {
		a    Array
		x    float64
		want bool
	}{
		{Scalar(0), 0, true}, {Scalar(math.Copysign(0, -1)), 0, true}, {Scalar(1), 1, true}, {Scalar(1), -1, false},
		{Scalar(math.Nextafter(1, 2)), 1, false}, {Scalar(math.Inf(1)), 1, false}, {Scalar(math.NaN()), 0, false},
		{Vector(Bigs{nil}), 0, false}, {Vector(Bigs{big.NewFloat(2)}), 2, true}, {Vector(third), 4, false},
		{Vector(third).Part(1, 2), 2, true}, {Vector(third).Part(2, 3), 2, true},
	} {
		if got := c.a.Equals(c.x); got != c.want {
			t.Errorf("%v equals %v: %v", At(c.a.Source, c.a.Offset), c.x, got)
		}
	}
}

// TestReadCut: what is cut off is as good as the quotient itself for rounding to two bits fewer, or less, ties and
// truncation included.
func TestReadCut(t *testing.T) {
	power := new(big.Int).Exp(big.NewInt(3), big.NewInt(45), nil)
	var list []*big.Rat
	for _, d := range []*big.Int{big.NewInt(3), big.NewInt(5), big.NewInt(1023), power} {
		for _, n := range []int64{1, -1, 2, 5, -13, 1 << 40, 1<<52 + 1, math.MaxInt64} {
			list = append(list, new(big.Rat).SetFrac(big.NewInt(n), d))
		}
		for bits := range 12 { // ties of 1 to 12 bits, and what is a little beside them
			tie := ldexp(int64(2<<bits|1), -20)
			list = append(list, tie)
			for _, small := range []int64{1, -1} {
				little := new(big.Rat).SetFrac(big.NewInt(small), d)
				list = append(list, new(big.Rat).Add(tie, little.Mul(little, ldexp(1, -90))))
			}
		}
	}
	list = append(list, new(big.Rat))
	a := Vector(Rationals(list))
	var z Number
	for i, x := range list {
		for _, bits := range []int{3, 4, 7, 53, 64, 65, 200} {
			a.ReadCut(&z, i, 0, bits)
			for _, prec := range []int{1, 2, 5, 11, 51, 62, 63, 198} {
				if prec > bits-2 {
					continue
				}
				for mode := big.ToNearestEven; mode <= big.AwayFromZero; mode++ {
					want := new(big.Float).SetPrec(uint(prec)).SetMode(mode).SetRat(x)
					got := new(big.Float).SetPrec(uint(prec)).SetMode(mode).Set(z.Big())
					if got.Cmp(want) != 0 {
						t.Fatalf("%v cut to %d bits, then %v to %d: %v, want %v", x, bits, mode, prec, got, want)
					}
				}
			}
		}
	}
}

// TestReadCutDyadic: what is a dyadic fraction is read as it is, and specials stay.
func TestReadCutDyadic(t *testing.T) {
	long := new(big.Float).SetPrec(300)
	long.SetMantExp(long.SetInt64(1), -250).Add(long, big.NewFloat(1))
	var z Number
	Vector(Bigs{long}).ReadCut(&z, 0, 0, 10)
	if got := z.Big(); got.Cmp(long) != 0 {
		t.Errorf("%v, want %v", got, long)
	}
	Vector(Rationals([]*big.Rat{big.NewRat(1, 3), big.NewRat(3, 8)})).ReadCut(&z, 1, 0, 10)
	if got, _ := z.Big().Rat(nil); got.Cmp(big.NewRat(3, 8)) != 0 {
		t.Errorf("%v, want 3/8", got)
	}
	z = Number{Class: NaN}
	if z.divide(big.NewInt(3), 10); z.Class != NaN || len(z.Words) != 0 {
		t.Errorf("NaN/3 is %+v", z)
	}
}

// TestEmptyParts: parts without elements, also behind the end.
func TestEmptyParts(t *testing.T) {
	for _, a := range []Array{
		{Source: make(Float64s, 5), Layout: Strided(3, 2)},
		{Source: make(Float64s, 3), Layout: Strided(3, -1)},
	} {
		if x, ok := a.Part(3, 3).Contiguous(); !ok || len(x) != 0 {
			t.Errorf("%v, %v", x, ok)
		}
	}
}

func TestComponentName(t *testing.T) {
	for _, c := range []struct {
		i, columns int
		want       string
	}{{0, 0, "y[0]"}, {7, 0, "y[7]"}, {7, 3, "C[2,1]"}, {2, 1, "C[2,0]"}} {
		if got := ComponentName(c.i, c.columns); got != c.want {
			t.Errorf("component %d of %d columns is %s, want %s", c.i, c.columns, got, c.want)
		}
	}
}
