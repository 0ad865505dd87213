package datasets

import (
	"bufio"
	"bytes"
	"io"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"mpbench/pkg/record"
)

// packings are the endings of compressed files, which follow that of their format: "x.npy.zst".
var packings = []string{".gz", ".zst"}

// splitPacking cuts the ending of a compressed file off.
func splitPacking(path string) (name, packing string) {
	for _, p := range packings {
		if strings.HasSuffix(strings.ToLower(path), p) {
			return path[:len(path)-len(p)], p
		}
	}
	return path, ""
}

// unpacker returns a reader of what is compressed in r.
func unpacker(f *file, r io.Reader, packing string) (io.ReadCloser, error) {
	r = bufio.NewReaderSize(r, 1<<20)
	if packing == ".gz" {
		unpacked, err := gzip.NewReader(r)
		if err != nil {
			return nil, f.errorf("is no gzip file: %s", plainError(err))
		}
		return unpacked, nil
	}
	unpacked, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, f.errorf("is no zstd file: %s", plainError(err))
	}
	return unpacked.IOReadCloser(), nil
}

// unpack reads all that is compressed in a file.
func unpack(f *openFile, packing string) (*bytes.Reader, error) {
	r, err := unpacker(&f.file, f.Reader, packing)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	limit := MemoryBytes() / 4
	if limit == 0 {
		limit = 1 << 40
	}
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	switch {
	case err != nil:
		return nil, f.errorf("cannot be unpacked: %s", plainError(err))
	case len(data) == 0:
		return nil, f.errorf("is empty")
	case int64(len(data)) > limit:
		return nil, f.errorf("holds more than %s, a quarter of this machine's memory", record.Bytes(limit))
	}
	return bytes.NewReader(data), nil
}

// openPacked opens a compressed .npy file, of which the numbers are unpacked as they are read.
func openPacked(f *openFile, in readerAt, packing string) (npyHeader, *sequential, error) {
	begin := func() (npyHeader, npyDtype, int64, io.ReadCloser, error) {
		r, err := unpacker(&f.file, io.NewSectionReader(in, 0, f.size), packing)
		if err != nil {
			return npyHeader{}, npyDtype{}, 0, nil, err
		}
		plain := file{r, f.name, unknownSize, ""}
		h, dtype, _, n, err := readNPYLayout(&plain)
		if err != nil {
			r.Close()
		}
		return h, dtype, n, r, err
	}
	h, dtype, n, r, err := begin()
	if err != nil {
		return h, nil, err
	}
	r.Close()
	if dtype.mayBeWide() {
		return h, nil, f.errorf("%s", wideInPieces)
	}
	return h, &sequential{n: int(n), Closer: in, open: func(int) (sequence, int, error) {
		_, _, _, r, err := begin()
		return &packed{r, f.name, dtype, int(n)}, 0, err
	}}, nil
}

// packed is the numbers of a compressed file that have not been read yet.
type packed struct {
	io.ReadCloser
	path  string
	dtype npyDtype
	left  int
}

func (p *packed) next(x []float64) error {
	if err := readNPYNumbers(p, p.path, p.dtype, x); err != nil {
		return err
	}
	if p.left -= len(x); p.left == 0 {
		if n, err := io.Copy(io.Discard, p); n > 0 || err != nil {
			return inputf("%s: %d bytes follow the numbers that the header claims, or they are damaged", p.path, n)
		}
	}
	return nil
}
