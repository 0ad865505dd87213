package dynamic

import "golang.org/x/sys/windows"

// Open opens a library, by its path or by a name that the system looks for.
func Open(name string) (uintptr, error) {
	library, err := windows.LoadLibrary(name)
	return uintptr(library), err
}

// Symbol returns the address of what a library calls so.
func Symbol(library uintptr, name string) (uintptr, error) {
	return windows.GetProcAddress(windows.Handle(library), name)
}

// Loaded is for other systems.
func Loaded(string) (uintptr, error) { return 0, windows.ERROR_NOT_SUPPORTED }
