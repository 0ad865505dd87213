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

// readNPY reads a NumPy array of floats or integers, of any shape and in C or Fortran order: the terms are taken
// exactly and as they lie in the file. float64 is read into its final place, without a copy in between.
//
// Format: NumPy Enhancement Proposal 1 and numpy.lib.format, versions 1.0, 2.0 and 3.0.
func readNPY(f *file) (content, error) {
	_, c, err := readNPYArray(f)
	return c, err
}

// readNPYArray returns the elements as they lie in the file, with the header that says how to read them.
func readNPYArray(f *file) (npyHeader, content, error) {
	h, dtype, _, n, err := readNPYLayout(f)
	if err != nil {
		return h, content{}, err
	}
	c, err := readNumbers(f, dtype, n, fmt.Sprintf("NumPy array of %s, shape %s", dtype, h.shapeText()))
	return h, c, err
}

// readNumbers reads n numbers of a dtype.
func readNumbers(f *file, dtype npyDtype, n int64, description string) (content, error) {
	if err := CheckMemory(n * 8); err != nil {
		return content{}, f.errorf("%s", err)
	}
	c := content{description: description}
	xs := make([]float64, n)
	if !dtype.mayBeWide() {
		c.float64s = xs
		return c, readNPYNumbers(f, f.name, dtype, xs)
	}
	words := npyDtype{'f', 8, dtype.order} // read as they are
	if err := readNPYNumbers(f, f.name, words, xs); err != nil {
		return c, err
	}
	return c, f.integers(&c, dtype, xs)
}

// integers converts 64-bit integers, whose bits are those of xs: to float64 if all of them are, else to rationals.
func (f *file) integers(c *content, dtype npyDtype, xs []float64) error {
	for _, x := range xs {
		if _, wide := dtype.rational(math.Float64bits(x)); wide {
			if err := CheckMemory(int64(len(xs)) * wideIntegerBytes); err != nil {
				return f.errorf("%s", err)
			}
			for _, x := range xs {
				r, _ := dtype.rational(math.Float64bits(x))
				c.wide = append(c.wide, r)
			}
			c.notes = append(c.notes, "the integers are kept exactly, as some are no float64")
			return nil
		}
	}
	for i, x := range xs {
		xs[i] = dtype.float64(math.Float64bits(x))
	}
	c.float64s = xs
	return nil
}

// wideIntegerBytes is what a 64-bit integer takes as a rational and then as a number of a Source.
const wideIntegerBytes = 256

// readNPYLayout reads the header of a file with one of the dtypes. The n elements begin at the byte start.
func readNPYLayout(f *file) (h npyHeader, dtype npyDtype, start, n int64, err error) {
	if h, start, err = readNPYHeader(f); err != nil {
		return h, dtype, 0, 0, err
	}
	dtype, ok := parseDtype(h.descr)
	if !ok {
		return h, dtype, 0, 0, f.errorf("dtype %s is not supported %s", quote(h.descr), wantDtypes)
	}
	n, err = h.count(f, dtype, f.size-start)
	return h, dtype, start, n, err
}

