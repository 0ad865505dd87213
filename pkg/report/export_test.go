package report

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"mpbench/pkg/record"
)

// names lists a folder, hidden files too.
func names(t *testing.T, folder string) []string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

func TestExport(t *testing.T) {
	folder := t.TempDir()
	for _, f := range Formats() {
		path := filepath.Join(folder, "run"+f.Endings[0])
		if err := CheckWritable(path); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(path); err == nil {
			t.Fatalf("%s: the check left a file", path)
		}
		for range 2 { // a second time over the first
			if err := Export(path, testRun(), Options{}); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if want := render(t, func(b *bytes.Buffer) error { return f.Render(b, testRun(), Options{}) }); !bytes.Equal(got,
			want) {
			t.Errorf("%s holds something else", path)
		}
	}
	if list := names(t, folder); len(list) != len(Formats()) {
		t.Errorf("the folder holds %v", list)
	}
	var unknown *UnknownFormatError
	if err := Export(filepath.Join(folder, "run.xyz"), testRun(), Options{}); !errors.As(err, &unknown) {
		t.Errorf("got %v", err)
	}
}

// TestExportFails: one clear error that names the path, and nothing is left behind or changed.
func TestExportFails(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "file.json")
	if err := os.WriteFile(file, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	paths := map[string]string{
		"a folder":         folder,
		"missing folder":   filepath.Join(folder, "no", "x.json"),
		"file as a folder": filepath.Join(file, "x.json"),
		"slash at the end": filepath.Join(folder, "new") + string(filepath.Separator),
		"empty":            "",
		"NUL":              filepath.Join(folder, "a\x00b.json"),
	}
	if runtime.GOOS == "linux" {
		paths["system folder"] = "/proc/mpbench.json" // read-only for root too
	}
	if os.Geteuid() > 0 {
		locked := filepath.Join(folder, "locked")
		if err := os.Mkdir(locked, 0o555); err != nil {
			t.Fatal(err)
		}
		paths["read-only folder"] = filepath.Join(locked, "x.json")
		readOnly := filepath.Join(folder, "readonly.json")
		if err := os.WriteFile(readOnly, nil, 0o444); err != nil {
			t.Fatal(err)
		}
		paths["read-only file"] = readOnly
	}
	before := names(t, folder)
	for name, path := range paths {
		check := CheckWritable(path)
		write := WriteFile(path, func(w io.Writer) error { t.Errorf("%s: measured for nothing", name); return nil })
		for _, err := range []error{check, write} {
			var exportErr *ExportError
			if !errors.As(err, &exportErr) || exportErr.Path != path || !strings.HasPrefix(err.Error(),
				"cannot write "+path+": ") {
				t.Errorf("%s: %v", name, err)
			} else if strings.ContainsAny(err.Error(), "\n") || strings.Contains(err.Error(), ".tmp") {
				t.Errorf("%s: no clear error: %v", name, err)
			}
		}
	}
	if after := names(t, folder); strings.Join(after, " ") != strings.Join(before, " ") {
		t.Errorf("the folder holds %v, before %v", after, before)
	}
	if text, _ := os.ReadFile(file); string(text) != "old" {
		t.Errorf("the file holds %q", text)
	}
}

// TestWriteFileKeepsOld: when the content cannot be made, the old file stays as it is, and no part of the new.
func TestWriteFileKeepsOld(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "run.csv")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	err := WriteFile(path, func(w io.Writer) error {
		if _, err := w.Write(make([]byte, 1<<20)); err != nil {
			return err
		}
		return broken
	})
	var exportErr *ExportError
	if !errors.Is(err, broken) || !errors.As(err, &exportErr) {
		t.Errorf("got %v", err)
	}
	if text, _ := os.ReadFile(path); string(text) != "old" {
		t.Errorf("the file holds %d bytes", len(text))
	}
	if list := names(t, folder); len(list) != 1 {
		t.Errorf("the folder holds %v", list)
	}
	if err := WriteFile(path, func(w io.Writer) error { _, err := io.WriteString(w, "new"); return err }); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("the mode changed to %v, %v", info.Mode(), err)
	}
}

// TestWriteFileLinks: a symbolic link stays one, and what it leads to is replaced.
func TestWriteFileLinks(t *testing.T) {
	folder, other := t.TempDir(), t.TempDir()
	goal, link := filepath.Join(other, "goal.txt"), filepath.Join(folder, "link.txt")
	if err := os.WriteFile(goal, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(goal, link); err != nil {
		t.Skip("no symbolic links here: ", err)
	}
	if err := WriteFile(link, func(w io.Writer) error { _, err := io.WriteString(w, "new"); return err }); err != nil {
		t.Fatal(err)
	}
	if text, _ := os.ReadFile(goal); string(text) != "new" {
		t.Errorf("the goal holds %q", text)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v, %v", info.Mode(), err)
	}
}

// TestWriteFileDevice: a device is written to and not replaced by a file.
func TestWriteFileDevice(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no /dev")
	}
	if err := CheckWritable(os.DevNull); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(os.DevNull, func(w io.Writer) error {
		_, err := io.WriteString(w,
			"x")
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Errorf("%s is no device any more", os.DevNull)
	}
	if runtime.GOOS == "linux" { // a disk that is full
		err := WriteFile("/dev/full", func(w io.Writer) error { return CSV(w, testRun(), Options{}) })
		if err == nil || !strings.Contains(err.Error(), "no space left") {
			t.Errorf("got %v", err)
		}
	}
}

// TestExportRefusesRecord: a record that could not be read back is no reason for half a file.
func TestExportRefusesRecord(t *testing.T) {
	folder := t.TempDir()
	run := testRun()
	run.Records[3].Value = "no number"
	for _, ending := range []string{".json", ".jsonl"} {
		err := Export(filepath.Join(folder, "run"+ending), run, Options{})
		var fieldErr *record.FieldError
		if !errors.As(err, &fieldErr) || fieldErr.Field != "value" {
			t.Errorf("got %v", err)
		}
	}
	if list := names(t, folder); len(list) != 0 {
		t.Errorf("the folder holds %v", list)
	}
}
