package reduce

import (
	"context"

	"mpbench/pkg/superacc"
	"mpbench/pkg/superacc/superaccgpu"
)

// deferredStreamOn is the exact sum of numbers that come from outside of memory, on a device.
type deferredStreamOn struct {
	deferredOnDevice
	streamer *superaccgpu.Streamer
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
func (d *deferredStreamOn) SumSource(ctx context.Context, source superaccgpu.Source) error {
	var a superacc.Accumulator
	if err := d.streamer.Sum(ctx, &a, source); err != nil {
		return err
	}
	d.result = a.Round(uint(d.precision))
	return nil
}

// SumStream implements StreamSummer: pieces one after the other, each read before it goes to the device.
func (d *deferredStreamOn) SumStream(next func([]float64) (int, error)) error {
	var a superacc.Accumulator
	buffer := make([]float64, streamTerms)
	for {
		n, err := next(buffer)
		if err != nil {
			return err
		}
		if n == 0 {
			break
		}
		if err := d.streamer.Sum(context.Background(), &a, superaccgpu.Slice(buffer[:n])); err != nil {
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
