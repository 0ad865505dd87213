package partial

import (
	"errors"
	"fmt"
	"slices"

	"mpbench/pkg/accurate"
	"mpbench/pkg/exact"
)

// State is a part of an exact result. The zero value is one of no problem, which takes that of the first state that
// is merged into it. It is not safe for concurrent use.
//
// Sums are kept as their bytes, about 50 for each component.
type State struct {
	problem Problem
	cover   cover
	sums    []byte // marshalled accumulators of the components of the cover, in their order
	starts  []int  // where each begins
}

// New returns a state without any term. It panics if the problem is none, see [Problem.Check].
func New(p Problem) *State {
	if err := p.Check(); err != nil {
		panic(err)
	}
	return &State{problem: p}
}

// Problem returns what s is a part of.
func (s *State) Problem() Problem { return s.problem }

// Blocks lists what is there: rectangles without a common term, by components and then by terms.
func (s *State) Blocks() (list []Block) {
	for _, b := range s.cover {
		for _, terms := range b.terms {
			list = append(list, Block{b.components, terms})
		}
	}
	return list
}

// Add adds the terms of a block, of which there is a sum for each component.
//
// An error, an [*OverlapError] for terms that are there already, leaves s as it was; one of a caller that is wrong
// is of a block that is none of the problem, of another number of sums, or of sums of another number of terms.
func (s *State) Add(b Block, sums ...*accurate.Accumulator) error {
	p := s.problem
	switch {
	case !b.Components.within(p.Components) || !b.Terms.within(p.Terms):
		return fmt.Errorf("partial: components %v and terms %v are none of %d of %d", b.Components, b.Terms,
			p.Components, p.Terms)
	case len(sums) != b.Components.Len():
		return fmt.Errorf("partial: %d sums for the components %v", len(sums), b.Components)
	}
	t := &State{problem: p, cover: coverOf(b)}
	for _, a := range sums {
		if !p.Pieces && a.Terms() != uint64(b.Terms.Len()) {
			return fmt.Errorf("partial: a sum of %d terms for the terms %v", a.Terms(), b.Terms)
		}
		t.append(a)
	}
	return s.Merge(t)
}

// append adds the sum of one more component.
func (s *State) append(a *accurate.Accumulator) {
	s.starts = append(s.starts, len(s.sums))
	s.sums, _ = a.AppendBinary(s.sums)
}

// sum returns the bytes of the sum of the component that is so many-th of the cover.
func (s *State) sum(i int) []byte {
	if i+1 < len(s.starts) {
		return s.sums[s.starts[i]:s.starts[i+1]]
	}
	return s.sums[s.starts[i]:]
}

// read sets a to a sum. The bytes of a state are those of accumulators.
func (s *State) read(a *accurate.Accumulator, i int) {
	if err := a.UnmarshalBinary(s.sum(i)); err != nil {
		panic(err)
	}
}

// Merge adds what t has; t stays as it is. The result is the same for every order and grouping of states.
//
// An error leaves s as it was: [*MismatchError] for a part of another problem, [*OverlapError] for terms that are
// there already. Cost: 1 µs for a component that both have, less for others; components behind all of s are only
// appended.
func (s *State) Merge(t *State) error {
	if s.problem == (Problem{}) {
		s.problem = t.problem
	}
	if err := t.problem.compare(s.problem); err != nil {
		return err
	}
	all, err := s.union(t)
	if err != nil {
		return err
	}
	if len(s.cover) == 0 || len(t.cover) > 0 && s.cover[len(s.cover)-1].components.To <= t.first() {
		for i := range t.starts {
			s.copy(t, i)
		}
	} else {
		s.mergeSums(t)
	}
	s.cover = all
	return nil
}

// union returns what s and t have, or an *OverlapError if they have a term in common.
func (s *State) union(t *State) (cover, error) {
	all, err := s.cover.union(t.cover)
	if overlap := (*OverlapError)(nil); errors.As(err, &overlap) {
		overlap.Rows = s.problem.Rows(overlap.Block)
	}
	return all, err
}

