package method

import (
	"context"
	"fmt"
	"maps"
	"math/big"
	"strconv"
	"time"

	"mpbench/pkg/device"
	"mpbench/pkg/exact"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
)

// Engine is a method made ready for one precision on one set of devices. It is not safe for concurrent use.
type Engine interface {
	// Prepare converts a problem's numbers to the method's format and copies them to where they are computed with. It is
	// timed as a phase of its own. The numbers must stay unchanged while the Engine is in use. Prepare may be called
	// again.
	Prepare(context.Context, *op.Problem) error
	// Run computes the result from what was prepared, as often as it is called. It is what is timed, one call a sample.
	Run(context.Context) error
	// Result returns the components of the last Run, exactly.
	Result() (numbers.Source, error)
	// Info describes the format in use, for the record, after Prepare.
	Info() Info
	// Close gives memory of devices back. Prepare may be called again.
	Close() error
}

// Sized is an Engine that knows before a problem's numbers are there what memory it takes for them.
type Sized interface {
	Engine
	// CheckMemory returns a *MemoryError if Prepare would for lack of memory: of numbers.Outline, as far as their count
	// and size tell.
	CheckMemory(*op.Problem) error
}

// Timed is an Engine that can take the time of its runs itself, such as a GPU's by the GPU's events.
type Timed interface {
	Engine
	// RunTimed is Run with cold caches of the device and with times.
	RunTimed(context.Context) error
	// Times returns the times of the last Prepare, RunTimed and Result.
	Times() Times
}

// Times are the durations of the phases of records, and those that a method names itself.
type Times struct {
	Convert time.Duration // numbers to the method's format, on the host
	CopyIn  time.Duration
	Kernel  time.Duration // the operation itself, from the start of the first kernel to the end of the last
	CopyOut time.Duration
	Host    time.Duration // what the host does with the device's results
	Kernels []Kernel
}

// Staged is an Engine whose runs have parts that it times.
type Staged interface{ Stages() []Stage }

// Stage is a part of a run.
type Stage struct {
	Name, Summary string
	Time          time.Duration
}

// Merger is an Engine whose exact sums can be added to those of other engines of the method, in any order: what lets
// devices share the terms of one sum.
type Merger interface {
	Engine
	// Merge adds the sum of the other's last Run to that of this one's; Result is then that of both.
	Merge(Engine) error
}

// Exact is a Merger whose sum can leave the process before it is rounded: what lets processes share the terms. It does
// so with Config.Merge.
type Exact interface {
	Merger
	// Sum returns the sum of the last Run.
	Sum() exact.Value
	// AddSum adds a sum of further terms of the same problem.
	AddSum(exact.Value)
}

// Cooler is an Engine of a device whose caches can be emptied before a run that the clock times.
type Cooler interface{ Cool() error }

// Kernel is one launch of a kernel on a device, as records have it.
type Kernel struct {
	Stage     string
	Name      string
	Array     string // that it computes: "d", "y", "B"
	Time      time.Duration
	Bytes     int64   // read and written in device memory, each number once
	Bandwidth float64 // of the device's memory, in bytes per second; 0 if not known
	Occupancy float64 // share of a multiprocessor's threads that are resident, 0 to 1
	Blocks    int
	Threads   int // of a block
	Shared    int // bytes of shared memory of a block
	Registers int // of a thread
	Local     int // bytes of local memory of a thread
}

// Info is a number format as it is used: asked for a precision, given Bits.
type Info struct {
	Format         string
	Variant        string // which of several ways of computing ran, "" if there is one
	Device         string // as records have it, "" for the CPU
	Bits           int    // of the significand
	NumberBytes    int    // of one number of the largest array
	WorkspaceBytes int64  // beside the arrays
	Threads        int
	Moduli         int // of RNS formats: how many, and how wide
	ModuliBits     int
	Rounding       string
	Alignment      string
	Alignments     int // of the last run, where they are counted: additions of different exponents
	Roundings      int // of the last run, where they are counted: results that were rescaled
	Blocks         int // of block reductions
	BlockSize      int
	Warnings       []string // what a user should know, such as launch parameters that could not be read

	Rounded Rounded
	Range   Range
	Bound   map[string]int // letters of the bound's formula that the engine supplies
	Unit    *big.Rat       // the unit roundoff, where the settings make it another than the formula's

	Ranks *Ranks // processes that shared the problem, nil for one
}

// Ranks says how processes shared a problem.
type Ranks struct {
	Library string   // that connects them
	Hosts   []string // of each rank
	Devices []string // of each rank
	Divided string   // what each has some of: "rows", "terms"
	Shares  []int    // how many
}

// Rounded tells what Prepare rounded.
type Rounded struct {
	Factors int  // of a term: 1 for the terms of a sum, at most 3 for alpha*a*x
	Lost    bool // a factor is outside the format's normal range, so that more was lost than the relative Range.Unit
}

