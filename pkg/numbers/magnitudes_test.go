package numbers

import (
	"errors"
	"math"
	"math/big"
	"testing"

	"mpbench/pkg/exact"
)

// runs are numbers that are not in memory; those behind the end cannot be read.
type runs struct{ Float64s }

var errEnd = errors.New("behind the end")

func (r runs) ReadRun(x []float64, from int) error {
	if copy(x, r.Float64s[from:]) < len(x) {
		return errEnd
	}
	return nil
}

// TestMagnitudes: those of every kind of source, of some of its numbers, from the end; the source stays as it is.
func TestMagnitudes(t *testing.T) {
	floats := Float64s{9, -1, 7, 2.5, 7, math.Inf(-1), 7}
	wide := Bigs{nil, big.NewFloat(-1), nil, big.NewFloat(2.5), nil, new(big.Float).SetInf(true), nil}
	want := []float64{math.Inf(1), 2.5, 1}
	layout := Layout{Rows: 3, Cols: 1, Offset: 5, RowStride: -2}
	for name, s := range map[string]Source{"floats": floats, "wide": wide, "on disk": runs{floats}} {
		a := Array{Source: s, Layout: layout}.Magnitudes()
		for i, x := range want {
			checkSpan(t, a.SpanAt(i, 0), float(x))
			if got := At(a.Source, a.Index(i, 0)); !got.Equal(exact.FromFloat64(x)) {
				t.Errorf("%s: magnitude %d is %v, want %g", name, i, got, x)
			}
		}
	}
	if floats[1] != -1 || wide[1].Sign() > 0 {
		t.Error("the numbers were changed")
	}
	third := Array{Source: Rationals([]*big.Rat{big.NewRat(-1, 3)}), Layout: Strided(1, 1)}.Magnitudes()
	if got := At(third.Source, 0); got.Number().Cmp(big.NewRat(1, 3)) != 0 || third.Denominator() == nil {
		t.Errorf("the magnitude of -1/3 is %v", got)
	}
	disk := Vector(runs{floats}).Magnitudes()
	x := make([]float64, 3)
	if err := disk.ReadRun(x, 1); err != nil || x[0] != 1 || x[2] != 2.5 || !disk.Chunked() {
		t.Errorf("read %v, %v", x, err)
	}
	if err := disk.ReadRun(x, 5); !errors.Is(err, errEnd) {
		t.Errorf("reading behind the end: %v", err)
	}
	if empty := Vector(Float64s{}).Magnitudes(); empty.Len() != 0 {
		t.Errorf("%d magnitudes of nothing", empty.Len())
	}
}
