package datasets

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"math"
	"math/big"
	"sort"
	"sync"
	"unsafe"

	"mpbench/pkg/numbers"
)

// Stream is the numbers of files that stay there, one file after the other, for files that need not fit in memory: a
// [numbers.Chunked]. The first error of reading is kept, as readers of single numbers return none.
type Stream struct {
	Name string // of the file, or as several were named
	N    int    // how many numbers

	m, columns int   // of the matrix that the numbers are, row by row
	fortran    bool  // or column by column
	noMatrix   error // why they are none

	wide byte // kind of the dtype, 'i' or 'u', of integers of 64 bits, 0 of float64

	sequential bool // some file can be read in order alone

	path   string
	files  []storedFile
	starts []int // the first number of each file

	mutex  sync.Mutex
	sha    hash.Hash // of the first numbers
	hashed int       // how many
	err    error
}

// storedFile is the numbers of one file of a Stream.
type storedFile interface {
	// readRun sets x to the numbers from number from on, and may be called by several goroutines.
	readRun(x []float64, from int) error
	io.Closer
}

const wideBeside = "holds other numbers than the files before; integers of 64 bits, signed or not, go with their like"

const wideInPieces = "holds integers of 64 bits, which need not be float64: not to be read piece by piece"

// OpenStream opens files of numbers that are float64, as named for Load, which are one vector: .npy, compressed or
// not, a column of .parquet, and numbers without a header. What Load refuses in a header it refuses too.
func OpenStream(names ...string) (*Stream, error) {
	s, err := OpenExactStream(names...)
	if err == nil && s.wide != 0 {
		return nil, errors.Join(inputf("%s: %s", s.path, wideInPieces), s.Close())
	}
	return s, err
}

