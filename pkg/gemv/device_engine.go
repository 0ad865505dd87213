package gemv

import (
	"time"

	"mpbench/pkg/gpu"
	"mpbench/pkg/rns/deferred/deferredgpu"
)

// DeviceEngine is an Engine that works on a GPU. Run waits for the device; its time is that of the kernels by the device's own clock.
type DeviceEngine interface {
	Engine
	// RunCold is Run with the device's L2 cache cold, as kernels are timed, and returns Err.
	RunCold() error
	// Err returns the first error of the device since Load. Results after an error mean nothing.
	Err() error
	// Device returns the device's name as records have it: "cuda:0", or "emulated".
	Device() string
	// Times returns the times of the last Load, Run and Result.
	Times() DeviceTimes
	// Kernels describes the kernels of the last Run, in their order.
	Kernels() []KernelProfile
	// Warnings returns what a user should know about the last Load, such as launch parameters that could not be read.
	Warnings() []string
	// Close gives the device's memory back. Load may be called again.
	Close()
}

// DeviceTimes are times of parts of the work around kernels, and of all kernels of a run.
type DeviceTimes struct {
	Convert time.Duration // numbers to the method's format, on the host
	CopyIn  time.Duration
	Kernels time.Duration // from the start of the first to the end of the last
	CopyOut time.Duration
}

// KernelProfile is what one launch of a kernel did.
type KernelProfile struct {
	Phase     string
	Name      string
	Array     string // that it computes: "d", "y", "B"
	Time      time.Duration
	Bytes     int64   // read and written in device memory, each number once
	Bandwidth float64 // of the device's memory, in bytes per second; 0 if not known
	Occupancy float64 // share of a multiprocessor's threads that are resident, 0 to 1
	Blocks    int
	Threads   int // of a block
	Shared    int // bytes of shared memory of a block
	Registers int // of a thread
	Local     int // bytes of local memory of a thread
}

// profileOf describes a kernel, without its time.
func profileOf(d *gpu.Device, phase string, k deferredgpu.Kernel) KernelProfile {
	return KernelProfile{
		Phase: phase, Name: k.Name, Bytes: k.Bytes, Bandwidth: d.Info().Bandwidth(), Occupancy: k.Occupancy,
		Blocks: k.Launch.Grid.X * max(k.Launch.Grid.Y, 1), Threads: k.Launch.Block.X, Shared: k.Launch.Shared + k.Attributes.Static,
		Registers: k.Attributes.Registers, Local: k.Attributes.Local,
	}
}

// recordName is a device's name in records.
func recordName(d *gpu.Device) string {
	if d.Info().Emulated() {
		return "emulated"
	}
	return d.Name()
}
