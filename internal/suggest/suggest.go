// Package suggest words messages about names that are not known.
package suggest

import (
	"fmt"
	"strings"
)

// Unknown describes a name that is not among the known ones, with the nearest of them where one is near.
func Unknown(what, name string, known []string) string {
	if near, ok := Nearest(name, known); ok {
		return fmt.Sprintf("unknown %s %q (did you mean %s?)", what, name, near)
	}
	return fmt.Sprintf("unknown %s %q (known: %s)", what, name, strings.Join(known, " "))
}

// Nearest returns the known name with the least edit distance to name, the first of equals; there is none when more
// than a third of the letters (at least two), or all of the known name's, would have to change.
func Nearest(name string, known []string) (string, bool) {
	best, limit := "", max(2, len(name)/3)+1
	for _, k := range known {
		if d := editDistance(strings.ToLower(name), k); d < limit && d < len(k) {
			best, limit = k, d
		}
	}
	return best, best != ""
}

// editDistance returns the Levenshtein distance: the least number of bytes to insert, delete or replace that turn a
// into b. Names longer than 64 bytes are cut; nothing that long is near anything.
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
			row[j+1] = min(replace, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
