package accurate

import (
	"bytes"
	"encoding"
	"encoding/binary"
	"encoding/gob"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"math/big"
	"os"
	"os/exec"
	"strings"
	"testing"
)

var (
	_ encoding.BinaryMarshaler   = (*Accumulator)(nil)
	_ encoding.BinaryAppender    = (*Accumulator)(nil)
	_ encoding.BinaryUnmarshaler = (*Accumulator)(nil)
)

// TestBytes states the format: these bytes must never change.
func TestBytes(t *testing.T) {
	for _, c := range []struct {
		terms []float64
		want  string
	}{
		{nil, "6d706273756d0100" + "0000000000000000" + "0000000000000000" + "aa2d572f"},
		{[]float64{0x1p-1000}, "6d706273756d0100" + "01000000000000001100000001000000" + "0000000000000010" + "c86aa7ed"},
		{[]float64{1.5, 1}, "6d706273756d0100" + "02000000000000002100000001000000" + "0000000028000000" + "b611903c"},
		{[]float64{-1, 0}, "6d706273756d0100" + "02000000000000002100000001000000" + "00000000f0ffffff" + "d2a6cedf"},
		{[]float64{math.Inf(-1), 1}, "6d706273756d0102" + "02000000000000000000000000000000" + "0e98cb7c"},
	} {
		var a Accumulator
		a.AddSlice(c.terms)
		b, err := a.MarshalBinary()
		if got := hex.EncodeToString(b); err != nil || got != c.want {
			t.Errorf("%v: %s, want %s", c.terms, got, c.want)
		}
	}
}

// read is a reader of the documented format that shares nothing with parse.
func read(b []byte) (sum *big.Float, special float64) {
	u32 := func(at int) int { return int(binary.LittleEndian.Uint32(b[at:])) }
	if b[7] != 0 {
		return nil, []float64{math.Inf(1), math.Inf(-1), math.NaN()}[b[7]-1]
	}
	x := new(big.Int)
	for i := u32(20) - 1; i >= 0; i-- {
		w := binary.LittleEndian.Uint64(b[24+8*i:])
		if i == u32(20)-1 {
			x.SetInt64(int64(w))
		} else {
			x.Lsh(x, 64).Add(x, new(big.Int).SetUint64(w))
		}
	}
	sum = new(big.Float).SetPrec(exactBits).SetInt(x)
	return sum.SetMantExp(sum, 64*u32(16)-2148), 0
}

// TestMarshal: bytes have the sum, give it back, and do not depend on how it came about.
func TestMarshal(t *testing.T) {
	r := newRand()
	for kind := range kinds {
		for _, n := range lengths {
			x, y := random(r, n, kind), random(r, n, kind)
			var a, left, right Accumulator
			a.AddProducts(x, y)
			b, err := a.MarshalBinary()
			if err != nil {
				t.Fatal(err)
			}
			want := reference(productsOf(x, y))
			if sum, special := read(b); !same(special, want.special) || !sameBig(sum, want.finite) {
				t.Fatalf("kind %d, n = %d: %x is %g %g, want %+v", kind, n, b, sum, special, want)
			}
			for i := n - 1; i >= 0; i-- { // in another order, and in two parts
				[]*Accumulator{&left, &right}[i%2].AddProduct(y[i], x[i])
			}
			left.Merge(&right)
			if other, _ := left.MarshalBinary(); !bytes.Equal(other, b) {
				t.Fatalf("kind %d, n = %d: %x in another order, want %x", kind, n, other, b)
			}
			right.Add(math.Inf(1)) // to be overwritten
			if err := right.UnmarshalBinary(b); err != nil {
				t.Fatal(err)
			}
			again, _ := right.AppendBinary([]byte("before"))
			if got := right.Float64(); !same(got, a.Float64()) || !bytes.Equal(again, append([]byte("before"), b...)) ||
				right.Terms() != uint64(n) {
				t.Fatalf("kind %d, n = %d: %g of %d terms came back", kind, n, got, right.Terms())
			}
		}
	}
}

