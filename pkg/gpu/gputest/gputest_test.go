package gputest_test

import (
	"testing"

	"mpbench/pkg/gpu/gputest"
)

// TestEmulator compiles the emulator, so that tests of packages that run beside each other need not do so twice.
func TestEmulator(t *testing.T) {
	if !gputest.Emulated() {
		t.Skip("a GPU is under test")
	}
	if d := gputest.Device(t); d.Name() == "" {
		t.Error("the emulator has no name")
	}
}
