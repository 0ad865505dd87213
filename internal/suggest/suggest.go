// Package suggest words messages about names that are not known.
package suggest

import (
	"fmt"
	"slices"
	"strings"
)

// Unknown describes a name that is not among the known ones, with the nearest of them where one is near.
func Unknown(what, name string, known []string) string {
	if near, ok := Nearest(name, known); ok {
		return fmt.Sprintf("unknown %s %q (did you mean %s?)", what, name, near)
	}
	return fmt.Sprintf("unknown %s %q (known: %s)", what, name, strings.Join(known, " "))
}

// Nearest returns the known name with the least edit distance to name, the first of equals; when more than a third of
// the letters (at least two), or all of the known name's, would have to change, the only one that begins with name, of
// at least two letters, if there is one.
func Nearest(name string, known []string) (string, bool) {
	best, limit := "", max(2, len(name)/3)+1
	for _, k := range known {
		if d := editDistance(strings.ToLower(name), k); d < limit && d < len(k) {
			best, limit = k, d
		}
	}
	if best == "" && len(name) >= 2 {
		if i := slices.IndexFunc(known, begins(name)); i >= 0 && !slices.ContainsFunc(known[i+1:], begins(name)) {
			best = known[i]
		}
	}
	return best, best != ""
}

func begins(prefix string) func(string) bool {
	return func(name string) bool { return strings.HasPrefix(name, prefix) }
}

// editDistance returns the least number of bytes to insert, delete or replace, or of neighbours to swap, that turn a
// into b, no part of which is changed twice. Names longer than 64 bytes are cut; nothing that long is near anything.
func editDistance(a, b string) int {
	a, b = a[:min(len(a), 64)], b[:min(len(b), 64)]
	var d [65][65]int
	for i := range len(a) + 1 {
		d[i][0] = i
	}
	for j := range len(b) + 1 {
		d[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			replace := d[i-1][j-1]
			if a[i-1] != b[j-1] {
				replace++
			}
			d[i][j] = min(replace, d[i-1][j]+1, d[i][j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d[i][j] = min(d[i][j], d[i-2][j-2]+1)
			}
		}
	}
	return d[len(a)][len(b)]
}
