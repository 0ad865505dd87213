package superacc

import (
	"math"

	"mpbench/internal/parallel"
)

// Matrix is a matrix of binary64 numbers where they are: element (i, j) is Data[Offset + i*RowStride + j*ColStride].
type Matrix struct {
	Data                         []float64
	Rows, Cols                   int
	Offset, RowStride, ColStride int
}

// RowSums computes the exact sums of the products of each row of a matrix and a vector. Rows whose elements are
// neighbours are read where they are. Where columns are, kernels add some rows at a time, side by side. Of other
// matrices, panels of some rows are copied to where their elements are neighbours. It is not safe for concurrent use;
// its method uses several goroutines itself.
type RowSums struct {
	matrix  Matrix
	threads int
	workers []rowWorker
}

// A panel has so many rows and columns: 256 kB, which stay in the second-level cache. Copies of its rows are
// panelStride apart, no multiple of a page, so that they do not displace each other from the first level.
const (
	panelRows    = 128
	panelColumns = maxDotGroups
	panelStride  = panelColumns + 8
)

type rowWorker struct {
	sums    []Accumulator
	windows [panelRows]window // of groups of rows that are added side by side
	columns columnSums
	panel   []float64
}

// NewRowSums returns the sums for a matrix; threads = 0 stands for GOMAXPROCS.
func NewRowSums(a Matrix, threads int) *RowSums {
	return &RowSums{matrix: a, threads: threads, workers: make([]rowWorker, parallel.Threads(threads))}
}

// MulVec calls done with the exact sum of each row of the matrix times x, once for each row, from several goroutines;
// the sum is done's until it returns. It panics if x has another length than the rows.
func (s *RowSums) MulVec(x []float64, done func(i int, sum *Accumulator)) {
	a := s.matrix
	if len(x) != a.Cols {
		panic("superacc: a vector of another length than the rows of the matrix")
	}
	add, sums := s.addRows, 1
	if a.ColStride != 1 && a.Cols > 1 {
		add, sums = s.addPanels, panelRows
	}
	parallel.Ranges(s.threads, a.Rows, panelRows, func(worker, from, to int) {
		w := &s.workers[worker]
		if w.sums == nil {
			w.sums = make([]Accumulator, sums)
		}
		add(w, from, to, x, done)
	})
}

func (s *RowSums) addRows(w *rowWorker, from, to int, x []float64, done func(i int, sum *Accumulator)) {
	a := s.matrix
	for i := from; i < to; i++ {
		sum := &w.sums[0]
		if a.Cols > 0 {
			sum.AddProducts(a.Data[a.Offset+i*a.RowStride:][:a.Cols], x)
		}
		done(i, sum)
		sum.next()
	}
}

func (s *RowSums) addPanels(w *rowWorker, from, to int, x []float64, done func(i int, sum *Accumulator)) {
	aside := 0 // rows that are added side by side
	if columnLanes > 0 && s.matrix.RowStride == 1 {
		aside = (to - from) / columnLanes * columnLanes
	}
	for j := 0; j < len(x); j += panelColumns {
		part := x[j:min(j+panelColumns, len(x))]
		for r := 0; r < aside; r += columnLanes {
			s.addColumns(w, from, r, j, part)
		}
		if from+aside < to {
			s.copyPanel(w, from+aside, to, j, len(part))
		}
		for r := range to - from - aside {
			w.sums[aside+r].AddProducts(w.panel[r*panelStride:][:len(part)], part)
		}
	}
	for r := range to - from {
		done(from+r, &w.sums[r])
		w.sums[r].next()
	}
}

// addColumns adds the products of elements j, j+1, ... of columnLanes rows, from row from+r on, with x.
func (s *RowSums) addColumns(w *rowWorker, from, r, j int, x []float64) {
	v, sums := &w.windows[r/columnLanes], w.sums[r:][:columnLanes]
	stride := s.matrix.ColStride
	at := s.matrix.Offset + from + r + j*stride
	for len(x) > 0 {
		if v.slow > 0 {
			n := min(v.slow, len(x))
			for c, f := range x[:n] {
				for t, e := range s.matrix.Data[at+c*stride:][:columnLanes] {
					sums[t].AddProduct(e, f)
				}
			}
			x, at, v.slow = x[n:], at+n*stride, v.slow-n
			continue
		}
		first, last := s.matrix.Data[at:][:columnLanes], s.matrix.Data[at+(len(x)-1)*stride:][:columnLanes]
		if v.limit == 0 {
			v.start([]float64{math.Abs(first[0] * x[0]), math.Abs(last[0] * x[len(x)-1])})
		}
		k := dotKernels[v.kernel]
		columnsBlock(k, &first[0], 8*stride, x, &v.anchor, &w.columns)
		v.out = blockSums{max: w.columns.max, rest: w.columns.rest, tiny: w.columns.tiny}
		if !v.accept(nil, dotKernels) { // the window has no counts of its own
			continue
		}
		for l := range k.levels {
			exponent := int(math.Float64bits(v.anchor[l])>>fractionBits) - bias
			for t, c := range w.columns.counts[l][:columnLanes] {
				sums[t].fixed.addSigned(c>>63, uint64(c), exponent)
			}
		}
		return
	}
}

// copyPanel copies columns j to j+columns-1 of rows from to to-1.
func (s *RowSums) copyPanel(w *rowWorker, from, to, j, columns int) {
	if w.panel == nil {
		w.panel = make([]float64, panelRows*panelStride)
	}
	a, panel := s.matrix, w.panel
	for c := range columns {
		at := a.Offset + from*a.RowStride + (j+c)*a.ColStride
		for r := range to - from {
			panel[r*panelStride+c] = a.Data[at]
			at += a.RowStride
		}
	}
}

// next makes a an empty sum that begins with what was learnt of the data of the last one.
func (a *Accumulator) next() {
	a.settle()
	a.fixed = fixed{}
	a.posInf, a.negInf, a.nan = false, false, false
}
