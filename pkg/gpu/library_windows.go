package gpu

import "golang.org/x/sys/windows"

// libraryNames are where the driver's library is looked for.
var libraryNames = []string{"nvcuda.dll"}

func openLibrary(name string) (uintptr, error) {
	library, err := windows.LoadLibrary(name)
	return uintptr(library), err
}

func symbol(library uintptr, name string) (uintptr, error) {
	return windows.GetProcAddress(windows.Handle(library), name)
}
