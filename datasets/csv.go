package datasets

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"mpbench/internal/suggest"
)

// allColumns is the part of a .csv file that stands for all numbers, line by line, as one list.
const allColumns = "all"

// readCSV reads a column of a .csv file: the part of its name, a header's name or a number from 1, or the only one
// there is. With allColumns the numbers of every line are read as those of a .txt file.
//
// Columns are separated by commas or semicolons, white space around them does not count, and they may be in quotes.
// What follows a # is a comment. The first line that is neither blank nor a comment is a header if the columns that
// are wanted hold words there: texts that begin with a letter or an underscore and are no numbers. A column that is
// asked for by its name must be there.
func readCSV(f *file, reading Reading) (content, error) {
	r := csvReader{textReader: newTextReader(f, reading)}
	c, err := r.read(r.parse)
	c.header = r.header
	return c, err
}

type csvReader struct {
	textReader
	begun  bool
	column int    // that is wanted, from 0
	header string // the line that was one
	fields []csvField
}

// csvField is a column of a line; start is the byte that its text begins with.
type csvField struct {
	text  string
	start int
}

func (r *csvReader) parse(line []byte) error {
	if err := r.split(line); err != nil || len(r.fields) == 0 {
		return err
	}
	if r.part == "" && len(r.fields) > 1 {
		return r.fail(r.fields[1].start+1, "%d columns; name one, as %s:2 or by what the header calls it, or take all "+
			"numbers as one list, %[2]s:%s", len(r.fields), r.name, allColumns)
	}
	if !r.begun {
		r.begun = true
		if header, err := r.begin(); err != nil || header {
			r.header = string(bytes.TrimSpace(line))
			return err
		}
	}
	switch {
	case r.part == allColumns:
		return r.textReader.parse(line)
	case r.column >= len(r.fields):
		return r.fail(len(line), "there is no column %d here", r.column+1)
	}
	field := r.fields[r.column]
	return r.take([]byte(field.text), field.start+1)
}

// begin finds the column by the first line, and whether that is a header.
func (r *csvReader) begin() (header bool, err error) {
	wanted := r.fields
	if n, err := strconv.Atoi(r.part); err == nil && n >= 1 && n <= len(r.fields) {
		r.column = n - 1
		wanted = r.fields[n-1 : n]
	} else if err == nil {
		return false, r.fail(1, "there is no column %s among %d", r.part, len(r.fields))
	} else if r.part != "" && r.part != allColumns {
		return true, r.find()
	}
	texts := slices.DeleteFunc(slices.Clone(wanted), func(f csvField) bool { return f.text == "" })
	return len(texts) > 0 && !slices.ContainsFunc(texts, func(f csvField) bool { return !isWord(f.text) }), nil
}

// find finds the column of a name.
func (r *csvReader) find() error {
	r.column = -1
	var names []string
	for i, f := range r.fields {
		names = append(names, f.text)
		if f.text != r.part {
			continue
		}
		if r.column >= 0 {
			return r.fail(f.start+1, "columns %d and %d are both called %s; name one by its number", r.column+1, i+1, f.text)
		}
		r.column = i
	}
	if r.column < 0 {
		return r.fail(1, "%s", suggest.Unknown("column", r.part, names))
	}
	return nil
}

// isWord tells a name from a number and from what was meant to be one.
func isWord(text string) bool {
	first, _ := utf8.DecodeRuneInString(text)
	_, number := outline(text)
	return !number && (unicode.IsLetter(first) || first == '_')
}

// split sets the fields of a line, none for a line without content.
func (r *csvReader) split(line []byte) error {
	r.fields = r.fields[:0]
	for i := 0; i < len(line); i++ {
		for i < len(line) && isSpace(line[i]) {
			i++
		}
		f := csvField{start: i}
		if i < len(line) && line[i] == '"' {
			end := quotedLength(line[i:])
			if end < 0 {
				return r.fail(i+1, "a quote has no end in this line")
			}
			f.text = strings.ReplaceAll(string(line[i+1:i+end-1]), `""`, `"`)
			i += end
		}
		rest := i + bytes.IndexAny(append(line[i:len(line):len(line)], '#'), ",;#")
		if f.text == "" {
			f.text = string(bytes.TrimSpace(line[i:rest]))
		} else if len(bytes.TrimSpace(line[i:rest])) > 0 {
			return r.fail(i+1, "%s after a quote", quote(string(line[i:rest])))
		}
		separated := rest < len(line) && line[rest] != '#'
		if separated || f.text != "" { // a separator may end the line
			r.fields = append(r.fields, f)
		}
		if !separated {
			return nil
		}
		i = rest
	}
	return nil
}

// quotedLength returns how far the quoted text at the start of line reaches, -1 if it has no end. Two quotes stand for
// one.
func quotedLength(line []byte) int {
	for i := 1; i < len(line); i++ {
		if line[i] != '"' {
			continue
		}
		if i+1 == len(line) || line[i+1] != '"' {
			return i + 1
		}
		i++
	}
	return -1
}
