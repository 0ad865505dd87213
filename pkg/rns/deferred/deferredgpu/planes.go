package deferredgpu

import (
	"fmt"

	"mpbench/cuda"
	"mpbench/pkg/gpu"
	"mpbench/pkg/numbers"
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

// newLimbPlanes makes planes for elements of so many limbs.
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

// conversionKernel returns the kernel that converts such numbers.
func conversionKernel(d *gpu.Device, x *Numbers) (*gpu.Kernel[cuda.PlanesOfArgs], error) {
	name := "planesOfFloat64"
	if x.width > 0 {
		name = "planesOfPacked"
	}
	return kernel[cuda.PlanesOfArgs](d, "planes", name)
}

// launchConversion puts a conversion into the stream. With each, low has an element for each row, otherwise one for
// all.
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

// conversionLaunch is that of the conversion of so many rows.
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
	}
}
