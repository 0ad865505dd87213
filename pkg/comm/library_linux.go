package comm

import (
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/ebitengine/purego"
)

// abi is how an implementation represents what mpi.h defines. Handles are passed in registers, as uintptr, of which
// MPICH reads the lower 32 bits. The values are those of each implementation's mpi.h.
type abi struct {
	name                          string
	world, byteType, errorsReturn uintptr
	funneled                      uintptr // MPI_THREAD_FUNNELED
}

var (
	// mpichABI is that of MPICH from 3.1 on and of the libraries that share it (Intel MPI, MVAPICH, Cray MPICH).
	mpichABI = abi{name: "MPICH", world: 0x44000000, byteType: 0x4c00010d, errorsReturn: 0x54000001, funneled: 1}
	// standardABI is that of MPI 5.0, chapter 20: of libmpi_abi.so.
	standardABI = abi{name: "the standard ABI", world: 0x101, byteType: 0x247, errorsReturn: 0x142, funneled: 1024}
	// openABI is that of Open MPI but for the handles, which are addresses of objects of the library.
	openABI = abi{name: "Open MPI", funneled: 1}
)

// objects are the handles of Open MPI.
func (a *abi) objects() map[string]*uintptr {
	return map[string]*uintptr{
		"ompi_mpi_comm_world": &a.world, "ompi_mpi_byte": &a.byteType, "ompi_mpi_errors_return": &a.errorsReturn,
	}
}

// library is a loaded MPI library, with the addresses of the functions in use.
type library struct {
	abi
	file, version string

	initThread, finalize, abort, rank, size, setErrhandler, errorString, libraryVersion, processorName uintptr
	ibarrier, test, broadcast, gather                                                                  uintptr
}

func (l *library) functions() map[string]*uintptr {
	return map[string]*uintptr{
		"MPI_Init_thread": &l.initThread, "MPI_Finalize": &l.finalize, "MPI_Abort": &l.abort, "MPI_Comm_rank": &l.rank,
		"MPI_Comm_size": &l.size, "MPI_Comm_set_errhandler": &l.setErrhandler, "MPI_Error_string": &l.errorString,
		"MPI_Get_library_version": &l.libraryVersion, "MPI_Get_processor_name": &l.processorName,
		"MPI_Ibarrier": &l.ibarrier, "MPI_Test": &l.test, "MPI_Ibcast": &l.broadcast, "MPI_Igather": &l.gather,
	}
}

// libraryNames are where the library is looked for: that of the launcher first. There is no libmpi.so, a link for
// development to any of them. MPICH 5.0.1 numbers the standard ABI's library 0.
func libraryNames() []string {
	if name := os.Getenv(LibraryVariable); name != "" {
		return []string{name}
	}
	open, mpich := []string{"libmpi.so.40"}, []string{"libmpich.so.12", "libmpi.so.12"}
	standard := []string{"libmpi_abi.so.1", "libmpi_abi.so.0"}
	if strings.Contains(Launched().Launcher, "MPICH") {
		return slices.Concat(mpich, standard, open)
	}
	return slices.Concat(open, mpich, standard)
}

// openLibrary stays on one thread of the system, which keeps the reason of a failure until it is asked for.
func openLibrary() (*library, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var reason string
	for _, name := range libraryNames() {
		// Global: components that the library loads itself need its symbols.
		handle, err := purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_GLOBAL)
		if err == nil {
			l := &library{file: name}
			return l, l.bind(handle)
		}
		if reason == "" {
			reason = strings.TrimSpace(err.Error())
		}
	}
	return nil, fmt.Errorf("%w: %s started this process, but none of the libraries %s can be loaded (%s); "+
		"name the launcher's in %s", ErrUnavailable, Launched().Launcher, strings.Join(libraryNames(), ", "), reason,
		LibraryVariable)
}

// find looks symbols up, in alphabetical order.
func (l *library) find(handle uintptr, symbols map[string]*uintptr) (err error) {
	for _, name := range slices.Sorted(maps.Keys(symbols)) {
		if *symbols[name], err = purego.Dlsym(handle, name); err != nil {
			return fmt.Errorf("%w: %s is no MPI library with %s", ErrUnavailable, l.file, name)
		}
	}
	return nil
}

// bind finds the functions, and out which implementation it is.
func (l *library) bind(handle uintptr) error {
	if err := l.find(handle, l.functions()); err != nil {
		return err
	}
	text, length := make([]byte, 8192), new(int32) // MPICH's MPI_MAX_LIBRARY_VERSION_STRING
	if code := call(l.libraryVersion, address(&text[0]), address(length)); code != 0 {
		return fmt.Errorf("%w: %s: MPI_Get_library_version: error %d", ErrUnavailable, l.file, code)
	}
	l.version, _, _ = strings.Cut(firstLine(string(text[:min(max(0, int(*length)), len(text))])), ",")
	_, open := purego.Dlsym(handle, "ompi_mpi_comm_world")
	switch {
	case strings.Contains(l.file, "libmpi_abi"):
		l.abi = standardABI
	case open == nil:
		l.abi = openABI
		return l.find(handle, l.objects())
	case slices.ContainsFunc([]string{"MPICH", "Intel(R) MPI", "MVAPICH"}, func(name string) bool {
		return strings.Contains(l.version, name)
	}):
		l.abi = mpichABI
	default:
		return fmt.Errorf("%w: %s is of an implementation that is not known (%s); Open MPI, MPICH and those with MPICH's "+
			"or the standard ABI are", ErrUnavailable, l.file, l.version)
	}
	return nil
}

// firstLine returns the first line of a C string, of which MPICH separates words by tabs.
func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimRight(text, "\x00"), "\n")
	return strings.Join(strings.Fields(line), " ")
}
