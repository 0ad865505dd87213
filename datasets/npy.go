package datasets

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"path/filepath"
	"strings"
	"unsafe"
)

// npyMagic begins every .npy file.
const npyMagic = "\x93NUMPY"

// npyDtypes are the element types that are read.
var npyDtypes = map[string]struct {
	name  string
	width int
	order binary.ByteOrder
}{
	"<f8": {"float64, little-endian", 8, binary.LittleEndian},
	">f8": {"float64, big-endian", 8, binary.BigEndian},
	"<f4": {"float32, little-endian", 4, binary.LittleEndian},
	">f4": {"float32, big-endian", 4, binary.BigEndian},
}

// readNPY reads a NumPy array of float64 or float32, of any shape and in C or Fortran order: the terms are taken as they
// lie in the file. float64 is read into its final place, without a copy in between; float32 is widened exactly.
//
// Format: NumPy Enhancement Proposal 1 and numpy.lib.format, versions 1.0, 2.0 and 3.0.
func readNPY(f *file) (content, error) {
	_, xs, description, err := readNPYArray(f)
	return content{float64s: xs, description: description}, err
}

// readNPYArray returns the elements as they lie in the file, with the header that says how to read them.
func readNPYArray(f *file) (npyHeader, []float64, string, error) {
	h, _, n, err := readNPYLayout(f)
	if err != nil {
		return h, nil, "", err
	}
	if err := checkMemory(n * 8); err != nil {
		return h, nil, "", f.errorf("%s", err)
	}
	xs := make([]float64, n)
	if err := readNPYNumbers(f, f.name, h.descr, xs); err != nil {
		return h, nil, "", err
	}
	return h, xs, fmt.Sprintf("NumPy array of %s, shape %s", npyDtypes[h.descr].name, h.shapeText()), nil
}

// readNPYLayout reads the header of a file with one of the dtypes. The n elements begin at the byte start.
func readNPYLayout(f *file) (h npyHeader, start, n int64, err error) {
	if h, start, err = readNPYHeader(f); err != nil {
		return h, 0, 0, err
	}
	dtype, ok := npyDtypes[h.descr]
	if !ok {
		const want = "(want float64 or float32: <f8, >f8, <f4 or >f4)"
		return h, 0, 0, f.errorf("dtype %s is not supported %s", quote(h.descr), want)
	}
	n, err = h.count(f, int64(dtype.width), f.size-start)
	return h, start, n, err
}

// readNPYNumbers fills xs with numbers of a dtype; path is what an error names.
func readNPYNumbers(r io.Reader, path, descr string, xs []float64) (err error) {
	if dtype := npyDtypes[descr]; dtype.width == 8 {
		err = readFloat64s(r, xs, dtype.order)
	} else {
		err = readFloat32s(r, xs, dtype.order)
	}
	if err != nil {
		return inputf("%s: cannot read %d numbers: %s", path, len(xs), plainError(err))
	}
	return nil
}

// readFloat64s fills xs with numbers in the given byte order.
func readFloat64s(r io.Reader, xs []float64, order binary.ByteOrder) error {
	if len(xs) == 0 {
		return nil
	}
	// The bytes go straight to where the numbers will be: 10^8 of them are in memory once, not twice.
	words := unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(xs))), len(xs))
	if _, err := io.ReadFull(r, unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(xs))), 8*len(xs))); err != nil {
		return err
	}
	if order.Uint16([]byte{1, 0}) != binary.NativeEndian.Uint16([]byte{1, 0}) {
		for i, w := range words {
			words[i] = bits.ReverseBytes64(w)
		}
	}
	return nil
}

// readFloat32s fills xs with widened float32 numbers in the given byte order.
func readFloat32s(r io.Reader, xs []float64, order binary.ByteOrder) error {
	var buf [1 << 15]byte
	for len(xs) > 0 {
		n := min(len(xs), len(buf)/4)
		if _, err := io.ReadFull(r, buf[:4*n]); err != nil {
			return err
		}
		for i := range n {
			xs[i] = float64(math.Float32frombits(order.Uint32(buf[4*i:])))
		}
		xs = xs[n:]
	}
	return nil
}

// plainError words an error of io.ReadFull.
func plainError(err error) string {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return "the file ends too early"
	}
	return err.Error()
}

// npyHeader is the dictionary at the start of a file.
type npyHeader struct {
	descr   string
	fortran bool
	shape   []uint64
}

// shapeText writes the shape as NumPy does: "(3, 4)", "(5,)", "()".
func (h npyHeader) shapeText() string {
	var parts []string
	for i, s := range h.shape {
		if i == 8 {
			parts = append(parts, "...")
			break
		}
		parts = append(parts, fmt.Sprint(s))
	}
	if len(parts) == 1 {
		return "(" + parts[0] + ",)"
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

// count returns the number of elements, after checking that they are exactly what the payload holds.
func (h npyHeader) count(f *file, width, payload int64) (int64, error) {
	n, overflow := uint64(1), false
	for _, s := range h.shape {
		hi, lo := bits.Mul64(n, s)
		overflow = overflow || hi != 0
		n = lo
		if s == 0 {
			n, overflow = 0, false
			break
		}
	}
	name := map[int64]string{4: "float32", 8: "float64"}[width]
	switch {
	case overflow || n > math.MaxInt64/8:
		return 0, f.errorf("header claims shape %s, more than 2^60 %s, but the file holds %d bytes", h.shapeText(), name, payload)
	case n == 0:
		return 0, f.errorf("holds no numbers (shape %s)", h.shapeText())
	case int64(n)*width > payload:
		return 0, f.errorf("header claims %d %s (%d bytes) but the file holds %d bytes", n, name, int64(n)*width, payload)
	case int64(n)*width < payload:
		return 0, f.errorf("%d bytes follow the %d %s that the header claims", payload-int64(n)*width, n, name)
	}
	return int64(n), nil
}

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
