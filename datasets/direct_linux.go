package datasets

import (
	"errors"
	"io"
	"os"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// directBlock is what offsets, lengths and addresses of reads past the cache are multiples of, on every usual disk.
const directBlock = 4096

// newReaderAt returns what reads from a file of a size: past the page cache from leastDirect bytes on, where the file
// system can.
func newReaderAt(f *os.File, size int64) readerAt {
	if size < leastDirect {
		return f
	}
	fd, err := unix.Open(f.Name(), unix.O_RDONLY|unix.O_DIRECT|unix.O_CLOEXEC, 0)
	if err != nil { // a file system without it
		return f
	}
	return &directFile{cached: f, direct: os.NewFile(uintptr(fd), f.Name())}
}

// directFile reads whole blocks past the page cache; where that fails it reads as usual.
type directFile struct {
	cached, direct *os.File
	buffers        sync.Pool
}

func (d *directFile) ReadAt(p []byte, offset int64) (int, error) {
	begin := offset &^ (directBlock - 1)
	skip := int(offset - begin)
	length := (skip + len(p) + directBlock - 1) &^ (directBlock - 1)
	buffer, _ := d.buffers.Get().(*[]byte)
	if buffer == nil || len(*buffer) < length {
		b := alignedBytes(length)
		buffer = &b
	}
	defer d.buffers.Put(buffer)
	n, err := d.direct.ReadAt((*buffer)[:length], begin)
	if err != nil && !errors.Is(err, io.EOF) {
		return d.cached.ReadAt(p, offset)
	}
	n = copy(p, (*buffer)[min(skip, n):n])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// Close closes both.
func (d *directFile) Close() error { return errors.Join(d.direct.Close(), d.cached.Close()) }

// alignedBytes returns memory that begins at a block.
func alignedBytes(n int) []byte {
	b := make([]byte, n+directBlock)
	skip := -int(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) & (directBlock - 1)
	return b[skip : skip+n]
}
