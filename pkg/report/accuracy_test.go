package report

import (
	"testing"

	"mpbench/pkg/record"
)

// TestWrongFrom: so many digits as are correct are left unmarked, whatever stands around the number.
func TestWrongFrom(t *testing.T) {
	bits := func(b float64) *record.Record { return &record.Record{CorrectBits: &b} }
	for _, c := range []struct {
		text string
		r    *record.Record
		want string
	}{
		{"3.48733650e-06", bits(21.8), "650"},
		{"-0.00123456", bits(10), "456"},
		{"y[12] 0.5000", bits(4), "000"},
		{"y[12] 0.5000  ", bits(0), "5000"},
		{"0", bits(0), "0"},
		{"123", bits(53), ""},
		{"NaN", bits(0), ""},
		{"+Inf", bits(0), ""},
		{"1.5", &record.Record{ExactResult: true}, ""},
	} {
		if from, to := wrongFrom(c.text, c.r); c.text[from:to] != c.want {
			t.Errorf("of %q %q is wrong, want %q", c.text, c.text[from:to], c.want)
		}
	}
}

// TestFastestWithEnough: a method that is faster but has fewer digits is not chosen, unless all have few.
func TestFastestWithEnough(t *testing.T) {
	timed := func(name string, bits, ns float64) *record.Record {
		return &record.Record{Method: name, CorrectBits: &bits, Time: record.Timing{Median: ns, Samples: []float64{ns}}}
	}
	a, b, c := timed("a", 20, 1), timed("b", 60, 3), timed("c", 100, 4)
	for _, test := range []struct {
		records []*record.Record
		want    *record.Record
		digits  int
	}{
		{[]*record.Record{a, b, c}, b, 15},
		{[]*record.Record{a, timed("d", 30, 2)}, nil, 9},
		{[]*record.Record{a}, a, 6},
		{[]*record.Record{timed("e", 0.1, 1)}, nil, 0},
	} {
		got, digits := group{records: test.records}.fastestWithEnough()
		if test.want == nil && test.digits > 0 {
			test.want = test.records[len(test.records)-1]
		}
		if got != test.want || digits != test.digits {
			t.Errorf("got %v with %d digits, want %v with %d", got, digits, test.want, test.digits)
		}
	}
}