// OpenExactStream is OpenStream also of integers of 64 bits, signed or not, that are not compressed and of no Parquet
// file; see Numbers.
func OpenExactStream(names ...string) (*Stream, error) {
	s := &Stream{Name: baseName(names[0]), path: names[0], sha: sha256.New()}
	if more := len(names) - 1; more > 0 {
		s.Name += fmt.Sprintf(" and %d more", more)
	}
	for _, name := range names {
		paths, err := Expand(name)
		for i := 0; i < len(paths) && err == nil; i++ {
			err = s.open(paths[i])
		}
		if err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	return s, nil
}

// Streams tells whether OpenStream reads what is named, by its first file.
func Streams(name string) bool {
	paths, err := Expand(name)
	if err != nil {
		return false
	}
	f := formatOf(paths[0])
	path, _ := SplitPart(paths[0])
	_, packing := splitPacking(path)
	return f != nil && (f.extension == ".npy" || packing == "" && (f.extension == "" || f.extension == ".parquet"))
}

// open appends the numbers of a file.
func (s *Stream) open(path string) error {
	f, opened, err := openStored(path)
	if err != nil {
		return err
	}
	in := newReaderAt(opened, f.size)
	h, stored, n, err := newStored(f, in)
	if err != nil {
		return errors.Join(err, in.Close())
	}
	wide := byte(0)
	if flat, ok := stored.(*flatFile); ok && flat.dtype.mayBeWide() {
		wide = flat.dtype.kind
	}
	if len(s.files) > 0 && wide != s.wide {
		return errors.Join(inputf("%s: %s", path, wideBeside), in.Close())
	}
	s.wide = wide
	s.files, s.starts = append(s.files, stored), append(s.starts, s.N)
	s.N += n
	if _, ok := stored.(*sequential); ok {
		s.sequential = true
	}
	s.stack(h, path)
	return nil
}

// newStored returns the n numbers of a file, with the header of a NumPy file.
func newStored(f *openFile, in readerAt) (h npyHeader, s storedFile, n int, err error) {
	_, packing := splitPacking(f.name)
	flat := &flatFile{path: f.name, readerAt: in}
	count := int64(0)
	switch extension := f.format.extension; {
	case extension == ".npy" && packing != "":
		h, s, err := openPacked(f, in, packing)
		if err != nil {
			return h, nil, 0, err
		}
		return h, s, s.n, nil
	case packing != "":
		err = f.errorf("only .npy files are read piece by piece where they are compressed")
	case extension == ".parquet":
		s, n, err := openParquet(&f.file, in, in)
		if err != nil {
			return h, nil, 0, err
		}
		return h, s, n, nil
	case extension == ".npy":
		h, flat.dtype, flat.start, count, err = readNPYLayout(&f.file)
	case extension == "":
		flat.dtype, flat.start, count, err = readRawLayout(&f.file)
	default:
		err = f.errorf("only .npy, .parquet and numbers without a header are read piece by piece, not %q", extension)
	}
	return h, flat, int(count), err
}

// stack makes the rows of a file those below the others of a matrix.
func (s *Stream) stack(h npyHeader, path string) {
	m, n := 0, 0
	if len(h.shape) == 2 {
		m, n = int(h.shape[0]), int(h.shape[1])
	}
	switch first := len(s.files) == 1; {
	case m == 0:
		s.noMatrix = inputf("%s: is no matrix; want an array of two dimensions in .npy", path)
	case first:
		s.m, s.columns, s.fortran = m, n, h.fortran
	case n != s.columns || h.fortran || s.fortran:
		s.noMatrix = inputf("%s: has shape %s; matrices stand below each other in C order, all with %d columns", path,
			h.shapeText(), s.columns)
	default:
		s.m += m
	}
}

// leastDirect is the size of a file from which on Linux it is read past the page cache, which it would only empty,
// and into which a disk is read in small pieces: reads of 4 MB were 2 to 8 times as fast.
const leastDirect = 64 << 20

// readerAt reads from any place of a file.
type readerAt interface {
	io.ReaderAt
	io.Closer
}

// flatFile is numbers of a dtype from a byte of a file on.
type flatFile struct {
	path string
	readerAt
	start int64
	dtype npyDtype
}

func (f *flatFile) readRun(x []float64, from int) error {
	width := int64(f.dtype.width)
	var section io.Reader = io.NewSectionReader(f, f.start+width*int64(from), width*int64(len(x)))
	if f.dtype.mayBeWide() { // as they are: see Stream.Numbers
		return readFloat64s(section, x, f.dtype.order)
	}
	if width < 8 { // which are read in small pieces
		section = bufio.NewReaderSize(section, int(min(1<<20, width*int64(len(x)))))
	}
	return readNPYNumbers(section, f.path, f.dtype, x)
}

// Close closes the files.
func (s *Stream) Close() (err error) {
	for _, f := range s.files {
		err = errors.Join(err, f.Close())
	}
	return err
}

func (s *Stream) Len() int { return s.N }

func (s *Stream) Span(i int) numbers.Span { return s.one(i).Span(0) }

func (s *Stream) Read(z *numbers.Number, i int) { s.one(i).Read(z, 0) }

func (s *Stream) one(i int) numbers.Float64s {
	x := make(numbers.Float64s, 1)
	_ = s.ReadRun(x, i) // Err has it
	return x
}

func (s *Stream) ReadRun(x []float64, from int) error {
	err := s.read(x, from)
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.err == nil {
		s.err = err
	}
	if err == nil && s.sha != nil && from == s.hashed {
		addToHash(s.sha, x)
		s.hashed += len(x)
	}
	return err
}

// read reads numbers of one file or several.
func (s *Stream) read(x []float64, from int) error {
	if len(x) > s.N-from {
		return inputf("%s: cannot read %d numbers: the file ends too early", s.path, len(x))
	}
	for i := sort.SearchInts(s.starts, from+1) - 1; len(x) > 0; i++ {
		end := s.N
		if i+1 < len(s.starts) {
			end = s.starts[i+1]
		}
		n := min(len(x), end-from)
		if err := s.files[i].readRun(x[:n], from-s.starts[i]); err != nil {
			return err
		}
		x, from = x[n:], from+n
	}
	return nil
}

// Numbers returns the numbers of the files: the Stream, or numbers.Integers.
func (s *Stream) Numbers() numbers.Source {
	if s.wide == 0 {
		return s
	}
	return integers{s}
}

// integers are those of a Stream, whose runs have their bits.
type integers struct{ stream *Stream }

func (x integers) Len() int     { return x.stream.N }
func (x integers) Signed() bool { return x.stream.wide == 'i' }

func (x integers) ReadIntegers(words []uint64, from int) error {
	return x.stream.ReadRun(unsafe.Slice((*float64)(unsafe.Pointer(unsafe.SliceData(words))), len(words)), from)
}

func (x integers) one(i int) numbers.Bigs {
	var word [1]uint64
	_ = x.ReadIntegers(word[:], i) // Err has it
	if x.Signed() {
		return numbers.Bigs{new(big.Float).SetInt64(int64(word[0]))}
	}
	return numbers.Bigs{new(big.Float).SetUint64(word[0])}
}

func (x integers) Span(i int) numbers.Span       { return x.one(i).Span(0) }
func (x integers) Read(z *numbers.Number, i int) { x.one(i).Read(z, 0) }

// Sequential tells whether runs are to be read in ascending order.
func (s *Stream) Sequential() bool { return s.sequential }

// Unhashed makes reading spend nothing on the checksum, which there is none of then.
func (s *Stream) Unhashed() *Stream {
	s.sha = nil
	return s
}

// SHA256 returns the checksum of all numbers, in hexadecimal, "" until they have been read from first to last.
func (s *Stream) SHA256() string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.sha == nil || s.hashed < s.N {
		return ""
	}
	return hex.EncodeToString(s.sha.Sum(nil))
}

// Err returns the first error of reading.
func (s *Stream) Err() error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.err
}

// Data returns the numbers as an array x.
func (s *Stream) Data() *Data {
	return &Data{
		Name: s.Name, Extents: Extents{N: s.N}, X: Numbers{Source: s, SHA256: s.SHA256()}, Source: "file " + s.path,
		fromFile: true,
	}
}

// Matrix returns the numbers as a matrix, or an error where they are none.
func (s *Stream) Matrix() (numbers.Array, error) {
	layout := numbers.RowMajor(s.m, s.columns, s.columns)
	if s.fortran {
		layout = numbers.ColMajor(s.m, s.columns, s.m)
	}
	return numbers.Array{Source: s, Layout: layout}, s.noMatrix
}

// addToHash adds the bit patterns of xs, little-endian.
func addToHash(h hash.Hash, xs []float64) {
	var buf [8 * 4096]byte
	for len(xs) > 0 {
		n := min(len(xs), len(buf)/8)
		for i, x := range xs[:n] {
			binary.LittleEndian.PutUint64(buf[8*i:], math.Float64bits(x))
		}
		h.Write(buf[:8*n])
		xs = xs[n:]
	}
}
