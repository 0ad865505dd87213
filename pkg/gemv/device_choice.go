package gemv

import "errors"

// deviceChoice is the deferred engine on a GPU: with A in the device's memory, or in the host's if that is asked for or the device's is too small.
type deviceChoice struct {
	DeviceEngine // the one in use
	options      Options
}

func newDeviceChoice(o Options) (DeviceEngine, error) {
	e := &deviceChoice{options: o}
	return e, e.choose(o.Stream)
}

func (e *deviceChoice) choose(stream bool) error {
	if stream {
		s, err := newDeviceStream(e.options)
		e.DeviceEngine = s
		return err
	}
	r, err := newDeviceDeferred(e.options)
	e.DeviceEngine = r
	return err
}

// Load takes the device's memory if that suffices.
func (e *deviceChoice) Load(p Problem) error {
	e.Close()
	if e.options.Stream {
		return e.DeviceEngine.Load(p)
	}
	if err := e.choose(false); err != nil {
		return err
	}
	err := e.DeviceEngine.Load(p)
	var memory *MemoryError
	if !errors.As(err, &memory) || memory.Device == "" {
		return err
	}
	if err := e.choose(true); err != nil {
		return err
	}
	return e.DeviceEngine.Load(p)
}
