package gemv

import (
	"errors"

	"mpbench/pkg/gpu"
)

// checkLeast returns a *MemoryError, before anything is copied, if the numbers with one modulus would not fit.
func (e *deviceDeferred) checkLeast() error {
	p := &e.problem
	number := int64(8)
	if p.A.Wide != nil {
		number = 16 // a word and its head
	}
	need := number*int64(p.A.Len()) + 4*int64(p.M)*int64(p.N)
	free, err := e.device.Free()
	if err == nil && need > free {
		err = &MemoryError{Method: "deferred", Need: need, Have: free, M: p.M, N: p.N, Device: e.device.Name(), Detail: "at least"}
	}
	return err
}

// memoryError makes an error of the driver about its memory one of ours; planes is the size of the planes, if known.
func (e *deviceDeferred) memoryError(err error, planes int64) error {
	if !errors.Is(err, gpu.ErrOutOfMemory) {
		return err
	}
	free, failed := e.device.Free()
	if failed != nil {
		return err
	}
	p := &e.problem
	return &MemoryError{Method: "deferred", Need: planes + 8*int64(p.A.Len()), Have: free, M: p.M, N: p.N, Device: e.device.Name()}
}
