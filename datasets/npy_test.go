package datasets

import (
	"archive/zip"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"mpbench/pkg/exact"
	"mpbench/pkg/record"
)

// npyFile makes a .npy file of any version with the given dictionary and payload.
func npyFile(major byte, dict string, payload []byte) string {
	dict += "\n"
	b := []byte(npyMagic)
	b = append(b, major, 0)
	if major == 1 {
		b = binary.LittleEndian.AppendUint16(b, uint16(len(dict)))
	} else {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(dict)))
	}
	return string(append(append(b, dict...), payload...))
}

// npyDict is the dictionary that NumPy writes.
func npyDict(descr, shape string) string {
	return fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }", descr, shape)
}

func payload64(order binary.AppendByteOrder, xs ...float64) (b []byte) {
	for _, x := range xs {
		b = order.AppendUint64(b, math.Float64bits(x))
	}
	return b
}

func payload32(order binary.AppendByteOrder, xs ...float32) (b []byte) {
	for _, x := range xs {
		b = order.AppendUint32(b, math.Float32bits(x))
	}
	return b
}

func TestNPY(t *testing.T) {
	want := []float64{1, -0.5, math.Inf(1), 0x1p-126, 0x1p-149, 0}
	narrow := make([]float32, len(want))
	for i, x := range want {
		narrow[i] = float32(x)
	}
	le, be := binary.LittleEndian, binary.BigEndian
	for name, text := range map[string]string{
		"little":   npyFile(1, npyDict("<f8", "(6,)"), payload64(le, want...)),
		"big":      npyFile(1, npyDict(">f8", "(6,)"), payload64(be, want...)),
		"float32":  npyFile(1, npyDict("<f4", "(6,)"), payload32(le, narrow...)),
		"bigger32": npyFile(1, npyDict(">f4", "(6,)"), payload32(be, narrow...)),
		"version2": npyFile(2, npyDict("<f8", "(2, 3)"), payload64(le, want...)),
		"version3": npyFile(3, npyDict("<f8", "(1, 6, 1)"), payload64(le, want...)),
		"fortran":  npyFile(1, "{'descr': '<f8', 'fortran_order': True, 'shape': (2, 3), }", payload64(le, want...)),
		"order":    npyFile(1, `{"shape":(2,3),"descr":"<f8","fortran_order":False}`, payload64(le, want...)),
		"python2":  npyFile(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (6L,), }   ", payload64(le, want...)),
	} {
		d, err := Load(write(t, name+".npy", text), Double)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !slices.Equal(floats(d.X), want) || d.N != 6 {
			t.Errorf("%s: %v", name, floats(d.X))
		}
	}
	d, err := Load(write(t, "scalar.npy", npyFile(1, npyDict("<f8", "()"), payload64(le, 7))), Double)
	if err != nil || !slices.Equal(floats(d.X), []float64{7}) {
		t.Errorf("scalar: %v", err)
	}
	// A NaN keeps its payload on the way.
	odd := math.Float64frombits(0x7ff0_0000_dead_beef)
	d, err = Load(write(t, "nan.npy", npyFile(1, npyDict(">f8", "(1,)"), payload64(be, odd))), Double)
	if err != nil || math.Float64bits(floats(d.X)[0]) != math.Float64bits(odd) {
		t.Errorf("NaN: %v", err)
	}
}

