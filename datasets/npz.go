package datasets

import (
	"archive/zip"
	"errors"
	"io"
	"slices"
	"strings"

	"mpbench/internal/suggest"
)

// openArray opens the array of an .npz file that its part names, or the only one: an .npz file is a ZIP archive of
// .npy files, whose names are those of the arrays with that ending.
func openArray(f *openFile, in io.ReaderAt) (*openFile, error) {
	member, err := f.array(in)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	r, err := member.Open()
	if err != nil {
		return nil, errors.Join(f.errorf("%s: %s", member.Name, err), f.Close())
	}
	size := int64(member.UncompressedSize64)
	array := file{Reader: r, name: f.name + ":" + arrayName(member), size: size}
	return &openFile{array, closers{r, f.Closer}, f.format}, nil
}

func (f *openFile) array(in io.ReaderAt) (*zip.File, error) {
	archive, err := zip.NewReader(in, f.size)
	if err != nil {
		return nil, f.errorf("is no .npz file: %s", plainError(err))
	}
	members := slices.DeleteFunc(archive.File, func(m *zip.File) bool { return !strings.HasSuffix(m.Name, ".npy") })
	var names []string
	for _, m := range members {
		names = append(names, arrayName(m))
	}
	i := slices.Index(names, f.part)
	switch {
	case len(members) == 0:
		return nil, f.errorf("holds no arrays")
	case f.part == "" && len(members) == 1:
		return members[0], nil
	case f.part == "":
		return nil, f.errorf("holds %d arrays; name one, as %s:%s (of %s)", len(names), f.name, names[0],
			strings.Join(names, " "))
	case i < 0:
		return nil, f.errorf("%s", suggest.Unknown("array", f.part, names))
	}
	return members[i], nil
}

func arrayName(m *zip.File) string { return strings.TrimSuffix(m.Name, ".npy") }

// closers are closed one after the other.
type closers []io.Closer

func (list closers) Close() (err error) {
	for _, c := range list {
		err = errors.Join(err, c.Close())
	}
	return err
}
