package reduce

import (
	"context"
	"math/big"
	"time"

	"mpbench/pkg/exact"
	"mpbench/pkg/gpu"
	"mpbench/pkg/rns"
	"mpbench/pkg/rns/rnsgpu"
)

// deviceSum is a sum of RNS numbers on a GPU: the terms there, an order, and what remains for the host.
type deviceSum struct {
	residues
	device *gpu.Device
	order  deviceOrder
	err    error // of the last Sum

	// Made when first needed, on the device's thread:
	base    *rnsgpu.Base
	host    *rnsgpu.HostVector // the terms
	terms   *rnsgpu.Vector     // a copy of host if there
	partial *rns.Vector        // the results of the order
	copied  bool               // terms is up to date
	events  [2]*gpu.Event
}

// newDeviceSum opens the device of the options; memory is taken by Load and Sum.
func newDeviceSum(o Options, order deviceOrder) (Summer, error) {
	r, err := newResidues(o)
	if err != nil {
		return nil, err
	}
	s := &deviceSum{residues: r, order: order}
	s.allocate = s.hostVector
	if s.device, err = gpu.OpenName(o.Device); err != nil {
		return nil, err
	}
	return s, nil
}

// Load converts the terms to pinned memory.
func (s *deviceSum) Load(t Terms) error {
	s.copied = false
	return s.residues.Load(t)
}

// Sum is SumPhases; Err has its error.
func (s *deviceSum) Sum() { _, s.err = s.SumPhases(context.Background()) }

func (s *deviceSum) Err() error { return s.err }

func (s *deviceSum) Device() string {
	if s.device.Info().Emulated() {
		return s.device.Info().Name
	}
	return s.device.Name()
}

func (s *deviceSum) SumPhases(ctx context.Context) (p Phases, err error) {
	start := time.Now()
	if s.empty() {
		p.Kernel = time.Since(start)
		return p, nil
	}
	if err := s.device.Do(func() error { return s.sumOnDevice(ctx, &p) }); err != nil {
		return p, err
	}
	start = time.Now()
	var x rns.Float
	for i := range s.partial.Len() { // the paper's third stage, on the host
		s.partial.View(&x, i)
		s.context.Add(s.sum, s.sum, &x)
	}
	p.Host = time.Since(start)
	return p, nil
}

// sumOnDevice leaves the numbers to be added on the host in partial.
func (s *deviceSum) sumOnDevice(ctx context.Context, p *Phases) error {
	if !s.copied {
		if err := s.copyIn(p); err != nil {
			return err
		}
	}
	if err := s.device.ColdCache(nil); err != nil {
		return err
	}
	if err := s.events[0].Record(nil); err != nil {
		return err
	}
	if err := s.order.launch(ctx, s); err != nil {
		return err
	}
	if err := s.events[1].Record(nil); err != nil {
		return err
	}
	if err := s.events[1].Sync(); err != nil {
		return err
	}
	var err error
	if p.Kernel, err = gpu.Elapsed(s.events[0], s.events[1]); err != nil {
		return err
	}
	start := time.Now()
	v, _ := s.order.results()
	err = v.Download(s.partial)
	p.CopyOut = time.Since(start)
	return err
}

// copyIn copies the terms and makes everything else ready.
func (s *deviceSum) copyIn(p *Phases) (err error) {
	for i := range s.events {
		if s.events[i] == nil {
			if s.events[i], err = s.device.NewEvent(); err != nil {
				return err
			}
		}
	}
	if s.terms == nil {
		if s.terms, err = s.base.NewVector(s.host.Len()); err != nil {
			return err
		}
		if err := s.order.reserve(s, s.host.Len()); err != nil {
			return err
		}
		_, count := s.order.results()
		s.partial = s.base.Base().NewVector(count)
	}
	start := time.Now()
	if err := s.terms.Upload(s.host.Vector); err != nil {
		return err
	}
	p.CopyIn = time.Since(start)
	s.copied = true
	return nil
}

// ErrorBound is gamma(depth of the order) * sumAbs.
func (s *deviceSum) ErrorBound(e exact.Summary) *big.Rat { return s.bound(s.order.depth(e.N), e) }

func (s *deviceSum) Format() Format {
	f := s.residues.Format()
	s.order.describe(&f)
	return f
}

// Close gives all memory on the device, and pinned memory, back.
func (s *deviceSum) Close() error {
	return s.device.Do(func() error {
		s.release()
		s.host.Free()
		if s.base != nil {
			s.base.Free()
		}
		for _, e := range s.events {
			e.Free()
		}
		s.residues.terms, s.host, s.base, s.events, s.copied = nil, nil, nil, [2]*gpu.Event{}, false
		return nil
	})
}
