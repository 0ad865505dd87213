package multifloatgpu

import (
	"context"
	"math"
	"time"
	"unsafe"

	"mpbench/cuda"
	"mpbench/pkg/device"
	"mpbench/pkg/gpu"
	"mpbench/pkg/krylov"
	"mpbench/pkg/multifloat"
	"mpbench/pkg/numbers"
)

// Solvers returns solvers of linear systems with those of all formats of package multifloat on GPUs, too.
func Solvers(list []krylov.Solver) []krylov.Solver {
	for _, f := range multifloat.Formats() {
		for i, s := range list {
			switch {
			case s.Name != f.Method:
			case f.Narrow:
				list[i] = s.With(device.CUDA, solveOn[float32](f))
			default:
				list[i] = s.With(device.CUDA, solveOn[float64](f))
			}
		}
	}
	return list
}

// solveOn returns what solves systems in a format on a GPU.
func solveOn[T multifloat.Float](f multifloat.Format) krylov.Solve {
	in := multifloat.In[T](f)
	return func(ctx context.Context, _ int, s krylov.System, o krylov.Options) (result krylov.Result, err error) {
		p, err := krylov.Prepare(in, s, o)
		if err != nil {
			return result, err
		}
		d, err := gpu.Open(o.Devices.GPUs()[0])
		if err != nil {
			return result, err
		}
		err = d.Do(func() error {
			v := &space[T]{n: p.N, host: in.Source}
			defer v.free()
			if err := v.open(d, f, p); err != nil {
				return err
			}
			result, err = krylov.Run(ctx, in, krylov.Space[vector[T], multifloat.Number[T]](v), o)
			result.Rounded, result.Device = p.Rounded, d.RecordName()
			return err
		})
		return result, err
	}
}

// space is vectors in device memory, and a system there.
type space[T multifloat.Float] struct {
	*arithmetic[T]
	n        int
	multiply func(z, x vector[T], from, to int)
	b        vector[T]
	inverse  vector[T]            // of the diagonal
	lower    func(z, y vector[T]) // solve with the factors of ILU(0), nil without
	upper    func(z, y vector[T])
	squares  *arithmetic[float64]
	host     func(x multifloat.Vector[T], n int) numbers.Source
	floats   []float64
	phaseTimes
}

// open copies a system to the device.
func (s *space[T]) open(d *gpu.Device, f multifloat.Format, p krylov.Prepared[multifloat.Vector[T]]) (err error) {
	if s.arithmetic, err = newArithmetic[T](d, f); err != nil {
		return err
	}
	if s.squares, err = newSquares[T](d); err != nil {
		return err
	}
	s.events.owner, s.events.err = s.owner, &s.err
	s.multiply, s.b = s.rowsOf(p.Pattern, p.Elements), s.upload(p.B)
	if p.Inverse.Len > 0 {
		s.inverse = s.upload(p.Inverse)
	}
	if t := p.Factors; t != nil {
		s.lower = s.triangleOf(t.Lower.Pattern, false, t.Lower.Elements)
		s.upper = s.triangleOf(t.Upper.Pattern, true, t.Upper.Elements)
	}
	return s.failed()
}

// free gives all memory back.
func (s *space[T]) free() {
	if s.arithmetic != nil {
		s.arithmetic.free()
	}
	if s.squares != nil {
		s.squares.free()
	}
}

// newSquares returns what adds the squares of numbers of type T in binary64.
func newSquares[T multifloat.Float](d *gpu.Device) (*arithmetic[float64], error) {
	a, err := newArithmetic[float64](d, binary64)
	if err == nil && unsafe.Sizeof(T(0)) == 4 {
		module, _ := kernelsOf[float64](binary64)
		a.dots = gpu.FindKernel[cuda.MultifloatDotsArgs](a.owner, module, "multifloatDotsFloat32")
		err = a.owner.Err()
	}
	return a, err
}

func (s *space[T]) Vector() vector[T]                                        { return s.make(s.n) }
func (s *space[T]) Right() vector[T]                                         { return s.b }
func (s *space[T]) Scal(z vector[T], a multifloat.Number[T], x vector[T])    { s.scal(z, a, x) }
func (s *space[T]) Axpy(z vector[T], a multifloat.Number[T], x, y vector[T]) { s.axpy(z, a, x, y) }
func (s *space[T]) Product(z, x vector[T])                                   { s.multiply(z, x, 0, s.n) }
func (s *space[T]) Dot(x, y vector[T]) multifloat.Number[T] {
	return s.dot(x.planes(), y.planes(), s.n)
}

