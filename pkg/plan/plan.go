// Package plan predicts how long an exact sum, dot product or matrix-vector product takes on machines that need not be
// there, and what bounds it, from ceilings: what disks, memory, buses, engines and the network do in a second, each
// measured apart ([MeasureMemory] and others) or given.
//
// The model: numbers are divided by bytes over the hosts, and go in chunks from disk to memory, through the bus to a
// GPU if there is one, and through the engine. All of this overlaps, so that the slowest stage decides. Conversion to
// the method's format comes before, and the merging of what ranks have after. Not modelled are the start of the
// programs, the first chunk, and what else the machines do.
package plan

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"mpbench/pkg/op"
)

// Place is where the numbers are before.
type Place string

// The places of numbers.
const (
	File   Place = "file"   // of each host's disks
	Memory Place = "memory" // of the hosts
	Device Place = "device" // the memory of the GPUs
)

// Work is what is to be computed, of float64 numbers.
type Work struct {
	Op   *op.Operation
	M, N int // rows and columns of a matrix; M is 0 for vectors
	From Place
}

// vectors returns how many numbers a term takes, of a matrix or of vectors: x of a matrix-vector product counts for
// nothing.
func (w Work) vectors() int {
	if w.Op.Has(op.Matrix) {
		return 1
	}
	n := 0
	for _, a := range w.Op.Arrays() {
		if !a.Optional {
			n++
		}
	}
	return n
}

// Terms returns how many numbers or products are added.
func (w Work) Terms() float64 { return float64(max(1, w.M)) * float64(w.N) }

// Bytes returns the size of the numbers.
func (w Work) Bytes() float64 { return 8 * float64(w.vectors()) * w.Terms() }

// Machine is who computes.
type Machine struct {
	Hosts int
	Ranks int // on all hosts, at least one on each
	GPUs  int // of each rank; 0 for processors
}

// Origin tells where a ceiling is from.
type Origin string

// Origins of ceilings.
const (
	Measured Origin = "measured here"
	Given    Origin = "given"
	Assumed  Origin = "assumed"
)

// Ceiling is the most that something does.
type Ceiling struct {
	Value float64 // in the unit of its field in Ceilings; 0 if it is not known
	From  Origin
}

// Ceilings are what bounds a computation.
type Ceilings struct {
	Disk    Ceiling // bytes per second that a host reads
	Memory  Ceiling // bytes per second that a host's memory gives or takes
	Bus     Ceiling // bytes per second from a host to each of its GPUs
	Engine  Ceiling // nanoseconds for a term, of a GPU or of the processors of a rank
	Convert Ceiling // nanoseconds for a term, once, of the same
	Link    Ceiling // bytes per second from one host to another
	Latency Ceiling // seconds of a message
}

// Best returns the better of two measurements of each ceiling: what else a machine does makes them worse.
func (c Ceilings) Best(d Ceilings) Ceilings {
	c.Disk.Value, c.Memory.Value = max(c.Disk.Value, d.Disk.Value), max(c.Memory.Value, d.Memory.Value)
	c.Bus.Value, c.Link.Value = max(c.Bus.Value, d.Bus.Value), max(c.Link.Value, d.Link.Value)
	c.Engine.Value, c.Convert.Value = min(c.Engine.Value, d.Engine.Value), min(c.Convert.Value, d.Convert.Value)
	c.Latency.Value = min(c.Latency.Value, d.Latency.Value)
	return c
}

// Stage is a part of the computation.
type Stage struct {
	Name    string
	Bytes   float64 // of all hosts; 0 where bytes are not what it takes time for
	Seconds float64
	Ceiling string // in words
	From    Origin
}

// Change is something better than planned.
type Change struct {
	What    string
	Seconds float64 // of everything, then
}

// Prediction is what a computation takes.
type Prediction struct {
	Stages  []Stage  // that take time, in the order of the way of the numbers
	Bound   string   // the name of the stage that takes longest
	Seconds float64  // of all
	Changes []Change // that make it less, the best first
	Doubled float64  // seconds with twice as many hosts
}

// Names of stages.
const (
	Reading       = "reading"
	MemoryTraffic = "memory"
	Bus           = "bus"
	Converting    = "converting"
	Computing     = "computing"
	Communication = "communication"
)

// copies is how often a number goes through host memory, from its place to where it is added.
func copies(p Place, gpus bool) float64 {
	switch {
	case p == Device:
		return 0
	case p == File: // written by the disk, read by processors or the bus
		return 2
	case gpus: // read, written to pinned memory, read by the bus
		return 3
	}
	return 1
}

// Bytes of what a rank sends: the exact sum of binary64 numbers or of their products ([mpbench/pkg/accurate]), or what
// those of a row take where their exponents are near each other.
const (
	sumBytes = 600
	rowBytes = 90
)

// collectives is how many of them a result takes: told, begun together, gathered, agreed.
const collectives = 4

