package datasets

import (
	"strings"

	"mpbench/pkg/numbers"
)

// LoadMatrix reads a matrix from a .npy file or an array of an .npz, in C or Fortran order, or from a .mtx file, whose
// missing elements are zeros. There is neither x nor y. reading matters for .mtx only.
func LoadMatrix(path string, reading Reading) (*Data, error) {
	return loadMatrix(path, func(f *file) (*matrixMarket, error) {
		if formatOf(path).extension != ".mtx" {
			return readMatrixNPY(f)
		}
		m, err := readMTX(f, reading)
		if err != nil {
			return nil, err
		}
		return m.full(f)
	})
}

// LoadSparse reads a sparse matrix from a .mtx file, or one of SciPy from an .npz. Of a full matrix all elements are
// stored.
func LoadSparse(path string, reading Reading) (*Data, error) {
	if f := formatOf(path); f != nil && f.extension == ".npy" {
		return nil, inputf("%s: is full; a sparse matrix is read from .mtx or from SciPy's .npz", path)
	} else if f != nil && f.extension == ".npz" {
		m, err := readCSR(path)
		if err != nil {
			return nil, err
		}
		return m.data(path), nil
	}
	return loadMatrix(path, func(f *file) (*matrixMarket, error) {
		m, err := readMTX(f, reading)
		if err == nil {
			m.makeSparse()
		}
		return m, err
	})
}

func loadMatrix(path string, read func(*file) (*matrixMarket, error)) (*Data, error) {
	f, err := open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if e := f.format.extension; !strings.HasPrefix(e, ".np") && e != ".mtx" {
		return nil, inputf("%s: a matrix is read from .mtx, .npy or .npz, not from %q", f.name, e)
	}
	m, err := read(&f.file)
	if err != nil {
		return nil, err
	}
	return m.data(path), nil
}

// data returns the matrix of a file.
func (m *matrixMarket) data(path string) *Data {
	d := &Data{
		Name: baseName(path), Extents: Extents{M: m.rows, N: m.cols}, Pattern: m.pattern,
		Source: "file " + path + ": " + m.description, Notes: m.notes, fromFile: true,
	}
	d.A = m.numbers()
	if m.pattern != nil {
		d.A.SHA256 = hashPattern(m.pattern, d.A.SHA256)
	}
	return d
}

// readMatrixNPY reads a matrix of two dimensions.
func readMatrixNPY(f *file) (*matrixMarket, error) {
	h, c, err := readNPYArray(f)
	if err != nil {
		return nil, err
	}
	if len(h.shape) != 2 {
		return nil, f.errorf("has shape %s; a matrix has two dimensions", h.shapeText())
	}
	m := &matrixMarket{content: c, rows: int(h.shape[0]), cols: int(h.shape[1])}
	if !h.fortran {
		m.float64s, m.wide = byColumns(c.float64s, m.rows, m.cols), byColumns(c.wide, m.rows, m.cols)
	}
	return m, nil
}

// full returns a matrix with zeros for the elements that are not stored.
func (m *matrixMarket) full(f *file) (*matrixMarket, error) {
	if m.pattern == nil {
		return m, nil
	}
	if m.rows == 0 || m.cols == 0 {
		return nil, f.errorf("is a matrix of %d rows and %d columns; want one with elements", m.rows, m.cols)
	}
	if int64(m.cols) > (1<<60)/int64(m.rows) {
		return nil, f.errorf("is a matrix of %d rows and %d columns, too large with all its zeros", m.rows, m.cols)
	}
	if err := CheckMemory(8 * int64(m.rows) * int64(m.cols)); err != nil {
		return nil, f.errorf("with all its zeros, %v", err)
	}
	if m.wide != nil {
		m.wide = spreadMTX(m, m.wide)
		m.zeros()
	} else {
		m.float64s = spreadMTX(m, m.float64s)
	}
	m.pattern, m.notes = nil, nil
	return m, nil
}

func spreadMTX[T any](m *matrixMarket, values []T) []T {
	list := make([]T, m.rows*m.cols)
	for i := range m.rows {
		for k := m.pattern.Start[i]; k < m.pattern.Start[i+1]; k++ {
			list[int(m.pattern.Column[k])*m.rows+i] = values[k]
		}
	}
	return list
}

// makeSparse makes all elements of a full matrix stored ones.
func (m *matrixMarket) makeSparse() {
	if m.pattern != nil {
		return
	}
	m.pattern = &numbers.Pattern{Start: make([]int, m.rows+1), Column: make([]int32, m.rows*m.cols)}
	for i := range m.rows {
		m.pattern.Start[i+1] = (i + 1) * m.cols
		for j := range m.cols {
			m.pattern.Column[i*m.cols+j] = int32(j)
		}
	}
	m.float64s, m.wide = byColumns(m.float64s, m.cols, m.rows), byColumns(m.wide, m.cols, m.rows)
}

// readVectorMTX reads a vector: a matrix of one column or one row.
func readVectorMTX(f *file, reading Reading) (content, error) {
	m, err := readMTX(f, reading)
	if err == nil && m.cols != 1 && m.rows != 1 {
		err = f.errorf("is a %d x %d matrix; a vector has one column or one row", m.rows, m.cols)
	}
	if err == nil {
		m, err = m.full(f)
	}
	if err != nil {
		return content{}, err
	}
	if len(m.float64s)+len(m.wide) == 0 {
		return content{}, f.errorf("holds no numbers")
	}
	return m.content, nil
}