// Add adds what rounding another factor did.
func (r *Rounded) Add(s Rounded) {
	r.Factors += s.Factors
	r.Lost = r.Lost || s.Lost
}

// Config is what a user chooses beside the method.
type Config struct {
	Precision int // bits
	Devices   device.Set
	Threads   int   // goroutines, 0 for all processors; never changes a result
	MaxBytes  int64 // of host memory for numbers and workspace, 0 for no limit
	// Stream leaves arrays where they are, in files or in host memory, and reads them in every run.
	Stream  bool
	Merge   bool              // the result will be merged with others: it must be exact until then
	Options map[string]string // of the method's Options
}

// Int returns the value of an option that is an integer.
func (c Config) Int(name string) int {
	n, err := strconv.Atoi(c.Options[name])
	if err != nil {
		panic(fmt.Sprintf("method: option %s is %q in a configuration that is not complete", name, c.Options[name]))
	}
	return n
}

// reuse is the name of the option of ReuseOption.
const reuse = "reuse"

// ReuseOption is that of a method which converts a matrix once for several products, or not at all for few of them.
func ReuseOption(name string) Option {
	return Option{
		Name: reuse, Default: "0", Least: 0, Most: 1 << 30, Neutral: true,
		On:    []device.Kind{device.CPU, device.CUDA, device.Hybrid},
		Usage: name + ": how many products the matrix is for, 0 for many; for few it is not converted",
	}
}

// For returns the configuration for numbers that are used so often once they are converted.
func (c Config) For(uses int) Config {
	c.Options = maps.Clone(c.Options)
	if c.Options == nil {
		c.Options = map[string]string{}
	}
	c.Options[reuse] = strconv.Itoa(uses)
	return c
}

// Reuse returns how many products a matrix is converted for, 0 for many or where the method has no such option.
func (c Config) Reuse() int {
	if _, ok := c.Options[reuse]; !ok {
		return 0
	}
	return c.Int(reuse)
}

// GPU returns the index of the first GPU of the configuration.
func (c Config) GPU() int { return c.Devices.GPUs()[0] }

// RangeError says that a number of a problem has none in the method's number format: which one, and what would have.
type RangeError struct{ Method, Text string }

func (e *RangeError) Error() string { return e.Method + ": " + e.Text }

// Beside returns the configuration with what the numbers of a problem leave of the memory.
func (c Config) Beside(p *op.Problem) Config {
	if c.MaxBytes > 0 {
		c.MaxBytes = max(1, c.MaxBytes-p.Bytes())
	}
	return c
}

// CheckMemory returns a *MemoryError if a method needs more host memory than the configuration allows.
func (c Config) CheckMemory(method string, shape op.Shape, need int64, detail string) error {
	if c.MaxBytes > 0 && need > c.MaxBytes {
		return &MemoryError{Method: method, Shape: shape, Need: need, Have: c.MaxBytes, Detail: detail}
	}
	return nil
}

// MemoryError says that a problem in a method's number format does not fit in the memory that there is.
type MemoryError struct {
	Method     string
	Shape      op.Shape
	Need, Have int64  // bytes; a device may refuse less than it has, which is in pieces
	Detail     string // what takes the memory, "" for numbers of the format
	Device     string // a GPU's name, "" for the host
}

func (e *MemoryError) Error() string {
	what := fmt.Sprintf("%d numbers", e.Shape.N)
	if e.Shape.M != 0 {
		what = fmt.Sprintf("a %d x %d matrix", e.Shape.M, e.Shape.N)
	}
	if e.Detail != "" {
		what += " (" + e.Detail + ")"
	}
	if e.Device != "" && e.Need <= e.Have {
		return fmt.Sprintf("%s needs %s of device memory for %s; %s refused it, with %s free in pieces",
			e.Method, gigabytes(e.Need), what, e.Device, gigabytes(e.Have))
	}
	if e.Device != "" {
		return fmt.Sprintf("%s needs %s of device memory for %s; %s has %s free",
			e.Method, gigabytes(e.Need), what, e.Device, gigabytes(e.Have))
	}
	return fmt.Sprintf("%s needs %s for %s; %s are available", e.Method, gigabytes(e.Need), what, gigabytes(e.Have))
}

// gigabytes writes a size with one digit after the point, below a tenth of a GB in MB; a small one in bytes.
func gigabytes(bytes int64) string {
	if bytes < 100e3 {
		return fmt.Sprintf("%d bytes", bytes)
	}
	if bytes < 100e6 {
		return fmt.Sprintf("%.1f MB", float64(bytes)/1e6)
	}
	return fmt.Sprintf("%.1f GB", float64(bytes)/1e9)
}
