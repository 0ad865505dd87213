package gpu_test

import (
	"slices"
	"testing"

	"mpbench/pkg/gpu"
)

// TestLocked: rows are copied from where they are, whatever lies between them; a region has several users, and only
// the last one unlocks it; what overlaps another region is refused.
func TestLocked(t *testing.T) {
	onDevice(t, func(d *gpu.Device) error {
		const rows, length, stride = 7, 300, 1000
		x := make([]uint64, 20_000)
		for i := range x {
			x[i] = uint64(i)
		}
		first, err := gpu.Lock(d, x)
		if err != nil {
			return err
		}
		defer first.Free()
		second, err := gpu.Lock(d, x)
		if err != nil {
			return err
		}
		defer second.Free()
		part := x[10_000:]
		if l, err := gpu.Lock(d, part); err == nil {
			l.Free()
			t.Error("a part of a locked region was locked")
		}
		stream, err := d.NewStream()
		if err != nil {
			return err
		}
		defer stream.Free()
		b, err := gpu.Alloc[uint64](d, rows*length)
		if err != nil {
			return err
		}
		defer b.Free()
		for _, c := range []struct{ rows, stride int }{{rows, stride}, {rows, length}, {1, stride}, {0, stride}} {
			var want []uint64
			for i := range c.rows {
				want = append(want, x[20+i*c.stride:][:length]...)
			}
			got := make([]uint64, len(want))
			err := gpu.InTurn(
				func() error { return b.Clear(stream) },
				func() error { return b.UploadRowsAsync(stream, x[20:], c.rows, length, c.stride) },
				stream.Sync,
				func() error { return b.Download(got) },
			)
			if err != nil {
				return err
			}
			if !slices.Equal(got, want) {
				t.Errorf("%d rows, %d apart: other numbers", c.rows, c.stride)
			}
		}
		first.Free()
		first.Free()
		if l, err := gpu.Lock(d, part); err == nil {
			l.Free()
			t.Error("a part was locked while the region has a user")
		}
		second.Free()
		l, err := gpu.Lock(d, part)
		if err != nil {
			return err
		}
		l.Free()
		none, err := gpu.Lock(d, x[:0])
		none.Free()
		return err
	})
}
