// Package outofcore computes exact sums, dot products and matrix-vector products of numbers that are not in memory,
// as partial results ([mpbench/pkg/partial]): run by run, in the order in which they are stored, with the next runs
// being read meanwhile. Memory does not grow with the numbers; it takes what the result takes, and 16 MB for
// what is read. What was added can be saved at any run's end and continued from.
package outofcore

import (
	"cmp"
	"context"
	"errors"
	"time"

	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
	"mpbench/pkg/partial"
)

// Supports tells whether an operation is one that is computed here: a sum of terms, or the product of a full matrix
// and a vector.
func Supports(o *op.Operation) bool {
	return o.Norm == 0 && (o.Split == op.ByTerm || o.Storage == op.Full && o.Matrices() == 1)
}

// Task is what is to be added to a partial result.
type Task struct {
	// Problem has the data: x and y of a dot product, A and op of a matrix-vector product, as numbers in memory or
	// numbers.Chunked, and x of the latter as binary64 numbers in memory; the numbers of a sum, or all of a dot product,
	// also as numbers.Integers.
	// Factors and what is added to the product are not looked at.
	Problem *op.Problem
	// First is what the first row of the data is among the rows of the partial result, or the piece that they are.
	First int
	// Threads is how many goroutines add, 0 for as many as processors.
	Threads int
	// Progress, unless nil, is called with the number of bytes that have been added, of all that are to be.
	Progress func(done, all int64)
	// Save, unless nil, is called about every Interval, at the end of a run, with what there is.
	Save     func(*partial.State) error
	Interval time.Duration

	size int // of what is read at a time, 0 for chunk; less in tests
}

// ProblemOf returns the partial result's problem that data are a part of, with so many rows in all, 0 for those that
// the data have, or as many pieces.
func ProblemOf(p *op.Problem, rows int, pieces bool, data string) (partial.Problem, error) {
	shape, err := p.Op.Shape(p)
	q := partial.Problem{
		Operation: p.Op.Name, Components: shape.Components, Terms: shape.Length, Data: data, Pieces: pieces,
		RowsAreTerms: p.A.Absent() || p.Trans,
	}
	switch {
	case rows > 0 && q.RowsAreTerms:
		q.Terms = rows
	case rows > 0:
		q.Components = rows
	}
	return q, err
}

// Rows returns the block of a partial result that rows of the data are.
func (t Task) Rows(q partial.Problem, rows partial.Range) partial.Block {
	b := q.Whole()
	moved := partial.Range{From: rows.From + t.First, To: rows.To + t.First}
	switch {
	case q.Pieces:
		b.Terms = partial.Range{From: t.First, To: t.First + 1}
	case q.RowsAreTerms:
		b.Terms = moved
	default:
		b.Components = moved
	}
	return b
}

// Add adds rows of the data to s, those that it has not got. If it fails, s has what was added before, at the end of
// some run. Errors are those of reading, of Save, and of ctx.
func (t Task) Add(ctx context.Context, s *partial.State, rows partial.Range) error {
	missing := s.Missing(t.Rows(s.Problem(), rows))
	if s.Problem().Pieces && len(missing) > 0 {
		missing[0].Terms = partial.Range{From: t.First + rows.From, To: t.First + rows.To} // the whole piece
	}
	r := &run{task: t, state: s, saved: time.Now()}
	var jobs []*job
	for _, b := range missing {
		j := r.newJob(b)
		jobs = append(jobs, j)
		r.all += j.bytes()
	}
	for _, j := range jobs {
		if err := j.add(ctx); err != nil {
			return err
		}
	}
	return nil
}

// run is a Task at work.
type run struct {
	task      Task
	state     *partial.State
	done, all int64 // bytes
	saved     time.Time
}

// count notes that so many numbers have been added, and tells whether it is time to save.
func (r *run) count(n int) (due bool) {
	r.done += 8 * int64(n)
	if r.task.Progress != nil {
		r.task.Progress(r.done, r.all)
	}
	return r.task.Save != nil && time.Since(r.saved) >= r.task.Interval
}

func (r *run) save() error {
	r.saved = time.Now()
	return r.task.Save(r.state)
}

// chunk is how many numbers are read at a time: 4 MB.
const chunk = 1 << 19

// job is a rectangle of the stored numbers, which are taken row by row: of a vector a column, of a matrix in
// Fortran's order the transpose of what it is.
type job struct {
	*run
	arrays        []numbers.Array // the numbers as they are stored: one array, or the factors of a dot product
	width         int             // of a stored row
	rows, columns partial.Range   // of the rectangle
	tileRows      int             // that are read at a time
	tileColumns   int
	adder         adder
}

// adder adds tiles: rows from `row` on, each a part of a stored row from `column` on, one after the other. flush
// adds to the state what it has kept back.
type adder interface {
	add(tile tile) error
	flush() error
}

