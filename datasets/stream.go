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
	"sync"

	"mpbench/pkg/numbers"
)

// Stream is the numbers of a .npy file that stay there, for files that need not fit in memory: a [numbers.Chunked].
// The first error of reading is kept, as readers of single numbers return none.
type Stream struct {
	Name string // base name of the file

	n     int
	path  string
	in    *os.File
	start int64 // of the payload
	dtype string

	mutex  sync.Mutex
	sha    hash.Hash // of the first numbers
	hashed int       // how many
	err    error
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
	h, start, n, err := readNPYLayout(&f.file)
	if err != nil {
		return nil, err
	}
	return &Stream{
		Name: filepath.Base(path), n: int(n), path: path, in: in, start: start, dtype: h.descr, sha: sha256.New(),
	}, nil
}

// Close closes the file.
func (s *Stream) Close() error { return s.in.Close() }

func (s *Stream) Len() int { return s.n }

func (s *Stream) Span(i int) numbers.Span { return s.one(i).Span(0) }

func (s *Stream) Read(z *numbers.Number, i int) { s.one(i).Read(z, 0) }

func (s *Stream) one(i int) numbers.Float64s {
	x := make(numbers.Float64s, 1)
	_ = s.ReadRun(x, i) // Err has it
	return x
}

func (s *Stream) ReadRun(x []float64, from int) error {
	width := int64(npyDtypes[s.dtype].width)
	section := io.NewSectionReader(s.in, s.start+width*int64(from), width*int64(len(x)))
	err := readNPYNumbers(section, s.path, s.dtype, x)
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.err == nil {
		s.err = err
	}
	if err == nil && from == s.hashed {
		addToHash(s.sha, x)
		s.hashed += len(x)
	}
	return err
}

// SHA256 returns the checksum of all numbers, in hexadecimal, "" until they have been read from first to last.
func (s *Stream) SHA256() string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.hashed < s.n {
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
	return &Data{Name: s.Name, N: s.n, X: Numbers{Source: s, SHA256: s.SHA256()}, Source: "file " + s.path,
		fromFile: true}
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
