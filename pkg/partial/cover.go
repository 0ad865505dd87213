package partial

import (
	"fmt"
	"slices"
	"sort"
)

// Range is the integers from From to To-1.
type Range struct{ From, To int }

// Len returns how many integers there are.
func (r Range) Len() int { return r.To - r.From }

// String returns "from:to", as ranges of rows are written everywhere.
func (r Range) String() string { return fmt.Sprintf("%d:%d", r.From, r.To) }

// within tells whether a range is not empty and one of 0 to n-1.
func (r Range) within(n int) bool { return 0 <= r.From && r.From < r.To && r.To <= n }

// Block is some terms of some components.
type Block struct{ Components, Terms Range }

// band is components of which the same terms are there: ranges that ascend and do not touch.
type band struct {
	components Range
	terms      []Range
}

// count returns how many terms there are of each component.
func (b band) count() (n int) {
	for _, r := range b.terms {
		n += r.Len()
	}
	return n
}

// cover is what a state has: bands that ascend; those that touch differ in their terms.
type cover []band

func coverOf(b Block) cover { return cover{{b.Components, []Range{b.Terms}}} }

// termsOf returns which terms of a component there are.
func (c cover) termsOf(component int) []Range {
	i := sort.Search(len(c), func(i int) bool { return component < c[i].components.To })
	if i < len(c) && c[i].components.From <= component {
		return c[i].terms
	}
	return nil
}

// join unites two covers by f, which unites the terms of components; f is called for runs of components of which the
// terms of both are the same throughout, in ascending order.
func (c cover) join(d cover, f func(run Range, ours, theirs []Range) ([]Range, error)) (cover, error) {
	var cuts []int
	for _, b := range slices.Concat(c, d) {
		cuts = append(cuts, b.components.From, b.components.To)
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	var all cover
	for i := 1; i < len(cuts); i++ {
		run := Range{cuts[i-1], cuts[i]}
		terms, err := f(run, c.termsOf(run.From), d.termsOf(run.From))
		if err != nil {
			return nil, err
		}
		all = all.appended(band{run, terms})
	}
	return all, nil
}

// appended adds a band behind all others.
func (c cover) appended(b band) cover {
	last := len(c) - 1
	switch {
	case len(b.terms) == 0:
		return c
	case last >= 0 && c[last].components.To == b.components.From && slices.Equal(c[last].terms, b.terms):
		c[last].components.To = b.components.To
		return c
	}
	return append(c, b)
}

// union returns what is in one of two covers. The error is an *OverlapError with the first block that is in both.
func (c cover) union(d cover) (cover, error) {
	return c.join(d, func(run Range, ours, theirs []Range) ([]Range, error) {
		all := slices.Concat(ours, theirs)
		slices.SortFunc(all, func(a, b Range) int { return a.From - b.From })
		merged := all[:0]
		for _, r := range all {
			last := len(merged) - 1
			switch {
			case last >= 0 && r.From < merged[last].To:
				return nil, &OverlapError{Block: Block{run, Range{r.From, min(r.To, merged[last].To)}}}
			case last >= 0 && r.From == merged[last].To:
				merged[last].To = r.To
			default:
				merged = append(merged, r)
			}
		}
		return merged, nil
	})
}

// without returns what of a block is not in a cover.
func (c cover) without(b Block) []Block {
	var missing []Block
	rest, _ := coverOf(b).join(c, func(_ Range, wanted, there []Range) (gaps []Range, _ error) {
		for _, w := range wanted {
			from := w.From
			for _, r := range there {
				if r.From > from {
					gaps = append(gaps, Range{from, min(r.From, w.To)})
				}
				from = max(from, r.To)
			}
			if from < w.To {
				gaps = append(gaps, Range{from, w.To})
			}
		}
		return gaps, nil
	})
	for _, band := range rest {
		for _, terms := range band.terms {
			missing = append(missing, Block{band.components, terms})
		}
	}
	return missing
}
