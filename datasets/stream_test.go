package datasets

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mpbench/pkg/numbers"
)

// TestStream reads a file in pieces of several sizes, twice, and compares with Load.
func TestStream(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.npy")
	for _, descr := range []string{"<f8", ">f8", "<f4", ">f4"} {
		width := int(descr[2] - '0')
		payload := make([]byte, 1000*width)
		for i := range payload {
			payload[i] = byte(i*7 + i/256)
		}
		header := "{'descr': '" + descr + "', 'fortran_order': False, 'shape': (1000,), }"
		header += strings.Repeat(" ", 63-(10+len(header))%64) + "\n"
		data := append([]byte(npyMagic+"\x01\x00"), byte(len(header)), 0)
		if err := os.WriteFile(path, append(append(data, header...), payload...), 0o666); err != nil {
			t.Fatal(err)
		}
		want, err := Load(path, Double)
		if err != nil {
			t.Fatal(err)
		}
		s, err := OpenStream(path)
		if err != nil || s.Len() != 1000 {
			t.Fatalf("%v, %v", s, err)
		}
		for _, size := range []int{1, 7, 999, 1000, 5000} {
			buf := make([]float64, size)
			for from := 0; from < 1000; from += size {
				if err := s.ReadRun(buf[:min(size, 1000-from)], from); err != nil {
					t.Fatal(err)
				}
				if !slices.EqualFunc(buf[:min(size, 1000-from)], floats(want.X)[from:min(from+size, 1000)], sameBits) {
					t.Errorf("%s in pieces of %d: other numbers", descr, size)
				}
			}
			if got := s.SHA256(); got != want.X.SHA256 {
				t.Errorf("%s: checksum %s, want %s", descr, got, want.X.SHA256)
			}
			if size = min(size, 1000-size%1000); s.ReadRun(buf[:size], 1000-size) != nil || !slices.EqualFunc(buf[:size],
				floats(want.X)[1000-size:], sameBits) {
				t.Errorf("%s: other numbers in the last %d", descr, size)
			}
		}
		if d := s.Data(); d.Spec() != "x.npy" || d.Record().SHA256 != want.X.SHA256 {
			t.Errorf("%+v", d)
		}
		if got := numbers.At(s, 17); !got.Equal(numbers.At(want.X.Source, 17)) || s.Err() != nil {
			t.Errorf("%s: number 17 is %v, error %v", descr, got, s.Err())
		}
		if err := s.ReadRun(make([]float64, 2), 999); err == nil || s.Err() == nil {
			t.Error("numbers beyond the end were read")
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

func sameBits(x, y float64) bool { return math.Float64bits(x) == math.Float64bits(y) }

func TestStreamErrors(t *testing.T) {
	text := filepath.Join(t.TempDir(), "x.txt")
	if err := os.WriteFile(text, []byte("1\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"missing.npy": "missing.npy: no such file",
		text:          "only .npy, .parquet and numbers without a header are read piece by piece",
	} {
		if _, err := OpenStream(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
}
