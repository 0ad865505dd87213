package comm

import (
	"syscall"
	"unsafe"
)

// savedAction is the kernel's struct sigaction (handler, flags, restorer, mask) of a signal, as it is.
type savedAction [4]uintptr

const signals = 64

// saveActions returns the handlers of all signals, asked of the kernel, as libraries replace sigaction of libc.
func saveActions() *[signals + 1]savedAction {
	saved := new([signals + 1]savedAction)
	for s := 1; s <= signals; s++ {
		syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(s), 0, uintptr(unsafe.Pointer(&saved[s])), 8, 0, 0)
	}
	return saved
}

// restoreActions sets those handlers back that a library has replaced by its own, which know nothing of Go's stacks.
func restoreActions(saved *[signals + 1]savedAction) {
	for s, now := range saveActions() {
		if now != saved[s] {
			syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(s), uintptr(unsafe.Pointer(&saved[s])), 0, 8, 0, 0)
		}
	}
}
