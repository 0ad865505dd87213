package deferredgpu

import (
	"fmt"
	"sync"

	"mpbench/cuda"
	"mpbench/pkg/gpu"
	"mpbench/pkg/numbers"
	"mpbench/pkg/rns/deferred"
)

// planes are residue planes: the residue modulo m_k of element (i, j) is number (k*rows + i)*ld + j of the buffer. Or
// they are planes of limbs, 28 bits each, with the element's sign.
type planes struct {
	device        *gpu.Device
	tables        *tables // of the moduli; nil for limbs
	limbs         int     // 0 for residues
	rows, columns int
	ld            int
	residues      *gpu.Buffer[uint32]
	lows          *gpu.Buffer[int32]  // of the rows of a matrix in place, which has no planes; otherwise nil
	selected      *gpu.Buffer[uint32] // while these are rows of the numbers that are converted; otherwise nil
}

const columnMultiple = 16 // of ld

func leadingDimension(columns int) int {
	return (columns + columnMultiple - 1) / columnMultiple * columnMultiple
}

func newPlanes(d *gpu.Device, moduli, rows, columns int) (*planes, error) {
	t, err := tablesOn(d, moduli)
	if err != nil {
		return nil, err
	}
	p := &planes{device: d, tables: t, rows: rows, columns: columns, ld: leadingDimension(columns)}
	p.residues, err = gpu.Alloc[uint32](d, moduli*rows*p.ld)
	return p, err
}

func newLimbPlanes(d *gpu.Device, limbs, rows, columns int) (*planes, error) {
	p := &planes{device: d, limbs: limbs, rows: rows, columns: columns, ld: leadingDimension(columns)}
	var err error
	p.residues, err = gpu.Alloc[uint32](d, limbs*rows*p.ld)
	return p, err
}

// maxGridY is the most blocks of the second dimension of a grid.
const maxGridY = 65535

// convert fills the planes with the residues of truncate(x * 2^-low[i]) for the elements of x laid out by l; low has
// one element for each row, or one for all.
func (p *planes) convert(x *Numbers, l numbers.Layout, low []int) error {
	lowBuffer, err := uploadLows(p.device, low)
	if err != nil {
		return err
	}
	defer lowBuffer.Free()
	k, err := conversionKernel(p.device, x)
	if err != nil {
		return err
	}
	if err := p.launchConversion(k, nil, x, l, lowBuffer.Pointer(), len(low) > 1); err != nil {
		return err
	}
	return p.device.Sync() // low is freed
}

// convertRows is convert for rows of the numbers that l describes.
func (p *planes) convertRows(x *Numbers, l numbers.Layout, low []int, rows []uint32) (err error) {
	if p.selected, err = gpu.Upload(p.device, rows); err != nil {
		return err
	}
	err = p.convert(x, l, low)
	p.selected.Free()
	p.selected = nil
	return err
}

func uploadLows(d *gpu.Device, low []int) (*gpu.Buffer[int32], error) {
	lows := make([]int32, len(low))
	for i, v := range low {
		lows[i] = int32(v)
	}
	return gpu.Upload(d, lows)
}

func conversionKernel(d *gpu.Device, x *Numbers) (*gpu.Kernel[cuda.PlanesOfArgs], error) {
	name := "planesOfFloat64"
	if x.width > 0 {
		name = "planesOfPacked"
	}
	return gpu.KernelOf[cuda.PlanesOfArgs](d, "planes", name)
}

