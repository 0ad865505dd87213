package numbers

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"
)

// values reads a vector.
func values(a Array) (list []string) {
	for i := range a.Rows {
		list = append(list, fmt.Sprint(At(a.Source, a.Index(i, 0)).Float64()))
	}
	return list
}

// rowsOf writes a sparse matrix as lists of column=number.
func rowsOf(a Array) (list []string) {
	for i := range a.Rows {
		text, row := "", values(a.Row(i))
		for k, j := range a.Pattern.Row(i) {
			text += fmt.Sprintf("%d=%s ", j, row[k])
		}
		list = append(list, text)
	}
	return list
}

// TestSparse: parts, transposes and what they are made of, for numbers of every kind.
func TestSparse(t *testing.T) {
	p := &Pattern{Start: []int{0, 2, 2, 3, 5}, Column: []int32{2, 0, 1, 2, 2}}
	floats := Float64s{1, 2, 3, 4, 5}
	bigs := Bigs{big.NewFloat(1), big.NewFloat(2), big.NewFloat(3), big.NewFloat(4), big.NewFloat(5)}
	var rats []*big.Rat
	for i := range int64(5) {
		rats = append(rats, big.NewRat(i+1, 3))
	}
	for _, s := range []Source{floats, bigs, Rationals(rats)} {
		unit := At(s, 0).Float64()
		text := func(rows ...string) []string {
			for i, r := range rows {
				var out string
				for _, c := range r {
					if c >= '1' && c <= '9' && out != "" && out[len(out)-1] == '=' {
						out += fmt.Sprint(float64(c-'0') * unit)
						continue
					}
					out += string(c)
				}
				rows[i] = out
			}
			return rows
		}
		whole := Sparse(s, 3, p)
		for _, c := range []struct {
			what string
			a    Array
			want []string
		}{
			{"whole", whole, text("2=1 0=2 ", "", "1=3 ", "2=4 2=5 ")},
			{"transposed", whole.Transposed(), text("0=2 ", "2=3 ", "0=1 3=4 3=5 ")},
			{"part", whole.Part(2, 4), text("1=3 ", "2=4 2=5 ")},
			{"part transposed", whole.Part(2, 4).Transposed(), text("", "0=3 ", "1=4 1=5 ")},
			{"transposed part", whole.Transposed().Part(1, 3), text("2=3 ", "0=1 3=4 3=5 ")},
			{"twice", whole.Transposed().Transposed(), text("0=2 2=1 ", "", "1=3 ", "2=4 2=5 ")},
		} {
			if err := c.a.Check(c.a.Source.Len()); err != nil {
				t.Errorf("%s: %v", c.what, err)
			}
			for _, a := range []Array{c.a, c.a.Compressed()} {
				if got := rowsOf(a); len(got) != len(c.want) || !slices.Equal(got, c.want) && unit == 1 {
					t.Errorf("%s: %q, want %q", c.what, got, c.want)
				}
				count := 0
				a.Each(60, func(*Number) { count++ })
				if count != a.Len() || a.Elements().Rows != a.Len() {
					t.Errorf("%s: %d elements of %d", c.what, count, a.Len())
				}
			}
			if q := c.a.Compressed().Pattern; q.Start[0] != 0 || q.Number != nil {
				t.Errorf("%s: compressed to %+v", c.what, q)
			}
		}
		if once := whole.Transposed(); once.Pattern != whole.Transposed().Pattern {
			t.Error("the transpose is made twice")
		}
		if p.Longest() != 2 || !whole.AllFinite() || whole.Magnitudes().Pattern != p {
			t.Error("a row is longer than two elements")
		}
		x := Pick(Array{Source: s, Layout: Strided(3, -2)}, []int32{2, 0, 2})
		if got := values(x); got[0] != fmt.Sprint(unit) || got[1] != values(Vector(s))[4] || got[2] != got[0] {
			t.Errorf("picked %v", got)
		}
	}
	inf := Sparse(Float64s{1, 2, 3, 4, math.NaN()}, 3, p)
	if inf.AllFinite() || !inf.Part(0, 3).AllFinite() {
		t.Error("NaN in the last row")
	}
}