func (s *space[T]) Precondition(z, x vector[T]) {
	if s.lower == nil {
		s.products(z, s.inverse, x)
		return
	}
	s.lower(z, x)
	s.products(z, s.inverse, z)
	s.upper(z, z)
}

// Squares is the dot product of the first components with themselves.
func (s *space[T]) Squares(x vector[T]) float64 {
	if s.err != nil {
		return math.NaN()
	}
	sum := s.squares.dot(x.planes(), x.planes(), s.n)
	if err := s.squares.failed(); err != nil {
		s.try(err)
		return math.NaN()
	}
	return sum[0]
}

func (s *space[T]) Float64s(x vector[T]) []float64 {
	if s.floats == nil {
		s.floats = make([]float64, s.n)
	}
	clear(s.floats)
	if s.err == nil {
		s.try(s.fetch(x))
	}
	if s.err == nil {
		for i, v := range x.host.Planes[0] {
			s.floats[i] = float64(v)
		}
	}
	return s.floats
}

func (s *space[T]) Solution(x vector[T]) (numbers.Source, error) {
	if s.err == nil {
		s.try(s.fetch(x))
	}
	if err := s.failed(); err != nil {
		return nil, err
	}
	return s.host(x.host, s.n), nil
}

// phaseTimes takes the times of phases by the device's events, of the first iterations and of some later ones, from
// the end of one norm to the end of the next: an event is recorded whenever another phase begins, so that the times of
// the phases are all of the iteration's, the host's included.
type phaseTimes struct {
	events  eventList
	entered []krylov.Phase // with each event
	shares  krylov.Shares  // of the iterations that were timed
	phase   krylov.Phase
	turns   int // iterations so far
}

// All of the first timedFirst iterations are timed, and then every timedEvery-th one.
const (
	timedFirst = 8
	timedEvery = 64
)

func (t *phaseTimes) timing() bool {
	return t.turns > 0 && (t.turns <= timedFirst || t.turns%timedEvery == 0)
}

func (t *phaseTimes) Enter(p krylov.Phase) {
	if t.timing() {
		t.record(p)
	}
	if t.phase == krylov.Norm {
		if t.timing() {
			for i, d := range t.events.take() {
				t.shares[t.entered[i]] += d
			}
			t.entered = t.entered[:0]
		}
		if t.turns++; t.timing() {
			t.record(p)
		}
	}
	t.phase = p
}

func (t *phaseTimes) record(p krylov.Phase) {
	t.events.record()
	t.entered = append(t.entered, p)
}

// Shares divides a time as the times of iterations are divided that were taken.
func (t *phaseTimes) Shares(total time.Duration) (shares krylov.Shares) {
	var sum time.Duration
	for _, d := range t.shares {
		sum += d
	}
	if shares[krylov.Rest] = total; sum == 0 {
		return shares
	}
	for p, d := range t.shares {
		if krylov.Phase(p) != krylov.Rest {
			shares[p] = time.Duration(float64(total) * (float64(d) / float64(sum)))
			shares[krylov.Rest] -= shares[p]
		}
	}
	return shares
}

// eventList is events that are recorded one after the other, and used again.
type eventList struct {
	owner *gpu.Owner
	list  []*gpu.Event
	used  int
	err   *error // the first one of the arithmetic
}

func (l *eventList) try(err error) {
	if *l.err == nil {
		*l.err = err
	}
}

// record records the next event.
func (l *eventList) record() {
	if l.used == len(l.list) {
		l.list = append(l.list, l.owner.Event())
		l.try(l.owner.Err())
	}
	if *l.err == nil {
		l.try(l.list[l.used].Record(nil))
		l.used++
	}
}

// take waits for the last event and returns the times between neighbours.
func (l *eventList) take() (times []time.Duration) {
	if *l.err == nil && l.used > 0 {
		l.try(l.list[l.used-1].Sync())
	}
	for i := range l.used - 1 {
		if *l.err == nil {
			d, err := gpu.Elapsed(l.list[i], l.list[i+1])
			l.try(err)
			times = append(times, d)
		}
	}
	l.used = 0
	return times
}
