package reduce

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"mpbench/pkg/gpu"
	"mpbench/pkg/rns"
	"mpbench/pkg/rns/rnsgpu"
	"mpbench/pkg/superacc/superaccgpu"
)

// DeviceSummer is a Summer that works on a GPU. Load converts the terms on the host; the first sum after it copies them to the
// device, where they stay.
type DeviceSummer interface {
	Summer
	// SumPhases is Sum with its times and its error, that of ctx if it was cancelled between two launches. Sum itself keeps the error
	// for Err.
	SumPhases(ctx context.Context) (Phases, error)
	// Err returns the error of the last Sum, whose Value then means nothing.
	Err() error
	// Device returns the device's name as records have it: "cuda:0", or "emulated".
	Device() string
	// Close gives the device's memory back. The last sum's Value stays.
	Close() error
}

// DeviceDotter is a Dotter that works on a GPU, as DeviceSummer.
type DeviceDotter interface {
	Dotter
	DotPhases(ctx context.Context) (Phases, error)
	Err() error
	Device() string
	Close() error
}

// SourceSummer is a StreamSummer that wants to read the numbers itself, several at a time: those of devices.
type SourceSummer interface {
	StreamSummer
	// SumSource sums all numbers of a source. It stops at the first error.
	SumSource(ctx context.Context, source superaccgpu.Source) error
	Device() string
	Close() error
}

// Phases are the durations of the parts of a sum on a device.
type Phases struct {
	CopyIn  time.Duration // of the terms, 0 if they were there
	Kernel  time.Duration // by the device's events, with a cold L2 cache; by the clock, rounding included, where processors take part or data are streamed
	CopyOut time.Duration // of the block results, or of the result
	Host    time.Duration // adding the block results, rounding
}

// kindOf returns what lists of devices have for a device: "cpu" for "", "cuda" for "cuda:1", "cpu+cuda" for "cpu+cuda:1"; "" if
// there is no such kind.
func kindOf(device string) string {
	if device == "" || device == "cpu" {
		return "cpu"
	}
	name, hybrid := strings.CutPrefix(device, "cpu+")
	if _, ok := gpu.ParseName(name); !ok {
		return ""
	}
	if hybrid {
		return "cpu+cuda"
	}
	return "cuda"
}

// RunsOn tells whether the method has sums on a device of that name; "" is the CPU.
func (m Method) RunsOn(device string) bool { return slices.Contains(m.Devices, kindOf(device)) }

// RunsDotOn tells whether the method has dot products on a device of that name; "" is the CPU.
func (m Method) RunsDotOn(device string) bool { return slices.Contains(m.DotDevices, kindOf(device)) }

// errDevice returns the error of a method that does not do what it was asked for on the device.
func (m Method) errDevice(what, device string, devices []string) error {
	if device == "" {
		device = "cpu"
	}
	return fmt.Errorf("%w: %s %s on device %s; it runs on %s", ErrOption, m.Name, what, device, strings.Join(devices, ", "))
}

// withDeviceChecks lets the constructors of all methods refuse devices that a method does not have. Dot products without a list of
// devices run on the CPU.
func withDeviceChecks(list []Method) []Method {
	for i := range list {
		if list[i].NewDot != nil && list[i].DotDevices == nil {
			list[i].DotDevices = cpuOnly
		}
		m := list[i]
		if m.New != nil {
			list[i].New = func(o Options) (Summer, error) {
				if !m.RunsOn(o.Device) {
					return nil, m.errDevice("does not run", o.Device, m.Devices)
				}
				return m.New(o)
			}
		}
		if m.NewDot != nil {
			list[i].NewDot = func(o Options) (Dotter, error) {
				if !m.RunsDotOn(o.Device) {
					return nil, m.errDevice("has no dot product", o.Device, m.DotDevices)
				}
				return m.NewDot(o)
			}
		}
	}
	return list
}

// deviceOrder is an order of additions on a device. All methods are called on the device's thread.
type deviceOrder interface {
	// reserve makes ready for the n >= 1 terms of s.
	reserve(s *deviceSum, n int) error
	// launch adds the terms.
	launch(ctx context.Context, s *deviceSum) error
	// results holds the numbers that remain to be added one after the other, count of them.
	results() (v *rnsgpu.Vector, count int)
	// depth is the largest number of additions that one of n terms passes through.
	depth(n int) int
	// describe completes the format.
	describe(f *Format)
	free()
}

// release gives up the reserved memory of an order.
func (s *deviceSum) release() {
	s.order.free()
	s.terms.Free()
	s.terms = nil
	s.partial = nil
}

// deviceThreads limits the threads of a block, so that each may have as many registers as it needs.
const deviceThreads = 256

// kernelOf finds a kernel.
func kernelOf[P any](d *gpu.Device, module, name string) (*gpu.Kernel[P], error) {
	m, err := d.Module(module)
	if err != nil {
		return nil, err
	}
	return gpu.Function[P](m, name)
}

// scratchFor replaces *s by scratch memory for so many groups.
func scratchFor(b *rnsgpu.Base, s **rnsgpu.Scratch, groups int) (err error) {
	(*s).Free()
	*s, err = b.NewScratch(groups)
	return err
}

// vectorFor replaces *v by a vector of n numbers.
func vectorFor(b *rnsgpu.Base, v **rnsgpu.Vector, n int) (err error) {
	(*v).Free()
	*v, err = b.NewVector(n)
	return err
}

// hostVector allocates n numbers in pinned memory.
func (s *deviceSum) hostVector(n int) (v *rns.Vector, err error) {
	err = s.device.Do(func() error {
		if s.base == nil {
			if s.base, err = rnsgpu.NewBase(s.device, s.context); err != nil {
				return err
			}
		}
		s.host.Free()
		s.host = nil
		s.release()
		if s.host, err = s.base.NewHostVector(n); err != nil {
			return err
		}
		v = s.host.Vector
		return nil
	})
	return v, err
}
