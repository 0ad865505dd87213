package datasets

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"mpbench/internal/suggest"
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

	make func(*job) error

	matrix func(*matrixJob) error // of sets of matrices instead of make
	pair   func(*pairJob) error   // of sets of pairs of vectors
}

// registry holds every set, in the order of listing: by name, with the 2018 paper's first.
var registry = func() []*Set {
	all := slices.Concat(
		uniformSets(), zhuHayesSets(), genSumSets(), seriesSets(), extremeSets(),
		reproSets(), exblasSets(), xsumSets(),
	)
	slices.SortStableFunc(all, func(a, b *Set) int { return cmp.Compare(a.Name, b.Name) })
	return slices.Concat(mcNameeSets(), all)
}()

// Sets lists the data sets. The rows must not be modified.
func Sets() []*Set { return slices.Clone(registry) }

// Names lists the names of the data sets, in the order of Sets.
func Names() []string { return namesOf(registry) }

func namesOf(sets []*Set) []string {
	names := make([]string, len(sets))
	for i, s := range sets {
		names[i] = s.Name
	}
	return names
}

// Lookup returns the set of that name.
func Lookup(name string) (*Set, error) { return find(registry, "data set", name) }

// find returns the set of that name; what says what kind of sets these are.
func find(sets []*Set, what, name string) (*Set, error) {
	for _, s := range sets {
		if s.Name == name {
			return s, nil
		}
	}
	if strings.TrimSpace(name) == "" {
		return nil, usagef("empty name of a %s (known: %s)", what, strings.Join(namesOf(sets), " "))
	}
	return nil, usagef("%s", suggest.Unknown(what, name, namesOf(sets)))
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
