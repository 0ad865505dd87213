package partial

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Problem is what a state is a part of. States of equal problems merge.
type Problem struct {
	Operation  string // "sum", "dot", "gemv"
	Components int    // numbers of the result
	Terms      int    // of each component, or pieces
	// RowsAreTerms says what the rows of the data are: terms in a sum, a dot product and the product of a transposed
	// matrix, components in that of a matrix as it is.
	RowsAreTerms bool
	// Pieces says that terms are not counted one by one, but in pieces of a length that nobody has to know.
	Pieces bool
	// Data tells data from others: a checksum, a name with a date.
	Data string
}

// The most that the parts of a problem may be, of which the lengths are in bytes.
const (
	mostExtent    = 1<<62 - 1
	mostOperation = 64
	mostData      = 1024
)

// Check finds what is wrong about a problem.
func (p Problem) Check() error {
	for _, n := range [...]int{p.Components, p.Terms} {
		if n < 1 || n > mostExtent {
			return fmt.Errorf("partial: %d components of %d terms: want 1 to 2^62 - 1 of each", p.Components, p.Terms)
		}
	}
	for _, text := range [...]struct {
		what, text string
		most       int
	}{{"an operation", p.Operation, mostOperation}, {"data", p.Data, mostData}} {
		switch {
		case text.text == "":
			return fmt.Errorf("partial: %s without a name", text.what)
		case len(text.text) > text.most:
			return fmt.Errorf("partial: %s with a name of %d bytes: want at most %d", text.what, len(text.text), text.most)
		case !utf8.ValidString(text.text) || strings.ContainsFunc(text.text, unicode.IsControl):
			return fmt.Errorf("partial: %s with the name %q: want UTF-8 without control characters", text.what, text.text)
		}
	}
	return nil
}

// Whole returns all terms of all components.
func (p Problem) Whole() Block { return Block{Range{0, p.Components}, Range{0, p.Terms}} }

// Rows writes a block as rows of the data: "rows 10:20", "rows 10:20 of columns 0:5", "pieces 3:4".
func (p Problem) Rows(b Block) string {
	rows, columns, all := b.Components, b.Terms, p.Terms
	if p.RowsAreTerms {
		rows, columns, all = b.Terms, b.Components, p.Components
	}
	names := [2]string{"rows ", " of columns "}
	if p.Pieces && p.RowsAreTerms {
		names[0] = "pieces "
	} else if p.Pieces {
		names[1] = " of pieces "
	}
	text := names[0] + rows.String()
	if columns != (Range{0, all}) {
		text += names[1] + columns.String()
	}
	return text
}

// compare returns a *MismatchError if problems are not the same.
func (p Problem) compare(q Problem) error {
	for _, c := range [...]MismatchError{
		{"operation", p.Operation, q.Operation},
		{"kind of rows", rowsOf(p), rowsOf(q)},
		{"number of components", fmt.Sprint(p.Components), fmt.Sprint(q.Components)},
		{"number of " + unitOf(p), fmt.Sprint(p.Terms), fmt.Sprint(q.Terms)},
		{"identity of the data", p.Data, q.Data},
	} {
		if c.Have != c.Want {
			return &c
		}
	}
	return nil
}

func unitOf(p Problem) string {
	if p.Pieces {
		return "pieces"
	}
	return "terms"
}

func rowsOf(p Problem) string {
	text := "components"
	if p.RowsAreTerms {
		text = "terms"
	}
	if p.Pieces {
		return text + " in pieces"
	}
	return text
}