func TestNPYErrors(t *testing.T) {
	eight := make([]byte, 120)
	for name, c := range map[string]struct{ text, want string }{
		"magic":   {"NUMPY is not here", `: is not a NumPy file: it does not begin with the bytes "\x93NUMPY"`},
		"short":   {"\x93NU", ": is not a NumPy file"},
		"version": {npyMagic + "\x04\x00abcdefgh", ": NumPy format version 4.0 is not supported (want 1.0, 2.0 or 3.0)"},
		"length":  {npyMagic + "\x01\x00\x05", ": the header is cut short"},
		"header": {npyFile(1, npyDict("<f8", "(15,)"), nil)[:40],
			": the header claims to be 59 bytes long, but the file has 40 bytes"},
		"huge": {npyMagic + "\x02\x00\xff\xff\xff\xff{}",
			": the header claims to be 4294967295 bytes long, but the file has 14 bytes"},
		"long": {npyFile(2, strings.Repeat(" ", 1<<17), nil),
			": the header is 131073 bytes long (at most 65536 are read)"},
		"claims": {npyFile(1, npyDict("<f8", "(1000000,)"), eight),
			": header claims 1000000 float64 (8000000 bytes) but the file holds 120 bytes"},
		"claims32": {npyFile(1, npyDict("<f4", "(31,)"), eight),
			": header claims 31 float32 (124 bytes) but the file holds 120 bytes"},
		"truncated": {npyFile(1, npyDict("<f8", "(15,)"), eight[:119]),
			": header claims 15 float64 (120 bytes) but the file holds 119 bytes"},
		"trailing": {npyFile(1, npyDict("<f8", "(14,)"), eight), ": 8 bytes follow the 14 float64 that the header claims"},
		"memory": {npyFile(1, npyDict("<f8", "(1000000000000,)"), eight),
			": header claims 1000000000000 float64 (8000000000000 bytes) but the file holds 120 bytes"},
		"overflow": {npyFile(1, npyDict("<f8", "(4294967296, 4294967296)"), eight),
			": header claims shape (4294967296, 4294967296), more than 2^60 float64, but the file holds 120 bytes"},
		"nothing": {npyFile(1, npyDict("<f8", "(0, 3)"), nil), ": holds no numbers (shape (0, 3))"},
		"strings": {npyFile(1, npyDict("<U4", "(30,)"), eight),
			`: dtype "<U4" is not supported (want floats or integers of at most 64 bits: f2 f4 f8, i1 to i8 or u1 to u8)`},
		"order": {npyFile(1, npyDict("|f8", "(15,)"), eight), `: dtype "|f8" is not supported`},
		"claimsHalf": {npyFile(1, npyDict("<f2", "(61,)"), eight),
			": header claims 61 float16 (122 bytes) but the file holds 120 bytes"},
		"complex": {npyFile(1, npyDict("<c16", "(1,)"), eight), `: dtype "<c16" is not supported`},
		"fields": {npyFile(1, "{'descr': [('x', '<f8')], 'fortran_order': False, 'shape': (1,), }", eight),
			`: dtype "[('x', '<f8')]" is not supported`},
		"negative": {npyFile(1, npyDict("<f8", "(-1,)"), eight),
			": malformed header: a dimension is no integer from 0 to 2^63 - 1"},
		"dimension": {npyFile(1, npyDict("<f8", "(99999999999999999999,)"), eight),
			": malformed header: a dimension is no integer"},
		"dictionary": {npyFile(1, "[]", eight), `: malformed header: want '{' before "[]`},
		"key":        {npyFile(1, "{'order': 3}", eight), `: malformed header: unknown key "order"`},
		"twice": {npyFile(1, "{'descr': '<f8', 'descr': '<f8'}", eight),
			`: malformed header: key "descr" occurs twice`},
		"missing": {npyFile(1, "{'descr': '<f8', 'shape': (1,)}", eight), `: malformed header: no key "fortran_order"`},
		"end":     {npyFile(1, npyDict("<f8", "(15,)")+"x", eight), `: malformed header: "x\n" after the dictionary`},
		"string":  {npyFile(1, "{'descr", eight), ": malformed header: a string has no end"},
		"bool":    {npyFile(1, "{'fortran_order': 1}", eight), ": malformed header: want True or False"},
		"list":    {npyFile(1, "{'descr': [", eight), ": malformed header: a list has no end"},
	} {
		path := write(t, name+".npy", c.text)
		_, err := Load(path, Double)
		checkError(t, err, ErrInput, path+c.want)
	}
}

// TestNPYDtypes: integers and half precision are read exactly, 64-bit integers beyond 2^53 as rationals.
func TestNPYDtypes(t *testing.T) {
	for descr, c := range map[string]struct{ payload, want string }{
		"|i1": {"\x80\x7f\xff", "-128 127 -1"}, "|u1": {"\x80\x7f\xff", "128 127 255"}, "<i1": {"\x80", "-128"},
		"<i2": {"\x00\x80\xff\x7f", "-32768 32767"}, ">u2": {"\x80\x00\x00\x01", "32768 1"},
		"<i4": {"\x00\x00\x00\x80\xfe\xff\xff\xff", "-2.147483648e+09 -2"}, ">u4": {"\xff\xff\xff\xff", "4.294967295e+09"},
		"<i8": {"\x00\x00\x00\x00\x00\x00\x20\x00\xff\xff\xff\xff\xff\xff\xff\xff", "9.007199254740992e+15 -1"},
		">i8": {"\x80\x00\x00\x00\x00\x00\x00\x00\x00\x20\x00\x00\x00\x00\x00\x01",
			"-9223372036854775808 9007199254740993"},
		"<u8": {"\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00\x00\x00\x00\x00\x00\x00", "18446744073709551615 1"},
		"<f2": {"\x00\x3c\xff\x7b\x01\x80\x00\xfc\x01\x7e\xff\x03\x00\x80",
			"1 65504 -5.960464477539063e-08 -Inf NaN 6.097555160522461e-05 -0"},
		">f2": {"\x3c\x01", "1.0009765625"},
	} {
		dtype, _ := parseDtype(descr)
		text := npyFile(1, npyDict(descr, fmt.Sprintf("(%d,)", len(c.payload)/dtype.width)), []byte(c.payload))
		got, err := readNPY(&file{Reader: strings.NewReader(text), name: "data.npy", size: int64(len(text))})
		if err != nil || show(got) != c.want {
			t.Errorf("%s: %s, %v; want %s", descr, show(got), err, c.want)
		}
	}
}

