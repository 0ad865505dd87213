//go:build !linux

package comm

import (
	"context"
	"fmt"
	"runtime"
)

func startMPI(context.Context) (Communicator, error) {
	return nil, fmt.Errorf("%w: %s started this process, and MPI is loaded on Linux only, not on %s", ErrUnavailable,
		Launched().Launcher, runtime.GOOS)
}
