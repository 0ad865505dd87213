package datasets

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mpbench/internal/suggest"
	"mpbench/pkg/numbers"
)

// Reading says what a decimal number in a text file stands for.
type Reading uint8

const (
	// Double takes a decimal of at most 17 significant digits for the nearest float64, which is what a program that
	// printed a float64 meant, and keeps longer ones exactly.
	Double Reading = iota
	// Exact keeps every decimal exactly: 0.1 is one tenth.
	Exact
)

// ParseReading reads "double" or "exact".
func ParseReading(text string) (Reading, error) {
	switch text {
	case "double":
		return Double, nil
	case "exact":
		return Exact, nil
	}
	return 0, usagef("%s", suggest.Unknown("reading", text, []string{"double", "exact"}))
}

// String returns "double" or "exact".
func (r Reading) String() string {
	if r == Exact {
		return "exact"
	}
	return "double"
}

// content is what a reader makes of a file.
type content struct {
	float64s    []float64
	wide        []*big.Rat // instead, where a number is no float64
	description string
	notes       []string
}

// format is one file format.
type format struct {
	extension string
	read      func(f *file, reading Reading) (content, error)
}

// formats are the file formats that Load knows.
var formats = []format{
	{".npy", func(f *file, _ Reading) (content, error) { return readNPY(f) }},
	{".txt", func(f *file, r Reading) (content, error) { return readText(f, r, false) }},
	{".csv", func(f *file, r Reading) (content, error) { return readText(f, r, true) }},
}

// Extensions lists the endings of the files that Load reads.
func Extensions() []string {
	var list []string
	for _, f := range formats {
		list = append(list, f.extension)
	}
	return list
}

// file is an open input: its bytes, how many there are, and the name to put before messages.
type file struct {
	io.Reader
	name string
	size int64
}

// errorf makes an ErrInput that begins with the file's name.
func (f *file) errorf(format string, args ...any) error {
	return inputf("%s: %s", f.name, fmt.Sprintf(format, args...))
}

// Load reads the numbers in a file, a vector x; its ending says which format it is in (see Extensions). reading matters for text only.
func Load(path string, reading Reading) (*Data, error) {
	extension := strings.ToLower(filepath.Ext(path))
	i := slices.IndexFunc(formats, func(f format) bool { return f.extension == extension })
	f, err := open(path, i >= 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	c, err := formats[i].read(&f.file, reading)
	if err != nil {
		return nil, err
	}
	d := &Data{
		Name:     filepath.Base(path),
		N:        len(c.float64s) + len(c.wide),
		Source:   "file " + path + ": " + c.description,
		Notes:    c.notes,
		fromFile: true,
	}
	if reading == Exact && extension != ".npy" {
		d.Params = []Arg{{"reading", reading.String()}}
	}
	d.X = float64s(c.float64s)
	if c.wide != nil {
		d.X = Numbers{numbers.Rationals(c.wide), hashRationals(c.wide)}
	}
	return d, nil
}

// openFile is a file on disk.
type openFile struct {
	file
	io.Closer
}

// open opens a regular file that is not empty. known says whether its ending is one of Extensions; what is wrong with the
// file itself is reported first.
func open(path string, known bool) (*openFile, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fileError(path, err)
	}
	endings := strings.Join(Extensions(), ", ")
	switch {
	case info.IsDir():
		return nil, inputf("%s: is a directory (want a file: %s)", path, endings)
	case !known:
		return nil, inputf("%s: unknown file format %q (want %s)", path, filepath.Ext(path), endings)
	case !info.Mode().IsRegular():
		return nil, inputf("%s: is not a regular file", path)
	case info.Size() == 0:
		return nil, inputf("%s: is empty", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fileError(path, err)
	}
	return &openFile{file{f, path, info.Size()}, f}, nil
}

// fileError words an error of the file system in one line.
func fileError(path string, err error) error {
	message := ""
	var pathError *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		message = "no such file"
	case errors.Is(err, fs.ErrPermission):
		message = "permission denied"
	case errors.As(err, &pathError):
		message = pathError.Err.Error()
	default:
		message = err.Error()
	}
	return &kindError{kind: ErrInput, message: path + ": " + message, cause: err}
}
