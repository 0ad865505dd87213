package gpu

import "time"

// Stream is a queue of work that the device does in order. The nil *Stream is the default stream.
type Stream struct {
	device *Device
	handle uintptr
}

// nonBlocking: a stream that does not wait for the default stream.
const nonBlocking = 1

// NewStream makes a stream independent of the default one.
func (d *Device) NewStream() (*Stream, error) {
	s := &Stream{device: d}
	return s, d.call("cuStreamCreate", d.driver.StreamCreate(&s.handle, nonBlocking))
}

func (s *Stream) raw() uintptr {
	if s == nil {
		return 0
	}
	return s.handle
}

// Sync waits until all work of the stream is done. An error may be that of earlier work.
func (s *Stream) Sync() error {
	return s.device.call("cuStreamSynchronize", s.device.driver.StreamSynchronize(s.handle))
}

// Wait lets later work of the stream wait for the event.
func (s *Stream) Wait(e *Event) error {
	return s.device.call("cuStreamWaitEvent", s.device.driver.StreamWaitEvent(s.handle, e.handle, 0))
}

// Free gives the stream up; a nil stream stays.
func (s *Stream) Free() {
	if s != nil && s.handle != 0 {
		s.device.driver.StreamDestroy(s.handle)
		s.handle = 0
	}
}

// Event is a point in a stream, with its time.
type Event struct {
	device *Device
	handle uintptr
}

// NewEvent makes an event.
func (d *Device) NewEvent() (*Event, error) {
	e := &Event{device: d}
	return e, d.call("cuEventCreate", d.driver.EventCreate(&e.handle, 0))
}

// Record puts the event into the stream.
func (e *Event) Record(s *Stream) error {
	return e.device.call("cuEventRecord", e.device.driver.EventRecord(e.handle, s.raw()))
}

// Sync waits for the event.
func (e *Event) Sync() error {
	return e.device.call("cuEventSynchronize", e.device.driver.EventSynchronize(e.handle))
}

// Free gives the event up.
func (e *Event) Free() {
	if e != nil && e.handle != 0 {
		e.device.driver.EventDestroy(e.handle)
		e.handle = 0
	}
}

// Elapsed returns the device's time between two recorded events that are over, to about half a microsecond.
func Elapsed(from, to *Event) (time.Duration, error) {
	var ms float32
	err := from.device.call("cuEventElapsedTime", from.device.driver.EventElapsedTime(&ms, from.handle, to.handle))
	return time.Duration(float64(ms) * 1e6), err
}

// Graph is a sequence of work that is launched as one.
type Graph struct {
	device *Device
	exec   uintptr
}

// captureThread: only this thread's calls are restricted while capturing.
const captureThread = 1

// Capture records what f puts into the stream, without running it.
func (s *Stream) Capture(f func() error) (*Graph, error) {
	d := s.device
	if err := d.call("cuStreamBeginCapture", d.driver.StreamBeginCapture(s.handle, captureThread)); err != nil {
		return nil, err
	}
	failed := f()
	var graph uintptr
	err := d.call("cuStreamEndCapture", d.driver.StreamEndCapture(s.handle, &graph))
	if failed != nil {
		return nil, failed
	}
	if err != nil {
		return nil, err
	}
	g := &Graph{device: d}
	err = d.call("cuGraphInstantiate", d.driver.GraphInstantiate(&g.exec, graph, 0))
	d.driver.GraphDestroy(graph)
	return g, err
}

// Launch puts the graph's work into the stream.
func (g *Graph) Launch(s *Stream) error {
	return g.device.call("cuGraphLaunch", g.device.driver.GraphLaunch(g.exec, s.raw()))
}

// Free gives the graph up.
func (g *Graph) Free() {
	if g != nil && g.exec != 0 {
		g.device.driver.GraphExecDestroy(g.exec)
		g.exec = 0
	}
}
