package deferredgpu

import (
	"mpbench/pkg/gpu"
	"mpbench/pkg/numbers"
	"mpbench/pkg/rns/deferred"
)

// Matrix is op(A) in device memory: planes of residues, or of limbs where elements are short, and the exponent of each
// row.
type Matrix struct {
	planes *planes
	plan   *deferred.Plan
	low    []int
	source *Numbers
	layout numbers.Layout
}

// NewMatrix converts the numbers a, laid out by l, which is the layout of op(A): element (i, j) is the factor of x_j
// in y_i. The plan is for NoTrans and that shape. Products that are truncated read a again; otherwise it is not needed
// afterwards.
func NewMatrix(d *gpu.Device, plan *deferred.Plan, a *Numbers, l numbers.Layout) (*Matrix, error) {
	return newMatrix(d, plan, a, l, nil, limbsFor(plan))
}

// newMatrix makes a matrix of some rows of that laid out by l, or of all, in their order, if rows is nil; of so many
// limbs, or of residues for 0.
func newMatrix(
	d *gpu.Device, plan *deferred.Plan, a *Numbers, l numbers.Layout, rows []uint32, limbs int,
) (*Matrix, error) {
	count := l.Rows
	if rows != nil {
		count = len(rows)
	}
	p, err := newPlanesAs(d, plan, limbs, count, l.Cols)
	if err != nil {
		return nil, err
	}
	m := &Matrix{p, plan, plan.Lows(), a, l}
	if rows == nil {
		err = p.convert(a, l, m.low)
	} else {
		err = p.convertRows(a, l, m.low, rows)
	}
	if err != nil {
		p.free()
		return nil, err
	}
	return m, nil
}

func newPlanesAs(d *gpu.Device, plan *deferred.Plan, limbs, rows, columns int) (*planes, error) {
	if limbs > 0 {
		return newLimbPlanes(d, limbs, rows, columns)
	}
	return newPlanes(d, plan.Moduli(), rows, columns)
}

// Rows and Columns return the shape of op(A).
func (a *Matrix) Rows() int { return a.planes.rows }

// Columns is described at Rows.
func (a *Matrix) Columns() int { return a.planes.columns }

// Moduli returns the number of moduli, 0 if there are limbs.
func (a *Matrix) Moduli() int {
	if a.planes.limbs > 0 {
		return 0
	}
	return a.planes.tables.n
}

// Limbs returns the number of limbs of 28 bits of an element, 0 if there are residues.
func (a *Matrix) Limbs() int { return a.planes.limbs }

// Bytes returns the size of the planes.
func (a *Matrix) Bytes() int64 { return a.planes.residues.Bytes() }

// Free gives the memory back.
func (a *Matrix) Free() {
	if a != nil {
		a.planes.free()
	}
}

// Vector is x in device memory: planes like those of the matrix, and the exponent of its elements.
type Vector struct {
	planes    *planes
	low       int
	truncated bool
	extent    numbers.Extent
	source    *Numbers
	layout    numbers.Layout
}

// NewVector converts the column vector x, laid out by l, whose extent is that for which the plan was made. As with a
// matrix, x is needed afterwards if products are truncated.
func (a *Matrix) NewVector(x *Numbers, l numbers.Layout, extent numbers.Extent) (*Vector, error) {
	low, truncated := a.plan.VectorLow(extent)
	row := numbers.Layout{Rows: 1, Cols: l.Rows, Offset: l.Offset, RowStride: 0, ColStride: l.RowStride}
	p, err := newPlanesAs(a.planes.device, a.plan, a.planes.limbs, 1, row.Cols)
	if err != nil {
		return nil, err
	}
	if err := p.convert(x, row, []int{low}); err != nil {
		p.free()
		return nil, err
	}
	return &Vector{p, low, truncated, extent, x, l}, nil
}

// Free gives the memory back.
func (x *Vector) Free() {
	if x != nil {
		x.planes.free()
	}
}
