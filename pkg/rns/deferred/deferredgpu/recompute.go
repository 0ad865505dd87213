package deferredgpu

import (
	"errors"
	"math"
	"math/big"
	"slices"

	"mpbench/pkg/gpu"
	"mpbench/pkg/numbers"
	"mpbench/pkg/rns/deferred"
)

// recomputation is what a product with truncated factors has computed again: the rows for which Ziv's test
// (cuda/round_rows.cuh) left the rounding open.
//
// They are gathered from the raw numbers, by widths, and multiplied with as many moduli as exact sums take, or
// deferred.MaxModuli. Rows which that leaves open, and those that do not fit the device's memory, are the host's. As
// the same product is often launched many times, the planes of these rows are kept while they take no more than
// recomputeShare of the memory that was free.
type recomputation struct {
	due    bool         // since the last launch
	rows   []int        // computed again, in any order
	values []*big.Float // of these rows
	onHost int          // how many of them the host computed

	// What the last recomputation found, for launches that leave the same rows open.
	key     []int // these rows, ascending; nil if they are to be recomputed anew
	batches []*batch
	host    []int // those of them that no batch makes certain
}

// batch is a product of some rows.
type batch struct {
	rows []int
	*factored
}

// factored is a product with its factors, and the numbers that they are made of while they may be needed again.
type factored struct {
	a       *Matrix
	x       *Vector
	product *Product
	raw     []*Numbers
}

// reconsider goes over to exact sums where truncated ones would have to be recomputed too often, and gives up the
// numbers, which exact ones do not need unless they are used in place.
func (f *factored) reconsider() error {
	if f.product.Truncated() {
		exact, err := f.product.reconsidered()
		if err != nil {
			return err
		}
		if exact != nil {
			f.freeProduct()
			f.a, f.x, f.product = exact.a, exact.x, exact.product
		}
	}
	if !f.product.Truncated() && !f.a.inPlace() {
		f.freeNumbers()
	}
	return nil
}

func (f *factored) freeNumbers() {
	for _, x := range f.raw {
		x.Free()
	}
	f.raw = nil
}

func (f *factored) freeProduct() {
	f.product.Free()
	f.x.Free()
	f.a.Free()
}

func (f *factored) free() {
	f.freeProduct()
	f.freeNumbers()
}

const (
	// of the rows: with more than one in so many to be computed again, exact sums are faster (BenchmarkRecomputed)
	reconsiderShare = 6

	recomputeShare = 2 // of the device's free memory: one part in so many
	keptModuli     = 256
	moduliStep     = 128 // beyond keptModuli, where tables of every number would take too much memory
)

// Recomputed returns how many rows the last Recompute or Results computed again, and how many of them on the host.
func (p *Product) Recomputed() (rows, onHost int) {
	return len(p.recomputation.rows), p.recomputation.onHost
}

// Recompute waits for the last launch and computes again, with more moduli, the rows of which the rounding was left
// open. It is part of the work of a product with truncated factors; for others it does nothing.
func (p *Product) Recompute() error {
	r := &p.recomputation
	if !r.due {
		return nil
	}
	rows, err := p.openRows()
	if err != nil {
		return err
	}
	r.rows, r.values, r.onHost = r.rows[:0], r.values[:0], 0
	switch {
	case len(rows) == 0:
	case r.key != nil && slices.Equal(rows, r.key):
		err = p.recomputeAgain()
	default:
		err = p.recomputeAnew(rows)
	}
	r.due = err != nil
	return err
}

// reconsidered launches a product with truncated factors once. If it had to compute so many rows again that exact sums
// are faster, it returns the product with exact ones, where moduli and memory suffice; otherwise nil.
func (p *Product) reconsidered() (*factored, error) {
	if err := p.Launch(nil); err != nil {
		return nil, err
	}
	if err := p.Recompute(); err != nil {
		return nil, err
	}
	plan := p.a.plan.Exact(p.x.extent)
	if reconsiderShare*len(p.recomputation.rows) <= p.a.Rows() || plan == nil {
		return nil, nil
	}
	p.recomputation.free()
	f, err := p.again(plan, nil, p.options)
	if errors.Is(err, gpu.ErrOutOfMemory) {
		return nil, nil
	}
	return f, err
}

