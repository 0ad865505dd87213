//go:build darwin || freebsd || linux || netbsd

package dynamic

import (
	"runtime"

	"github.com/ebitengine/purego"
)

// Open opens a library, by its path or by a name that the system looks for.
func Open(name string) (uintptr, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_LOCAL)
}

// Symbol returns the address of what a library, or one that it needs, calls so.
func Symbol(library uintptr, name string) (uintptr, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return purego.Dlsym(library, name)
}

// Loaded returns the address of a function of the libraries that the program itself has loaded, such as the system's.
func Loaded(name string) (uintptr, error) { return Symbol(purego.RTLD_DEFAULT, name) }
