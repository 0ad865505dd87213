package report

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"mpbench/pkg/plot"
	"mpbench/pkg/record"
)

// An ExportError says that a result file could not be written, and why. It calls for exit code 4.
type ExportError struct {
	Path string
	Err  error
}

func (e *ExportError) Error() string {
	err := e.Err
	var pathErr *fs.PathError // its path may be that of the temporary file
	var linkErr *os.LinkError
	switch {
	case errors.As(err, &pathErr):
		err = pathErr.Err
	case errors.As(err, &linkErr):
		err = linkErr.Err
	}
	return fmt.Sprintf("cannot write %s: %v", e.Path, err)
}

func (e *ExportError) Unwrap() error { return e.Err }

// Export writes the run into a file as WriteFile does, in the format that the ending of its name stands for.
func Export(path string, run *record.Run, opts Options) error {
	format, err := FormatByPath(path)
	if err != nil {
		return err
	}
	return WriteFile(path, func(w io.Writer) error { return format.Render(w, run, opts) })
}

// CheckPicture returns a *UnknownFormatError for a file whose name does not end as a picture's does, or the
// *ExportError that WritePicture would meet.
func CheckPicture(path string) error {
	if f, err := FormatByPath(path); err != nil || f.Name != "svg" && f.Name != "png" {
		return &UnknownFormatError{"ending of a picture", filepath.Base(path), []string{".svg", ".png"}}
	}
	return CheckWritable(path)
}

// WritePicture writes a figure into a file as WriteFile does, as SVG or PNG by the ending of its name.
func WritePicture(path string, f *plot.Figure) error {
	write := f.WriteSVG
	if strings.EqualFold(filepath.Ext(path), ".png") {
		write = f.WritePNG
	}
	return WriteFile(path, write)
}

// CheckWritable returns the *ExportError that WriteFile would meet: call it before a long measurement. It
// leaves nothing behind and does not touch a file that is there.
func CheckWritable(path string) error {
	target, err := exportTarget(path)
	if err != nil {
		return &ExportError{path, err}
	}
	if target.direct {
		return nil
	}
	f, err := createTemporary(target)
	if err == nil {
		err = discard(f)
	}
	if err != nil {
		return &ExportError{path, err}
	}
	return nil
}

// WriteFile writes a file by the given function: into a temporary file in the same folder, which is synced and
// then renamed. If anything fails, the old file, or its absence, is as before, and the error is an
// *ExportError. What is no regular file, such as a pipe or /dev/stdout, is written directly.
func WriteFile(path string, write func(io.Writer) error) error {
	target, err := exportTarget(path)
	if err == nil && target.direct {
		err = writeDirectly(target.path, write)
	} else if err == nil {
		err = writeWhole(target, write)
	}
	if err != nil {
		return &ExportError{path, err}
	}
	return nil
}

// IsDirect tells whether WriteFile writes what is named directly, as it is no regular file, so that it may wait for a
// reader.
func IsDirect(path string) bool {
	t, err := exportTarget(path)
	return err == nil && t.direct
}

type target struct {
	path   string // with symbolic links resolved
	mode   fs.FileMode
	exists bool
	direct bool // no regular file: not to be replaced
}

var errIsFolder = errors.New("it is a folder")

// exportTarget finds out what path stands for, and that an existing file may be written.
func exportTarget(path string) (target, error) {
	t := target{path: path, mode: 0o666}
	if path == "" {
		return t, errors.New("the name is empty")
	}
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		t.path = resolved
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !os.IsPathSeparator(path[len(path)-1]):
		return t, nil
	case err != nil:
		return t, err
	case info.IsDir():
		return t, errIsFolder
	case !info.Mode().IsRegular():
		t.direct = true
		return t, nil
	}
	t.exists, t.mode = true, info.Mode().Perm()
	f, err := os.OpenFile(path, os.O_WRONLY, 0) // a file that is read-only is so on purpose
	if err != nil {
		return t, err
	}
	return t, f.Close()
}

func writeDirectly(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(writeBuffered(f, write), f.Close())
}

func writeBuffered(f *os.File, write func(io.Writer) error) error {
	w := bufio.NewWriter(f)
	if err := write(w); err != nil {
		return err
	}
	return w.Flush()
}

func writeWhole(t target, write func(io.Writer) error) error {
	f, err := createTemporary(t)
	if err != nil {
		return err
	}
	if err = writeBuffered(f, write); err == nil {
		err = f.Sync()
	}
	if err == nil && t.exists {
		err = f.Chmod(t.mode) // the umask has no say about a mode that was there before
	}
	if err != nil {
		return errors.Join(err, discard(f))
	}
	if err := f.Close(); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	if err := os.Rename(f.Name(), t.path); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	syncFolder(filepath.Dir(t.path))
	return nil
}

// createTemporary is os.CreateTemp beside the target, but with the mode of files that users make.
func createTemporary(t target) (*os.File, error) {
	folder, base := filepath.Split(t.path)
	for try := 0; ; try++ {
		name := filepath.Join(folder, "."+base+"."+strconv.FormatUint(rand.Uint64(), 36)+".tmp")
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, t.mode)
		if !errors.Is(err, fs.ErrExist) || try == 100 {
			return f, err
		}
	}
}

func discard(f *os.File) error { return errors.Join(f.Close(), os.Remove(f.Name())) }

// syncFolder makes a rename last through a power failure. Not every system can; the file itself is safe.
func syncFolder(path string) {
	if f, err := os.Open(path); err == nil {
		_ = f.Sync()
		_ = f.Close()
	}
}
