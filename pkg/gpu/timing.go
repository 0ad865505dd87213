package gpu

import (
	"time"

	"mpbench/cuda"
)

// Time returns the device's time for what f puts into the stream, and waits for it. To be called inside Do.
func (d *Device) Time(s *Stream, f func() error) (time.Duration, error) {
	from, err := d.NewEvent()
	if err != nil {
		return 0, err
	}
	defer from.Free()
	to, err := d.NewEvent()
	if err != nil {
		return 0, err
	}
	defer to.Free()
	err = InTurn(func() error { return from.Record(s) }, f, func() error { return to.Record(s) }, to.Sync)
	if err != nil {
		return 0, err
	}
	return Elapsed(from, to)
}

// ColdCache puts work into the stream that reads three times the size of the L2 cache, so that what follows finds none
// of its data there: how a kernel is timed. The memory it reads stays allocated.
func (d *Device) ColdCache(s *Stream) error {
	m, err := d.Module("cache")
	if err != nil {
		return err
	}
	if d.cold == nil {
		size := max(3*d.info.L2Bytes, 1<<10) / 16 * 16
		if d.cold, err = Alloc[byte](d, size); err != nil {
			return err
		}
		if err := d.cold.Clear(s); err != nil {
			return err
		}
		if d.evict, err = Function[cuda.EvictArgs](m, "evict"); err != nil {
			return err
		}
	}
	words := Pointer[uint32](d.cold.Pointer())
	blocks := 4 * max(d.info.Multiprocessors, 1)
	return d.evict.Launch(Launch{Grid: Dim{X: blocks}, Block: Dim{X: 256}, Stream: s},
		cuda.EvictArgs{Sink: words, X: words, N: uint64(d.cold.Len() / 16), Number: 1})
}

// Cool empties the device's caches and waits. It may be called from any goroutine.
func (d *Device) Cool() error {
	return d.Do(func() error {
		if err := d.ColdCache(nil); err != nil {
			return err
		}
		return d.Sync()
	})
}
