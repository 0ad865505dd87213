package bench

import (
	"context"

	"mpbench/datasets"
	"mpbench/pkg/exact"
	"mpbench/pkg/record"
	"mpbench/pkg/reduce"
	"mpbench/pkg/sampling"
)

// StreamInput is a file that is summed piece by piece, with the exact reference found in the same way.
type StreamInput struct {
	Stream  *datasets.Stream
	SHA256  string
	Summary exact.Summary
}

// NewStreamInput reads the file once for the reference and the checksum.
func NewStreamInput(ctx context.Context, s *datasets.Stream) (StreamInput, error) {
	hash, buffer := datasets.NewHash(), make([]float64, 1<<16)
	var sum exact.Sum
	if err := s.Rewind(); err != nil {
		return StreamInput{}, err
	}
	for {
		n, err := s.Read(buffer)
		if err != nil {
			return StreamInput{}, err
		}
		if n == 0 || ctx.Err() != nil {
			return StreamInput{s, hash.SHA256(), sum.Summary()}, ctx.Err()
		}
		sum.AddSlice(buffer[:n])
		hash.Add(buffer[:n])
	}
}

// MeasureStream sums a file piece by piece; the time is that of reading and summing. Otherwise it is as MeasureSum.
func MeasureStream(ctx context.Context, s sampling.Sampler, m reduce.Method, o reduce.Options, in StreamInput) (r record.Record, ok bool, err error) {
	summer, err := m.NewStream(o)
	if err != nil {
		return record.Record{}, false, err
	}
	source, onDevice := summer.(reduce.SourceSummer)
	if onDevice {
		defer closeDevice(source, &err)
	}
	var failed error
	next := func(xs []float64) (int, error) {
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
		return in.Stream.Read(xs)
	}
	measurement, err := s.Measure(ctx, func(t *sampling.Timer) error {
		t.Time(record.PhaseKernel, func() {
			if onDevice {
				failed = source.SumSource(ctx, fileSource{in.Stream})
			} else if failed = in.Stream.Rewind(); failed == nil {
				failed = summer.SumStream(next)
			}
		})
		return failed
	})
	if err != nil || len(measurement.Timing.Samples) == 0 {
		return record.Record{}, false, err
	}
	n := in.Stream.N
	r = newReduceRecord("sum", m, o, summer.Format(), record.Dataset{Name: in.Stream.Name, N: n, Params: map[string]string{}, SHA256: in.SHA256})
	if onDevice {
		r.Device = source.Device()
	}
	r.Reference = "exact sum: fixed point in units of 2^-1074, nothing rounded"
	r.Condition = in.Summary.Condition().Text(errorDigits)
	setResult(&r, summer, in.Summary)
	measurement.Fill(&r, int64(n), 8*int64(n))
	return r, true, nil
}

// fileSource presents a file to a reduce.SourceSummer.
type fileSource struct{ stream *datasets.Stream }

// Len returns how many numbers there are.
func (s fileSource) Len() int { return s.stream.N }

// Read reads numbers from any place.
func (s fileSource) Read(x []float64, from int) error { return s.stream.ReadAt(x, from) }
