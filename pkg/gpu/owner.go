package gpu

// Owner holds what an object takes on a device: memory, streams, events. After the first error what would take more
// returns nil, and [Owner.Err] the error. To be used inside Do.
type Owner struct {
	device *Device
	err    error
	owned  []interface{ Free() }
	bytes  int64
}

// NewOwner returns an owner of nothing.
func (d *Device) NewOwner() *Owner { return &Owner{device: d} }

// Err returns the first error. If there is one, everything is given back.
func (o *Owner) Err() error {
	if o.err != nil {
		o.Free()
	}
	return o.err
}

// Bytes returns the size of the buffers.
func (o *Owner) Bytes() int64 { return o.bytes }

// Free gives everything back; doing so again, or for nil, does nothing.
func (o *Owner) Free() {
	if o == nil {
		return
	}
	for _, x := range o.owned {
		x.Free()
	}
	o.owned, o.bytes = nil, 0
}

// Keep makes x the owner's, which frees it.
func (o *Owner) Keep(x interface{ Free() }) { o.owned = append(o.owned, x) }

// own returns what make makes, unless there has been an error.
func own[P interface{ Free() }](o *Owner, make func() (P, error)) (x P) {
	if o.err != nil {
		return x
	}
	if x, o.err = make(); o.err == nil {
		o.Keep(x)
	}
	return x
}

// Take is [Alloc] for an owner.
func Take[T any](o *Owner, n int) *Buffer[T] {
	b := own(o, func() (*Buffer[T], error) { return Alloc[T](o.device, n) })
	if o.err == nil {
		o.bytes += b.Bytes()
	}
	return b
}

// TakeCopy is [Upload] for an owner.
func TakeCopy[T any](o *Owner, x []T) *Buffer[T] {
	b := Take[T](o, len(x))
	if o.err == nil {
		o.err = b.Upload(x)
	}
	return b
}

// TakePinned is [AllocPinned] for an owner.
func TakePinned[T any](o *Owner, n int) *Pinned[T] {
	return own(o, func() (*Pinned[T], error) { return AllocPinned[T](o.device, n) })
}

// Stream is [Device.NewStream] for an owner.
func (o *Owner) Stream() *Stream { return own(o, o.device.NewStream) }

// Event is [Device.NewEvent] for an owner.
func (o *Owner) Event() *Event { return own(o, o.device.NewEvent) }

// Events sets all of a list to new events.
func (o *Owner) Events(list []*Event) {
	for i := range list {
		list[i] = o.Event()
	}
}

// FindKernel returns a kernel of a module, nil after an error of the owner.
func FindKernel[P any](o *Owner, module, name string) (k *Kernel[P]) {
	if o.err == nil {
		k, o.err = KernelOf[P](o.device, module, name)
	}
	return k
}

// KernelOf returns a kernel of a module of the device.
func KernelOf[P any](d *Device, module, name string) (*Kernel[P], error) {
	m, err := d.Module(module)
	if err != nil {
		return nil, err
	}
	return Function[P](m, name)
}

// Make calls make on the device's thread, and free after an error.
func (d *Device) Make(make func() error, free func()) error {
	return d.Do(func() error {
		err := make()
		if err != nil {
			free()
		}
		return err
	})
}

// InTurn calls functions one after the other until one fails.
func InTurn(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}
