package method

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"mpbench/pkg/device"
	"mpbench/pkg/op"
)

// How Prepare divides.
const (
	firstProbe  = 64 // parts that a device is timed with first; then 16 times as many, and so on
	probeFactor = 16
	probeTime   = 500 * time.Microsecond // that is long enough to extrapolate from
	probeRuns   = 3                      // of which the fastest counts
	refinements = 3                      // of bringing the times of all devices together
	balanced    = 1.05                   // ratio of their times that needs no further one
	alike       = 1.25                   // ratio of the times of devices of a kind that is taken for noise
	sharedTime  = 0.9                    // of the time of the fastest alone, which sharing must fall below to be chosen
)

// Prepare times each kind of device alone, with as many parts as that takes, divides by speed, and prepares what is
// fastest.
func (s *shared) Prepare(ctx context.Context, p *op.Problem) error {
	start := time.Now()
	defer func() { s.times = Times{Convert: time.Since(start)} }()
	if err := s.begin(p); err != nil {
		return err
	}
	if s.parts == 0 || !p.Multiplies() {
		_, err := s.give(ctx, s.all(0))
		return err
	}
	alone, err := s.probe(ctx)
	if err != nil {
		return err
	}
	fastest, together := 0, 0.0
	for k, t := range alone {
		together += 1 / t
		if t < alone[fastest] {
			fastest = k
		}
	}
	if 1/together > sharedTime*alone[fastest] {
		return s.orShared(ctx, s.all(fastest), s.divided(alone))
	}
	shares, least, err := s.refine(ctx, s.divided(alone))
	if err != nil {
		return err
	}
	if least > sharedTime*alone[fastest] {
		return s.orShared(ctx, s.all(fastest), shares)
	}
	_, err = s.give(ctx, shares)
	return err
}

// begin takes a problem, of which no device has any parts yet.
func (s *shared) begin(p *op.Problem) error {
	shape, err := p.Op.Shape(p)
	if err != nil {
		return err
	}
	s.problem, s.parts = p, shape.Parts(p.Op)
	for k := range s.members {
		s.members[k].from, s.members[k].to, s.members[k].most = 0, 0, s.parts
	}
	return nil
}

// PrepareShares prepares an engine of several devices for shares of so many rows or terms each, whatever their speeds;
// where memory does not suffice, for others.
func PrepareShares(ctx context.Context, e Engine, p *op.Problem, shares []int) error {
	s, ok := e.(*shared)
	if !ok || len(shares) != len(s.members) {
		return fmt.Errorf("method: %T does not work on %d devices", e, len(shares))
	}
	if err := s.begin(p); err != nil {
		return err
	}
	_, err := s.give(ctx, shares)
	return err
}

// all gives everything to device k.
func (s *shared) all(k int) []int {
	shares := make([]int, len(s.members))
	shares[k] = s.parts
	return shares
}

// divided returns shares in proportion to the speeds of devices that take these times for everything.
func (s *shared) divided(times []float64) []int {
	total := 0.0
	for _, t := range times {
		total += 1 / t
	}
	shares, sum, done := make([]int, len(times)), 0.0, 0
	for k, t := range times {
		sum += 1 / t
		end := min(s.parts, int(math.Round(sum/total*float64(s.parts))))
		if k == len(times)-1 {
			end = s.parts
		}
		shares[k] = end - done
		done = end
	}
	return shares
}

// give prepares the devices for their shares, or, where memory does not suffice, for others that fit; it returns them.
func (s *shared) give(ctx context.Context, shares []int) ([]int, error) {
	for {
		k, err := s.prepare(ctx, shares)
		var memory *MemoryError
		if !errors.As(err, &memory) {
			return shares, err
		}
		s.members[k].most = shares[k] / 2
		if shares = s.fit(shares); shares == nil {
			return nil, err
		}
	}
}

// fit moves what devices have no memory for to those that have room; nil if there is too little.
func (s *shared) fit(shares []int) []int {
	fitted, left := slices.Clone(shares), 0
	for k, n := range shares {
		fitted[k] = min(n, s.members[k].most)
		left += n - fitted[k]
	}
	for k := range fitted {
		n := min(left, s.members[k].most-fitted[k])
		fitted[k] += n
		left -= n
	}
	if left > 0 {
		return nil
	}
	return fitted
}