// stages returns all parts of the computation, also those without time.
func stages(w Work, m Machine, c Ceilings) []Stage {
	hosts, ranks := float64(m.Hosts), float64(m.Ranks)
	engines, engine := ranks, "rank"
	if m.GPUs > 0 {
		engines, engine = ranks*float64(m.GPUs), "GPU"
	}
	through := func(name string, bytes, parts float64, by Ceiling, whose string) Stage {
		s := Stage{name, bytes, 0, fmt.Sprintf("%s %s", Rate(by.Value), whose), by.From}
		if bytes > 0 {
			s.Seconds = bytes / parts / by.Value
		}
		return s
	}
	computed := func(name string, by Ceiling) Stage {
		return Stage{name, 0, math.Ceil(w.Terms()/engines) * by.Value * 1e-9,
			fmt.Sprintf("%.3g ns a term, %s", by.Value, engine), by.From}
	}
	read, bus := 0.0, 0.0
	if w.From == File {
		read = w.Bytes()
	}
	if m.GPUs > 0 && w.From != Device {
		bus = w.Bytes()
	}
	return []Stage{
		through(Reading, read, hosts, c.Disk, "a host"),
		through(MemoryTraffic, w.Bytes()*copies(w.From, m.GPUs > 0), hosts, c.Memory, "a host"),
		through(Bus, bus, engines, c.Bus, "a GPU"),
		computed(Converting, c.Convert),
		computed(Computing, c.Engine),
		communication(w, m, c),
	}
}

func communication(w Work, m Machine, c Ceilings) Stage {
	bytes := float64(sumBytes)
	if w.Op.Has(op.Matrix) {
		bytes = rowBytes * float64((w.M+m.Ranks-1)/m.Ranks)
	}
	bytes *= float64(m.Ranks - 1)
	s := Stage{Name: Communication, Bytes: bytes, From: c.Link.From,
		Ceiling: fmt.Sprintf("%s, %.3g µs a message", Rate(c.Link.Value), c.Latency.Value*1e6)}
	if m.Ranks > 1 {
		s.Seconds = bytes/c.Link.Value + collectives*float64(bits.Len(uint(m.Ranks-1)))*c.Latency.Value
	}
	return s
}

// total returns how long all stages take together, and the longest one.
func total(list []Stage) (seconds float64, longest string) {
	overlapping, most := 0.0, -1.0
	for _, s := range list {
		if s.Seconds > most {
			most, longest = s.Seconds, s.Name
		}
		if s.Name == Converting || s.Name == Communication {
			seconds += s.Seconds
		} else {
			overlapping = max(overlapping, s.Seconds)
		}
	}
	return seconds + overlapping, longest
}

// changes are what could be twice as good.
var changes = []struct {
	what string
	make func(*Machine, *Ceilings)
}{
	{"disks twice as fast", func(_ *Machine, c *Ceilings) { c.Disk.Value *= 2 }},
	{"memory twice as fast", func(_ *Machine, c *Ceilings) { c.Memory.Value *= 2 }},
	{"a bus twice as fast", func(_ *Machine, c *Ceilings) { c.Bus.Value *= 2 }},
	{"twice as many GPUs", func(m *Machine, _ *Ceilings) { m.GPUs *= 2 }},
	{"engines twice as fast", func(_ *Machine, c *Ceilings) { c.Engine.Value /= 2; c.Convert.Value /= 2 }},
	{"a network twice as fast", func(_ *Machine, c *Ceilings) { c.Link.Value *= 2; c.Latency.Value /= 2 }},
}

// negligible is the share of the time below which a stage is not told.
const negligible = 1e-3

// worthwhile is the share of the time below which a change has to bring it to be told.
const worthwhile = 0.99

// Ceilings of a host of H200 and a usual network, for machines that are not here: the copies from the host and in the
// device's memory of results/h200, half of what 12 channels of DDR5-4800 give, and 100 Gbit Ethernet.
var (
	AssumedMemory  = Ceiling{230e9, Assumed}
	AssumedBus     = Ceiling{55.5e9, Assumed}
	AssumedLink    = Ceiling{12.5e9, Assumed}
	AssumedLatency = Ceiling{20e-6, Assumed}
	deviceMemory   = 4.276e12 // bytes per second
)

// AssumedGPU is an engine that is bound by the device's memory: numbers are read once, or, of a matrix, their residues
// of 28 bits in 4 bytes, for exact products of numbers whose exponents are within 11 bits.
func AssumedGPU(w Work) Ceiling {
	bytes := 8 * float64(w.vectors())
	if w.Op.Has(op.Matrix) {
		bytes = 4 * math.Ceil(float64(2*64+1+bits.Len(uint(w.N)))/28)
	}
	return Ceiling{bytes / deviceMemory * 1e9, Assumed}
}

// Predict returns what a computation takes. It needs the ceilings of all stages that have something to do.
func Predict(w Work, m Machine, c Ceilings) Prediction {
	var p Prediction
	all := stages(w, m, c)
	p.Seconds, p.Bound = total(all)
	p.Stages = slices.DeleteFunc(all, func(s Stage) bool { return s.Seconds < negligible*p.Seconds })
	for _, change := range changes {
		machine, ceilings := m, c
		change.make(&machine, &ceilings)
		if t, _ := total(stages(w, machine, ceilings)); t < worthwhile*p.Seconds {
			p.Changes = append(p.Changes, Change{change.what, t})
		}
	}
	p.Doubled, _ = total(stages(w, Machine{2 * m.Hosts, 2 * m.Ranks, m.GPUs}, c))
	slices.SortStableFunc(p.Changes, func(a, b Change) int { return cmp.Compare(a.Seconds, b.Seconds) })
	return p
}

// Rate writes bytes per second in decimal units: "5.00 GB/s".
func Rate(bytes float64) string {
	units := []string{"bytes/s", "kB/s", "MB/s", "GB/s", "TB/s"}
	unit := 0
	for bytes >= 1000 && unit < len(units)-1 {
		bytes /= 1000
		unit++
	}
	return fmt.Sprintf("%.3g %s", bytes, units[unit])
}
