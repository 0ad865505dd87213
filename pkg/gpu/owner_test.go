package gpu_test

import (
	"errors"
	"testing"

	"mpbench/pkg/gpu"
	"mpbench/pkg/gpu/gputest"
)

// TestOwner compares the memory in use: what an owner takes it gives back, also after the first of its errors.
func TestOwner(t *testing.T) {
	d := gputest.Device(t)
	err := d.Do(func() error {
		before := d.Memory().Current
		o := d.NewOwner()
		x := gpu.TakeCopy(o, []uint32{1, 2, 3})
		if err := o.Err(); err != nil || x.Len() != 3 || o.Bytes() != 12 || d.Memory().Current != before+12 {
			t.Errorf("%v, %d elements, %d bytes, %d in use", err, x.Len(), o.Bytes(), d.Memory().Current-before)
		}
		if y := gpu.Take[byte](o, 1<<60); y != nil || gpu.Take[byte](o, 1) != nil || o.Event() != nil {
			t.Error("an owner takes more after an error")
		}
		if err := o.Err(); !errors.Is(err, gpu.ErrOutOfMemory) || d.Memory().Current != before {
			t.Errorf("%v, %d bytes in use", err, d.Memory().Current-before)
		}
		o.Free()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