// mergeSums sets the sums to those of s and t.
func (s *State) mergeSums(t *State) {
	sums := State{sums: make([]byte, 0, len(s.sums)+len(t.sums))}
	var a, b accurate.Accumulator
	i, j := 0, 0
	// f never fails.
	_, _ = s.cover.join(t.cover, func(run Range, ours, theirs []Range) ([]Range, error) {
		if ours == nil && theirs == nil {
			return nil, nil
		}
		for range run.Len() {
			switch {
			case theirs == nil:
				sums.copy(s, i)
				i++
			case ours == nil:
				sums.copy(t, j)
				j++
			default:
				s.read(&a, i)
				t.read(&b, j)
				a.Merge(&b)
				sums.append(&a)
				i, j = i+1, j+1
			}
		}
		return nil, nil
	})
	s.sums, s.starts = sums.sums, sums.starts
}

// copy appends a sum of t.
func (s *State) copy(t *State, i int) {
	s.starts = append(s.starts, len(s.sums))
	s.sums = append(s.sums, t.sum(i)...)
}

// Merged returns the sum of states, which stay as they are, in a number of steps that is the logarithm of theirs. An
// error is a [*PartError], for the first state that does not go with one before it.
func Merged(parts ...*State) (*State, error) {
	if err := checkParts(parts); err != nil {
		return nil, err
	}
	list := slices.Clone(parts)
	slices.SortStableFunc(list, func(a, b *State) int { return a.first() - b.first() })
	return mergedSorted(list)
}

// checkParts finds a state that does not go with those before it.
func checkParts(parts []*State) error {
	all := State{}
	for i, s := range parts {
		if i == 0 {
			all.problem = s.problem
		}
		if err := s.problem.compare(all.problem); err != nil {
			return &PartError{i, 0, err}
		}
		union, err := all.union(s)
		for j := 0; err != nil; j++ { // one of those before has a term in common with it
			if _, err := parts[j].union(s); err != nil {
				return &PartError{i, j, err}
			}
		}
		all.cover = union
	}
	return nil
}

// first returns the first component that has terms, 0 for none.
func (s *State) first() int {
	if len(s.cover) == 0 {
		return 0
	}
	return s.cover[0].components.From
}

func mergedSorted(parts []*State) (*State, error) {
	switch len(parts) {
	case 0:
		return new(State), nil
	case 1:
		var s State
		return &s, s.Merge(parts[0])
	}
	s, err := mergedSorted(parts[:len(parts)/2])
	if err != nil {
		return nil, err
	}
	t, err := mergedSorted(parts[len(parts)/2:])
	if err != nil {
		return nil, err
	}
	return s, s.Merge(t)
}

// Missing lists what of a block is not there: rectangles, by components and then by terms.
func (s *State) Missing(b Block) []Block { return s.cover.without(b) }

// Complete returns nil if all terms of all components are there, and otherwise a [*MissingError].
func (s *State) Complete() error {
	missing := s.Missing(s.problem.Whole())
	if len(missing) == 0 {
		return nil
	}
	e := &MissingError{Blocks: missing}
	for _, b := range missing {
		e.Rows = append(e.Rows, s.problem.Rows(b))
	}
	return e
}

// Terms returns how many numbers or products were added to all components that are there, at most 2^64 - 1.
func (s *State) Terms() (n uint64) {
	var a accurate.Accumulator
	for i := range s.starts {
		s.read(&a, i)
		if n += a.Terms(); n < a.Terms() {
			return 1<<64 - 1
		}
	}
	return n
}

// Sums calls f with the exact sum of the terms that are there of each component that has some, in ascending order. f
// may change the sum, which is its own until the next call.
func (s *State) Sums(f func(component int, sum *accurate.Accumulator)) {
	var a accurate.Accumulator
	i := 0
	for _, b := range s.cover {
		for c := b.components.From; c < b.components.To; c++ {
			s.read(&a, i)
			f(c, &a)
			i++
		}
	}
}

// Result returns the components, each rounded once to the nearest float64, ties to even, or a [*MissingError].
// Special values are those of [accurate.Sum] and [accurate.Dot].
func (s *State) Result() ([]float64, error) {
	if err := s.Complete(); err != nil {
		return nil, err
	}
	y := make([]float64, s.problem.Components)
	s.Sums(func(i int, a *accurate.Accumulator) { y[i] = a.Float64() })
	return y, nil
}

// Values returns the components exactly, or a [*MissingError].
func (s *State) Values() ([]exact.Value, error) {
	if err := s.Complete(); err != nil {
		return nil, err
	}
	y := make([]exact.Value, s.problem.Components)
	s.Sums(func(i int, a *accurate.Accumulator) { y[i] = exact.FromBig(a.Big(0)) })
	return y, nil
}
