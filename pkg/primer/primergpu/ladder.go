// Package primergpu has the ways of package primer on a GPU: the ladder of kernels with which reductions in CUDA are
// taught, and scans. On an emulator that counts ([gpu.Device.Counts]), they come with the counts of their steps.
package primergpu

import (
	"fmt"
	"math"
	"strings"
	"time"

	"mpbench/cuda"
	"mpbench/pkg/gpu"
	"mpbench/pkg/primer"
	"mpbench/pkg/record"
	"mpbench/pkg/sampling"
)

// Options say how kernels are launched.
type Options struct {
	Block int // threads of a block: a power of two from 32 to what a block can have; 0 for 256
	Grid  int // dimensions of the grid: 1, 2 or 3; 0 for 1
}

const (
	usualBlock = 256
	leastBlock = 32 // a warp
)

// Check returns an error about options that the device cannot have.
func (o Options) Check(info gpu.Info) error {
	switch {
	case o.Block != 0 && (o.Block < leastBlock || o.Block&(o.Block-1) != 0):
		return fmt.Errorf("blocks of %d threads: want a power of two from %d to %d", o.Block, leastBlock,
			info.ThreadsPerBlock)
	case o.Block > info.ThreadsPerBlock:
		return fmt.Errorf("blocks of %d threads: a block has at most %d", o.Block, info.ThreadsPerBlock)
	case o.Grid < 0 || o.Grid > 3:
		return fmt.Errorf("grids of %d dimensions: want 1, 2 or 3", o.Grid)
	}
	return nil
}

// A Rung is a kernel of the ladder.
type Rung struct {
	Name, Summary string
	kernel        string // in cuda/reduce_ladder.cuh, without the type
	perThread     int    // elements that a thread loads, 0 for as many as it takes
}

// Rungs lists the ladder from below.
var Rungs = []Rung{
	{"global", "partial results in global memory, neighbours first", "reduceGlobal", 1},
	{"divergent", "the same in shared memory", "reduceDivergent", 1},
	{"strided", "the first threads work; their words are 2s apart: bank conflicts", "reduceStrided", 1},
	{"sequential", "halves: neighbouring threads use neighbouring words", "reduceSequential", 1},
	{"first-add", "two elements combined when they are loaded", "reduceFirstAdd", 2},
	{"shuffle", "warps combine in registers, by shuffles", "reduceShuffle", 2},
	{"vector", "resident blocks go through the array, 16 bytes at a time", "reduceVector", 0},
}

// reductionArgs are the parameters of all kernels of the ladder.
type reductionArgs struct{ R cuda.Reduction }

// Ladder are the rungs on a device, with the numbers in its memory.
type Ladder[T primer.Number] struct {
	device  *gpu.Device
	problem *primer.Problem[T]
	options Options
	owner   *gpu.Owner
	kernels map[string]*gpu.Kernel[reductionArgs]
	x       *gpu.Buffer[T]
	parts   [2]*gpu.Buffer[T] // results of blocks, in turn
	work    *gpu.Buffer[T]
	count   *gpu.Buffer[uint32]

	resident int // blocks of the last rung that the device runs at a time

	steps  []gpu.Step // of the first launch of the last run
	result T
}

// NewLadder copies the numbers to the device.
func NewLadder[T primer.Number](d *gpu.Device, p *primer.Problem[T], o Options) (*Ladder[T], error) {
	if err := o.Check(d.Info()); err != nil {
		return nil, err
	}
	if o.Block == 0 {
		o.Block = min(usualBlock, d.Info().ThreadsPerBlock)
	}
	o.Grid = max(1, o.Grid)
	l := &Ladder[T]{device: d, problem: p, options: o, kernels: map[string]*gpu.Kernel[reductionArgs]{}}
	return l, d.Make(l.prepare, func() { l.owner.Free() })
}

