package gpu

import "mpbench/cuda"

// ColdCache puts work into the stream that reads three times the size of the L2 cache, so that what follows finds none
// of its data there: how a kernel is timed. The memory it reads stays allocated.
func (d *Device) ColdCache(s *Stream) error {
	if d.evict == nil {
		if err := d.makeCold(s); err != nil {
			return err
		}
	}
	words := Pointer[uint32](d.cold.Pointer())
	blocks := 4 * max(d.info.Multiprocessors, 1)
	return d.evict.Launch(Launch{Grid: Dim{X: blocks}, Block: Dim{X: 256}, Stream: s},
		cuda.EvictArgs{Sink: words, X: words, N: uint64(d.cold.Len() / 16), Number: 1})
}

// makeCold makes what ColdCache launches and reads, both or neither.
func (d *Device) makeCold(s *Stream) error {
	m, err := d.Module("cache")
	if err != nil {
		return err
	}
	evict, err := Function[cuda.EvictArgs](m, "evict")
	if err != nil {
		return err
	}
	cold, err := Alloc[byte](d, max(3*d.info.L2Bytes, 1<<10)/16*16)
	if err != nil {
		return err
	}
	if err := cold.Clear(s); err != nil {
		cold.Free()
		return err
	}
	d.cold, d.evict = cold, evict
	return nil
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
