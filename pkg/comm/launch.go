package comm

import (
	"os"
	"strconv"
)

// LibraryVariable names the environment variable that says which file the MPI library is. With the value "none" the
// process works alone even if a launcher started it, or a program that a launcher started.
const LibraryVariable = "MPBENCH_LIBMPI"

const noLibrary = "none"

// Launch is what the environment says of the launcher.
type Launch struct {
	Launcher   string // "mpirun of Open MPI"; "" if there is none
	Rank, Size int    // Size is 0 where it is not known
}

// launchers tell a process its rank in variables of the environment. mpirun of MPICH, Intel MPI and MVAPICH, and srun
// with PMI-2 have the same ones.
var launchers = []struct{ name, rank, size string }{
	{"mpirun of Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
	{"mpirun of MPICH", "PMI_RANK", "PMI_SIZE"},
	{"a launcher with PMIx", "PMIX_RANK", ""},
}

// Launched reads the environment.
func Launched() Launch {
	if os.Getenv(LibraryVariable) == noLibrary {
		return Launch{}
	}
	for _, l := range launchers {
		rank, err := strconv.Atoi(os.Getenv(l.rank))
		if err != nil || rank < 0 {
			continue
		}
		size, _ := strconv.Atoi(os.Getenv(l.size))
		return Launch{l.name, rank, size}
	}
	return Launch{}
}
