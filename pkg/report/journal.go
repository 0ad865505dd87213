package report

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"

	"mpbench/pkg/record"
)

// A Journal is a result file in JSON lines that gets each record as soon as its case is finished. A program that is
// killed at any moment, or that meets a full disk, leaves a file that holds every record for which Add returned nil.
//
// The first Add writes environment and record into a temporary file, which is synced and renamed: until then a file
// that was there before stays as it was. Each later Add appends whole lines in one write and syncs. A write that fails
// half-way is cut off again; where even that is impossible, record.ReadRecords leaves out a last line that is cut off.
type Journal struct {
	path   string
	target target
	kept   *record.Run // what the file starts with
	file   appendFile  // nil before the first Add
	size   int64       // up to the end of the last whole line
	lines  bytes.Buffer
	out    *record.Writer // to lines
	err    error          // of the first write that failed
}

type appendFile interface {
	Write([]byte) (int, error)
	Sync() error
	Truncate(size int64) error
	Close() error
}

// JournalPath returns the first path that ends with .jsonl and is no pipe or device; ok is whether there is one.
func JournalPath(paths []string) (path string, ok bool) {
	for _, path := range paths {
		target, err := exportTarget(path)
		if strings.EqualFold(filepath.Ext(path), ".jsonl") && (err != nil || !target.direct) {
			return path, true
		}
	}
	return "", false
}

// NewJournal returns a journal that replaces the file of that name. The new file starts with what kept holds, of an
// earlier run that is continued; nil for nothing.
func NewJournal(path string, kept *record.Run) (*Journal, error) {
	target, err := exportTarget(path)
	if err != nil {
		return nil, &ExportError{path, err}
	}
	if kept == nil {
		kept = &record.Run{}
	}
	j := &Journal{path: path, target: target, kept: kept}
	j.out = record.NewWriter(&j.lines)
	return j, nil
}

// Add writes a record, after its environment if that is new. When it returns nil, the record is on the disk. After an
// *ExportError the file holds at least what it held before, and nothing is added any more.
func (j *Journal) Add(env record.Environment, r record.Record) error {
	if j.err == nil {
		j.err = j.add(env, r)
	}
	if j.err != nil {
		return &ExportError{j.path, j.err}
	}
	return nil
}

func (j *Journal) add(env record.Environment, r record.Record) error {
	j.lines.Reset()
	if j.file == nil {
		if err := JSONL(&j.lines, j.kept, Options{}); err != nil {
			return err
		}
		for _, old := range j.kept.Environments {
			j.out.Skip(old)
		}
	}
	if err := j.out.WriteEnvironment(env); err != nil {
		return err
	}
	if err := j.out.WriteRecord(r); err != nil {
		return err
	}
	if j.file == nil {
		return j.begin()
	}
	return j.append()
}

// begin writes the first lines and puts the new file in the place of the old one.
func (j *Journal) begin() error {
	text := j.lines.Bytes()
	err := writeWhole(j.target, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
	if err != nil {
		return err
	}
	f, err := os.OpenFile(j.target.path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	j.file, j.size = f, int64(len(text))
	return nil
}

func (j *Journal) append() error {
	_, err := j.file.Write(j.lines.Bytes())
	if err == nil {
		err = j.file.Sync()
	}
	if err != nil {
		_ = j.file.Truncate(j.size) // or else readers drop what is there of the line
		return err
	}
	j.size += int64(j.lines.Len())
	return nil
}

// Close closes the file.
func (j *Journal) Close() error {
	if j.file == nil {
		return nil
	}
	if err := j.file.Close(); err != nil && j.err == nil {
		return &ExportError{j.path, err}
	}
	return nil
}
