package mxcsr

import (
	"runtime"
	"testing"
)

var third, tiny = 1.0, 0x1p-1022

// TestSet: each bit changes results on the thread as it should, and setting the register back restores them.
func TestSet(t *testing.T) {
	if !Supported {
		t.Skip("this processor has no MXCSR register")
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := Read()
	if before&^0x3f != Default {
		t.Errorf("a thread of a Go program has %#x", before)
	}
	for _, c := range []struct {
		word uint32
		read func() float64
		want float64
	}{
		{RoundDown, func() float64 { return third / 3 }, 0x1.5555555555555p-2},
		{RoundUp, func() float64 { return third / 3 }, 0x1.5555555555556p-2},
		{RoundToZero, func() float64 { return -third - 0x1p-53*0x1.8p0 }, -1},
		{FlushToZero, func() float64 { return tiny / 2 }, 0},
	} {
		Set(Default | c.word)
		got := c.read()
		Set(before)
		if got != c.want {
			t.Errorf("%#x: %x, want %x", c.word, got, c.want)
		}
	}
	if got := tiny / 2; got != 0x1p-1023 {
		t.Errorf("afterwards %x", got)
	}
}
