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
	"strconv"
	"strings"
	"sync"

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

type format struct {
	extension string
	read      func(f *file, reading Reading) (content, error)
}

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

// Load reads a vector x from a file, in the format of its ending (see Extensions). reading matters for text only.
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

type openFile struct {
	file
	io.Closer
}

// open opens a regular file that is not empty. known says whether its ending is one of Extensions.
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

// ErrUsage marks errors of the caller: an unknown data set or parameter, a value out of range.
var ErrUsage = errors.New("usage error")

// ErrInput marks errors of the input: a file that is missing, unreadable or not in the format it claims.
var ErrInput = errors.New("input error")

// kindError is a message with the sentinel that classifies it. The sentinel's own text is not printed.
type kindError struct {
	kind    error
	message string
	cause   error // may be nil
}

func (e *kindError) Error() string { return e.message }

func (e *kindError) Unwrap() []error {
	if e.cause == nil {
		return []error{e.kind}
	}
	return []error{e.kind, e.cause}
}

func usagef(format string, args ...any) error {
	return &kindError{kind: ErrUsage, message: fmt.Sprintf(format, args...)}
}

func inputf(format string, args ...any) error {
	return &kindError{kind: ErrInput, message: fmt.Sprintf(format, args...)}
}

// checkMemory returns an error, phrased to follow a colon, if an array of that many bytes cannot fit in this machine's
// memory, of which an eighth is left to everything else. Where the size of the memory is not known, nothing is
// refused.
func checkMemory(bytes int64) error {
	if have := memoryBytes(); have > 0 && bytes > have-have/8 {
		return fmt.Errorf("%s of terms do not fit in this machine's memory of %s", formatBytes(bytes), formatBytes(have))
	}
	return nil
}

// memoryBytes returns the size of the memory that this process may use, 0 where it is not known: on Linux the lesser
// of physical memory and the control group's limit.
var memoryBytes = sync.OnceValue(func() int64 {
	have := int64(0)
	if text, err := os.ReadFile("/proc/meminfo"); err == nil {
		have = memTotal(string(text))
	}
	if text, err := os.ReadFile("/sys/fs/cgroup/memory.max"); err == nil {
		limit, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64) // "max" is no number: no limit
		if err == nil && limit > 0 && (have == 0 || limit < have) {
			have = limit
		}
	}
	return have
})

// MemoryBytes returns the size of the memory that this process may use, 0 where it is not known.
func MemoryBytes() int64 { return memoryBytes() }

// memTotal reads the line "MemTotal: 16384 kB" of /proc/meminfo.
func memTotal(meminfo string) int64 {
	for line := range strings.Lines(meminfo) {
		if rest, ok := strings.CutPrefix(line, "MemTotal:"); ok {
			kib, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64)
			if err == nil {
				return kib * 1024
			}
		}
	}
	return 0
}

// formatBytes writes a number of bytes in decimal units: "8.0 TB".
func formatBytes(n int64) string {
	value, unit := float64(n), 0
	units := []string{"bytes", "kB", "MB", "GB", "TB", "PB", "EB"}
	for value >= 1000 && unit < len(units)-1 {
		value /= 1000
		unit++
	}
	if unit == 0 {
		return fmt.Sprintf("%d bytes", n)
	}
	return fmt.Sprintf("%.1f %s", value, units[unit])
}
