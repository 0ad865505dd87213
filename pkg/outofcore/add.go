package outofcore

import (
	"unsafe"

	"mpbench/internal/parallel"
	"mpbench/pkg/accurate"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
	"mpbench/pkg/partial"
)

// terms adds numbers, or products of two, of the only component.
type terms struct {
	*run
	threads int
	sum     accurate.Accumulator
	have    partial.Range // of the data's rows, that sum has
}

func (a *terms) add(t tile) error {
	threads := accurate.Threads(a.threads)
	integers, _ := a.task.Problem.X.Source.(numbers.Integers)
	switch {
	case len(t.lists) == 2 && integers != nil:
		others := a.task.Problem.Y.Source.(numbers.Integers)
		addIntegerProducts(threads, &a.sum, t.lists, integers.Signed(), others.Signed())
	case len(t.lists) == 2:
		threads.AddProducts(&a.sum, t.lists[0], t.lists[1])
	case integers == nil:
		threads.AddSlice(&a.sum, t.lists[0])
	case integers.Signed():
		accurate.AddIntegers(threads, &a.sum, bitsAs[int64](t.lists[0]))
	default:
		accurate.AddIntegers(threads, &a.sum, words(t.lists[0]))
	}
	if a.have.Len() == 0 {
		a.have.From = t.row
	}
	a.have.To = t.row + t.rows
	return nil
}

// addIntegerProducts adds products of integers of 64 bits, whose bits x and y are.
func addIntegerProducts(t accurate.Threads, sum *accurate.Accumulator, xy [][]float64, xSigned, ySigned bool) {
	switch x, y := xy[0], xy[1]; {
	case xSigned && ySigned:
		accurate.AddIntegerProducts(t, sum, bitsAs[int64](x), bitsAs[int64](y))
	case xSigned:
		accurate.AddIntegerProducts(t, sum, bitsAs[int64](x), words(y))
	case ySigned:
		accurate.AddIntegerProducts(t, sum, words(x), bitsAs[int64](y))
	default:
		accurate.AddIntegerProducts(t, sum, words(x), words(y))
	}
}

func (a *terms) flush() error {
	if a.have.Len() == 0 {
		return nil
	}
	b := a.task.Rows(a.state.Problem(), a.have)
	if err := a.state.Add(b, &a.sum); err != nil {
		return err
	}
	a.sum.Reset()
	a.have = partial.Range{}
	return nil
}

// words are the bits of numbers, in their place.
func words(x []float64) []uint64 { return bitsAs[uint64](x) }

func bitsAs[T int64 | uint64](x []float64) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(x))), len(x))
}

// leastShare is the number of elements that are worth a goroutine.
const leastShare = 1 << 15

// rows multiplies stored rows, which are components, by x.
type rows struct {
	*job
	x    []float64
	sums []*accurate.Accumulator
}

func (a *rows) add(t tile) error {
	for len(a.sums) < t.rows {
		a.sums = append(a.sums, new(accurate.Accumulator))
	}
	x := a.x[t.column:][:t.columns]
	each := accurate.Threads(1)
	if t.rows == 1 {
		each = accurate.Threads(a.task.Threads)
	}
	parallel.Ranges(a.task.Threads, t.rows, max(1, leastShare/t.columns), func(_, from, to int) {
		for i := from; i < to; i++ {
			a.sums[i].Reset()
			each.AddProducts(a.sums[i], t.lists[0][i*t.columns:][:t.columns], x)
		}
	})
	components := partial.Range{From: t.row, To: t.row + t.rows}
	terms := partial.Range{From: t.column, To: t.column + t.columns}
	return a.state.Add(a.block(components, terms), a.sums[:t.rows]...)
}

func (a *rows) flush() error { return nil } // every tile is added at once

// block returns the block of the partial result for components and terms of the data.
func (j *job) block(components, terms partial.Range) partial.Block {
	b := j.task.Rows(j.state.Problem(), terms)
	if j.task.Problem.Trans {
		b.Components = components
	} else {
		b = partial.Block{Components: partial.Range{
			From: components.From + j.task.First, To: components.To + j.task.First,
		}, Terms: terms}
	}
	return b
}

// columns multiplies stored columns, which are components, by x.
type columns struct {
	*job
	x    []float64
	sums []*accurate.Accumulator
	have partial.Range // of the stored rows, that the sums have
}

func newColumns(j *job, x []float64) *columns {
	a := &columns{job: j, x: x, sums: make([]*accurate.Accumulator, j.columns.Len())}
	for i := range a.sums {
		a.sums[i] = new(accurate.Accumulator)
	}
	return a
}

// lanes is how many neighbouring columns are taken apart at a time: of a row they are 64 bytes.
const lanes = 8

func (a *columns) add(t tile) error {
	x := a.x[t.row:][:t.rows]
	groups := (t.columns + lanes - 1) / lanes
	parallel.Ranges(a.task.Threads, groups, max(1, leastShare/(lanes*t.rows)), func(_, from, to int) {
		column := make([]float64, lanes*t.rows)
		for g := from; g < to; g++ {
			first := g * lanes
			n := min(lanes, t.columns-first)
			for i := range t.rows {
				for j, v := range t.lists[0][i*t.columns+first:][:n] {
					column[j*t.rows+i] = v
				}
			}
			for j := range n {
				sum := a.sums[t.column-a.columns.From+first+j]
				sum.AddProducts(column[j*t.rows:][:t.rows], x)
			}
		}
	})
	if a.have.Len() == 0 {
		a.have.From = t.row
	}
	a.have.To = t.row + t.rows
	return nil
}

func (a *columns) flush() error {
	if a.have.Len() == 0 {
		return nil
	}
	if err := a.state.Add(a.block(a.columns, a.have), a.sums...); err != nil {
		return err
	}
	for _, sum := range a.sums {
		sum.Reset()
	}
	a.have = partial.Range{}
	return nil
}

// Bytes returns how much memory the sums of a partial result take while rows of data are added: accumulators of all
// components that stored rows have terms of, and bytes of what is there.
func Bytes(p *op.Problem, q partial.Problem) int64 {
	const accumulator, state = 3 << 10, 128
	if !p.A.Absent() && p.Trans != byColumns(p.A) {
		return int64(q.Components) * (accumulator + state)
	}
	return int64(q.Components) * state
}
