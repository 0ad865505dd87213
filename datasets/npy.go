package datasets

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
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
	h, start, err := readNPYHeader(f)
	if err != nil {
		return h, nil, "", err
	}
	dtype, ok := npyDtypes[h.descr]
	if !ok {
		return h, nil, "", f.errorf("dtype %s is not supported (want float64 or float32: <f8, >f8, <f4 or >f4)", quote(h.descr))
	}
	n, err := h.count(f, int64(dtype.width), f.size-start)
	if err != nil {
		return h, nil, "", err
	}
	if err := checkMemory(n * 8); err != nil {
		return h, nil, "", f.errorf("%s", err)
	}
	xs := make([]float64, n)
	if dtype.width == 8 {
		err = readFloat64s(f, xs, dtype.order)
	} else {
		err = readFloat32s(f, xs, dtype.order)
	}
	if err != nil {
		return h, nil, "", f.errorf("cannot read %d numbers: %s", n, plainError(err))
	}
	return h, xs, fmt.Sprintf("NumPy array of %s, shape %s", dtype.name, h.shapeText()), nil
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