// launchConversion puts a conversion into the stream. With each, low has one for each row, otherwise one.
func (p *planes) launchConversion(
	k *gpu.Kernel[cuda.PlanesOfArgs], s *gpu.Stream, x *Numbers, l numbers.Layout, low gpu.Pointer[int32], each bool,
) error {
	if p.selected == nil && l.Rows != p.rows || p.selected != nil && p.selected.Len() != p.rows || l.Cols != p.columns {
		panic(fmt.Sprintf("deferredgpu: planes of %d x %d from %d x %d numbers", p.rows, p.columns, l.Rows, l.Cols))
	}
	if p.rows*p.ld == 0 {
		return nil
	}
	c := cuda.Conversion{
		RowStride: int64(l.RowStride), ColumnStride: int64(l.ColStride),
		PlaneStride: uint64(p.rows) * uint64(p.ld), Columns: uint32(p.columns), Ld: uint32(p.ld),
		LowStep: boolToUint32(each), Width: uint32(x.width),
	}
	if p.limbs > 0 {
		c.Moduli, c.Limbs = uint32(p.limbs), 1
	} else {
		t := p.tables
		c.Delta, c.Powers, c.Moduli, c.Lanes = t.delta.Pointer(), t.powers.Pointer(), uint32(t.n), uint32(t.lanes)
	}
	tile := conversionRows(x.width)
	for i := 0; i < p.rows; i += maxGridY * tile {
		count := min(p.rows-i, maxGridY*tile)
		first := l.Offset
		if p.selected == nil {
			first += i * l.RowStride
		} else {
			c.Select = p.selected.Pointer().At(i)
		}
		c.Source, c.Exponents = x.values.Pointer().At(first*max(1, x.width)), x.exponents.Pointer().At(first)
		c.Low, c.Planes, c.Rows = low.At(i*int(c.LowStep)), p.residues.Pointer().At(i*p.ld), uint32(count)
		launch := p.conversionLaunch(x.width, count)
		launch.Stream = s
		if err := k.Launch(launch, cuda.PlanesOfArgs{C: c}); err != nil {
			return err
		}
	}
	return nil
}

// conversionRows is how many rows of numbers of so many words, 0 for float64, a block converts.
func conversionRows(width int) int {
	if width > 0 {
		return 1
	}
	return 32
}

func (p *planes) conversionLaunch(width, rows int) gpu.Launch {
	tile, shared := conversionRows(width), 0
	if width > 0 {
		shared = 32 * (8*width + 4*(64*width/28+2))
	}
	return gpu.Launch{Grid: gpu.Dim{X: (p.ld + 31) / 32, Y: (rows + tile - 1) / tile}, Block: gpu.Dim{X: 256},
		Shared: shared}
}

func (p *planes) free() {
	if p != nil {
		p.residues.Free()
		p.lows.Free()
	}
}

// tables are the constants of the first n moduli in device memory.
type tables struct {
	n, lanes                   int
	delta, powers, weight, crt *gpu.Buffer[uint32]
	reciprocal                 *gpu.Buffer[float64]
}

// The tables of a device are kept: 0.5 MB at 256 moduli. Larger ones are kept too; there are few.
var (
	tablesMutex sync.Mutex
	tablesKept  = map[tablesKey]*tables{}
)

type tablesKey struct {
	device *gpu.Device
	n      int
}

// tablesOn returns the tables of the first n moduli on the device.
func tablesOn(d *gpu.Device, n int) (*tables, error) {
	tablesMutex.Lock()
	defer tablesMutex.Unlock()
	key := tablesKey{d, n}
	if t := tablesKept[key]; t != nil {
		return t, nil
	}
	host := deferred.TablesOf(n)
	t := &tables{n: n, lanes: host.Lanes}
	for _, upload := range []struct {
		to   **gpu.Buffer[uint32]
		from []uint32
	}{{&t.delta, host.Delta}, {&t.powers, host.Powers}, {&t.weight, host.Weight}, {&t.crt, host.CRT}} {
		buffer, err := gpu.Upload(d, upload.from)
		if err != nil {
			return nil, err
		}
		*upload.to = buffer
	}
	var err error
	if t.reciprocal, err = gpu.Upload(d, host.Reciprocal); err != nil {
		return nil, err
	}
	tablesKept[key] = t
	return t, nil
}

// Matrix is op(A) in device memory: planes of residues, or of limbs for short elements, and rows' exponents.
type Matrix struct {
	planes *planes
	plan   *deferred.Plan
	low    []int
	source *Numbers
	layout numbers.Layout
}

// NewMatrix converts the numbers a, laid out by l, which is the layout of op(A): element (i, j) is the factor of x_j
// in y_i. The plan is for NoTrans and that shape. Afterwards only truncated products need a.
func NewMatrix(d *gpu.Device, plan *deferred.Plan, a *Numbers, l numbers.Layout) (*Matrix, error) {
	return newMatrix(d, plan, a, l, nil, limbsFor(plan))
}

// newMatrix makes a matrix of some rows laid out by l, of all if rows is nil; of so many limbs, or of residues for 0.
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

// Bytes returns the size of the planes, or of the numbers in place.
func (a *Matrix) Bytes() int64 {
	if a.inPlace() {
		return 8*int64(a.planes.rows)*int64(a.planes.columns) + a.planes.lows.Bytes()
	}
	return a.planes.residues.Bytes()
}

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
