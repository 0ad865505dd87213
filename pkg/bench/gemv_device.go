package bench

import (
	"mpbench/pkg/gemv"
	"mpbench/pkg/record"
	"mpbench/pkg/sampling"
	"mpbench/pkg/stats"
)

// kernelTimes collects the times of each kernel of a device's runs.
type kernelTimes struct {
	ns [][]float64 // by kernel, in nanoseconds
}

// run is the body of a measurement on a device that holds the data, which takes the times itself: those of the kernels by its events, with
// a cold cache.
func (k *kernelTimes) run(e gemv.DeviceEngine) func(*sampling.Timer) error {
	return func(t *sampling.Timer) error {
		if t.Index() == 0 {
			t.AddNs(record.PhaseConvert, float64(e.Times().Convert))
			t.AddNs(record.PhaseH2D, float64(e.Times().CopyIn))
		}
		if err := e.RunCold(); err != nil {
			return err
		}
		t.AddNs(record.PhaseKernel, float64(e.Times().Kernels))
		k.add(e.Kernels())
		return nil
	}
}

func (k *kernelTimes) add(kernels []gemv.KernelProfile) {
	if k.ns == nil {
		k.ns = make([][]float64, len(kernels))
	}
	for i, kernel := range kernels {
		k.ns[i] = append(k.ns[i], float64(kernel.Time))
	}
}

// complete fills the fields of a record that tell of a device.
func (k *kernelTimes) complete(r *record.Record, e gemv.DeviceEngine) {
	r.Device = e.Device()
	r.Phases[record.PhaseD2H] = float64(e.Times().CopyOut)
	for i, p := range e.Kernels() {
		kernel := record.Kernel{
			Phase: p.Phase, Name: p.Name, Array: p.Array, TimeNs: sampling.Picoseconds(stats.Median(k.ns[i])), Bytes: p.Bytes, Occupancy: p.Occupancy, Blocks: p.Blocks, Threads: p.Threads,
			SharedBytes: p.Shared, Registers: p.Registers, LocalBytes: p.Local,
		}
		if p.Bandwidth > 0 && kernel.TimeNs > 0 {
			kernel.BytesShare = float64(p.Bytes) / (kernel.TimeNs / 1e9) / p.Bandwidth
		}
		r.Kernels = append(r.Kernels, kernel)
	}
	for _, text := range e.Warnings() {
		r.Warnings = append(r.Warnings, record.Warning{Code: record.WarnTuning, Text: text, Advice: "remove the file, or use --tune off"})
	}
}
