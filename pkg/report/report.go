// Package report renders records (pkg/record): tables for people, Markdown, CSV, JSON, the format of Go benchmarks, a
// page for browsers, and pictures. Every renderer works from records alone, so that a saved run can be rendered again
// in any format.
package report

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"mpbench/internal/suggest"
	"mpbench/pkg/plot"
	"mpbench/pkg/record"
)

// Options are what a renderer needs to know about where its output goes. Formats for programs ignore them.
type Options struct {
	Width int  // columns of the terminal; 0 for 80
	Color bool // mark success and failure by colour too
	ASCII bool // write "us" and "+-" instead of "µs" and "±"

	Verbose bool // footnotes about the noise of single times, in place of one line
	Samples bool // one row a sample, in formats that have HasSamples

	Plot plot.Options // of pictures
}

// A Format is one way to write a run.
type Format struct {
	Name    string   // as in --format
	Endings []string // of file names, as in --export
	Summary string   // one line
	Render  func(io.Writer, *record.Run, Options) error

	Binary     bool // not for a terminal
	HasSamples bool // follows Options.Samples
}

// Formats returns all formats, the default one first.
func Formats() []Format {
	return []Format{
		{Name: "table", Endings: []string{".txt"}, Summary: "text for a terminal, grouped by data set", Render: Table},
		{Name: "markdown", Endings: []string{".md"}, Summary: "Markdown tables with all columns", Render: Markdown},
		{Name: "csv", Endings: []string{".csv"}, Summary: "comma-separated values, one line a record (RFC 4180)",
			Render: CSV, HasSamples: true},
		{Name: "json", Endings: []string{".json"}, Summary: "one JSON object holding the whole run", Render: JSON},
		{Name: "jsonl", Endings: []string{".jsonl"}, Summary: "JSON lines: environment and records, complete",
			Render: JSONL},
		{Name: "gobench", Endings: []string{".bench"}, Summary: "Go benchmark format, one line a sample, for benchstat",
			Render: GoBench},
		{Name: "html", Endings: []string{".html"}, Summary: "one page with tables, pictures and environment, for a browser",
			Render: HTML},
		{Name: "svg", Endings: []string{".svg"}, Summary: "a picture, see mpbench plot", Render: SVG},
		{Name: "png", Endings: []string{".png"}, Summary: "the same picture in pixels", Render: PNG, Binary: true},
		{Name: "parquet", Endings: []string{".parquet"}, Summary: "the columns of csv, typed, for data frames",
			Render: Parquet, Binary: true, HasSamples: true},
	}
}

// An UnknownFormatError is a usage error: there is no such format.
type UnknownFormatError struct {
	What    string // "format" or "ending of an export file"
	Value   string
	Choices []string
}

func (e *UnknownFormatError) Error() string {
	text := fmt.Sprintf("unknown %s %q", e.What, e.Value)
	if best, ok := suggest.Nearest(e.Value, e.Choices); ok {
		text += fmt.Sprintf(", did you mean %q?", best)
	}
	return text + " (choose from " + strings.Join(e.Choices, ", ") + ")"
}

// FormatByName returns the format of the given name, or an *UnknownFormatError.
func FormatByName(name string) (Format, error) {
	return byName(Formats(), name, func(f Format) string { return f.Name })
}

// byName returns the format of the given name, or an *UnknownFormatError.
func byName[F any](formats []F, name string, nameOf func(F) string) (format F, err error) {
	var names []string
	for _, f := range formats {
		if nameOf(f) == name {
			return f, nil
		}
		names = append(names, nameOf(f))
	}
	return format, &UnknownFormatError{"format", name, names}
}

// FormatByPath returns the format that the ending of a file name stands for, or an *UnknownFormatError.
func FormatByPath(path string) (Format, error) {
	ending := strings.ToLower(filepath.Ext(path))
	var endings []string
	for _, f := range Formats() {
		if slices.Contains(f.Endings, ending) {
			return f, nil
		}
		endings = append(endings, f.Endings...)
	}
	return Format{}, &UnknownFormatError{"ending of export file", filepath.Base(path), endings}
}

// SVG draws the run as a vector picture, of the kind that opts.Plot names or that fits it best; see pkg/plot.
func SVG(w io.Writer, run *record.Run, opts Options) error {
	figure, err := plot.New(run, opts.Plot)
	if err != nil {
		return err
	}
	return figure.WriteSVG(w)
}

// PNG draws the same picture as SVG in pixels.
func PNG(w io.Writer, run *record.Run, opts Options) error {
	figure, err := plot.New(run, opts.Plot)
	if err != nil {
		return err
	}
	return figure.WritePNG(w)
}
