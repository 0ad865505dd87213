// Package comm combines what processes have: those of MPI, loaded at run time where a launcher (mpirun, srun) started
// the process; goroutines of one process, for tests; or one process alone.
//
// There are few operations, all of them collective and on bytes: what is exact merges in any order to the same bits,
// so that nothing more is needed. The package does not know what the bytes mean.
package comm

import (
	"context"
	"errors"
)

// Communicator connects the ranks of a program. All ranks make the same calls in the same order, each from one
// goroutine at a time. After an error, or the end of a call's context, it is good for Abort only.
type Communicator interface {
	Rank() int // from 0
	Size() int
	// Hosts returns the name of the machine of each rank.
	Hosts() []string
	// Library describes what connects the ranks: "" where there is one process.
	Library() string
	// Barrier waits for all ranks.
	Barrier(context.Context) error
	// Broadcast returns the data of rank root, of any length, at all ranks.
	Broadcast(ctx context.Context, data []byte, root int) ([]byte, error)
	// Gather returns the data of all ranks, of any lengths, at rank root, and nil elsewhere.
	Gather(ctx context.Context, data []byte, root int) ([][]byte, error)
	// Abort ends all ranks with an exit status, as far as that is possible, and returns.
	Abort(status int)
	// Close waits for all ranks and ends the communication.
	Close(context.Context) error
}

// ErrUnavailable is wrapped by errors about an MPI library that is missing or not the launcher's.
var ErrUnavailable = errors.New("MPI is not available")

// ErrAborted is the error of ranks that wait when another aborts.
var ErrAborted = errors.New("another rank aborted")

// block is how many bytes one call of MPI moves at most, so that counts fit an int of C; tests lower it.
var block = 1 << 26

// Reduce merges the data of all ranks at rank root, in the order of the ranks; elsewhere it returns nil.
func Reduce(
	ctx context.Context, c Communicator, data []byte, root int, merge func(a, b []byte) ([]byte, error),
) ([]byte, error) {
	all, err := c.Gather(ctx, data, root)
	if err != nil || c.Rank() != root {
		return nil, err
	}
	total := all[0]
	for _, part := range all[1:] {
		if total, err = merge(total, part); err != nil {
			return nil, err
		}
	}
	return total, nil
}

// Local returns the number of a rank among those of its machine, and how many these are.
func Local(c Communicator) (rank, size int) {
	hosts := c.Hosts()
	for i, h := range hosts {
		if h == hosts[c.Rank()] {
			if size++; i < c.Rank() {
				rank++
			}
		}
	}
	return rank, size
}

// Start returns the communicator of the launcher that started this process, without a launcher that of one rank. The
// MPI library is loaded under a launcher only. Errors wrap ErrUnavailable.
func Start(ctx context.Context) (Communicator, error) {
	if Launched().Launcher == "" {
		return Goroutines(1)[0], nil
	}
	return startMPI(ctx)
}
