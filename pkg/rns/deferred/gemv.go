package deferred

import (
	"math/big"
	"mpbench/internal/parallel"
)

const (
	dotColumns = 2048 // columns that fit the vector kernels' lazy sums: 8 lanes of 256 products
	rowBlock   = 64   // rows of one task
	axpyRows   = lazyProducts
)

// MulVec adds op(A)*x, exactly, to s, which was made for op.
//
// N: per modulus, rows of A times x, summed in 64-bit lanes that hold 256 products each and are then split into 32-bit
// halves, whose sums have no limit in practice. T: per modulus, sums[j] += x_i * a_ij row by row, for columns that fit
// the first-level cache, reduced every 256 rows. Both read every residue of A once, in order.
func (s *Accumulator) MulVec(a *Matrix, x *Vector, threads int) {
	s.join(a, x)
	threads = parallel.Threads(threads)
	s.grow(threads)
	if s.op == Trans {
		s.mulTrans(a, x, threads)
		return
	}
	rows := a.layout.Rows
	blocks := (rows + rowBlock - 1) / rowBlock
	parallel.Tasks(threads, blocks*s.base.n, func(_, task int) {
		k, i := task/blocks, task%blocks*rowBlock
		s.mulRows(a, x, k, i, min(i+rowBlock, rows))
	})
}

// mulRows adds rows i to end-1 of A*x modulo m_k.
func (s *Accumulator) mulRows(a *Matrix, x *Vector, k, i, end int) {
	plane, xs := a.plane(k), x.plane(k)
	delta := s.base.delta[k]
	z := s.residues[k*s.stride:]
	for ; i < end; i++ {
		row := plane[i*a.ld : (i+1)*a.ld]
		var low, high uint64
		for j := 0; j < a.ld; j += dotColumns {
			l, h := dot(row[j:], xs[j:min(j+dotColumns, a.ld)])
			low, high = low+l, high+h
		}
		z[i] = addHalves(z[i], low, high, delta)
	}
}

// addHalves returns z + lo + 2^32*hi mod m.
func addHalves(z uint32, lo, hi uint64, delta uint32) uint32 {
	// 2^32 = 16*delta < 2^20
	return fold(uint64(fold(hi, delta))*uint64(16*delta)+uint64(fold(lo, delta))+uint64(z), delta)
}

func (s *Accumulator) mulTrans(a *Matrix, x *Vector, threads int) {
	// Columns of one task: sums that stay in the first-level cache, and enough tasks for all threads.
	const most, least = 2048, 256
	split := (4*threads + s.base.n - 1) / s.base.n
	width := most
	if threads > 1 {
		width = min(most, max(least, roundUp((a.ld+split-1)/split, laneMultiple)))
	}
	blocks := (a.ld + width - 1) / width
	parallel.Tasks(threads, blocks*s.base.n, func(worker, task int) {
		w := &s.workers[worker]
		if cap(w.sums) < width {
			w.sums = make([]uint64, width)
		}
		k, j := task/blocks, task%blocks*width
		s.mulColumns(w.sums[:min(width, a.ld-j)], a, x, k, j)
	})
}

// mulColumns adds columns j to j+len(sums)-1 of A, times x, modulo m_k.
func (s *Accumulator) mulColumns(sums []uint64, a *Matrix, x *Vector, k, j int) {
	plane, xs, delta := a.plane(k), x.plane(k), s.base.delta[k]
	z := s.residues[k*s.stride+j:][:min(len(sums), s.rows-j)]
	clear(sums)
	for c, r := range z {
		sums[c] = uint64(r)
	}
	rows := a.layout.Rows
	for i := 0; i < rows; i += axpyRows {
		axpyBlock(sums, plane[i*a.ld+j:], a.ld, xs[i:min(i+axpyRows, rows)])
		reduceSums(sums, delta)
	}
	for c := range z {
		z[c] = uint32(sums[c])
	}
}

// Gemv sets y = alpha*op(A)*x + beta*y, each element the exact result rounded once to prec bits, to nearest even;
// threads = 0 stands for GOMAXPROCS. s is overwritten: it provides the memory, so that a call allocates nothing that
// grows with the matrix. See [Accumulator.Round] for y.
func (s *Accumulator) Gemv(
	y []*big.Float, alpha *big.Float, a *Matrix, x *Vector, beta *big.Float, prec uint, threads int,
) {
	s.Reset()
	s.MulVec(a, x, threads)
	s.Round(y, alpha, beta, prec, threads)
}

// GemvFloat64 is Gemv with results rounded once to binary64; see [Accumulator.RoundFloat64].
func (s *Accumulator) GemvFloat64(y []float64, alpha float64, a *Matrix, x *Vector, beta float64, threads int) {
	s.Reset()
	s.MulVec(a, x, threads)
	s.RoundFloat64(y, alpha, beta, threads)
}