// prepare prepares the devices for their shares, up to the first that fails, which it returns; not for what they have.
func (s *shared) prepare(ctx context.Context, shares []int) (k int, err error) {
	from := 0
	for k, n := range shares {
		m := &s.members[k]
		if n > 0 && (m.from != from || m.to != from+n) || s.parts == 0 && k == 0 {
			m.from, m.to = 0, 0
			if err := m.Prepare(ctx, s.problem.Part(from, from+n)); err != nil {
				return k, err
			}
		}
		if n == 0 && m.active() {
			if err := m.Close(); err != nil { // its memory is of use to the others
				return k, err
			}
		}
		m.from, m.to = from, from+n
		from += n
	}
	return 0, nil
}

// orShared gives everything to one device or, where its memory does not suffice, the shares to all.
func (s *shared) orShared(ctx context.Context, all, shares []int) error {
	_, err := s.prepare(ctx, all)
	var memory *MemoryError
	if errors.As(err, &memory) {
		_, err = s.give(ctx, shares)
	}
	return err
}

// probe returns how many nanoseconds each device takes for everything; infinity for a device whose memory does not
// hold the least part, and an error if there are no others. Devices of a kind are taken for alike.
func (s *shared) probe(ctx context.Context) (alone []float64, failed error) {
	for k := range s.members {
		kind := s.members[k].kind
		like := slices.IndexFunc(s.members[:k], func(m member) bool { return m.kind == kind })
		if like >= 0 && !math.IsInf(alone[like], 1) {
			alone = append(alone, alone[like])
			continue
		}
		t, err := s.probeMember(ctx, &s.members[k])
		var memory *MemoryError
		if err != nil && !errors.As(err, &memory) {
			return nil, err
		}
		failed = cmp.Or(failed, err)
		alone = append(alone, t)
	}
	if math.IsInf(slices.Min(alone), 1) {
		return nil, failed
	}
	return alone, nil
}

// probeMember returns how many nanoseconds a device takes for everything, extrapolated from a part where that runs
// long enough; with a *MemoryError from the largest part that its memory holds, infinity if there is none.
func (s *shared) probeMember(ctx context.Context, m *member) (float64, error) {
	whole := math.Inf(1)
	for n := min(firstProbe, s.parts); ; n = min(n*probeFactor, s.parts) {
		m.to = 0
		if err := m.Prepare(ctx, s.problem.Part(0, n)); err != nil {
			return whole, err
		}
		m.to = n
		t, err := fastestRun(ctx, m)
		if err != nil {
			return whole, err
		}
		whole = float64(t) * float64(s.parts) / float64(n)
		if n == s.parts || t >= probeTime {
			return whole, nil
		}
	}
}

// fastestRun returns the shortest of a few runs, by the clock.
func fastestRun(ctx context.Context, e Engine) (time.Duration, error) {
	least := time.Duration(math.MaxInt64)
	for range probeRuns {
		start := time.Now()
		if err := e.Run(ctx); err != nil {
			return 0, err
		}
		least = min(least, max(1, time.Since(start)))
	}
	return least, nil
}

// refine measures shares, and others that bring the times of the devices together, and returns the fastest.
func (s *shared) refine(ctx context.Context, shares []int) (best []int, least float64, err error) {
	least = math.Inf(1)
	for range refinements {
		if shares, err = s.give(ctx, shares); err != nil {
			return nil, 0, err
		}
		own := make([]float64, len(s.members)) // nanoseconds
		for range probeRuns {
			took, total, err := s.run(ctx)
			if err != nil {
				return nil, 0, err
			}
			if t := float64(total); t < least {
				least, best = t, shares
			}
			for k, d := range took {
				if own[k] == 0 || float64(d) < own[k] {
					own[k] = float64(d)
				}
			}
		}
		next, done := s.rebalanced(shares, own)
		if done {
			break
		}
		shares = next
	}
	return best, least, nil
}

// rebalanced returns shares for devices that took these times for theirs, and whether those are good enough.
func (s *shared) rebalanced(shares []int, own []float64) (next []int, done bool) {
	whole := make([]float64, len(own))
	for k, n := range shares {
		if n == 0 || own[k] == 0 {
			return nil, true
		}
		whole[k] = own[k] * float64(s.parts) / float64(n)
	}
	s.level(whole)
	lowest, highest := math.Inf(1), 0.0
	for k, n := range shares {
		lowest, highest = min(lowest, whole[k]*float64(n)), max(highest, whole[k]*float64(n))
	}
	return s.divided(whole), highest <= balanced*lowest
}

// level gives devices of a kind whose times for everything differ little the time of the fastest of them.
func (s *shared) level(whole []float64) {
	least := make(map[device.Kind]float64)
	for k, t := range whole {
		if first, ok := least[s.members[k].kind]; !ok || t < first {
			least[s.members[k].kind] = t
		}
	}
	for k, t := range whole {
		if first := least[s.members[k].kind]; t <= alike*first {
			whole[k] = first
		}
	}
}