// module names the kernels for a type of elements.
func module[T primer.Number]() (module, suffix string) {
	name := primer.TypeName[T]()
	return "primer_" + name, strings.ToUpper(name[:1]) + name[1:]
}

func (l *Ladder[T]) prepare() error {
	l.owner = l.device.NewOwner()
	file, suffix := module[T]()
	for _, r := range Rungs {
		l.kernels[r.Name] = gpu.FindKernel[reductionArgs](l.owner, file, r.kernel+suffix)
	}
	if err := l.owner.Err(); err != nil {
		return err
	}
	share, err := l.kernels["vector"].Occupancy(l.options.Block, l.shared())
	if err != nil {
		return err
	}
	info := l.device.Info()
	l.resident = max(1, int(share*float64(info.ThreadsPerMP)/float64(l.options.Block)+0.5)*info.Multiprocessors)
	n := len(l.problem.X)
	l.x = gpu.TakeCopy(l.owner, l.problem.X)
	blocks := blocksOf(n, l.options.Block)
	for i := range l.parts {
		l.parts[i] = gpu.Take[T](l.owner, 1+max(blocks, l.residentBlocks(n)))
	}
	l.work = gpu.Take[T](l.owner, blocks*l.options.Block)
	l.count = gpu.TakeCopy(l.owner, []uint32{0})
	return l.owner.Err()
}

// blocksOf returns how many blocks there are for n elements, so many a block: one at least, which gives the identity.
func blocksOf(n, perBlock int) int { return max(1, (n+perBlock-1)/perBlock) }

// residentBlocks returns how many blocks the last rung has: those that the device runs at a time, unless there are
// fewer elements.
func (l *Ladder[T]) residentBlocks(n int) int { return min(l.resident, blocksOf(n, 4*l.options.Block)) }

// shared returns the bytes of shared memory of a block: an element a thread, 33 at least.
func (l *Ladder[T]) shared() int { return max(l.options.Block, 2*leastBlock) * primer.SizeOf[T]() }

// gridOf returns a grid of so many dimensions with at least as many blocks. Of one dimension it has up to 2^31-1
// blocks, of the others up to 65535; the kernels number blocks through.
func gridOf(blocks, dimensions int) gpu.Dim {
	switch dimensions {
	case 2:
		x := int(math.Ceil(math.Sqrt(float64(blocks))))
		return gpu.Dim{X: x, Y: (blocks + x - 1) / x}
	case 3:
		x := int(math.Ceil(math.Cbrt(float64(blocks))))
		return gpu.Dim{X: x, Y: x, Z: (blocks + x*x - 1) / (x * x)}
	}
	return gpu.Dim{X: blocks}
}

// launch puts a rung into the default stream, in as many passes as it takes to come to one result. It returns where
// the result will be, and the number of passes.
func (l *Ladder[T]) launch(r Rung) (result *gpu.Buffer[T], passes int, err error) {
	from, n := l.x, len(l.problem.X)
	for {
		to := l.parts[passes%2]
		blocks := l.residentBlocks(n)
		if r.perThread > 0 {
			blocks = blocksOf(n, r.perThread*l.options.Block)
		}
		err := l.kernels[r.Name].Launch(gpu.Launch{
			Grid: gridOf(blocks, l.options.Grid), Block: gpu.Dim{X: l.options.Block},
			Shared: l.shared(),
		}, reductionArgs{cuda.Reduction{
			X: gpu.Pointer[byte](from.Pointer()), Out: gpu.Pointer[byte](to.Pointer()),
			Work: gpu.Pointer[byte](l.work.Pointer()), Count: l.count.Pointer(), N: uint64(n), Blocks: uint64(blocks),
			Operation: uint32(l.problem.Index()),
		}})
		passes++
		if err != nil || blocks == 1 || r.perThread == 0 {
			return to, passes, err
		}
		from, n = to, blocks
	}
}

