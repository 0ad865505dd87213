package datasets

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"mpbench/internal/suggest"
	"mpbench/pkg/op"
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

	// FixedN returns the number of terms where the parameters leave no choice, else 0; nil for a set of any size.
	FixedN func(value func(name string) string) int

	family *Family
	make   func(*job) error       // of vectors and pairs
	matrix func(*matrixJob) error // of matrices
	sparse func(*sparseJob) error // of sparse matrices
}

// Size says how many terms the set has: "4096 (fixed)", "1000", "1000, at least 8", "1000, fixed for some parameters".
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

// Family is the data sets that have the same arrays, for operations with these operands.
type Family struct {
	Name     string // of one set: "data set", "pair of vectors", "matrix"
	Plural   string
	vectors  int64 // arrays of as many numbers as there are terms
	sets     []*Set
	generate func(Spec, Options) (*Data, error)
}

// The families of data sets.
var (
	// Vectors have an array x. The sets of the 2018 paper come first, the others by name.
	Vectors = newFamily("data set", "vectors", 1, generateVectors(false), mcNameeSets(), sorted(
		uniformSets(), zhuHayesSets(), genSumSets(), seriesSets(), extremeSets(), reproSets(), exblasSets(), xsumSets(),
	))
	// Pairs have arrays x and y of one length.
	Pairs = newFamily("pair of vectors", "pairs of vectors", 2, generateVectors(true), pairSets())
	// Matrices have an M x N matrix a, and vectors x and y; n is the number of columns, m that of rows.
	Matrices = newFamily("matrix", "matrices with vectors", 0, generateMatrix, sorted(matrixSets()))
	// Products have an M x N matrix a, and matrices x and y of k columns.
	Products = newFamily("pair of matrices", "pairs of matrices", 0, generateMatrix, sorted(productSets()))
	// Sparses have a sparse n x n matrix a, and vectors x and y.
	Sparses = newFamily("sparse matrix", "sparse matrices with vectors", 2, generateSparse, sorted(sparseSets()))
)

// Families lists the families.
func Families() []*Family { return []*Family{Vectors, Pairs, Matrices, Products, Sparses} }

// For returns the family whose sets have the operands of an operation.
func For(o *op.Operation) *Family {
	switch {
	case o.Storage == op.Sparse:
		return Sparses
	case o.Matrices() > 1:
		return Products
	case o.Has(op.Matrix):
		return Matrices
	case len(o.Arrays()) == 2:
		return Pairs
	}
	return Vectors
}

func newFamily(
	name, plural string, vectors int64, generate func(Spec, Options) (*Data, error), sets ...[]*Set,
) *Family {
	f := &Family{name, plural, vectors, slices.Concat(sets...), generate}
	for _, s := range f.sets {
		s.family = f
	}
	return f
}

// sorted joins lists of sets in the order of their names.
func sorted(lists ...[]*Set) []*Set {
	all := slices.Concat(lists...)
	slices.SortStableFunc(all, func(a, b *Set) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// Sets lists the data sets. The rows must not be modified.
func (f *Family) Sets() []*Set { return slices.Clone(f.sets) }

// Names lists the names of the data sets, in the order of Sets.
func (f *Family) Names() []string {
	names := make([]string, len(f.sets))
	for i, s := range f.sets {
		names[i] = s.Name
	}
	return names
}

// Lookup returns the set of that name.
func (f *Family) Lookup(name string) (*Set, error) {
	for _, s := range f.sets {
		if s.Name == name {
			return s, nil
		}
	}
	if strings.TrimSpace(name) == "" {
		return nil, usagef("empty name of a %s (known: %s)", f.Name, strings.Join(f.Names(), " "))
	}
	return nil, usagef("%s", suggest.Unknown(f.Name, name, f.Names()))
}
