package gpu

import (
	"fmt"
	"maps"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"mpbench/cuda"
)

// Info describes a device.
type Info struct {
	Index           int
	Name            string // the vendor's name; "emulated" for the emulator
	Driver          string // CUDA version of the driver, "13.0"
	Major, Minor    int    // compute capability
	MemoryBytes     uint64
	Multiprocessors int
	ThreadsPerBlock int // most threads of a block
	ThreadsPerMP    int // most resident threads of a multiprocessor
	BlocksPerMP     int // most resident blocks of a multiprocessor
	RegistersPerMP  int
	SharedPerBlock  int // most bytes of shared memory of a block, when asked for
	SharedPerMP     int
	L2Bytes         int
	ClockKHz        int
	MemoryClockKHz  int
	MemoryBusBits   int
}

// Emulated reports whether the device is the emulator, whose times mean nothing.
func (i Info) Emulated() bool { return i.Name == "emulated" }

// Bandwidth is the memory bandwidth in bytes per second that clock and bus give: two transfers a clock. 0 if unknown.
func (i Info) Bandwidth() float64 {
	return 2 * float64(i.MemoryClockKHz) * 1e3 * float64(i.MemoryBusBits) / 8
}

// attributes of the driver API by the fields of Info that they fill.
func (i *Info) attributes() map[int32]*int {
	return map[int32]*int{
		1: &i.ThreadsPerBlock, 13: &i.ClockKHz, 16: &i.Multiprocessors, 36: &i.MemoryClockKHz, 37: &i.MemoryBusBits,
		38: &i.L2Bytes, 39: &i.ThreadsPerMP, 75: &i.Major, 76: &i.Minor, 81: &i.SharedPerMP, 82: &i.RegistersPerMP,
		97: &i.SharedPerBlock, 106: &i.BlocksPerMP,
	}
}

// Devices describes all devices. The error wraps ErrNoDriver where there is no driver.
func Devices() ([]Info, error) {
	d, err := loadDriver()
	if err != nil {
		return nil, err
	}
	var count int32
	if err := d.check("cuDeviceGetCount", d.DeviceGetCount(&count)); err != nil {
		return nil, err
	}
	infos := make([]Info, count)
	for i := range infos {
		if infos[i], _, err = d.describe(i); err != nil {
			return nil, err
		}
	}
	return infos, nil
}

// describe returns what the driver tells of device i, and its handle.
func (d *driver) describe(i int) (Info, int32, error) {
	info := Info{Index: i, Driver: fmt.Sprintf("%d.%d", d.version/1000, d.version%1000/10)}
	var handle int32
	if err := d.check("cuDeviceGet", d.DeviceGet(&handle, int32(i))); err != nil {
		return info, 0, err
	}
	name := make([]byte, 256)
	if err := d.check("cuDeviceGetName", d.DeviceGetName(&name[0], int32(len(name)), handle)); err != nil {
		return info, 0, err
	}
	info.Name = goString(&name[0])
	if err := d.check("cuDeviceTotalMem", d.DeviceTotalMem(&info.MemoryBytes, handle)); err != nil {
		return info, 0, err
	}
	for attribute, field := range info.attributes() {
		var value int32
		if d.DeviceGetAttribute(&value, attribute, handle) == 0 { // one that the driver does not know stays 0
			*field = int(value)
		}
	}
	return info, handle, nil
}

// Device is an open device. Its methods may be called from any goroutine; what they return belongs to its thread.
type Device struct {
	driver *driver
	info   Info
	work   chan task
	thread atomic.Int64 // the operating system's number of the device's thread
	fault  error        // the first fault, written and read by that thread

	modules map[string]*Module
	memory  Memory
	cold    *Buffer[byte] // what ColdCache reads
	evict   *Kernel[cuda.EvictArgs]
	staging *stage
}

type task struct {
	f    func() error
	done chan outcome
}

// outcome is how a task ended.
type outcome struct {
	err  error
	exit bool // by runtime.Goexit
}

var (
	openMutex sync.Mutex
	opened    = map[int]*Device{}
)

