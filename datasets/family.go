package datasets

import (
	"cmp"
	"slices"
	"strings"

	"mpbench/internal/suggest"
	"mpbench/pkg/op"
)

// Family is the data sets that have the same arrays, for operations with these operands.
type Family struct {
	Name     string // of one set: "data set", "pair of vectors", "matrix"
	Plural   string
	sets     []*Set
	generate func(Spec, Options) (*Data, error)
}

// The families of data sets.
var (
	// Vectors have an array x. The sets of the 2018 paper come first, the others by name.
	Vectors = newFamily("data set", "vectors", generateVector, mcNameeSets(), sorted(
		uniformSets(), zhuHayesSets(), genSumSets(), seriesSets(), extremeSets(), reproSets(), exblasSets(), xsumSets(),
	))
	// Pairs have arrays x and y of one length.
	Pairs = newFamily("pair of vectors", "pairs of vectors", generatePair, pairSets())
	// Matrices have an M x N matrix a, and vectors x and y; n is the number of columns, m that of rows.
	Matrices = newFamily("matrix", "matrices with vectors", generateMatrix, sorted(matrixSets()))
)

// Families lists the families.
func Families() []*Family { return []*Family{Vectors, Pairs, Matrices} }

// For returns the family whose sets have the operands of an operation.
func For(o *op.Operation) *Family {
	switch {
	case o.Has(op.Matrix):
		return Matrices
	case len(o.Arrays()) == 2:
		return Pairs
	}
	return Vectors
}

func newFamily(name, plural string, generate func(Spec, Options) (*Data, error), sets ...[]*Set) *Family {
	f := &Family{name, plural, slices.Concat(sets...), generate}
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
