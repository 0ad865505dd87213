//go:build darwin || freebsd || linux || netbsd

package gpu

import "github.com/ebitengine/purego"

// libraryNames are where the driver's library is looked for.
var libraryNames = []string{"libcuda.so.1", "libcuda.so"}

func openLibrary(name string) (uintptr, error) {
	return purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_LOCAL)
}

func symbol(library uintptr, name string) (uintptr, error) { return purego.Dlsym(library, name) }