// again makes a product of the same numbers by another plan: of some rows, or of all if rows is nil.
func (p *Product) again(plan *deferred.Plan, rows []uint32, o Options) (f *factored, err error) {
	f = new(factored)
	if f.a, err = newMatrix(p.device, plan, p.a.source, p.a.layout, rows, limbsFor(plan)); err == nil {
		f.x, err = f.a.NewVector(p.x.source, p.x.layout, p.x.extent)
	}
	if err == nil {
		f.product, err = NewProduct(f.a, f.x, o)
	}
	if err != nil {
		f.free()
		return nil, err
	}
	return f, nil
}

// recomputeAgain launches what is there from the last time.
func (p *Product) recomputeAgain() error {
	for _, b := range p.recomputation.batches {
		if _, err := p.runBatch(b); err != nil {
			return err
		}
	}
	return p.onHost(p.recomputation.host)
}

// recomputeAnew makes batches of rows of similar width.
func (p *Product) recomputeAnew(rows []int) error {
	r := &p.recomputation
	r.free()
	free, err := p.device.Free()
	if err != nil {
		return err
	}
	left := slices.Clone(rows)
	slices.SortStableFunc(left, func(i, j int) int { return p.exactModuli(i) - p.exactModuli(j) })
	budget, kept, lost := free/recomputeShare, int64(0), false // lost: batches that could not be kept
	for len(left) > 0 {
		count := p.batchRows(left, budget)
		b, err := p.newBatch(left[:count])
		if errors.Is(err, gpu.ErrOutOfMemory) {
			if budget /= 2; count == 1 {
				r.host, left = append(r.host, left[0]), left[1:]
			}
			continue
		}
		if err != nil {
			return err
		}
		r.batches = append(r.batches, b)
		open, err := p.runBatch(b)
		if err != nil {
			return err
		}
		r.host, left = append(r.host, open...), left[count:]
		if kept += b.bytes(); kept > free/recomputeShare || len(open) == count {
			kept -= b.bytes()
			b.free()
			r.batches = r.batches[:len(r.batches)-1]
			lost = lost || len(open) < count
		}
	}
	if !lost {
		r.key = rows
	}
	return p.onHost(r.host)
}

// exactModuli returns how many moduli an exact sum of row i takes, or the most that there are.
func (p *Product) exactModuli(i int) int {
	return min(deferred.MaxModuli, deferred.ProductModuli(p.a.plan.RowExtent(i), p.x.extent, p.a.Columns()))
}

// batchRows returns how many of the rows, sorted by their moduli, to take together: they take no more than budget, and
// none twice the moduli of the first.
func (p *Product) batchRows(rows []int, budget int64) int {
	most := 2 * p.exactModuli(rows[0])
	count := 1
	for count < len(rows) {
		n := p.exactModuli(rows[count])
		if n > most || 4*int64(roundModuli(n))*int64(count+1)*int64(p.a.planes.ld) > budget {
			break
		}
		count++
	}
	return count
}

// roundModuli returns how many moduli to take where n suffice.
func roundModuli(n int) int {
	if n <= keptModuli {
		return n
	}
	return min((n+moduliStep-1)/moduliStep*moduliStep, deferred.MaxModuli)
}

func (p *Product) newBatch(rows []int) (*batch, error) {
	extents, selected := make([]numbers.Extent, len(rows)), make([]uint32, len(rows))
	n := 0
	for k, i := range rows {
		extents[k], selected[k] = p.a.plan.RowExtent(i), uint32(i)
		n = max(n, p.exactModuli(i))
	}
	x := p.x.extent
	x.Top += deferred.ModulusBits * (roundModuli(n) - n) // room for longer vectors takes more moduli
	plan, err := deferred.PlanExtents(extents, p.a.Columns(), x, deferred.Options{})
	if err != nil {
		return nil, err
	}
	o := p.options
	if o.Beta.Sign() != 0 {
		o.Y = o.Y.Select(rows)
	}
	f, err := p.again(plan, selected, o)
	if err != nil {
		return nil, err
	}
	return &batch{slices.Clone(rows), f}, nil
}

