package reduce

import (
	"context"

	"mpbench/pkg/expansion"
	floatsgpu "mpbench/pkg/expansion/ongpu"
)

// deferredStreamOn is the exact sum of numbers that come from outside of memory, on a device.
type deferredStreamOn struct {
	deferredOnDevice
	streamer *floatsgpu.Streamer
}

func newDeferredStreamOn(o Options) (StreamSummer, error) {
	d, err := openDeferred(o)
	if err != nil {
		return nil, err
	}
	s := &deferredStreamOn{deferredOnDevice: d}
	s.streamer, err = newStreamer(d.device, false, d.streaming())
	return s, err
}

// SumSource implements SourceSummer.
func (d *deferredStreamOn) SumSource(ctx context.Context, source floatsgpu.Source) error {
	var a expansion.Accumulator
	if err := d.streamer.Sum(ctx, &a, source); err != nil {
		return err
	}
	d.result = a.Round(uint(d.precision))
	return nil
}

// SumStream implements StreamSummer: pieces one after the other, each read before it goes to the device.
func (d *deferredStreamOn) SumStream(next func([]float64) (int, error)) error {
	var a expansion.Accumulator
	buffer := make([]float64, streamTerms)
	for {
		n, err := next(buffer)
		if err != nil {
			return err
		}
		if n == 0 {
			break
		}
		if err := d.streamer.Sum(context.Background(), &a, floatsgpu.Slice(buffer[:n])); err != nil {
			return err
		}
	}
	d.result = a.Round(uint(d.precision))
	return nil
}

// Format implements StreamSummer.
func (d *deferredStreamOn) Format() Format {
	f := d.deferredOnDevice.Format()
	f.Variant = variantFloats + streamed
	return f
}

// Close implements SourceSummer.
func (d *deferredStreamOn) Close() error {
	d.streamer.Free()
	return d.deferredOnDevice.Close()
}
