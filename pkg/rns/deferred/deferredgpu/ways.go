package deferredgpu

import (
	"context"
	"errors"
	"fmt"
	"time"

	"mpbench/pkg/exactsum"
	"mpbench/pkg/gpu"
	"mpbench/pkg/method"
	"mpbench/pkg/op"
	"mpbench/pkg/rns/deferred"
)

// Ways returns how a GPU adds numbers wider than binary64, or products of two, exactly: in its memory, or in parts.
func Ways() []exactsum.NewWay {
	return []exactsum.NewWay{newPacked, newPackedParts, newSpecial, newPlanesDot, newPanelsDot}
}

// packedVariant names what is done in words: packed words are added in integers.
const packedVariant = "packed words"

type packed struct {
	device *gpu.Device
	sum    *PackedSum
	bytes  int // of a number
}

func newPacked(_ context.Context, c method.Config, p *op.Problem) (exactsum.Way, method.Times, error) {
	if !p.Y.Absent() || c.Stream {
		return nil, method.Times{}, nil
	}
	d, x, times, err := packTerms(c, p)
	if err != nil {
		return nil, times, err
	}
	start := time.Now()
	s, err := NewPackedSum(d, x)
	if errors.Is(err, gpu.ErrOutOfMemory) {
		return nil, times, nil
	}
	times.CopyIn = time.Since(start)
	return &packed{d, s, numberBytes(x)}, times, err
}

func packTerms(c method.Config, p *op.Problem) (*gpu.Device, *deferred.Packed, method.Times, error) {
	d, err := gpu.Open(c.GPU())
	if err != nil {
		return nil, nil, method.Times{}, err
	}
	start := time.Now()
	x, err := deferred.Pack(p.X.Source, p.X.Layout, 0)
	return d, x, method.Times{Convert: time.Since(start)}, err
}

func numberBytes(x *deferred.Packed) int { return int(x.Bytes()) / max(1, x.Len()) }

func (w *packed) Add(_ context.Context, to *exactsum.Sum) (err error) {
	to.Wide, _, err = w.sum.Sum(false)
	return err
}

func (w *packed) AddTimed(_ context.Context, to *exactsum.Sum) (times method.Times, err error) {
	start := time.Now()
	var t SumTimes
	to.Wide, t, err = w.sum.Sum(true)
	times.Kernel, times.CopyOut = t.Kernel, t.Download
	if w.sum.Windows().Scattered() > 0 { // which the host adds
		times.Host = max(0, time.Since(start)-t.Kernel-t.Download)
	}
	return times, err
}

func (w *packed) Cool() error { return w.device.Cool() }

func (w *packed) Describe(info *method.Info) {
	info.NumberBytes, info.Variant = w.bytes, packedVariant
	windows := w.sum.Windows()
	if len(windows.Passes) > 1 || windows.Scattered() > 0 {
		info.Variant += fmt.Sprintf(" in %d windows", len(windows.Passes))
	}
	if n := windows.Scattered(); n > 0 {
		info.Variant += fmt.Sprintf(", %d scattered on the host", n)
	}
}

func (w *packed) Close() error {
	w.sum.Free()
	return nil
}

// packedParts are packed numbers of which the device holds a part at a time.
type packedParts struct {
	device  *gpu.Device
	numbers *deferred.Packed
	part    int // numbers of a part
}

// leastPart is the smallest part for which a device without room is asked.
const leastPart = 1 << 12

func newPackedParts(_ context.Context, c method.Config, p *op.Problem) (exactsum.Way, method.Times, error) {
	if !p.Y.Absent() {
		return nil, method.Times{}, nil
	}
	d, x, times, err := packTerms(c, p)
	return &packedParts{d, x, (p.X.Rows + 1) / 2}, times, err
}

func (w *packedParts) Add(ctx context.Context, to *exactsum.Sum) error {
	total := new(deferred.LimbSum)
	for from := 0; from < w.numbers.Len(); {
		if err := ctx.Err(); err != nil {
			return err
		}
		end := min(from+w.part, w.numbers.Len())
		s, err := w.sumPart(from, end)
		if errors.Is(err, gpu.ErrOutOfMemory) && w.part > leastPart {
			w.part /= 2
			continue
		}
		if err != nil {
			return err
		}
		total.Merge(s)
		from = end
	}
	to.Wide = total
	return nil
}

func (w *packedParts) sumPart(from, end int) (*deferred.LimbSum, error) {
	s, err := NewPackedSum(w.device, w.numbers.Part(from, end))
	if err != nil {
		return nil, err
	}
	defer s.Free()
	sum, _, err := s.Sum(false)
	return sum, err
}

func (w *packedParts) Describe(info *method.Info) {
	info.NumberBytes, info.Variant = numberBytes(w.numbers), packedVariant+", streamed"
}

func (w *packedParts) Close() error { return nil }
