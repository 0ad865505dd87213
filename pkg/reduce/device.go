package reduce

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"mpbench/pkg/gpu"
	"mpbench/pkg/rns"
	"mpbench/pkg/rns/ongpu"
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

// Phases are the durations of the parts of a sum on a device.
type Phases struct {
	CopyIn  time.Duration // of the terms, 0 if they were there
	Kernel  time.Duration // by the device's events, with a cold L2 cache
	CopyOut time.Duration // of the block results, or of the result
	Host    time.Duration // adding the block results
}

// RunsOn tells whether the method runs on a device of that name; "" is the CPU.
func (m Method) RunsOn(device string) bool {
	_, cuda := gpu.ParseName(device)
	return slices.Contains(m.Devices, device) || device == "" && slices.Contains(m.Devices, "cpu") || cuda && slices.Contains(m.Devices, "cuda")
}

// requireDevice returns an error that wraps ErrOption if the method does not run on the device.
func (m Method) requireDevice(device string) error {
	if m.RunsOn(device) {
		return nil
	}
	if device == "" {
		device = "cpu"
	}
	return fmt.Errorf("%w: %s does not run on device %s; it runs on %s", ErrOption, m.Name, device, strings.Join(m.Devices, ", "))
}

// withDeviceChecks lets the constructors of all methods refuse devices that a method does not have.
func withDeviceChecks(list []Method) []Method {
	for i := range list {
		m := list[i]
		if m.New != nil {
			list[i].New = func(o Options) (Summer, error) {
				if err := m.requireDevice(o.Device); err != nil {
					return nil, err
				}
				return m.New(o)
			}
		}
		if m.NewDot != nil {
			list[i].NewDot = func(o Options) (Dotter, error) {
				if o.Device != "" && o.Device != "cpu" {
					return nil, fmt.Errorf("%w: %s has no dot product on device %s; it runs on cpu", ErrOption, m.Name, o.Device)
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
	results() (v *ongpu.Vector, count int)
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
func scratchFor(b *ongpu.Base, s **ongpu.Scratch, groups int) (err error) {
	(*s).Free()
	*s, err = b.NewScratch(groups)
	return err
}

// vectorFor replaces *v by a vector of n numbers.
func vectorFor(b *ongpu.Base, v **ongpu.Vector, n int) (err error) {
	(*v).Free()
	*v, err = b.NewVector(n)
	return err
}

// hostVector allocates n numbers in pinned memory.
func (s *deviceSum) hostVector(n int) (v *rns.Vector, err error) {
	err = s.device.Do(func() error {
		if s.base == nil {
			if s.base, err = ongpu.NewBase(s.device, s.context); err != nil {
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
