package datasets

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrUsage marks errors of the caller: an unknown data set or parameter, a value out of range.
var ErrUsage = errors.New("usage error")

// ErrInput marks errors of the input: a file that is missing, unreadable or not in the format it claims.
var ErrInput = errors.New("input error")

// kindError is a message with the sentinel that classifies it. The sentinel's own text is not printed.
type kindError struct {
	kind    error
	message string
	cause   error // may be nil
}

func (e *kindError) Error() string { return e.message }

func (e *kindError) Unwrap() []error {
	if e.cause == nil {
		return []error{e.kind}
	}
	return []error{e.kind, e.cause}
}

// usagef makes an ErrUsage.
func usagef(format string, args ...any) error {
	return &kindError{kind: ErrUsage, message: fmt.Sprintf(format, args...)}
}

// inputf makes an ErrInput.
func inputf(format string, args ...any) error {
	return &kindError{kind: ErrInput, message: fmt.Sprintf(format, args...)}
}

// unknown describes a name that is not among the known ones, with the nearest of them where one is near.
func unknown(what, name string, known []string) string {
	if near := nearest(name, known); near != "" {
		return fmt.Sprintf("unknown %s %q (did you mean %s?)", what, name, near)
	}
	return fmt.Sprintf("unknown %s %q (known: %s)", what, name, strings.Join(known, " "))
}

// nearest returns the known name with the least edit distance to name, the first of equals, or "" when more than a
// third of the letters (at least two) would have to change.
func nearest(name string, known []string) string {
	best, limit := "", max(2, len(name)/3)+1
	for _, k := range known {
		if d := editDistance(strings.ToLower(name), k); d < limit {
			best, limit = k, d
		}
	}
	return best
}

// editDistance returns the Levenshtein distance: the least number of bytes to insert, delete or replace that turn a into
// b. Names longer than 64 bytes are cut; nothing that long is near anything.
func editDistance(a, b string) int {
	a, b = a[:min(len(a), 64)], b[:min(len(b), 64)]
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replace := diagonal
			if a[i] != b[j] {
				replace++
			}
			diagonal = row[j+1]
			row[j+1] = slices.Min([]int{replace, row[j] + 1, row[j+1] + 1})
		}
	}
	return row[len(b)]
}
