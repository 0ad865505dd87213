package gpu_test

import (
	"errors"
	"strings"
	"testing"

	"mpbench/pkg/gpu"
)

// A driver that is too old for the PTX says so; its log is in the error.
func TestLoadTooNew(t *testing.T) {
	onDevice(t, func(d *gpu.Device) error {
		_, err := gpu.LoadText(d, "future", ".version 99.0\n.target sm_75\n.address_size 64\n")
		if !errors.Is(err, gpu.ErrTooOld) || !strings.Contains(err.Error(), "future.ptx") ||
			!strings.Contains(err.Error(), "ersion") {
			t.Errorf("error %v, want one that names the version", err)
		}
		if strings.Contains(err.Error(), "\n") {
			t.Errorf("the error has several lines: %v", err)
		}
		return nil
	})
}