// Run runs a rung and returns its time on the device, with caches that hold none of the numbers.
func (l *Ladder[T]) Run(r Rung) (d time.Duration, err error) {
	err = l.device.Do(func() error {
		var result *gpu.Buffer[T]
		var passes int
		if err := cool(l.device); err != nil {
			return err
		}
		d, err = l.device.Time(nil, func() error {
			result, passes, err = l.launch(r)
			return err
		})
		if err != nil {
			return err
		}
		l.steps = l.device.Steps(passes - 1)
		value := []T{0}
		err = result.Download(value)
		l.result = value[0]
		return err
	})
	return d, err
}

// cool empties the caches of a GPU; an emulator has none.
func cool(d *gpu.Device) error {
	if d.Info().Emulated() {
		return nil
	}
	return d.ColdCache(nil)
}

// Result returns that of the last run.
func (l *Ladder[T]) Result() T { return l.result }

// Steps returns the counts of the first launch of the last run; nil where nothing is counted.
func (l *Ladder[T]) Steps() []gpu.Step { return l.steps }

// Ways returns the rungs as rows of a table, behind a copy.
func (l *Ladder[T]) Ways() []primer.Way {
	ways := []primer.Way{copyOf(l.device, l.x, 2*l.problem.Bytes())}
	for _, r := range Rungs {
		blocks := l.residentBlocks(len(l.problem.X))
		if r.perThread > 0 {
			blocks = blocksOf(len(l.problem.X), r.perThread*l.options.Block)
		}
		w := wayOf(l.device, r.Name, r.Summary, func() (time.Duration, error) { return l.Run(r) })
		w.Threads, w.Grid, w.Bytes = l.options.Block, gridText(gridOf(blocks, l.options.Grid)), l.problem.Bytes()
		w.Judge = func() (primer.Verdict, error) { return l.problem.Reference.Judge(l.result), nil }
		w.Steps = stepsOf(l.device, func() []gpu.Step { return l.steps })
		ways = append(ways, w)
	}
	return ways
}

// Close gives the memory back.
func (l *Ladder[T]) Close() error {
	return l.device.Do(func() error {
		l.owner.Free()
		return nil
	})
}

func gridText(g gpu.Dim) string {
	text := fmt.Sprint(g.X)
	for _, extent := range []int{g.Y, g.Z} {
		if extent > 0 {
			text += fmt.Sprint("x", extent)
		}
	}
	return text
}

// wayOf returns a way whose time is that of the device's events.
func wayOf(d *gpu.Device, name, summary string, run func() (time.Duration, error)) primer.Way {
	return primer.Way{
		Name: name, Summary: summary, Device: d.RecordName(), Untimed: d.Info().Emulated(),
		Sample: func(t *sampling.Timer) error {
			time, err := run()
			t.AddNs(record.PhaseKernel, float64(time))
			return err
		},
	}
}

// copyOf is a copy of numbers by the driver.
func copyOf[T primer.Number](d *gpu.Device, x *gpu.Buffer[T], bytes int64) primer.Way {
	w := wayOf(d, "copy", "the driver's copy on the device", func() (time time.Duration, err error) {
		err = d.Do(func() error {
			to, err := gpu.Alloc[T](d, x.Len())
			if err != nil {
				return err
			}
			defer to.Free()
			if err := cool(d); err != nil {
				return err
			}
			time, err = d.Time(nil, func() error { return to.CopyAsync(nil, x) })
			return err
		})
		return time, err
	})
	w.Bytes = bytes
	return w
}

// stepsOf returns what tells the counts of a run, nil on a device that does not count.
func stepsOf(d *gpu.Device, of func() []gpu.Step) func() []primer.Step {
	if !d.Counts() {
		return nil
	}
	return func() (list []primer.Step) {
		for _, s := range of() {
			list = append(list, primer.Step{Warps: int(s.Warps), Divergent: int(s.Divergent), Accesses: int(s.Accesses),
				Conflicts: int(s.Conflicts)})
		}
		return list
	}
}
