package deferredgpu

import (
	"sync"

	"mpbench/pkg/gpu"
	"mpbench/pkg/rns/deferred"
)

// tables are the constants of the first n moduli in device memory.
type tables struct {
	n, lanes                   int
	delta, powers, weight, crt *gpu.Buffer[uint32]
	reciprocal                 *gpu.Buffer[float64]
}

// The tables of a device are kept: 0.5 MB at 256 moduli. Larger ones are kept too; there are few.
var (
	tablesMutex sync.Mutex
	tablesKept  = map[tablesKey]*tables{}
)

type tablesKey struct {
	device *gpu.Device
	n      int
}

// tablesOn returns the tables of the first n moduli on the device.
func tablesOn(d *gpu.Device, n int) (*tables, error) {
	tablesMutex.Lock()
	defer tablesMutex.Unlock()
	key := tablesKey{d, n}
	if t := tablesKept[key]; t != nil {
		return t, nil
	}
	host := deferred.TablesOf(n)
	t := &tables{n: n, lanes: host.Lanes}
	for _, upload := range []struct {
		to   **gpu.Buffer[uint32]
		from []uint32
	}{{&t.delta, host.Delta}, {&t.powers, host.Powers}, {&t.weight, host.Weight}, {&t.crt, host.CRT}} {
		buffer, err := gpu.Upload(d, upload.from)
		if err != nil {
			return nil, err
		}
		*upload.to = buffer
	}
	var err error
	if t.reciprocal, err = gpu.Upload(d, host.Reciprocal); err != nil {
		return nil, err
	}
	tablesKept[key] = t
	return t, nil
}