// readNPYNumbers fills xs with numbers of a dtype, of which all are float64; path is what an error names.
func readNPYNumbers(r io.Reader, path string, dtype npyDtype, xs []float64) (err error) {
	if dtype.kind == 'f' && dtype.width == 8 {
		err = readFloat64s(r, xs, dtype.order)
	} else {
		err = readNarrow(r, xs, dtype)
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

// readNarrow fills xs with widened numbers.
func readNarrow(r io.Reader, xs []float64, dtype npyDtype) error {
	var buf [1 << 15]byte
	for len(xs) > 0 {
		n := min(len(xs), len(buf)/dtype.width)
		if _, err := io.ReadFull(r, buf[:dtype.width*n]); err != nil {
			return err
		}
		for i := range n {
			xs[i] = dtype.float64(dtype.word(buf[dtype.width*i:]))
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

// unknownSize is the size of a file that is unpacked as it is read.
const unknownSize = math.MaxInt64

// count returns the number of elements, after checking that they are exactly what the payload holds.
func (h npyHeader) count(f *file, dtype npyDtype, payload int64) (int64, error) {
	name, width := dtype.name(), int64(dtype.width)
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
	switch {
	case overflow || n > math.MaxInt64/8:
		return 0, f.errorf("header claims shape %s, more than 2^60 %s, but the file holds %d bytes", h.shapeText(), name,
			payload)
	case n == 0:
		return 0, f.errorf("holds no numbers (shape %s)", h.shapeText())
	case f.size == unknownSize:
	case int64(n)*width > payload:
		return 0, f.errorf("header claims %d %s (%d bytes) but the file holds %d bytes", n, name, int64(n)*width, payload)
	case int64(n)*width < payload:
		return 0, f.errorf("%d bytes follow the %d %s that the header claims", payload-int64(n)*width, n, name)
	}
	return int64(n), nil
}

// byColumns returns an m x n matrix that is stored by rows stored by columns, by square blocks that fit the cache.
func byColumns[T any](rows []T, m, n int) []T {
	if len(rows) == 0 {
		return nil
	}
	const block = 64
	columns := make([]T, len(rows))
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

// maxNPYHeader limits the length of a header. NumPy's own limit for untrusted files is 10,000 bytes.
const maxNPYHeader = 1 << 16

// readNPYHeader reads up to the first byte of the payload, whose offset it returns. The header is parsed here because
// the usual library reads no version 3, allocates whatever length a file claims, and panics on some malformed headers.
func readNPYHeader(f *file) (h npyHeader, start int64, err error) {
	var prefix [12]byte
	if _, err := io.ReadFull(f, prefix[:8]); err != nil || string(prefix[:6]) != npyMagic {
		return h, 0, f.errorf("is not a NumPy file: it does not begin with the bytes %q", npyMagic)
	}
	length := prefix[8:10]
	switch prefix[6] {
	case 1:
	case 2, 3:
		length = prefix[8:12]
	default:
		return h, 0, f.errorf("NumPy format version %d.%d is not supported (want 1.0, 2.0 or 3.0)", prefix[6], prefix[7])
	}
	if _, err := io.ReadFull(f, length); err != nil {
		return h, 0, f.errorf("the header is cut short")
	}
	n := int64(binary.LittleEndian.Uint16(length))
	if len(length) == 4 {
		n = int64(binary.LittleEndian.Uint32(length))
	}
	start = 8 + int64(len(length)) + n
	switch {
	case start > f.size:
		return h, 0, f.errorf("the header claims to be %d bytes long, but the file has %d bytes", n, f.size)
	case n > maxNPYHeader:
		return h, 0, f.errorf("the header is %d bytes long (at most %d are read)", n, maxNPYHeader)
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(f, text); err != nil {
		return h, 0, f.errorf("the header is cut short")
	}
	if h, err = parseNPYHeader(string(text)); err != nil {
		return h, 0, f.errorf("malformed header: %s", err)
	}
	return h, start, nil
}

// parseNPYHeader parses a Python dictionary literal with the keys descr, fortran_order and shape.
func parseNPYHeader(text string) (npyHeader, error) {
	p := literal{rest: text}
	var h npyHeader
	seen := map[string]bool{}
	p.expect('{')
	for p.err == nil && !p.accept('}') {
		key := p.quoted()
		p.expect(':')
		if seen[key] {
			p.fail("key %q occurs twice", key)
		}
		seen[key] = true
		switch key {
		case "descr":
			h.descr = p.dtype()
		case "fortran_order":
			h.fortran = p.boolean()
		case "shape":
			h.shape = p.tuple()
		default:
			p.fail("unknown key %q", key)
		}
		if !p.accept(',') {
			p.expect('}')
			break
		}
	}
	if p.err == nil && strings.TrimSpace(p.rest) != "" {
		p.fail("%s after the dictionary", quote(p.rest))
	}
	for _, key := range []string{"descr", "fortran_order", "shape"} {
		if !seen[key] {
			p.fail("no key %q", key)
		}
	}
	return h, p.err
}

// literal reads the few Python literals that headers are made of. After an error every method does nothing.
type literal struct {
	rest string
	err  error
}

func (p *literal) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf(format, args...)
	}
}

// accept skips white space and then c, if it comes next.
func (p *literal) accept(c byte) bool {
	p.rest = strings.TrimLeft(p.rest, " \t\r\n")
	if p.err != nil || p.rest == "" || p.rest[0] != c {
		return false
	}
	p.rest = p.rest[1:]
	return true
}

func (p *literal) expect(c byte) {
	if !p.accept(c) {
		p.fail("want %q before %s", c, quote(p.rest))
	}
}

// quoted reads a string without escapes.
func (p *literal) quoted() string {
	for _, q := range []byte{'\'', '"'} {
		if p.accept(q) {
			if s, rest, ok := strings.Cut(p.rest, string(q)); ok {
				p.rest = rest
				return s
			}
			p.fail("a string has no end")
			return ""
		}
	}
	p.fail("want a string before %s", quote(p.rest))
	return ""
}

// dtype reads a descr: a string, or a list of fields, which is returned as it stands.
func (p *literal) dtype() string {
	if !p.accept('[') {
		return p.quoted()
	}
	end := strings.LastIndexByte(p.rest, ']')
	if end < 0 {
		p.fail("a list has no end")
		return ""
	}
	list := "[" + p.rest[:end+1]
	p.rest = p.rest[end+1:]
	return list
}

func (p *literal) boolean() bool {
	for word, value := range map[string]bool{"True": true, "False": false} {
		p.accept(0) // white space
		if rest, ok := strings.CutPrefix(p.rest, word); ok && p.err == nil {
			p.rest = rest
			return value
		}
	}
	p.fail("want True or False before %s", quote(p.rest))
	return false
}

// tuple reads non-negative integers in parentheses. Old files write them as Python 2 longs, "3L".
func (p *literal) tuple() []uint64 {
	var list []uint64
	p.expect('(')
	for p.err == nil && !p.accept(')') {
		list = append(list, p.number())
		p.accept('L')
		if !p.accept(',') {
			p.expect(')')
			break
		}
	}
	return list
}

var errNumber = errors.New("a dimension is no integer from 0 to 2^63 - 1")

func (p *literal) number() uint64 {
	p.accept(0) // white space
	digits := len(p.rest) - len(strings.TrimLeft(p.rest, "0123456789"))
	if digits == 0 || digits > 19 {
		p.err = errNumber
		return 0
	}
	n := uint64(0)
	for _, d := range []byte(p.rest[:digits]) {
		n = n*10 + uint64(d-'0') // below 10^19 < 2^64
	}
	if n > 1<<63-1 {
		p.err = errNumber
	}
	p.rest = p.rest[digits:]
	return n
}

// quote writes at most 40 bytes of text in quotes, for an error message.
func quote(text string) string {
	if len(text) > 40 {
		return fmt.Sprintf("%q...", text[:40])
	}
	return fmt.Sprintf("%q", text)
}
