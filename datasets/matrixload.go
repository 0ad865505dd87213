package datasets

import (
	"path/filepath"
	"strings"
)

// LoadMatrix reads a matrix of float64 or float32 from a .npy file of two dimensions, in C or Fortran order. The result has
// neither x nor y.
func LoadMatrix(path string) (*Data, error) {
	f, err := open(path, true)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if extension := filepath.Ext(path); strings.ToLower(extension) != ".npy" {
		return nil, inputf("%s: a matrix is read from .npy, not from %q", path, extension)
	}
	h, xs, description, err := readNPYArray(&f.file)
	if err != nil {
		return nil, err
	}
	if len(h.shape) != 2 {
		return nil, inputf("%s: has shape %s; a matrix has two dimensions", path, h.shapeText())
	}
	d := &Data{
		Name: filepath.Base(path), M: int(h.shape[0]), N: int(h.shape[1]),
		Source: "file " + path + ": " + description, fromFile: true,
	}
	if !h.fortran {
		xs = byColumns(xs, d.M, d.N)
	}
	d.A = float64s(xs)
	return d, nil
}

// byColumns returns an m x n matrix that is stored by rows stored by columns, going by square blocks so that both are in the
// cache.
func byColumns(rows []float64, m, n int) []float64 {
	const block = 64
	columns := make([]float64, len(rows))
	for i0 := 0; i0 < m; i0 += block {
		for j0 := 0; j0 < n; j0 += block {
			for j := j0; j < min(j0+block, n); j++ {
				for i := i0; i < min(i0+block, m); i++ {
					columns[j*m+i] = rows[i*n+j]
				}
			}
		}
	}
	return columns
}
