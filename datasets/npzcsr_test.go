package datasets

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"testing"
)

// TestSciPy reads matrices that scipy.sparse.save_npz of SciPy 1.10 wrote.
func TestSciPy(t *testing.T) {
	for name, want := range map[string]string{
		"csr": "2 3 [0 2 3] [0 1 2] [3 -2 1.5]", "duplicates": "2 2 [0 2 3] [1 1 0] [1 2 4]",
	} {
		d, err := LoadSparse(filepath.Join("testdata", "scipy", name+".npz"), Double)
		if err != nil {
			t.Fatal(err)
		}
		got := fmt.Sprint(d.M, d.N, d.Pattern.Start, d.Pattern.Column, d.A.Source)
		if got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	_, err := LoadSparse(filepath.Join("testdata", "scipy", "csc.npz"), Double)
	if err == nil || !strings.Contains(err.Error(), `csc.npz: is a SciPy matrix of format "csc"; want csr (A.tocsr())`) {
		t.Error(err)
	}
}

// vector returns a .npy file.
func vector(descr string, shape string, list any) string {
	payload, _ := binary.Append(nil, binary.LittleEndian, list)
	return npyFile(1, npyDict(descr, shape), payload)
}

// TestBrokenSciPy: each broken file is one line that names the array.
func TestBrokenSciPy(t *testing.T) {
	integers := func(x ...int64) string { return vector("<i8", fmt.Sprintf("(%d,)", len(x)), x) }
	good := map[string]string{
		"format": vector("|S3", "()", []byte("csr")), "shape": integers(2, 3), "indptr": integers(0, 2, 3),
		"indices": integers(0, 1, 2), "data": vector("<f8", "(3,)", []float64{1, 2, 3}),
	}
	for _, c := range []struct{ name, array, want string }{
		{"format", "", "is no sparse matrix of SciPy: it has no array named format"},
		{"format", vector("|S3", "()", []byte("bsr")), `of format "bsr"; want csr`},
		{"format", "csr", ":format: is not a NumPy file"},
		{"shape", "", `unknown array "shape"`}, {"data", "", `unknown array "data"`},
		{"shape", integers(2), ":shape: is [2]; want rows and columns"},
		{"shape", integers(2, 1<<40), "want rows and columns, at most 2147483647"},
		{"shape", integers(2, -3), ":shape: number 1 is -3; want integers of at least 0"},
		{"shape", vector("<i8", "(1, 2)", []int64{2, 3}), ":shape: has shape (1, 2); want one dimension"},
		{"indptr", integers(0, 3), ":indptr: has 2 numbers; want 3 for 2 rows"},
		{"indptr", integers(1, 2, 3), ":indptr: goes from 1 to 3; want 0 to 3"},
		{"indptr", integers(0, 2, 4), ":indptr: goes from 0 to 4; want 0 to 3"},
		{"indptr", integers(0, 4, 3), ":indptr: number 2 is 3, less than the one before"},
		{"indices", integers(0, 1), ":indices: has 2 numbers for 3 elements"},
		{"indices", integers(0, 1, 3), ":indices: number 2 is 3; want less than 3, the columns"},
		{"indices", integers(0, 1, 1<<60+1), ":indices: has integers of more than 53 bits"},
		{"indices", vector("<f8", "(3,)", []float64{0, 0.5, 1}), ":indices: number 1 is 0.5; want integers"},
		{"data", vector("<f8", "(3,)", []float64{1, 2}), "header claims 3 float64"},
		{"data", vector("<c16", "(3,)", make([]complex128, 3)), `dtype "<c16" is not supported`},
	} {
		arrays := maps.Clone(good)
		if arrays[c.name] = c.array; c.array == "" {
			delete(arrays, c.name)
		}
		var b bytes.Buffer
		w := zip.NewWriter(&b)
		for name, text := range arrays {
			f, err := w.Create(name + ".npy")
			if err == nil {
				_, err = f.Write([]byte(text))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		_, err := LoadSparse(write(t, "a.npz", b.String()), Double)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") ||
			!errors.Is(err, ErrInput) && !errors.Is(err, ErrUsage) {
			t.Errorf("%s: %v; want %q", c.name, err, c.want)
		}
	}
}
