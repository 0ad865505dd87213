package record

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/windows"
)

// memoryStatus is MEMORYSTATUSEX of the Windows API.
type memoryStatus struct {
	length, load                     uint32
	totalPhysical, availablePhysical uint64
	totalPageFile, availablePageFile uint64
	totalVirtual, availableVirtual   uint64
	availableExtendedVirtual         uint64
}

// captureSystem adds what kernel32 and ntdll tell.
func captureSystem(env *Environment) {
	v := windows.RtlGetVersion()
	env.OS = fmt.Sprintf("Windows %d.%d", v.MajorVersion, v.MinorVersion)
	env.Kernel = fmt.Sprintf("build %d", v.BuildNumber)
	status := memoryStatus{length: uint32(unsafe.Sizeof(memoryStatus{}))}
	get := windows.NewLazySystemDLL("kernel32.dll").NewProc("GlobalMemoryStatusEx")
	if get.Find() != nil {
		return
	}
	if ok, _, _ := get.Call(uintptr(unsafe.Pointer(&status))); ok != 0 {
		env.MemoryBytes = status.totalPhysical
	}
}
