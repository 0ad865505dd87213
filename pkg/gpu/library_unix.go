//go:build darwin || freebsd || linux || netbsd

package gpu

import (
	"runtime"

	"github.com/ebitengine/purego"
)

// libraryNames are where the driver's library is looked for.
var libraryNames = []string{"libcuda.so.1", "libcuda.so"}

// openLibrary and symbol stay on one thread of the system, which keeps the reason of a failure until it is asked for.

func openLibrary(name string) (uintptr, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_LOCAL)
}

func symbol(library uintptr, name string) (uintptr, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return purego.Dlsym(library, name)
}
