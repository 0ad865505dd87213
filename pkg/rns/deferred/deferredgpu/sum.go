package deferredgpu

import (
	"errors"
	"time"

	"mpbench/pkg/gpu"
	"mpbench/pkg/rns/deferred"
)

// SumTimes are the durations of the parts of a sum on a device, by its own events.
type SumTimes struct {
	Kernel   time.Duration // all kernels
	Download time.Duration // the digits, from the device
}

// PackedSum sums packed numbers in device memory: no planes, but 32-bit digits of the numbers' own words, shifted to
// their places and added in 64 bits (cuda/packed_sum.cu). It is not safe for concurrent use. Its methods may be called
// from any goroutine.
type PackedSum struct {
	device  *gpu.Device
	windows *deferred.Windows
	numbers *Numbers
	total   *gpu.Buffer[int64]
	result  *gpu.Pinned[int64]
	passes  []packedPass
	stream  *gpu.Stream
	events  [3]*gpu.Event
	clean   bool // the digits are zero, as they are after each computation that succeeds
}

// NewPackedSum copies p to the device and plans its sum.
func NewPackedSum(d *gpu.Device, p *deferred.Packed) (*PackedSum, error) {
	s := &PackedSum{device: d, windows: deferred.NewWindows(p)}
	err := d.Do(func() error {
		err := s.prepare()
		if err != nil {
			s.free()
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

func (s *PackedSum) prepare() (err error) {
	d := s.device
	if s.numbers, err = UploadPacked(d, s.windows.Numbers); err != nil {
		return err
	}
	if s.total, err = gpu.Alloc[int64](d, s.windows.Digits()); err != nil {
		return err
	}
	if s.result, err = gpu.AllocPinned[int64](d, s.windows.Digits()); err != nil {
		return err
	}
	if s.stream, err = d.NewStream(); err != nil {
		return err
	}
	for i := range s.events {
		if s.events[i], err = d.NewEvent(); err != nil {
			return err
		}
	}
	s.passes, err = newPackedPasses(d, s.windows, s.numbers, s.total.Pointer(), s.stream)
	return err
}

// Windows returns how the sum is done.
func (s *PackedSum) Windows() *deferred.Windows { return s.windows }

// Sum returns the exact sum. With cold, the device's caches are emptied before, outside of the times.
func (s *PackedSum) Sum(cold bool) (*deferred.LimbSum, SumTimes, error) {
	var t SumTimes
	err := s.device.Do(func() error {
		if !s.clean {
			if err := s.total.Clear(s.stream); err != nil {
				return err
			}
		}
		s.clean = false
		if cold {
			if err := s.device.ColdCache(s.stream); err != nil {
				return err
			}
		}
		steps := []func() error{
			func() error { return s.events[0].Record(s.stream) },
			s.launch,
			func() error { return s.events[1].Record(s.stream) },
			func() error { return s.total.DownloadAsync(s.stream, 0, s.result.Slice()) },
			func() error { return s.events[2].Record(s.stream) },
			func() error { return s.total.Clear(s.stream) },
			s.stream.Sync,
		}
		for _, step := range steps {
			if err := step(); err != nil {
				return err
			}
		}
		var failures [2]error
		t.Kernel, failures[0] = gpu.Elapsed(s.events[0], s.events[1])
		t.Download, failures[1] = gpu.Elapsed(s.events[1], s.events[2])
		s.clean = true
		return errors.Join(failures[:]...)
	})
	if err != nil {
		return nil, SumTimes{}, err
	}
	return s.windows.Sum(s.result.Slice()), t, nil
}

func (s *PackedSum) launch() error {
	for _, p := range s.passes {
		if err := p.kernel.Launch(p.launch, p.parameters); err != nil {
			return err
		}
	}
	return nil
}

// Free gives the memory back; a nil sum has none.
func (s *PackedSum) Free() {
	if s != nil {
		// only a fault fails, and then the memory is lost with the context
		_ = s.device.Do(func() error { s.free(); return nil })
	}
}

func (s *PackedSum) free() {
	s.numbers.Free()
	s.total.Free()
	s.result.Free()
	s.stream.Free()
	for _, e := range s.events {
		e.Free()
	}
}
