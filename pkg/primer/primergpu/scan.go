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

// Scan is a scan on a device, with the numbers in its memory: in one pass, of operations that do not round, and
// otherwise in the fixed grouping of primer's "grouped", with the same bits; or exact, in one pass in fixed point.
type Scan[T primer.Number] struct {
	device    *gpu.Device
	problem   *primer.Problem[T]
	exclusive bool
	exact     bool
	unit      int // of exact sums, a power of two
	owner     *gpu.Owner
	kernels   map[string]*gpu.Kernel[prefixesArgs]
	x, y      *gpu.Buffer[T]
	levels    []level[T]          // totals of tiles, of tiles of these, and so on
	state     *gpu.Buffer[uint64] // of the scan in one pass
	count     *gpu.Buffer[uint32]
	epoch     uint32
	steps     []gpu.Step
}

// level are the totals of tiles, and their exclusive scan.
type level[T primer.Number] struct{ totals, before *gpu.Buffer[T] }

// scanThreads are those of a block, which has a tile.
const scanThreads = 32 * primer.TileWarps

// NewScan copies the numbers to the device.
func NewScan[T primer.Number](d *gpu.Device, p *primer.Problem[T], exclusive bool) (*Scan[T], error) {
	s := &Scan[T]{device: d, problem: p, exclusive: exclusive, kernels: map[string]*gpu.Kernel[prefixesArgs]{}}
	return s, d.Make(s.prepare, func() { s.owner.Free() })
}

// ErrWide is the error of exact sums that need more bits than there are.
var ErrWide = errors.New("exact sums need more than 126 bits: the numbers are of too different magnitudes")

// ErrNoSum is the error of exact scans of what is no sum of floating-point numbers.
var ErrNoSum = errors.New("exact scans are of sums of floating-point numbers")

// NewExactScan is NewScan for sums of floating-point numbers that are exact, and rounded once. Errors are ErrNoSum,
// ErrWide, and those of the device.
func NewExactScan[T primer.Number](d *gpu.Device, p *primer.Problem[T], exclusive bool) (*Scan[T], error) {
	if p.Name != "+" || !primer.IsFloat[T]() {
		return nil, ErrNoSum
	}
	unit, ok := primer.FixedUnit(p.X)
	if !ok {
		return nil, ErrWide
	}
	s := &Scan[T]{device: d, problem: p, exclusive: exclusive, exact: true, unit: unit,
		kernels: map[string]*gpu.Kernel[prefixesArgs]{}}
	return s, d.Make(s.prepare, func() { s.owner.Free() })
}

// tiles returns how many there are of n elements: in fixed point a warp has one row of each.
func (s *Scan[T]) tiles(n int) int {
	size := primer.TileElements[T]()
	if s.exact {
		size /= primer.TileRows
	}
	return (n + size - 1) / size
}

func (s *Scan[T]) prepare() error {
	s.owner = s.device.NewOwner()
	file, suffix := module[T]()
	names := []string{"scanTotals", "scanWithin", "scanLookback"}
	if s.exact {
		names = []string{"scanExact"}
	}
	for _, name := range names {
		s.kernels[name] = gpu.FindKernel[prefixesArgs](s.owner, file, name+suffix)
	}
	s.x = gpu.TakeCopy(s.owner, s.problem.X)
	s.y = gpu.Take[T](s.owner, len(s.problem.X))
	for n := s.tiles(len(s.problem.X)); s.rounds() && n > 1; n = s.tiles(n) {
		s.levels = append(s.levels, level[T]{gpu.Take[T](s.owner, n), gpu.Take[T](s.owner, n)})
	}
	if s.rounds() {
		return s.owner.Err()
	}
	s.count = gpu.TakeCopy(s.owner, []uint32{0})
	s.state = gpu.Take[uint64](s.owner, max(1, s.tiles(len(s.problem.X))*wordsOfTile))
	if err := s.owner.Err(); err != nil {
		return err
	}
	return s.state.Clear(nil)
}

// wordsOfTile is how many words tell about a tile: one for every 4 bytes of a value of 16 at most.
const wordsOfTile = 4

// rounds tells whether results depend on the grouping.
func (s *Scan[T]) rounds() bool { return s.problem.Rounds && primer.IsFloat[T]() && !s.exact }

// launch starts a kernel for the tiles of x.
func (s *Scan[T]) launch(kernel string, y, x *gpu.Buffer[T], exclusive bool, before *gpu.Buffer[T]) error {
	p := cuda.Prefixes{
		X: gpu.Pointer[byte](x.Pointer()), Y: gpu.Pointer[byte](y.Pointer()), Before: gpu.Pointer[byte](before.Pointer()),
		N: uint64(x.Len()), Operation: uint32(s.problem.Index()), State: s.state.Pointer(), Count: s.count.Pointer(),
		Epoch: s.epoch, Unit: int32(s.unit),
	}
	if exclusive {
		p.Exclusive = 1
	}
	return s.kernels[kernel].Launch(gpu.Launch{
		Grid: gpu.Dim{X: s.tiles(x.Len())}, Block: gpu.Dim{X: scanThreads}, Shared: 2 * primer.TileWarps * 16,
	}, prefixesArgs{p})
}

// start puts the scan into the default stream.
func (s *Scan[T]) start() error {
	switch {
	case s.x.Len() == 0:
		return nil
	case !s.rounds():
		s.epoch++
		kernel := "scanLookback"
		if s.exact {
			kernel = "scanExact"
		}
		return s.launch(kernel, s.y, s.x, s.exclusive, nil)
	}
	return s.grouped(s.y, s.x, s.exclusive, 0)
}

// grouped scans x, whose tiles have their totals in a level.
func (s *Scan[T]) grouped(y, x *gpu.Buffer[T], exclusive bool, of int) error {
	if of == len(s.levels) {
		return s.launch("scanWithin", y, x, exclusive, nil)
	}
	l := s.levels[of]
	return gpu.InTurn(
		func() error { return s.launch("scanTotals", l.totals, x, false, nil) },
		func() error { return s.grouped(l.before, l.totals, true, of+1) },
		func() error { return s.launch("scanWithin", y, x, exclusive, l.before) },
	)
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
	case s.exact:
		name, summary = "exact", "one pass in fixed point of 128 bits: every sum exact, and rounded once"
	case s.rounds():
		name, summary = "grouped", "totals of tiles, their scan, tiles: a fixed grouping"
	}
	w := wayOf(s.device, name, summary, s.Run)
	w.Threads, w.Grid, w.Bytes = scanThreads, fmt.Sprint(s.tiles(s.x.Len())), 2*s.problem.Bytes()
	w.Judge = func() (primer.Verdict, error) {
		y, err := s.Result()
		if err != nil {
			return primer.Verdict{}, err
		}
		return r.Judge(y, s.exact), nil
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
