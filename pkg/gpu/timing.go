package gpu

import (
	"time"
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