// TestNPZ: an array of an archive is read as the file of it would be, compressed or not.
func TestNPZ(t *testing.T) {
	archive := func(names ...string) string {
		var b strings.Builder
		w := zip.NewWriter(&b)
		for i, name := range names {
			in, err := w.CreateHeader(&zip.FileHeader{Name: name, Method: uint16(i % 2 * 8)})
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprint(in, npyFile(1, npyDict("<f8", "(1, 2)"), payload64(binary.LittleEndian, float64(i), -1)))
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	one, two := write(t, "one.npz", archive("a.npy")), write(t, "two.NPZ", archive("a.npy", "b.npy"))
	for path, want := range map[string][]float64{one: {0, -1}, one + ":a": {0, -1}, two + ":b": {1, -1}} {
		if d, err := Load(path, Exact); err != nil || !slices.Equal(floats(d.X), want) || len(d.Params) != 0 {
			t.Errorf("%s: %v, %v", path, d, err)
		}
		if d, err := LoadMatrix(path, Double); err != nil || d.M != 1 || d.N != 2 || !slices.Equal(floats(d.A), want) {
			t.Errorf("%s: %v, %v", path, d, err)
		}
	}
	for path, want := range map[string]string{
		two:                                    ": holds 2 arrays; name one, as " + two + ":a (of a b)",
		two + ":c":                             `: unknown array "c" (known: a b)`,
		write(t, "none.npz", archive()):        ": holds no arrays",
		write(t, "zip.npz", "PK\x03\x04, cut"): ": is no .npz file: zip: not a valid zip file",
		one + "x:a":                            ": no such file",
	} {
		_, err := Load(path, Double)
		name, _ := SplitPart(path)
		checkError(t, err, ErrInput, name+want)
	}
	_, err := OpenStream(one)
	const refused = `: only .npy, .parquet and numbers without a header are read piece by piece, not ".npz"`
	checkError(t, err, ErrInput, one+refused)
	wide := write(t, "wide.npy", npyFile(1, npyDict("<i8", "(1,)"), make([]byte, 8)))
	_, err = OpenStream(wide)
	checkError(t, err, ErrInput, wide+": holds integers of 64 bits")
}

// TestNPYSparse: a file that claims more than the machine's memory, and is as long as it claims (but holds no blocks).
func TestNPYSparse(t *testing.T) {
	if memoryBytes() == 0 || memoryBytes() > 1<<42 {
		t.Skip("the size of the memory is not known, or too large for a file")
	}
	n := memoryBytes()/8 + 1
	header := npyFile(1, npyDict("<f8", fmt.Sprintf("(%d,)", n)), nil)
	path := write(t, "sparse.npy", header)
	if err := os.Truncate(path, int64(len(header))+8*n); err != nil {
		t.Skip("no sparse files here: ", err)
	}
	_, err := Load(path, Double)
	checkError(t, err, ErrInput, path+": "+record.Bytes(8*n)+" of numbers do not fit in this machine's memory of")
}

// TestNPYOneCopy: reading float64 allocates the terms and little else.
func TestNPYOneCopy(t *testing.T) {
	const n = 1 << 21
	xs := floats(generate(t, fmt.Sprintf("uniform01:n=%d", n)).X)
	for descr, order := range map[string]binary.AppendByteOrder{"<f8": binary.LittleEndian, ">f8": binary.BigEndian} {
		path := write(t, "data.npy", npyFile(1, npyDict(descr, fmt.Sprintf("(%d,)", n)), payload64(order, xs...)))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		d, err := Load(path, Double)
		runtime.ReadMemStats(&after)
		if err != nil {
			t.Fatal(err)
		}
		if got := after.TotalAlloc - before.TotalAlloc; got > 8*n+1<<20 {
			t.Errorf("%s: reading %d bytes allocated %d", descr, 8*n, got)
		}
		if want := exact.SumOf(xs).Sum; !summaryOf(d).Sum.Equal(want) {
			t.Errorf("%s: the terms changed", descr)
		}
	}
}

// FuzzNPY: no file makes the reader panic, or allocate more than its size warrants.
func FuzzNPY(f *testing.F) {
	le := binary.LittleEndian
	f.Add([]byte(npyFile(1, npyDict("<f8", "(2,)"), payload64(le, 1, 2))))
	f.Add([]byte(npyFile(2, npyDict(">f4", "(1, 2)"), payload32(le, 1, 2))))
	f.Add([]byte(npyFile(3, "{'descr': [('x', '<f8')], 'fortran_order': True, 'shape': (3L,)}", nil)))
	f.Add([]byte(npyFile(1, npyDict("<f8", "(4294967296, 4294967296)"), make([]byte, 8))))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := readNPY(&file{Reader: strings.NewReader(string(data)), name: "data.npy", size: int64(len(data))})
		if err != nil {
			checkError(t, err, ErrInput, "data.npy: ")
			return
		}
		if n := len(c.float64s) + len(c.wide); n == 0 || n > len(data) {
			t.Fatalf("%d numbers from %d bytes", len(c.float64s), len(data))
		}
	})
}

func BenchmarkNPY(b *testing.B) {
	const n = 1 << 22
	path := write(b, "data.npy", npyFile(1, npyDict("<f8", fmt.Sprintf("(%d,)", n)), make([]byte, 8*n)))
	b.SetBytes(8 * n)
	for b.Loop() {
		if _, err := Load(path, Double); err != nil {
			b.Fatal(err)
		}
	}
}