// Open returns device i, the same for every call. The error wraps ErrNoDriver or ErrNoDevice.
func Open(i int) (*Device, error) {
	openMutex.Lock()
	defer openMutex.Unlock()
	if device := opened[i]; device != nil {
		return device, nil
	}
	infos, err := Devices()
	if err != nil {
		return nil, err
	}
	if i < 0 || i >= len(infos) {
		return nil, fmt.Errorf("%w: cuda:%d; there %s", ErrNoDevice, i, deviceNames(len(infos)))
	}
	d, err := loadDriver()
	if err != nil {
		return nil, err
	}
	device := &Device{driver: d, info: infos[i], work: make(chan task), modules: map[string]*Module{}}
	ready := make(chan error)
	go device.serve(ready)
	if err := <-ready; err != nil {
		return nil, err
	}
	opened[i] = device
	return device, nil
}

// Opened returns the devices that are open, in their order.
func Opened() []*Device {
	openMutex.Lock()
	defer openMutex.Unlock()
	var list []*Device
	for _, i := range slices.Sorted(maps.Keys(opened)) {
		list = append(list, opened[i])
	}
	return list
}

func deviceNames(n int) string {
	switch n {
	case 0:
		return "are none"
	case 1:
		return "is only cuda:0"
	}
	return fmt.Sprintf("are cuda:0 to cuda:%d", n-1)
}

// serve owns the device's context and runs what Do is given.
func (d *Device) serve(ready chan<- error) {
	runtime.LockOSThread() // for ever: the thread ends with the goroutine
	d.thread.Store(threadID())
	ready <- d.enter()
	for t := range d.work {
		d.perform(t)
	}
}

func (d *Device) enter() error {
	var handle int32
	if err := d.call("cuDeviceGet", d.driver.DeviceGet(&handle, int32(d.info.Index))); err != nil {
		return err
	}
	var context uintptr
	if err := d.call("cuDevicePrimaryCtxRetain", d.driver.DevicePrimaryCtxRetain(&context, handle)); err != nil {
		return err
	}
	return d.call("cuCtxSetCurrent", d.driver.CtxSetCurrent(context))
}

// perform runs a task. A panic becomes an error of the caller, the end of its goroutine (as testing's FailNow wants
// it) that of the caller's goroutine.
func (d *Device) perform(t task) {
	if d.fault != nil {
		t.done <- outcome{err: d.fault}
		return
	}
	result := outcome{exit: true}
	defer func() {
		if p := recover(); p != nil {
			result = outcome{err: &PanicError{d.Name(), p, string(debug.Stack())}}
		}
		t.done <- result
		if result.exit { // this goroutine ends here: another one takes over
			ready := make(chan error, 1)
			go d.serve(ready)
		}
	}()
	result = outcome{err: t.f()}
}

// Do runs f on the device's thread and returns its error: a *PanicError if f panics. It returns ErrNested, and does
// nothing, when it is called on that thread, inside another Do of the same device.
func (d *Device) Do(f func() error) error {
	if id := threadID(); id != 0 && id == d.thread.Load() {
		return fmt.Errorf("%s: %w", d.Name(), ErrNested)
	}
	t := task{f, make(chan outcome, 1)}
	d.work <- t
	result := <-t.done
	if result.exit {
		runtime.Goexit()
	}
	return result.err
}

// Info describes the device.
func (d *Device) Info() Info { return d.info }

// Name returns "cuda:0".
func (d *Device) Name() string { return "cuda:" + strconv.Itoa(d.info.Index) }

// RecordName returns the name that records have: "cuda:0"; of an emulated one "emulated", or "emulated:1".
func (d *Device) RecordName() string {
	switch {
	case !d.info.Emulated():
		return d.Name()
	case d.info.Index == 0:
		return d.info.Name
	}
	return d.info.Name + ":" + strconv.Itoa(d.info.Index)
}

// call returns the error of a call of the driver, and remembers a fault.
func (d *Device) call(name string, code int32) error { return d.callNote(name, code, "") }

func (d *Device) callNote(name string, code int32, note string) error {
	if code == 0 {
		return nil
	}
	e := d.driver.failure(name, code, note)
	if faultCodes[e.Code] && d.fault == nil {
		d.fault = fmt.Errorf("%s: %w", d.Name(), e)
	}
	return fmt.Errorf("%s: %w", d.Name(), e)
}

// Sync waits for all work of the device. To be called inside Do.
func (d *Device) Sync() error { return d.call("cuCtxSynchronize", d.driver.CtxSynchronize()) }
