package problems

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"mpbench/pkg/numbers"
)

// Disk are numbers that are read in runs, as if from a file.
type Disk struct {
	numbers.Float64s
	broken int
}

// ErrBroken is the error of a [Disk].
var ErrBroken = errors.New("broken disk")

// OnDisk returns a source of numbers that are not in memory, of which those from broken on cannot be read.
func OnDisk(x []float64, broken int) Disk { return Disk{x, broken} }

// ReadRun sets x to the numbers from from on, or returns ErrBroken.
func (d Disk) ReadRun(x []float64, from int) error {
	if from+len(x) > d.broken {
		return ErrBroken
	}
	copy(x, d.Float64s[from:])
	return nil
}

// MatrixFile returns the path of a matrix of the SuiteSparse Matrix Collection (Davis, Hu 2011, DOI
// 10.1145/2049662.2049663), which this repository does not hold, or an error that says where it was looked for: in the
// folder that MPBENCH_MATRICES names, or beside the root of the repository.
func MatrixFile(root, name string) (string, error) {
	folder := os.Getenv("MPBENCH_MATRICES")
	if folder == "" {
		folder = filepath.Join(root, "..", "shared", "matrices")
	}
	path := filepath.Join(folder, name+".mtx")
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("%s.mtx of the SuiteSparse Matrix Collection is not in %s; MPBENCH_MATRICES names another "+
			"folder", name, folder)
	}
	return path, nil
}