// tile is what is read at a time, of as many numbers of each array.
type tile struct {
	row, rows, column, columns int
	lists                      [][]float64
}

func (r *run) newJob(b partial.Block) *job {
	p, threads := r.task.Problem, r.task.Threads
	j := &job{run: r, width: 1, columns: partial.Range{To: 1}}
	if p.A.Absent() {
		j.arrays = []numbers.Array{p.X}
		if !p.Y.Absent() {
			j.arrays = append(j.arrays, p.Y)
		}
		j.rows = back(b.Terms, r.task.First)
		j.adder = &terms{run: r, threads: threads}
	} else {
		j.matrix(b)
	}
	size := max(1, cmp.Or(r.task.size, chunk)/len(j.arrays))
	j.tileColumns = min(size, j.columns.Len())
	if _, ok := j.adder.(*rows); ok && r.state.Problem().Pieces { // a component gets a piece at once
		j.tileColumns = j.columns.Len()
	}
	j.tileRows = min(max(1, size/j.tileColumns), j.rows.Len())
	return j
}

// matrix makes j the part of the matrix for a block.
func (j *job) matrix(b partial.Block) {
	p := j.task.Problem
	j.arrays = []numbers.Array{p.A}
	if j.width = p.A.Cols; byColumns(p.A) {
		j.width = p.A.Rows
	}
	x, _ := p.X.Contiguous()
	rowsAreTerms := p.Trans
	if rowsAreTerms {
		b.Terms = back(b.Terms, j.task.First)
	} else {
		b.Components = back(b.Components, j.task.First)
	}
	if rowsAreTerms != byColumns(p.A) { // stored rows are terms
		j.rows, j.columns = b.Terms, b.Components
		j.adder = newColumns(j, x)
		return
	}
	j.rows, j.columns = b.Components, b.Terms
	j.adder = &rows{job: j, x: x}
}

// byColumns tells whether the columns of a matrix are stored one after the other.
func byColumns(a numbers.Array) bool { return a.ColStride != 1 && a.Cols > 1 }

// back moves a range of the partial result to that of the data.
func back(r partial.Range, first int) partial.Range {
	return partial.Range{From: r.From - first, To: r.To - first}
}

func (j *job) bytes() int64 {
	return 8 * int64(len(j.arrays)) * int64(j.rows.Len()) * int64(j.columns.Len())
}

// add adds all tiles, those of the same rows one after the other.
func (j *job) add(ctx context.Context) error {
	across := (j.columns.Len() + j.tileColumns - 1) / j.tileColumns
	down := (j.rows.Len() + j.tileRows - 1) / j.tileRows
	at := func(k int) tile {
		t := tile{row: j.rows.From + k/across*j.tileRows, column: j.columns.From + k%across*j.tileColumns}
		t.rows, t.columns = min(j.tileRows, j.rows.To-t.row), min(j.tileColumns, j.columns.To-t.column)
		return t
	}
	size := j.tileRows * j.tileColumns * len(j.arrays)
	read := func(k int, buffer []float64) ([]float64, error) {
		t := at(k)
		x := buffer[:t.rows*t.columns*len(j.arrays)]
		for i, a := range j.arrays {
			if err := j.read(a, t, x[i*t.rows*t.columns:][:t.rows*t.columns]); err != nil {
				return nil, err
			}
		}
		return x, nil
	}
	whole := false // the last tile ended at the end of rows
	err := numbers.ReadAhead(ctx, numbers.Readers(j.arrays...), across*down, size, read,
		func(k int, x []float64) error {
			t := at(k)
			for i := range j.arrays {
				t.lists = append(t.lists, x[i*t.rows*t.columns:][:t.rows*t.columns])
			}
			if err := j.adder.add(t); err != nil {
				return err
			}
			whole = k%across == across-1 && !j.state.Problem().Pieces
			if due := j.count(len(x)); !due || !whole {
				return nil
			}
			if err := j.adder.flush(); err != nil {
				return err
			}
			return j.save()
		})
	if err == nil || whole {
		err = errors.Join(err, j.adder.flush())
	}
	return err
}

// read reads a tile: at once where its rows are whole; of integers their bits.
func (j *job) read(a numbers.Array, t tile, x []float64) error {
	if s, ok := a.Source.(numbers.Integers); ok {
		return s.ReadIntegers(words(x), a.Index(t.row, 0))
	}
	flat := numbers.Array{Source: a.Source, Layout: numbers.Strided(a.Len(), 1)}
	flat.Offset = a.Offset
	if t.columns == j.width {
		return flat.ReadRun(x, t.row*j.width)
	}
	for i := range t.rows {
		if err := flat.ReadRun(x[i*t.columns:][:t.columns], (t.row+i)*j.width+t.column); err != nil {
			return err
		}
	}
	return nil
}
