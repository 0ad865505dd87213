package report

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"mpbench/pkg/record"
)

// readFile reads the results in a file.
func readFile(t *testing.T, path string) *record.Run {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	run, err := record.ReadRecords(bytes.NewReader(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return run
}

func newJournal(t *testing.T, path string, kept *record.Run) *Journal {
	t.Helper()
	j, err := NewJournal(path, kept)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	return j
}

// TestJournal: each record is in the file when Add returns, the old file stays until the first one, and in the end the
// file is what Export writes.
func TestJournal(t *testing.T) {
	path, run := filepath.Join(t.TempDir(), "run.jsonl"), testRun()
	if err := os.WriteFile(path, []byte("old"), 0o640); err != nil {
		t.Fatal(err)
	}
	j := newJournal(t, path, nil)
	if text, _ := os.ReadFile(path); string(text) != "old" {
		t.Errorf("the file holds %q before the first record", text)
	}
	for i, r := range run.Records {
		if err := j.Add(run.Environments[0], r); err != nil {
			t.Fatal(err)
		}
		if got := readFile(t, path); len(got.Records) != i+1 || len(got.Environments) != 1 || got.Partial != nil {
			t.Fatalf("after record %d: %d records, %d environments", i, len(got.Records), len(got.Environments))
		}
	}
	got, _ := os.ReadFile(path)
	if want := render(t, func(b *bytes.Buffer) error { return JSONL(b, run, Options{}) }); !bytes.Equal(got, want) {
		t.Errorf("the file holds\n%s\nwant\n%s", got, want)
	}
	if info, _ := os.Stat(path); info.Mode().Perm() != 0o640 {
		t.Errorf("mode %v", info.Mode())
	}
	if list := names(t, filepath.Dir(path)); len(list) != 1 {
		t.Errorf("the folder holds %v", list)
	}
}

// TestJournalContinues: a file that is cut off anywhere in its last line is continued from the records before.
func TestJournalContinues(t *testing.T) {
	run := testRun()
	run.Records = run.Records[:3]
	whole := render(t, func(b *bytes.Buffer) error { return JSONL(b, run, Options{}) })
	last := bytes.LastIndexByte(whole[:len(whole)-1], '\n') + 1
	path := filepath.Join(t.TempDir(), "run.jsonl")
	for end := last; end < len(whole)-1; end += 13 {
		if err := os.WriteFile(path, whole[:end], 0o666); err != nil {
			t.Fatal(err)
		}
		kept := readFile(t, path)
		if len(kept.Records) != 2 {
			t.Fatalf("cut at %d: %d records", end, len(kept.Records))
		}
		j := newJournal(t, path, kept)
		if err := j.Add(run.Environments[0], run.Records[2]); err != nil {
			t.Fatal(err)
		}
		if got, _ := os.ReadFile(path); !bytes.Equal(got, whole) {
			t.Fatalf("cut at %d: the file holds\n%s", end, got)
		}
		_ = j.Close()
	}
}

// fullDisk is a file on a disk with room for so many more bytes.
type fullDisk struct {
	*os.File
	room     int
	truncate error // what Truncate returns
}

func (f *fullDisk) Write(p []byte) (int, error) {
	n := min(len(p), f.room)
	f.room -= n
	if _, err := f.File.Write(p[:n]); err != nil || n == len(p) {
		return n, err
	}
	return n, syscall.ENOSPC
}

func (f *fullDisk) Truncate(size int64) error {
	if f.truncate != nil {
		return f.truncate
	}
	return f.File.Truncate(size)
}

// TestJournalFullDisk: wherever in a line the disk is full, the records before it are in the file, and so they are
// where the part of a line cannot be taken back.
func TestJournalFullDisk(t *testing.T) {
	run := testRun()
	path := filepath.Join(t.TempDir(), "run.jsonl")
	for room := 0; room < 2500; room += 97 {
		for _, truncate := range []error{nil, syscall.EIO} {
			j := newJournal(t, path, nil)
			if err := j.Add(run.Environments[0], run.Records[0]); err != nil {
				t.Fatal(err)
			}
			j.file = &fullDisk{j.file.(*os.File), room, truncate}
			added, err := 1, error(nil)
			for _, r := range run.Records[1:] {
				if err = j.Add(run.Environments[0], r); err != nil {
					break
				}
				added++
			}
			var export *ExportError
			if !errors.As(err, &export) || !errors.Is(err, syscall.ENOSPC) || !strings.HasPrefix(err.Error(),
				"cannot write "+path+": ") {
				t.Fatalf("room %d: %v", room, err)
			}
			if again := j.Add(run.Environments[0], run.Records[0]); again == nil {
				t.Errorf("room %d: a record after the error", room)
			}
			got := readFile(t, path)
			if len(got.Records) != added || truncate == nil && got.Partial != nil {
				t.Errorf("room %d: %d of %d records, %q", room, len(got.Records), added, got.Partial)
			}
			_ = j.Close()
		}
	}
}

func TestJournalPath(t *testing.T) {
	for _, c := range []struct {
		want  string
		paths []string
	}{
		{"", nil},
		{"", []string{"a.csv", os.DevNull}},
		{"b.jsonl", []string{"a.csv", "b.jsonl", "c.jsonl"}},
		{"B.JSONL", []string{"B.JSONL"}},
	} {
		if got, ok := JournalPath(c.paths); got != c.want || ok != (c.want != "") {
			t.Errorf("%v: %q, %v", c.paths, got, ok)
		}
	}
}
