package gpu_test

import (
	"testing"
	"time"

	"mpbench/pkg/gpu"
	"mpbench/pkg/gpu/gputest"
)

// BenchmarkLaunch is what a launch costs, and one that is waited for, as cuda/launch/launch.c measures them: the best
// mean of 40 batches of 500.
func BenchmarkLaunch(b *testing.B) {
	if gputest.Emulated() {
		b.Skip("times of the emulator say nothing")
	}
	d := gputest.Device(b)
	err := d.Do(func() error {
		k, err := function[struct{}](d, "empty")
		if err != nil {
			return err
		}
		launch := func() error { return k.Launch(gpu.Launch{Block: gpu.Dim{X: 32}}, struct{}{}) }
		best, err := bestMean(d, launch)
		if err != nil {
			return err
		}
		waited, err := bestMean(d, func() error {
			if err := launch(); err != nil {
				return err
			}
			return d.Sync()
		})
		b.ReportMetric(best, "launch-µs")
		b.ReportMetric(waited, "launch-and-wait-µs")
		b.ReportMetric(0, "ns/op")
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
}

// bestMean returns the least mean time of a call in a batch, in microseconds.
func bestMean(d *gpu.Device, call func() error) (float64, error) {
	const batch, batches = 500, 40
	best := time.Hour
	for range batches {
		if err := d.Sync(); err != nil {
			return 0, err
		}
		start := time.Now()
		for range batch {
			if err := call(); err != nil {
				return 0, err
			}
		}
		best = min(best, time.Since(start)/batch)
	}
	return float64(best) / float64(time.Microsecond), d.Sync()
}
