package record

import (
	"math"
	"math/big"
	"testing"

	"mpbench/pkg/exact"
)

// TestResultHash pins texts and hashes: records of all versions and platforms are compared by them. The hashes are
// what sha256sum gives for the text and a newline.
func TestResultHash(t *testing.T) {
	rat := func(s string) exact.Value {
		r, ok := new(big.Rat).SetString(s)
		if !ok {
			t.Fatal(s)
		}
		return exact.Value{Rat: r}
	}
	for _, c := range []struct {
		value      exact.Value
		text, hash string
	}{
		{exact.Value{}, "0", "9a271f2a916b0b6e"},
		{rat("0"), "0", "9a271f2a916b0b6e"},
		{rat("1"), "0x1p0", "a0a96e0a9f2f0ba2"},
		{rat("-24"), "-0x3p3", "30b08e4de6bd5b6b"},
		{rat("0.375"), "0x3p-3", "1e24bf79507c8c64"},
		{rat("-1/3"), "-0x1/0x3", "f9c751f655fc654e"},
		{rat("10/6"), "0x5/0x3", "5b0eb28d456dd290"},
		{exact.FromFloat64(math.SmallestNonzeroFloat64), "0x1p-1074", ""},
		{exact.FromFloat64(math.MaxFloat64), "0x1fffffffffffffp971", ""},
		{exact.Value{Class: exact.PosInf}, "+Inf", ""},
		{exact.Value{Class: exact.NegInf}, "-Inf", ""},
		{exact.Value{Class: exact.NaN}, "NaN", ""},
	} {
		if got := string(appendCanonical(nil, c.value)); got != c.text {
			t.Errorf("text %q, want %q", got, c.text)
		}
		if got := hashOf(c.value); len(got) != 16 || c.hash != "" && got != c.hash {
			t.Errorf("%s: hash %q, want %q", c.text, got, c.hash)
		}
	}
	one, two := rat("1"), rat("2")
	if hashOf(one, two) == hashOf(two, one) || hashOf() == hashOf(exact.Value{}) {
		t.Error("the hash of a vector does not depend on its elements")
	}
}

// TestHashOfFloat64: numbers of binary64 have the hash of their exact values.
func TestHashOfFloat64(t *testing.T) {
	for _, x := range []float64{
		0, math.Copysign(0, -1), 1, -24, 0.1, 0x1p-1022, -0x1.fffffffffffffp-1023, 0x1p-1074, 0x1.8p-1060,
		math.MaxFloat64, -1e300, math.Inf(1), math.Inf(-1), math.NaN(),
	} {
		h := NewResultHash()
		h.AddText(AppendHashedFloat64(nil, x))
		if want := hashOf(exact.FromFloat64(x)); h.Text() != want {
			t.Errorf("the hash of %v is %s, want %s", x, h.Text(), want)
		}
	}
}

// hashOf returns the hash of a result.
func hashOf(values ...exact.Value) string {
	h := NewResultHash()
	for _, v := range values {
		h.Add(v)
	}
	return h.Text()
}
