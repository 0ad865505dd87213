package primergpu

import (
	"errors"
	"fmt"
	"time"

	"mpbench/cuda"
	"mpbench/pkg/gpu"
	"mpbench/pkg/primer"
)

// prefixesArgs are the parameters of the kernels of scans.
type prefixesArgs struct{ P cuda.Prefixes }

// Scan is a scan on a device, with the numbers in its memory, in one pass: of operations that round in the fixed
// grouping of primer's "grouped", with the same bits; or of exact sums, in fixed point.
type Scan[T primer.Number] struct {
	device    *gpu.Device
	problem   *primer.Problem[T]
	exclusive bool
	shape     shape
	unit      int // of exact sums, a power of two
	owner     *gpu.Owner
	kernel    *gpu.Kernel[prefixesArgs]
	x, y      *gpu.Buffer[T]
	state     *gpu.Buffer[uint64]
	count     *gpu.Buffer[uint32]
	epoch     uint32
	steps     []gpu.Step
}

// shape is a kernel of cuda/scan.cuh with the rows of a warp, and the bytes of a value.
type shape struct {
	kernel     string
	rows       int
	valueBytes int
	exact      bool
}

// scanThreads are those of a block, which has a tile.
const scanThreads = 32 * primer.TileWarps

// NewScan copies the numbers to the device.
func NewScan[T primer.Number](d *gpu.Device, p *primer.Problem[T], exclusive bool) (*Scan[T], error) {
	return newScan(d, p, exclusive, 0, shape{"scanTiles", primer.TileRows, primer.SizeOf[T](), false})
}

func newScan[T primer.Number](
	d *gpu.Device, p *primer.Problem[T], exclusive bool, unit int, shape shape,
) (*Scan[T], error) {
	s := &Scan[T]{device: d, problem: p, exclusive: exclusive, unit: unit, shape: shape}
	return s, d.Make(s.prepare, func() { s.owner.Free() })
}

// ErrWide is the error of exact sums that need more bits than there are.
var ErrWide = fmt.Errorf("exact sums need more than %d bits: the numbers are of too different magnitudes",
	primer.FixedBits)

// ErrNoSum is the error of exact scans of what is no sum of floating-point numbers.
var ErrNoSum = errors.New("exact scans are of sums of floating-point numbers")

// Exact scans are in 64 bits of fixed point where sums have narrowBits at most.
const narrowBits = 62

var (
	narrow = shape{"scanExact64", 8, 8, true}
	wide   = shape{"scanExact128", 4, 16, true}
)

// NewExactScan is NewScan for sums of floating-point numbers that are exact, and rounded once. Errors are ErrNoSum,
// ErrWide, and those of the device.
func NewExactScan[T primer.Number](d *gpu.Device, p *primer.Problem[T], exclusive bool) (*Scan[T], error) {
	if p.Name != "+" || !primer.IsFloat[T]() {
		return nil, ErrNoSum
	}
	unit, width := primer.FixedUnit(p.X)
	switch {
	case width > primer.FixedBits:
		return nil, ErrWide
	case width > narrowBits:
		return newScan(d, p, exclusive, unit, wide)
	}
	return newScan(d, p, exclusive, unit, narrow)
}

// tiles returns how many there are, one a block.
func (s *Scan[T]) tiles() int {
	size := scanThreads * s.shape.rows * primer.PackBytes / primer.SizeOf[T]()
	return (len(s.problem.X) + size - 1) / size
}

func (s *Scan[T]) prepare() error {
	s.owner = s.device.NewOwner()
	file, suffix := module[T]()
	s.kernel = gpu.FindKernel[prefixesArgs](s.owner, file, s.shape.kernel+suffix)
	s.x = gpu.TakeCopy(s.owner, s.problem.X)
	s.y = gpu.Take[T](s.owner, len(s.problem.X))
	s.count = gpu.TakeCopy(s.owner, []uint32{0})
	// words of 64 bits have 4 bytes of a value for each tile and group
	values := s.tiles() + s.tiles()/primer.GroupTiles + 1
	s.state = gpu.Take[uint64](s.owner, values*s.shape.valueBytes/4)
	if err := s.owner.Err(); err != nil {
		return err
	}
	return s.state.Clear(nil)
}

// rounds tells whether results depend on the grouping.
func (s *Scan[T]) rounds() bool { return s.problem.Rounds && primer.IsFloat[T]() && !s.shape.exact }

// start puts the scan into the default stream.
func (s *Scan[T]) start() error {
	if s.x.Len() == 0 {
		return nil
	}
	s.epoch++
	p := cuda.Prefixes{
		X: gpu.Pointer[byte](s.x.Pointer()), Y: gpu.Pointer[byte](s.y.Pointer()), State: s.state.Pointer(),
		Count: s.count.Pointer(), N: uint64(s.x.Len()), Operation: uint32(s.problem.Index()), Epoch: s.epoch,
		Unit: int32(s.unit),
	}
	if s.exclusive {
		p.Exclusive = 1
	}
	return s.kernel.Launch(gpu.Launch{
		Grid: gpu.Dim{X: s.tiles()}, Block: gpu.Dim{X: scanThreads}, Shared: (primer.TileWarps + 2) * s.shape.valueBytes,
	}, prefixesArgs{p})
}

// Run scans and returns its time on the device, with caches that hold none of the numbers.
func (s *Scan[T]) Run() (d time.Duration, err error) {
	err = s.device.Do(func() error {
		if err := cool(s.device); err != nil {
			return err
		}
		d, err = s.device.Time(nil, s.start)
		s.steps = s.device.Steps(0)
		return err
	})
	return d, err
}

// Result copies the results of the last run to the host.
func (s *Scan[T]) Result() (y []T, err error) {
	y = make([]T, s.y.Len())
	return y, s.device.Do(func() error { return s.y.Download(y) })
}

// Copy returns a copy of the numbers as a row of a table.
func (s *Scan[T]) Copy() primer.Way { return copyOf(s.device, s.x, 2*s.problem.Bytes()) }

// Way returns the scan as a row of a table.
func (s *Scan[T]) Way(r *primer.PrefixReference[T]) primer.Way {
	name, summary := "look-back", "one pass: tiles look back for what comes before them"
	switch {
	case s.shape.exact:
		name, summary = "exact", fmt.Sprintf("one pass in fixed point of %d bits: every sum exact, and rounded once",
			8*s.shape.valueBytes)
	case s.rounds():
		name, summary = "grouped", "one pass: a fixed grouping of tiles that look back"
	}
	w := wayOf(s.device, name, summary, s.Run)
	w.Threads, w.Grid, w.Bytes = scanThreads, fmt.Sprint(s.tiles()), 2*s.problem.Bytes()
	w.Judge = func() (primer.Verdict, error) {
		y, err := s.Result()
		if err != nil {
			return primer.Verdict{}, err
		}
		return r.Judge(y, s.shape.exact), nil
	}
	w.Steps = stepsOf(s.device, func() []gpu.Step { return s.steps })
	return w
}

// Close gives the memory back.
func (s *Scan[T]) Close() error {
	return s.device.Do(func() error {
		s.owner.Free()
		return nil
	})
}
