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
	"mpbench/pkg/record"
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
	short       Numbers    // instead, where all are decimals of few digits
	description string
	notes       []string
	header      string // a line that is none of numbers and was skipped
}

type format struct {
	extension string
	read      func(f *file, reading Reading) (content, error)
}

var formats = []format{
	{".npy", func(f *file, _ Reading) (content, error) { return readNPY(f) }},
	{".npz", func(f *file, _ Reading) (content, error) { return readNPY(f) }},
	{".txt", readText},
	{".csv", readCSV},
	{".mtx", readVectorMTX},
	{".parquet", func(f *file, _ Reading) (content, error) { return readParquet(f) }},
}

// raw is the format of numbers without a header, which no ending stands for but a part (rawPart).
var raw = format{"", func(f *file, _ Reading) (content, error) { return readRaw(f) }}

// withParts are the endings of files of several vectors, of which a part is named.
var withParts = []string{".csv", ".npz", ".parquet"}

// SplitPart cuts the part off the name of a file that has parts: "x.csv:2" is column 2 of x.csv, "x.npz:b" the array b
// of x.npz, "x.bin:f8@64" numbers without a header that begin at byte 64 of x.bin.
func SplitPart(path string) (name, part string) {
	for _, extension := range withParts {
		for _, packing := range append([]string{""}, packings...) {
			extension := extension + packing + ":"
			if i := strings.LastIndex(strings.ToLower(path), extension); i >= 0 {
				return path[:i+len(extension)-1], path[i+len(extension):]
			}
		}
	}
	if i := strings.LastIndexByte(path, ':'); i > 0 && rawPart.MatchString(path[i+1:]) {
		return path[:i], path[i+1:]
	}
	return path, ""
}

// formatOf returns the format of a file by the ending of its name, nil if there is none.
func formatOf(path string) *format {
	name, part := SplitPart(path)
	name, _ = splitPacking(name)
	extension := strings.ToLower(filepath.Ext(name))
	if part != "" && !slices.Contains(withParts, extension) {
		return &raw
	}
	if i := slices.IndexFunc(formats, func(f format) bool { return f.extension == extension }); i >= 0 {
		return &formats[i]
	}
	return nil
}

// Extensions lists the endings of the files that Load reads.
func Extensions() []string {
	var list []string
	for _, f := range formats {
		list = append(list, f.extension)
	}
	return list
}

// file is an open input: its bytes, how many there are, the name to put before messages, and which part is wanted.
type file struct {
	io.Reader
	name string
	size int64
	part string
}

// errorf makes an ErrInput that begins with the file's name.
func (f *file) errorf(format string, args ...any) error {
	return inputf("%s: %s", f.name, fmt.Sprintf(format, args...))
}

// Load reads a vector x from a file, in the format of its ending (see Extensions), or from a part of one (SplitPart),
// or from several one after the other (Expand). reading matters for text only.
func Load(name string, reading Reading) (*Data, error) {
	paths, err := Expand(name)
	if err != nil {
		return nil, err
	}
	if len(paths) == 1 {
		return loadOne(paths[0], reading)
	}
	all := &Data{Name: baseName(name), Source: fmt.Sprintf("%d files %s", len(paths), name), fromFile: true}
	var list []float64
	for _, path := range paths {
		d, err := loadOne(path, reading)
		if err != nil {
			return nil, err
		}
		x, ok := d.X.Float64()
		if !ok {
			return nil, inputf("%s: holds numbers wider than float64; name it alone, not as one of several", path)
		}
		list = append(list, x...)
		all.Skipped, all.Params = append(all.Skipped, d.Skipped...), d.Params
	}
	all.N, all.X = len(list), float64s(list)
	return all, nil
}

func loadOne(path string, reading Reading) (*Data, error) {
	f, err := open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	c, err := f.format.read(&f.file, reading)
	if err != nil {
		return nil, err
	}
	d := &Data{
		Name:     baseName(path),
		Extents:  Extents{N: c.len()},
		Source:   "file " + path + ": " + c.description,
		Notes:    c.notes,
		fromFile: true,
	}
	if reading == Exact && !strings.HasPrefix(f.format.extension, ".np") {
		d.Params = []Arg{{"reading", reading.String()}}
	}
	if c.header != "" {
		d.Skipped = []string{fmt.Sprintf("%s: %q", d.Name, c.header)}
	}
	d.X = c.numbers()
	return d, nil
}

// len returns how many numbers there are.
func (c content) len() int {
	if c.short.Source != nil {
		return c.short.Len()
	}
	return len(c.float64s) + len(c.wide)
}

func (c content) numbers() Numbers {
	if c.short.Source != nil {
		return c.short
	}
	if c.wide != nil {
		return Numbers{numbers.Rationals(c.wide), hashRationals(c.wide)}
	}
	return float64s(c.float64s)
}

type openFile struct {
	file
	io.Closer
	format *format
}

// open opens standard input, a regular file that is not empty and of which the ending is one of Extensions, unpacked
// in memory where it is compressed, or the array of an .npz.
func open(name string) (*openFile, error) {
	if name == Stdin {
		return openStdin()
	}
	opened, in, err := openStored(name)
	if err != nil {
		return nil, err
	}
	var at io.ReaderAt = in
	if _, packing := splitPacking(opened.name); packing != "" {
		unpacked, err := unpack(opened, packing)
		if err != nil {
			return nil, errors.Join(err, in.Close())
		}
		opened.Reader, opened.size, at = unpacked, unpacked.Size(), unpacked
	}
	if opened.format.extension != ".npz" {
		return opened, nil
	}
	return openArray(opened, at)
}

// openStored opens a regular file that is not empty and of which the ending is one of Extensions, as it is stored.
func openStored(name string) (*openFile, *os.File, error) {
	path, part := SplitPart(name)
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, fileError(path, err)
	}
	endings := strings.Join(Extensions(), ", ")
	switch {
	case info.IsDir():
		return nil, nil, inputf("%s: is a directory (want a file: %s)", path, endings)
	case formatOf(name) == nil:
		return nil, nil, inputf("%s: unknown file format %q (want %s)", path, filepath.Ext(path), endings)
	case !info.Mode().IsRegular():
		return nil, nil, inputf("%s: is not a regular file", path)
	case info.Size() == 0:
		return nil, nil, inputf("%s: is empty", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, fileError(path, err)
	}
	return &openFile{file{f, path, info.Size(), part}, f, formatOf(name)}, f, nil
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

// CheckMemory returns an error, phrased to follow a colon, if an array of that many bytes cannot fit in this machine's
// memory, of which an eighth is left to everything else. Where the size of the memory is not known, nothing is
// refused.
func CheckMemory(bytes int64) error {
	if have := memoryBytes(); have > 0 && bytes > have-have/8 {
		return fmt.Errorf("%s of numbers do not fit in this machine's memory of %s", record.Bytes(bytes), record.Bytes(have))
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
