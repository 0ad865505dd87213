package datasets

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"sync"
)

// Stdin is the path that stands for standard input, which is read as a whole: a .npy or .npz file if it begins as one,
// otherwise numbers in text, as in a .txt file.
const Stdin = "-"

// maxStdin is how many bytes are taken from standard input, which may have no end.
const maxStdin = 256 << 20

// readStdin reads standard input, once.
var readStdin = sync.OnceValues(func() ([]byte, error) {
	const name = "standard input"
	data, err := io.ReadAll(io.LimitReader(os.Stdin, maxStdin+1))
	switch {
	case err != nil:
		return nil, fileError(name, err)
	case len(data) == 0:
		return nil, inputf("%s: is empty", name)
	case len(data) > maxStdin:
		return nil, inputf("%s: holds more than %d MiB; write it into a file, and name that", name, maxStdin>>20)
	}
	return data, nil
})

func openStdin() (*openFile, error) {
	data, err := readStdin()
	if err != nil {
		return nil, err
	}
	in := bytes.NewReader(data)
	extension := ".txt"
	switch {
	case bytes.HasPrefix(data, []byte(npyMagic)):
		extension = ".npy"
	case bytes.HasPrefix(data, []byte("PK\x03\x04")):
		extension = ".npz"
	}
	f := &openFile{file{in, "standard input", in.Size(), ""}, io.NopCloser(in), formatOf(extension)}
	if extension == ".npz" {
		return openArray(f, in)
	}
	return f, nil
}

// baseName returns the name of a file in records.
func baseName(path string) string {
	if path == Stdin {
		return "stdin"
	}
	return filepath.Base(path)
}
