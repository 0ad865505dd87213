package datasets

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
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
		if err != nil || s.N != 1000 {
			t.Fatalf("%v, %v", s, err)
		}
		for _, size := range []int{1, 7, 999, 1000, 5000} {
			hash, buf := NewHash(), make([]float64, size)
			for n, err := s.Read(buf); n > 0 || err != nil; n, err = s.Read(buf) {
				if err != nil {
					t.Fatal(err)
				}
				hash.Add(buf[:n])
			}
			if got := hash.SHA256(); got != want.SHA256 {
				t.Errorf("%s in pieces of %d: other numbers", descr, size)
			}
			if err := s.Rewind(); err != nil {
				t.Fatal(err)
			}
			if size = min(size, 1000-size%1000); s.ReadAt(buf[:size], 1000-size) != nil || !slices.EqualFunc(buf[:size], want.Float64[1000-size:], sameBits) {
				t.Errorf("%s: other numbers in the last %d", descr, size)
			}
		}
		if err := s.ReadAt(make([]float64, 2), 999); err == nil {
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
		"missing.npy": "missing.npy: no such file", text: "only .npy files are read piece by piece",
	} {
		if _, err := OpenStream(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
}
