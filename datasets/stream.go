package datasets

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
)

// Stream reads the numbers of a .npy file piece by piece, for files that need not fit in memory.
type Stream struct {
	Name string // base name of the file
	N    int    // numbers in the file

	path  string
	in    *os.File
	start int64 // of the payload
	dtype string
	left  int
}

// OpenStream opens a .npy file of float64 or float32; what Load refuses in the header it refuses too.
func OpenStream(path string) (*Stream, error) {
	f, err := open(path, true)
	if err != nil {
		return nil, err
	}
	in := f.Closer.(*os.File)
	s, err := newStream(path, f, in)
	if err != nil {
		in.Close()
		return nil, err
	}
	return s, nil
}

func newStream(path string, f *openFile, in *os.File) (*Stream, error) {
	if extension := strings.ToLower(filepath.Ext(path)); extension != ".npy" {
		return nil, inputf("%s: only .npy files are read piece by piece, not %q", path, extension)
	}
	h, start, err := readNPYHeader(&f.file)
	if err != nil {
		return nil, err
	}
	dtype, ok := npyDtypes[h.descr]
	if !ok {
		return nil, f.errorf("dtype %s is not supported (want float64 or float32: <f8, >f8, <f4 or >f4)", quote(h.descr))
	}
	n, err := h.count(&f.file, int64(dtype.width), f.size-start)
	if err != nil {
		return nil, err
	}
	s := &Stream{Name: filepath.Base(path), N: int(n), path: path, in: in, start: start, dtype: h.descr}
	return s, s.Rewind()
}

// Close closes the file.
func (s *Stream) Close() error { return s.in.Close() }

// Rewind goes back to the first number.
func (s *Stream) Rewind() error {
	s.left = s.N
	if _, err := s.in.Seek(s.start, io.SeekStart); err != nil {
		return fileError(s.path, err)
	}
	return nil
}

// Read fills xs with the next numbers, fewer only at the end, and returns how many; 0 means that there are no more.
func (s *Stream) Read(xs []float64) (int, error) {
	n := min(len(xs), s.left)
	if err := s.fill(s.in, xs[:n]); err != nil {
		return 0, err
	}
	s.left -= n
	return n, nil
}

// ReadAt fills xs with the numbers from number `from` on, which must be there. It may be called by several goroutines at once, and
// changes nothing for Read.
func (s *Stream) ReadAt(xs []float64, from int) error {
	width := int64(npyDtypes[s.dtype].width)
	return s.fill(io.NewSectionReader(s.in, s.start+width*int64(from), width*int64(len(xs))), xs)
}

// fill reads xs.
func (s *Stream) fill(r io.Reader, xs []float64) (err error) {
	dtype := npyDtypes[s.dtype]
	if dtype.width == 8 {
		err = readFloat64s(r, xs, dtype.order)
	} else {
		err = readFloat32s(r, xs, dtype.order)
	}
	if err != nil {
		return inputf("%s: cannot read %d numbers: %s", s.path, len(xs), plainError(err))
	}
	return nil
}

// Hash is the checksum of numbers that come piece by piece, that of Data for the same numbers.
type Hash struct{ sha hash.Hash }

// NewHash returns the checksum of no numbers.
func NewHash() *Hash { return &Hash{sha256.New()} }

// Add adds numbers.
func (h *Hash) Add(xs []float64) {
	var buf [8 * 4096]byte
	for len(xs) > 0 {
		n := min(len(xs), len(buf)/8)
		for i, x := range xs[:n] {
			binary.LittleEndian.PutUint64(buf[8*i:], math.Float64bits(x))
		}
		h.sha.Write(buf[:8*n])
		xs = xs[n:]
	}
}

// SHA256 returns the checksum in hexadecimal.
func (h *Hash) SHA256() string { return hex.EncodeToString(h.sha.Sum(nil)) }