// runBatch launches a batch, notes the results that are certain and returns the other rows.
func (p *Product) runBatch(b *batch) (open []int, err error) {
	if err := b.product.Launch(nil); err != nil {
		return nil, err
	}
	y := make([]*big.Float, len(b.rows))
	if err := b.product.results(y); err != nil {
		return nil, err
	}
	var doubtful []int
	if b.product.truncated {
		if doubtful, err = b.product.openRows(); err != nil {
			return nil, err
		}
	}
	for k, i := range b.rows {
		if _, found := slices.BinarySearch(doubtful, k); found {
			open = append(open, i)
		} else {
			p.recomputation.rows, p.recomputation.values = append(p.recomputation.rows, i), append(p.recomputation.values, y[k])
		}
	}
	return open, nil
}

// onHost computes rows exactly from the numbers on the device.
func (p *Product) onHost(rows []int) error {
	if len(rows) == 0 {
		return nil
	}
	a, err := p.a.source.host()
	if err != nil {
		return err
	}
	x, err := p.x.source.host()
	if err != nil {
		return err
	}
	o, l := &p.options, p.a.layout
	for _, i := range rows {
		row := l
		row.Rows, row.Offset = 1, l.Offset+i*l.RowStride
		var y numbers.Number
		if o.Beta.Sign() != 0 {
			o.Y.Read(&y, i)
		}
		z := deferred.RoundedRow(numbers.Array{Source: a, Layout: row}, numbers.Array{Source: x, Layout: p.x.layout},
			o.Alpha, o.Beta, &y, nil, uint(o.Precision))
		p.recomputation.rows, p.recomputation.values = append(p.recomputation.rows, i), append(p.recomputation.values, z)
	}
	p.recomputation.onHost = len(rows)
	return nil
}

// free gives up what is kept.
func (r *recomputation) free() {
	for _, b := range r.batches {
		b.free()
	}
	r.key, r.batches, r.host = nil, nil, nil
}

func (b *batch) bytes() int64 { return b.a.Bytes() + b.x.planes.residues.Bytes() + b.product.Bytes() }

// exactRow is that of cuda/round_rows.cuh.
const exactRow = math.MinInt64

// allocateErrors makes the buffers for truncated sums: row i is in error by less than 2^errorExp[i].
func (p *Product) allocateErrors() {
	errors := make([]int64, p.a.Rows())
	for i, low := range p.a.low {
		errors[i] = exactRow
		if bits := p.a.plan.ErrorBits(i, p.x.extent); bits >= 0 {
			errors[i] = int64(low+p.x.low+bits) + p.alpha.exp
			if !p.alpha.isUnit(p.options.Alpha) {
				errors[i] += int64(p.options.Alpha.MinPrec()) // the integer of alpha is less than this power of two
			}
			p.truncated = true
		}
	}
	if p.truncated {
		p.errorExp, p.uncertain = gpu.TakeCopy(p.own, errors), gpu.Take[uint32](p.own, len(errors))
	}
}

// Truncated reports whether factors are truncated, so that rows may have to be computed again. Then the numbers that
// the matrix and the vector were made of must stay on the device as long as the product is used.
func (p *Product) Truncated() bool { return p.truncated }

func (p *Product) openRows() ([]int, error) {
	flags := make([]uint32, p.a.Rows())
	if err := p.uncertain.Download(flags); err != nil {
		return nil, err
	}
	var rows []int
	for i, f := range flags {
		if f != 0 {
			rows = append(rows, i)
		}
	}
	return rows, nil
}
