package method

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"mpbench/pkg/device"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
)

// shared is a method on several devices at once: each has some rows of the result, or some terms of a sum that is
// exact until it is rounded, so many that all finish together. Where one of them alone is as fast, it has everything.
// It never changes a result. Its time is that of the clock, unless one device has everything and takes its own time.
type shared struct {
	method  Method
	problem *op.Problem
	members []member
	parts   int // rows or terms
	times   Times
}

type member struct {
	Engine
	kind     device.Kind
	from, to int // its parts
	most     int // that it is known to have memory for
}

func (m *member) active() bool { return m.from < m.to }

// NewShared returns an engine for several devices by the method's implementations for each.
func NewShared(m Method, c Config) (Engine, error) {
	s := &shared{method: m}
	for _, d := range c.Devices.Members() {
		one := c
		one.Devices, one.Merge = device.Of(d), m.Merges
		e, err := m.On[d.Kind](one)
		if err != nil {
			return nil, errors.Join(err, s.Close())
		}
		s.members = append(s.members, member{Engine: e, kind: d.Kind})
	}
	return s, nil
}

// run runs all devices that have a share, and returns how long each took and all together, merging included. An error
// of one ends the work of the others.
func (s *shared) run(ctx context.Context) (took []time.Duration, total time.Duration, err error) {
	start := time.Now()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	took = make([]time.Duration, len(s.members))
	var others sync.WaitGroup
	first := s.first()
	run := func(k int) {
		from := time.Now()
		if err := s.members[k].Run(ctx); err != nil {
			cancel(err) // the first one counts
		}
		took[k] = max(1, time.Since(from))
	}
	for k := first + 1; k < len(s.members); k++ {
		if s.members[k].active() {
			others.Go(func() { run(k) })
		}
	}
	run(first)
	others.Wait()
	if err := context.Cause(ctx); err != nil {
		return nil, 0, err
	}
	if s.method.Merges {
		err = s.merge(first)
	}
	return took, time.Since(start), err
}

func (s *shared) first() int {
	for k := range s.members {
		if s.members[k].active() {
			return k
		}
	}
	return 0
}

func (s *shared) alone() bool {
	m := &s.members[s.first()]
	return m.to-m.from == s.parts
}

func (s *shared) merge(first int) error {
	for k := first + 1; k < len(s.members); k++ {
		if s.members[k].active() {
			if err := s.members[first].Engine.(Merger).Merge(s.members[k].Engine); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *shared) Run(ctx context.Context) error {
	_, _, err := s.run(ctx)
	return err
}

func (s *shared) RunTimed(ctx context.Context) error {
	if one, ok := s.members[s.first()].Engine.(Timed); ok && s.alone() {
		convert := s.times.Convert
		err := one.RunTimed(ctx)
		s.times = one.Times()
		s.times.Convert = convert
		return err
	}
	if err := s.Cool(); err != nil {
		return err
	}
	_, total, err := s.run(ctx)
	s.times.Kernel = total
	return err
}

func (s *shared) Cool() error {
	for k := range s.members {
		if c, ok := s.members[k].Engine.(Cooler); ok && s.members[k].active() {
			if err := c.Cool(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *shared) Times() Times { return s.times }

func (s *shared) Stages() []Stage {
	if s.alone() {
		if one, ok := s.members[s.first()].Engine.(Staged); ok {
			return one.Stages()
		}
		return nil
	}
	return []Stage{{"together", "all devices at the same time, by the clock", s.times.Kernel}}
}

func (s *shared) Result() (numbers.Source, error) {
	if first := s.first(); s.method.Merges || s.alone() {
		return s.members[first].Result()
	}
	var parts []numbers.Source
	for k := range s.members {
		if !s.members[k].active() {
			continue
		}
		y, err := s.members[k].Result()
		if err != nil {
			return nil, err
		}
		if _, ok := y.(numbers.Scaled); ok { // parts have denominators of their own
			y = valuesOf(y)
		}
		parts = append(parts, y)
	}
	return numbers.Join(parts...), nil
}

func valuesOf(y numbers.Source) (all numbers.Values) {
	for i := range y.Len() {
		all = append(all, numbers.At(y, i))
	}
	return all
}

func (s *shared) Info() Info {
	info := s.members[s.first()].Info()
	info.NumberBytes, info.WorkspaceBytes, info.Threads, info.Variant, info.Warnings = 0, 0, 0, "", nil
	var devices, formats, variants []string
	for k := range s.members {
		m := &s.members[k]
		one := m.Info()
		if one.Device == "" {
			one.Device = string(device.CPU)
		}
		devices = append(devices, one.Device)
		if !m.active() && k != s.first() {
			continue
		}
		if len(formats) == 0 || formats[len(formats)-1] != one.Format {
			formats = append(formats, one.Format)
		}
		variants = append(variants, s.describe(m, one))
		info.NumberBytes = max(info.NumberBytes, one.NumberBytes)
		info.WorkspaceBytes += one.WorkspaceBytes
		info.Threads = max(info.Threads, one.Threads)
		info.Moduli, info.ModuliBits = max(info.Moduli, one.Moduli), max(info.ModuliBits, one.ModuliBits)
		info.Rounded.Factors = max(info.Rounded.Factors, one.Rounded.Factors)
		info.Rounded.Lost = info.Rounded.Lost || one.Rounded.Lost
		info.Warnings = append(info.Warnings, one.Warnings...)
	}
	info.Device, info.Format = strings.Join(devices, "+"), strings.Join(formats, ", ")
	info.Variant = strings.Join(variants, "; ")
	return info
}

func (s *shared) describe(m *member, info Info) string {
	what := "rows"
	if s.problem.Op.Split == op.ByTerm {
		what = "terms"
	}
	text := fmt.Sprintf("%s: %d of %d %s", info.Device, m.to-m.from, s.parts, what)
	if info.Variant != "" {
		text += ", " + info.Variant
	}
	return text
}

func (s *shared) Close() error {
	var failed []error
	for k := range s.members {
		s.members[k].from, s.members[k].to = 0, 0
		failed = append(failed, s.members[k].Close())
	}
	return errors.Join(failed...)
}
