package datasets

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"

	"mpbench/pkg/numbers"
)

func writeBytes(t *testing.T, path string, data []byte) string {
	t.Helper()
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// npyOf returns a file of float64 with a shape such as "(3,)".
func npyOf(shape string, fortran bool, x ...float64) []byte {
	order := map[bool]string{false: "False", true: "True"}[fortran]
	header := "{'descr': '<f8', 'fortran_order': " + order + ", 'shape': " + shape + ", }"
	header += strings.Repeat(" ", 117-len(header)) + "\n"
	return append(append([]byte(npyMagic+"\x01\x00\x76\x00"), header...), rawOf(x...)...)
}

func rawOf(x ...float64) (data []byte) {
	for _, v := range x {
		data = binary.LittleEndian.AppendUint64(data, math.Float64bits(v))
	}
	return data
}

func gzipped(t *testing.T, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func zstandard(t *testing.T, data []byte) []byte {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return w.EncodeAll(data, nil)
}

// row is a row of the tests' Parquet files.
type row struct {
	Price  float64 `parquet:"price"`
	Small  float32 `parquet:"small"`
	Count  int32   `parquet:"count"`
	Big    int64   `parquet:"big"`
	Label  string  `parquet:"label"`
	Nested struct {
		Value float64 `parquet:"value,dict"`
	} `parquet:"nested"`
	Maybe *float64 `parquet:"maybe,optional"`
	Full  *float64 `parquet:"full,optional"`
}

// writeParquet writes a file with the prices x, in several row groups and pages.
func writeParquet(t *testing.T, path string, x []float64) string {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[row](&b, parquet.MaxRowsPerRowGroup(300), parquet.PageBufferSize(800),
		parquet.Compression(&parquet.Zstd))
	for i, v := range x {
		r := row{Price: v, Small: float32(i), Count: int32(-i), Big: int64(i), Full: &x[i]}
		r.Nested.Value = float64(i % 3)
		if i != 5 {
			r.Maybe = &x[i]
		}
		if _, err := w.Write([]row{r}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return writeBytes(t, path, b.Bytes())
}

func countUp(n int) (x []float64) {
	for i := range n {
		x = append(x, float64(i)+0.25)
	}
	return x
}

// TestFiles reads the same numbers from files of all kinds, at once and in runs of several lengths, in order and not.
func TestFiles(t *testing.T) {
	folder := t.TempDir()
	in := func(name string) string { return filepath.Join(folder, name) }
	x := countUp(1000)
	all := npyOf("(1000,)", false, x...)
	writeBytes(t, in("x.npy"), all)
	writeBytes(t, in("x.npy.gz"), gzipped(t, all))
	writeBytes(t, in("x.npy.zst"), zstandard(t, all))
	writeBytes(t, in("x.bin"), append([]byte("header"), rawOf(x...)...))
	writeParquet(t, in("x.parquet"), x)
	for i, at := range []int{0, 1, 3, 500} {
		end := []int{1, 3, 500, 1000}[i]
		writeBytes(t, in(fmt.Sprintf("part-%d.npy", 7+2*i)), npyOf(fmt.Sprintf("(%d,)", end-at), false, x[at:end]...))
	}
	writeBytes(t, in("list"), []byte(in("part-7.npy")+"\n\n"+in("part-9.npy")+"\n"+in("part-1[13].npy")+"\n"))
	writeBytes(t, in("names"), []byte(strings.Join([]string{in("part-7.npy"), in("part-9.npy"), in("part-11.npy"),
		in("part-13.npy")}, "\n")))
	var identity string
	for _, name := range []string{"x.npy", "x.bin:f8@6", "part-*.npy", "@" + in("names"), "x.npy.gz", "x.npy.zst",
		"x.parquet:price", "x.parquet:full"} {
		path := name
		if name[0] != '@' {
			path = in(name)
		}
		d, err := Load(path, Double)
		if err != nil || !slices.Equal(floats(d.X), x) {
			t.Fatalf("%s: %v", name, err)
		}
		s, err := OpenStream(path)
		if err != nil || s.Len() != len(x) || !Streams(path) {
			t.Fatalf("%s: %v", name, err)
		}
		for _, size := range []int{1000, 7, 333, 1} {
			checkRuns(t, s, x, size)
		}
		text, err := Identity(s)
		if err != nil {
			t.Fatal(err)
		}
		loaded, err := Identity(numbers.Float64s(x))
		if identity == "" {
			identity = text
		}
		if err != nil || loaded != identity || text != identity && !s.Sequential() {
			t.Errorf("%s: %s in runs, %s in memory, %s at first, %v", name, text, loaded, identity, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	for name, want := range map[string]float64{"small": 999, "count": -999, "nested.value": 0} {
		d, err := Load(in("x.parquet:"+name), Double)
		if err != nil || floats(d.X)[999] != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func checkRuns(t *testing.T, s *Stream, x []float64, size int) {
	t.Helper()
	buffer := make([]float64, size)
	for _, from := range []int{0, 500, 250, 3, 999, 0} {
		for at := from; at < min(from+20*size, len(x)); at += size {
			run := buffer[:min(size, len(x)-at)]
			if err := s.ReadRun(run, at); err != nil || !slices.Equal(run, x[at:at+len(run)]) {
				t.Fatalf("%s, %d numbers from %d on: %v", s.Name, len(run), at, err)
			}
		}
	}
}

// TestIdentity: numbers that differ where it looks have another one, and so have those of another length.
func TestIdentity(t *testing.T) {
	x := countUp(100_000)
	want, _ := Identity(numbers.Float64s(x))
	for _, i := range []int{0, 511, 99_999, 99_488} {
		x[i]++
		if got, _ := Identity(numbers.Float64s(x)); got == want {
			t.Errorf("number %d does not matter", i)
		}
		x[i]--
	}
	if got, _ := Identity(numbers.Float64s(x[:99_999])); got == want {
		t.Error("the length does not matter")
	}
}

// TestMatrices: files below each other are a matrix; others are none.
func TestMatrices(t *testing.T) {
	folder := t.TempDir()
	one := writeBytes(t, filepath.Join(folder, "a1.npy"), npyOf("(1, 2)", false, 1, 2))
	two := writeBytes(t, filepath.Join(folder, "a2.npy"), npyOf("(2, 2)", false, 3, 4, 5, 6))
	columns := writeBytes(t, filepath.Join(folder, "f.npy"), npyOf("(2, 2)", true, 3, 5, 4, 6))
	wide := writeBytes(t, filepath.Join(folder, "w.npy"), npyOf("(1, 3)", false, 1, 2, 3))
	vector := writeBytes(t, filepath.Join(folder, "v.npy"), npyOf("(2,)", false, 1, 2))
	for _, c := range []struct {
		names []string
		want  numbers.Layout
		err   string
	}{
		{[]string{filepath.Join(folder, "a?.npy")}, numbers.RowMajor(3, 2, 2), ""},
		{[]string{one, two}, numbers.RowMajor(3, 2, 2), ""},
		{[]string{columns}, numbers.ColMajor(2, 2, 2), ""},
		{[]string{one, columns}, numbers.Layout{}, "f.npy: has shape (2, 2); matrices stand below each other in C order"},
		{[]string{one, wide}, numbers.Layout{}, "w.npy: has shape (1, 3); matrices stand below each other"},
		{[]string{two, vector}, numbers.Layout{}, "v.npy: is no matrix"},
		{[]string{vector}, numbers.Layout{}, "v.npy: is no matrix"},
	} {
		s, err := OpenStream(c.names...)
		if err != nil {
			t.Fatal(err)
		}
		a, err := s.Matrix()
		if c.err == "" && (err != nil || a.Layout != c.want) || c.err != "" && (err == nil ||
			!strings.Contains(err.Error(), c.err)) {
			t.Errorf("%v: %+v, %v", c.names, a.Layout, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestFileErrors: what is wrong with files is said with their names.
func TestFileErrors(t *testing.T) {
	folder := t.TempDir()
	in := func(name string) string { return filepath.Join(folder, name) }
	x := countUp(1000)
	parquetFile := writeParquet(t, in("x.parquet"), x)
	packed := gzipped(t, npyOf("(1000,)", false, x...))
	writeBytes(t, in("more.npy.gz"), gzipped(t, npyOf("(999,)", false, x...)))
	writeBytes(t, in("less.npy.zst"), zstandard(t, npyOf("(1001,)", false, x...)))
	writeBytes(t, in("cut.npy.gz"), packed[:len(packed)/2])
	writeBytes(t, in("no.npy.gz"), []byte("no"))
	writeBytes(t, in("no.npy.zst"), []byte("no zstd file"))
	writeBytes(t, in("no.parquet"), []byte("PAR1 and nothing else PAR1"))
	writeBytes(t, in("x.bin"), make([]byte, 30))
	writeBytes(t, in("empty"), []byte("\n"))
	writeBytes(t, in("wide.txt"), []byte("0.12345678901234567890\n"))
	writeBytes(t, in("text.gz"), nil)
	good, _ := os.ReadFile(parquetFile)
	damaged := bytes.Clone(good)
	for i := 100; i < len(damaged)-3000; i += 7 {
		damaged[i] ^= 0x55
	}
	writeBytes(t, in("damaged.parquet"), damaged)
	for name, want := range map[string]string{
		"x.parquet":             "x.parquet: holds 8 columns; name one, as ",
		"x.parquet:prise":       `did you mean price?`,
		"x.parquet:big":         "column big is of INT(64,true); want floats",
		"x.parquet:label":       "column label is of STRING; want floats",
		"x.parquet:maybe":       "column maybe has rows without a number",
		"no.parquet:x":          "no.parquet: is no Parquet file",
		"damaged.parquet:price": "damaged.parquet: ",
		"more.npy.gz":           "more.npy.gz: 8 bytes follow the",
		"less.npy.zst":          "less.npy.zst: header claims 1001 float64 (8008 bytes) but the file holds 8000 bytes",
		"cut.npy.gz":            "cut.npy.gz: cannot be unpacked: the file ends too early",
		"no.npy.gz":             "no.npy.gz: is no gzip file",
		"no.npy.zst":            "no.npy.zst: cannot be unpacked",
		"x.bin:f8":              "x.bin: has 30 bytes from byte 0 on, which are not a whole number of float64",
		"x.bin:i2@30":           "x.bin: holds no numbers from byte 30 on; it has 30 bytes",
		"none-*.npy":            "none-*.npy: no file has such a name",
		"[.npy":                 "a pattern of names that is malformed",
		"@empty":                "empty: names no files",
		"@gone":                 "gone: no such file",
		"w*.txt":                "",
	} {
		path := in(name)
		if list, ok := strings.CutPrefix(name, "@"); ok {
			path = "@" + in(list)
		}
		_, err := Load(path, Double)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
	for name, want := range map[string]string{
		"more.npy.gz":  "more.npy.gz: 8 bytes follow the numbers that the header claims",
		"less.npy.zst": "less.npy.zst: cannot read 1001 numbers: the file ends too early",
		"cut.npy.gz":   "cut.npy.gz: cannot read 1000 numbers: the file ends too early",
	} {
		s, err := OpenStream(in(name))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := s.ReadRun(make([]float64, s.Len()), 0); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestDirect reads a file that is long enough to be read past the page cache, at places that are no multiples of
// blocks, up to its end.
func TestDirect(t *testing.T) {
	n := leastDirect/8 + 1001
	x := make([]float64, n)
	for i := range x {
		x[i] = float64(i)
	}
	path := writeBytes(t, filepath.Join(t.TempDir(), "x.npy"), npyOf(fmt.Sprintf("(%d,)", n), false, x...))
	s, err := OpenStream(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, c := range [][2]int{{0, 1}, {0, 1 << 19}, {1, 511}, {511, 3}, {n - 1, 1}, {n - 100_000, 100_000}} {
		run := make([]float64, c[1])
		if err := s.ReadRun(run, c[0]); err != nil || !slices.Equal(run, x[c[0]:c[0]+c[1]]) {
			t.Errorf("%d numbers from %d on: %v", c[1], c[0], err)
		}
	}
	if err := os.Truncate(path, 1000); err != nil {
		t.Fatal(err)
	}
	if err := s.ReadRun(make([]float64, 1000), 0); err == nil {
		t.Error("a file that was cut off was read")
	}
}

// TestCompareNames: digits count as numbers.
func TestCompareNames(t *testing.T) {
	list := []string{"part-10", "b", "part-2", "a1b2", "part-02", "a1b10", "a", "part"}
	slices.SortFunc(list, compareNames)
	if got := strings.Join(list, " "); got != "a a1b2 a1b10 b part part-2 part-02 part-10" {
		t.Error(got)
	}
}
