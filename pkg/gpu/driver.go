package gpu

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"

	"mpbench/internal/dynamic"
)

// libraryVariable names the environment variable that replaces the driver's library.
const libraryVariable = "MPBENCH_LIBCUDA"

// occupancy is cuOccupancyMaxActiveBlocksPerMultiprocessor.
type occupancy func(blocks *int32, function uintptr, threads int32, sharedBytes uint64) int32

// driver is the part of the CUDA driver API in use. Names without a suffix of the 64-bit API are of the 32-bit one:
// where there is a _v2 it is meant.
type driver struct {
	Init                     func(flags uint32) int32
	DriverGetVersion         func(version *int32) int32
	DeviceGetCount           func(count *int32) int32
	DeviceGet                func(device *int32, ordinal int32) int32
	DeviceGetName            func(name *byte, length int32, device int32) int32
	DeviceTotalMem           func(bytes *uint64, device int32) int32 `end:"_v2"`
	DeviceGetAttribute       func(value *int32, attribute, device int32) int32
	DevicePrimaryCtxRetain   func(context *uintptr, device int32) int32
	DevicePrimaryCtxRelease  func(device int32) int32 `end:"_v2"`
	CtxSetCurrent            func(context uintptr) int32
	CtxSynchronize           func() int32
	ModuleLoadDataEx         func(module *uintptr, image *byte, count uint32, options *int32, values *uintptr) int32
	ModuleGetFunction        func(function *uintptr, module uintptr, name string) int32
	FuncGetAttribute         func(value *int32, attribute int32, function uintptr) int32
	FuncSetAttribute         func(function uintptr, attribute, value int32) int32
	OccupancyMaxActiveBlocks occupancy                                 `end:"PerMultiprocessor"`
	LaunchKernel             func()                                    `raw:"yes"`
	MemGetInfo               func(free, total *uint64) int32           `end:"_v2"`
	MemAlloc                 func(pointer *uint64, bytes uint64) int32 `end:"_v2"`
	MemFree                  func(pointer uint64) int32                `end:"_v2"`
	MemHostAlloc             func(pointer *unsafe.Pointer, bytes uint64, flags uint32) int32
	MemFreeHost              func(pointer unsafe.Pointer) int32
	MemHostRegister          func(pointer unsafe.Pointer, bytes uint64, flags uint32) int32 `end:"_v2"`
	MemHostUnregister        func(pointer unsafe.Pointer) int32
	MemcpyHtoD               func(to uint64, from unsafe.Pointer, bytes uint64) int32                 `end:"_v2"`
	MemcpyDtoH               func(to unsafe.Pointer, from uint64, bytes uint64) int32                 `end:"_v2"`
	MemcpyHtoDAsync          func(to uint64, from unsafe.Pointer, bytes uint64, stream uintptr) int32 `end:"_v2"`
	Memcpy2DAsync            func(copy *copy2D, stream uintptr) int32                                 `end:"_v2"`
	MemcpyDtoHAsync          func(to unsafe.Pointer, from uint64, bytes uint64, stream uintptr) int32 `end:"_v2"`
	MemcpyDtoDAsync          func(to, from uint64, bytes uint64, stream uintptr) int32                `end:"_v2"`
	MemsetD8Async            func(pointer uint64, value byte, bytes uint64, stream uintptr) int32
	StreamCreate             func(stream *uintptr, flags uint32) int32
	StreamDestroy            func(stream uintptr) int32 `end:"_v2"`
	StreamSynchronize        func(stream uintptr) int32
	StreamWaitEvent          func(stream, event uintptr, flags uint32) int32
	StreamBeginCapture       func(stream uintptr, mode uint32) int32 `end:"_v2"`
	StreamEndCapture         func(stream uintptr, graph *uintptr) int32
	GraphInstantiate         func(exec *uintptr, graph uintptr, flags uint64) int32 `end:"WithFlags"`
	GraphLaunch              func(exec, stream uintptr) int32
	GraphDestroy             func(graph uintptr) int32
	GraphExecDestroy         func(exec uintptr) int32
	EventCreate              func(event *uintptr, flags uint32) int32
	EventDestroy             func(event uintptr) int32 `end:"_v2"`
	EventRecord              func(event, stream uintptr) int32
	EventSynchronize         func(event uintptr) int32
	EventElapsedTime         func(milliseconds *float32, start, end uintptr) int32
	GetErrorName             func(code int32, name **byte) int32
	GetErrorString           func(code int32, text **byte) int32

	launchKernel   uintptr // the address of cuLaunchKernel, called without reflection
	launchKernelEx uintptr // that of cuLaunchKernelEx, 0 in drivers before CUDA 11.8

	emulatorSteps   func(before int32, steps *Step, room int32) int32 // of an emulator that counts, or nil
	emulatorRefuse  func(after, code int32) int32                     // of an emulator, or nil
	emulatorDevices func(n int32) int32                               // of an emulator, or nil

	source  string // the name under which the library was found
	version int    // 1000*major + 10*minor of CUDA
}

var loadDriver = sync.OnceValues(openDriver)

func openDriver() (*driver, error) {
	names := libraryNames
	if name := os.Getenv(libraryVariable); name != "" {
		names = []string{name}
	}
	var failures []string
	for _, name := range names {
		library, err := dynamic.Open(name)
		if err != nil {
			failures = append(failures, strings.TrimSpace(err.Error()))
			continue
		}
		d := &driver{source: name}
		if err := d.bind(library); err != nil {
			return nil, fmt.Errorf("%w: %s: %v", ErrNoDriver, name, err)
		}
		return d, d.start()
	}
	return nil, fmt.Errorf("%w: looked for %s (%s)", ErrNoDriver, strings.Join(names, " and "), failures[0])
}

// start initialises the driver. An error of cuInit, as of a driver without a GPU, counts as no driver.
func (d *driver) start() error {
	if err := d.check("cuInit", d.Init(0)); err != nil {
		return fmt.Errorf("%w: %s: %v", ErrNoDriver, d.source, err)
	}
	var version int32
	if err := d.check("cuDriverGetVersion", d.DriverGetVersion(&version)); err != nil {
		return fmt.Errorf("%w: %s: %v", ErrNoDriver, d.source, err)
	}
	d.version = int(version)
	return nil
}

func (d *driver) bind(library uintptr) error {
	for _, f := range d.functions() {
		address, err := dynamic.Symbol(library, f.symbol)
		if err != nil {
			return fmt.Errorf("it has no %s: too old", f.symbol)
		}
		if f.raw {
			d.launchKernel = address
			continue
		}
		purego.RegisterFunc(f.pointer, address)
	}
	d.launchKernelEx, _ = dynamic.Symbol(library, "cuLaunchKernelEx") // an older driver has none
	for name, f := range map[string]any{"mpEmulatorSteps": &d.emulatorSteps, "mpEmulatorRefuse": &d.emulatorRefuse,
		"mpEmulatorDevices": &d.emulatorDevices} {
		if address, err := dynamic.Symbol(library, name); err == nil {
			purego.RegisterFunc(f, address)
		}
	}
	return nil
}
