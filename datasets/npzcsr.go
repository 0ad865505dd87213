package datasets

import (
	"errors"
	"io"
	"math"
	"strings"

	"mpbench/pkg/numbers"
)

// readCSR reads a sparse matrix that SciPy has saved (scipy.sparse.save_npz): an .npz file with the arrays format,
// which says "csr", shape, indptr, indices and data. Elements in the same place are added, as SciPy does.
func readCSR(path string) (*matrixMarket, error) {
	if err := checkCSR(path); err != nil {
		return nil, err
	}
	var lists [3][]float64
	for i, name := range []string{"shape", "indptr", "indices"} {
		c, err := readMember(path, name)
		if err != nil {
			return nil, err
		}
		for k, x := range c.float64s {
			if x != math.Trunc(x) || x < 0 || x > numbers.MostColumns*1e3 {
				return nil, inputf("%s:%s: number %d is %v; want integers of at least 0", path, name, k, x)
			}
		}
		if lists[i] = c.float64s; c.wide != nil {
			return nil, inputf("%s:%s: has integers of more than 53 bits", path, name)
		}
	}
	c, err := readMember(path, "data")
	if err != nil {
		return nil, err
	}
	shape, start, columns := lists[0], lists[1], lists[2]
	m := &matrixMarket{content: c, pattern: new(numbers.Pattern)}
	if len(shape) != 2 || max(shape[0], shape[1]) > numbers.MostColumns {
		return nil, inputf("%s:shape: is %v; want rows and columns, at most %d", path, shape, numbers.MostColumns)
	}
	m.rows, m.cols = int(shape[0]), int(shape[1])
	n := max(len(c.float64s), len(c.wide))
	switch {
	case len(start) != m.rows+1:
		return nil, inputf("%s:indptr: has %d numbers; want %d for %d rows", path, len(start), m.rows+1, m.rows)
	case start[0] != 0 || start[m.rows] != float64(n):
		return nil, inputf("%s:indptr: goes from %v to %v; want 0 to %d, the number of elements", path, start[0],
			start[m.rows], n)
	case len(columns) != n:
		return nil, inputf("%s:indices: has %d numbers for %d elements", path, len(columns), n)
	}
	for i, s := range start {
		if i > 0 && s < start[i-1] {
			return nil, inputf("%s:indptr: number %d is %v, less than the one before", path, i, s)
		}
		m.pattern.Start = append(m.pattern.Start, int(s))
	}
	for k, j := range columns {
		if j >= shape[1] {
			return nil, inputf("%s:indices: number %d is %v; want less than %d, the columns", path, k, j, m.cols)
		}
		m.pattern.Column = append(m.pattern.Column, int32(j))
	}
	m.description = "SciPy CSR matrix"
	return m, nil
}

// readMember reads an array of one dimension.
func readMember(path, name string) (content, error) {
	f, err := open(path + ":" + name)
	if err != nil {
		return content{}, err
	}
	defer f.Close()
	h, c, err := readNPYArray(&f.file)
	if err == nil && len(h.shape) != 1 {
		err = f.errorf("has shape %s; want one dimension", h.shapeText())
	}
	return c, err
}

// checkCSR reads the array format, a single string of bytes or of UTF-32 characters.
func checkCSR(path string) error {
	f, err := open(path + ":format")
	if err != nil {
		if errors.Is(err, ErrInput) && strings.Contains(err.Error(), "array") {
			return inputf("%s: is no sparse matrix of SciPy: it has no array named format", path)
		}
		return err
	}
	defer f.Close()
	if _, _, err = readNPYHeader(&f.file); err != nil {
		return err
	}
	text, err := io.ReadAll(io.LimitReader(f, 64))
	if err != nil {
		return f.errorf("%s", plainError(err))
	}
	if kind := strings.ReplaceAll(string(text), "\x00", ""); kind != "csr" {
		return inputf("%s: is a SciPy matrix of format %s; want csr (A.tocsr())", path, quote(kind))
	}
	return nil
}