// TestMarshalEnds has integers whose highest bit looks like a sign, and the ends of the range.
func TestMarshalEnds(t *testing.T) {
	for _, factors := range [][2]float64{
		{0x1p-1074, 0x1p-1074}, {-0x1p-1074, 0x1p-1074}, {math.MaxFloat64, math.MaxFloat64},
		{-math.MaxFloat64, math.MaxFloat64}, {0x1p-1073, 0x1p-1012}, {0x1p-1074, -0x1p-1011}, {0x1p-1074, -0x1.8p-1011},
		{-0x1p-1073, 0x1p-1011}, {0x1p-1073, 0x1p-1011},
	} {
		var a, back Accumulator
		a.AddProduct(factors[0], factors[1])
		b, _ := a.MarshalBinary()
		if err := back.UnmarshalBinary(b); err != nil {
			t.Fatalf("%g: %v", factors, err)
		}
		if got, want := back.Big(0), a.Big(0); got.Cmp(want) != 0 {
			t.Errorf("%g: %g, want %g", factors, got, want)
		}
		if sum, _ := read(b); sum.Cmp(a.Big(0)) != 0 {
			t.Errorf("%g: %x", factors, b)
		}
	}
}

// sealed returns bytes with the checksum that belongs to them.
func sealed(b []byte) []byte {
	end := len(b) - 4
	return binary.LittleEndian.AppendUint32(append([]byte{}, b[:end]...), crc32.ChecksumIEEE(b[:end]))
}

// TestUnmarshalErrors changes bytes in every way that must be noticed, and looks that the accumulator stays as it was.
func TestUnmarshalErrors(t *testing.T) {
	var a Accumulator
	a.AddSlice([]float64{1, -3.5})
	good, _ := a.MarshalBinary()
	change := func(at int, value byte) []byte {
		b := append([]byte{}, good...)
		b[at] = value
		return b
	}
	words := func(class byte, terms uint64, first, count uint32, words ...uint64) []byte {
		b := append([]byte("mpbsum\x01"), class)
		b = binary.LittleEndian.AppendUint64(b, terms)
		b = binary.LittleEndian.AppendUint32(b, first)
		b = binary.LittleEndian.AppendUint32(b, count)
		for _, w := range words {
			b = binary.LittleEndian.AppendUint64(b, w)
		}
		return sealed(append(b, 0, 0, 0, 0))
	}
	for name, c := range map[string]struct {
		b    []byte
		want error
	}{
		"nothing":              {nil, ErrFormat},
		"other bytes":          {[]byte("PK\x03\x04 and more of something else"), ErrFormat},
		"too few":              {good[:27], ErrFormat},
		"cut off":              {good[:len(good)-1], ErrFormat},
		"too many":             {append(change(0, 'm'), 0), ErrFormat},
		"version 2":            {sealed(change(6, 2)), ErrVersion},
		"damaged terms":        {change(8, 3), ErrChecksum},
		"damaged word":         {change(24, good[24]^1), ErrChecksum},
		"damaged checksum":     {change(len(good)-1, good[len(good)-1]^1), ErrChecksum},
		"class 4":              {words(4, 1, 0, 0), ErrFormat},
		"infinity with words":  {words(1, 1, 33, 1, 1), ErrFormat},
		"infinity of no terms": {words(1, 0, 0, 0), ErrFormat},
		"number of no terms":   {words(0, 0, 33, 1, 1), ErrFormat},
		"too large for one":    {words(0, 1, 65, 1, 1<<37), ErrFormat},
		"too large at all":     {words(0, 1<<62, 67, 1, 1), ErrFormat},
		"too many terms":       {words(0, 1<<62+1, 33, 1, 1), ErrFormat},
		"a word too many":      {words(0, 1, 33, 2, 1, 0), ErrFormat},
		"a sign too many":      {words(0, 1, 33, 2, 1<<63, math.MaxUint64), ErrFormat},
		"a zero below":         {words(0, 1, 32, 2, 0, 1), ErrFormat},
		"a zero":               {words(0, 1, 32, 1, 0), ErrFormat},
		"zero elsewhere":       {words(0, 1, 32, 0), ErrFormat},
		"words beyond":         {words(0, 1, 68, 1, 1), ErrFormat},
		"words far beyond":     {words(0, 1, math.MaxUint32, 1, 1), ErrFormat},
		"a huge count":         {words(0, 1, 0, math.MaxUint32, 1), ErrFormat},
	} {
		err := a.UnmarshalBinary(c.b)
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
		if got := a.Float64(); got != -2.5 || a.Terms() != 2 {
			t.Fatalf("%s: the sum became %g of %d terms", name, got, a.Terms())
		}
	}
	// what is just allowed
	for name, b := range map[string][]byte{
		"the largest of one":  words(0, 1, 65, 1, 1<<36-1),
		"the largest of many": words(0, 1<<62, 65, 2, math.MaxUint64, 1<<34-1),
		"the least":           words(0, 1<<62, 65, 2, 1, ^uint64(1<<34-1)),
	} {
		if err := a.UnmarshalBinary(b); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if again, _ := a.MarshalBinary(); !bytes.Equal(again, b) {
			t.Errorf("%s: %x, want %x", name, again, b)
		}
	}
	for bit := range 8 * len(good) {
		b := append([]byte{}, good...)
		b[bit/8] ^= 1 << (bit % 8)
		if a.UnmarshalBinary(b) == nil {
			t.Errorf("bit %d is not noticed", bit)
		}
	}
}

