package datasets

import (
	"bufio"
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Expand returns the files that a name stands for, which are one vector one after the other: of "@list" those that the
// file list names, one a line; of a pattern such as "part-*.npy" those that match, so that part-2 is before part-10;
// of any other name that name. A part of each (SplitPart) follows the pattern: "part-*.npz:x".
func Expand(name string) ([]string, error) {
	pattern, part := SplitPart(name)
	var files []string
	switch list, isList := strings.CutPrefix(pattern, "@"); {
	case exists(pattern):
	case isList:
		names, err := readList(list)
		if err != nil {
			return nil, err
		}
		files = names
	case strings.ContainsAny(pattern, "*?["):
		matches, err := filepath.Glob(pattern)
		switch {
		case err != nil:
			return nil, inputf("%s: a pattern of names that is malformed", pattern)
		case len(matches) == 0:
			return nil, inputf("%s: no file has such a name", pattern)
		}
		slices.SortFunc(matches, compareNames)
		files = matches
	}
	if files == nil {
		return []string{name}, nil
	}
	if part != "" {
		for i := range files {
			files[i] += ":" + part
		}
	}
	return files, nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// readList reads names of files, one a line; empty lines are skipped.
func readList(path string) (names []string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fileError(path, err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if name := strings.TrimSpace(lines.Text()); name != "" {
			names = append(names, name)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fileError(path, err)
	}
	if len(names) == 0 {
		return nil, inputf("%s: names no files", path)
	}
	return names, nil
}

// compareNames orders names by their characters, but runs of digits as numbers.
func compareNames(a, b string) int {
	for a != "" && b != "" {
		x, y := digits(a), digits(b)
		if x == "" || y == "" {
			if a[0] != b[0] {
				return cmp.Compare(a[0], b[0])
			}
			a, b = a[1:], b[1:]
			continue
		}
		m, n := strings.TrimLeft(x, "0"), strings.TrimLeft(y, "0")
		if c := cmp.Or(cmp.Compare(len(m), len(n)), cmp.Compare(m, n), cmp.Compare(len(x), len(y))); c != 0 {
			return c
		}
		a, b = a[len(x):], b[len(y):]
	}
	return cmp.Compare(len(a), len(b))
}

// digits returns the digits that a text begins with.
func digits(s string) string { return s[:len(s)-len(strings.TrimLeft(s, "0123456789"))] }
