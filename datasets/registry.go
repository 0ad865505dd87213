package datasets

import (
	"fmt"
	"slices"
	"strconv"
)

// Set is one row of the registry: a family of data with declared parameters.
type Set struct {
	Name     string
	Summary  string // the definition, in one line
	Source   string // author, year, DOI or section
	Params   []Param
	DefaultN int  // number of terms when none is asked for
	MinN     int  // least number of terms, 1 when 0
	Seeded   bool // whether the terms depend on the seed

	// FixedN returns the number of terms where the definition leaves no choice for the given parameters, else 0. It is
	// nil for a set of any size.
	FixedN func(value func(name string) string) int

	family *Family
	make   func(*job) error       // of vectors
	pair   func(*pairJob) error   // of pairs
	matrix func(*matrixJob) error // of matrices
}

// Size says in words how many terms the set has: "4096 (fixed)", "1000", "1000, at least 8", "1000, fixed for some
// parameters".
func (s *Set) Size() string {
	switch {
	case s.FixedN != nil && len(s.Params) == 0:
		return fmt.Sprintf("%d (fixed)", s.DefaultN)
	case s.FixedN != nil:
		return fmt.Sprintf("%d, fixed for some parameters", s.DefaultN)
	case s.MinN > 1:
		return fmt.Sprintf("%d, at least %d", s.DefaultN, s.MinN)
	}
	return strconv.Itoa(s.DefaultN)
}

// param returns the index of the parameter of that name, or -1.
func (s *Set) param(name string) int {
	return slices.IndexFunc(s.Params, func(p Param) bool { return p.Name == name })
}

// paramNames lists what may stand before an equals sign in a spec of the set.
func (s *Set) paramNames() []string {
	var names []string
	for _, p := range s.Params {
		names = append(names, p.Name)
	}
	names = append(names, "n")
	if s.Seeded {
		names = append(names, "seed")
	}
	return names
}

// fixed returns a rule for a set that always has n terms.
func fixed(n int) func(func(string) string) int {
	return func(func(string) string) int { return n }
}