// TestManyTerms: the count stays below its limit, so that what was marshalled can be read.
func TestManyTerms(t *testing.T) {
	a, b := Accumulator{terms: mostTerms - 1}, Accumulator{terms: mostTerms}
	a.Merge(&b)
	code, _ := a.MarshalBinary()
	if err := b.UnmarshalBinary(code); err != nil || b.Terms() != mostTerms {
		t.Errorf("%d terms: %v", b.Terms(), err)
	}
}

// TestPython runs the reader of the package comment.
func TestPython(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3: the reader in Python is not tried")
	}
	source, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	_, code, found := strings.Cut(string(source), "//\tdef read(b):\n")
	if !found {
		t.Fatal("the package comment has no reader")
	}
	code, _, _ = strings.Cut(code, "package accurate")
	code = "import fractions, math, sys, zlib\ndef read(b):\n" + strings.ReplaceAll(code, "//\t", "") +
		"for line in sys.stdin:\n    print(read(bytes.fromhex(line)))\n"
	r := newRand()
	var in, want strings.Builder
	for kind := range kinds {
		for n := range 9 {
			var a Accumulator
			a.AddProducts(random(r, n, kind), random(r, n, kind))
			b, _ := a.MarshalBinary()
			fmt.Fprintln(&in, hex.EncodeToString(b))
			switch v := a.Big(0); {
			case v == nil:
				fmt.Fprintln(&want, "nan")
			case v.IsInf():
				fmt.Fprintln(&want, strings.ToLower(strings.TrimPrefix(v.String(), "+")))
			default:
				x, _ := v.Rat(nil)
				fmt.Fprintln(&want, strings.TrimSuffix(x.String(), "/1"))
			}
		}
	}
	cmd := exec.Command(python, "-c", code)
	cmd.Stdin = strings.NewReader(in.String())
	got, err := cmd.CombinedOutput()
	if err != nil || string(got) != want.String() {
		t.Errorf("%v: %s, want %s", err, got, want.String())
	}
}

func TestGob(t *testing.T) {
	var a, b Accumulator
	a.AddProduct(0.1, 0.1)
	var buffer bytes.Buffer
	if err := gob.NewEncoder(&buffer).Encode(&a); err != nil {
		t.Fatal(err)
	}
	if err := gob.NewDecoder(&buffer).Decode(&b); err != nil || b.Float64() != a.Float64() || b.Terms() != 1 {
		t.Errorf("%v: %v", &b, err)
	}
}

// TestSize: the longest bytes are as long as documented.
func TestSize(t *testing.T) {
	a := Accumulator{terms: mostTerms}
	a.sum.AddProduct(0x1p-1074, 0x1p-1074)
	words, _ := a.sum.Words()
	words[66] = 1<<34 - 1 // of 2^62 products
	a.sum.AddWords(&words, 0)
	b, _ := a.MarshalBinary()
	if err := a.UnmarshalBinary(b); err != nil || len(b) != 564 {
		t.Errorf("%d bytes: %v", len(b), err)
	}
}
