package report

import (
	"fmt"
	"io"

	"mpbench/pkg/record"
)

// A Document is a result that is no list of measured records, such as a comparison with a paper: tables for people, and the same
// content as flat objects for programs.
type Document struct {
	Schema  string // of the objects: "mpbench-paper/1"
	Title   string
	Sheets  []Sheet
	Notes   []Note
	Closing []string // paragraphs at the end; lines in them that begin with four spaces are not broken

	Environment *record.Environment // in the last line of a table, nil for none

	// Rows are structs of one type with json tags, whose fields are strings, numbers and truth values.
	Rows []any
}

// A Sheet is one table of a Document.
type Sheet struct {
	Title   string // "" for none
	Facts   []string
	Columns []SheetColumn
	Rows    [][]string // as many cells as columns, without line breaks but in a last column that wraps
}

// A SheetColumn describes the cells below it.
type SheetColumn struct {
	Head     [2]string // two lines
	Right    bool      // aligned to the right
	Verdict  bool      // colour "yes" and "pass" green, "NO" and "FAIL" red
	Optional bool      // left out of a terminal that is too narrow, the last one first
	Wrap     bool      // the last column only: broken between words to fit the terminal
}

// A Note is a footnote: its label stands in cells.
type Note struct{ Label, Text string }

// A DocumentFormat is one way to write a Document.
type DocumentFormat struct {
	Name   string // as in --format
	Render func(io.Writer, *Document, Options) error
}

// DocumentFormats returns all formats of documents, the default one first.
func DocumentFormats() []DocumentFormat {
	return []DocumentFormat{
		{"table", documentTable},
		{"markdown", documentMarkdown},
		{"csv", documentCSV},
		{"json", documentJSON},
		{"jsonl", documentJSONL},
	}
}

// DocumentFormatByName returns the format of the given name, or an *UnknownFormatError.
func DocumentFormatByName(name string) (DocumentFormat, error) {
	var names []string
	for _, f := range DocumentFormats() {
		if f.Name == name {
			return f, nil
		}
		names = append(names, f.Name)
	}
	return DocumentFormat{}, &UnknownFormatError{"format", name, names}
}

// check finds rows of another length than the heading: a mistake of the program.
func (s Sheet) check() error {
	for i, row := range s.Rows {
		if len(row) != len(s.Columns) {
			return fmt.Errorf("report: row %d of %q has %d cells, its heading %d", i, s.Title, len(row), len(s.Columns))
		}
	}
	return nil
}
