package datasets

import (
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"mpbench/pkg/numbers"
)

// TestDecimals: decimals of few digits are what rationals are, however they are written, beside others or not, with
// the checksum of rationals.
func TestDecimals(t *testing.T) {
	number := rapid.Custom(func(t *rapid.T) string {
		text := rapid.SampledFrom([]string{"", "-", "+"}).Draw(t, "sign") +
			rapid.StringMatching(`[0-9]{1,12}`).Draw(t, "whole")
		if rapid.Bool().Draw(t, "pointed") {
			text += "." + rapid.StringMatching(`[0-9]{0,8}0{0,3}`).Draw(t, "places")
		}
		return text + rapid.SampledFrom([]string{"", "", "e3", "e-4", "E+17", "e-18", "e-30"}).Draw(t, "exponent")
	})
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(number, 1, 8).Draw(t, "texts")
		c, err := readString(strings.Join(texts, "\n"), Exact, false)
		if err != nil {
			t.Fatal(err)
		}
		x := c.numbers()
		var want []*big.Rat
		wide := false
		for i, text := range texts {
			r, _ := new(big.Rat).SetString(text)
			_, exact := r.Float64()
			want, wide = append(want, r), wide || !exact
			if got := numbers.At(x.Source, i).Number(); got.Cmp(r) != 0 {
				t.Fatalf("%q became %v", text, got)
			}
		}
		if _, floats := x.Float64(); floats == wide {
			t.Fatalf("%q: binary64 is %t", texts, floats)
		}
		if wide && x.SHA256 != hashRationals(want) {
			t.Fatalf("%q: another checksum", texts)
		}
	})
	for text, short := range map[string]bool{
		"0.01": true, "-0.25\n0.1": true, "922337203685477580\n": true, "9223372036854775807": false,
		"0.9223372036854775809": false,
		"0.1\n0x1p3":            false, "0.1\n1e-18\n1e6": false, "0.1\n1e-18": true, "0.1\n1e200": false,
	} {
		c, err := readString(text, Exact, false)
		if err != nil || (c.short.Source != nil) != short {
			t.Errorf("%q: short %t, %v", text, c.short.Source != nil, err)
		}
	}
}
