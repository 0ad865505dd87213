package gpu

import "time"

// BusRate returns how many bytes per second go from pinned host memory to the device: the best of some copies.
func (d *Device) BusRate() (rate float64, err error) {
	const bytes, copies = 64 << 20, 5
	err = d.Do(func() error {
		o := d.NewOwner()
		defer o.Free()
		from, to, stream := TakePinned[byte](o, bytes), Take[byte](o, bytes), o.Stream()
		if err := o.Err(); err != nil {
			return err
		}
		for range copies {
			start := time.Now()
			if err := InTurn(func() error { return to.UploadAsync(stream, 0, from.Slice()) }, stream.Sync); err != nil {
				return err
			}
			rate = max(rate, bytes/time.Since(start).Seconds())
		}
		return nil
	})
	return rate, err
}
