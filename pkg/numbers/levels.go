package numbers

import "slices"

// Levels returns the rows of a square matrix whose elements are all below the diagonal, or all above it, in levels:
// columns of the elements of a row are numbers of rows of earlier levels. Level l is rows[starts[l]:starts[l+1]].
func (p *Pattern) Levels(upper bool) (rows []int32, starts []int) {
	n, most := len(p.Start)-1, int32(-1)
	level := make([]int32, n)
	for k := range n {
		i := k
		if upper {
			i = n - 1 - k
		}
		for _, j := range p.Row(i) {
			level[i] = max(level[i], level[j]+1)
		}
		most = max(most, level[i])
	}
	starts = make([]int, most+2)
	for _, l := range level {
		starts[l+1]++
	}
	for l := range starts[1:] {
		starts[l+1] += starts[l]
	}
	next := slices.Clone(starts)
	rows = make([]int32, n)
	for i, l := range level {
		rows[next[l]] = int32(i)
		next[l]++
	}
	return rows, starts
}
