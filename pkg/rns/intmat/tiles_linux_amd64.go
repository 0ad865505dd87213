//go:build !noasm

package intmat

import "golang.org/x/sys/unix"

// tilesAllowed asks the kernel to let this process use the tiles of AMX, which it grants if it saves them (bits 17 and
// 18 of XCR0) and if all stacks for signals have room for them.
func tilesAllowed() bool {
	const (
		request = 0x1023 // ARCH_REQ_XCOMP_PERM
		data    = 18     // XFEATURE_XTILE_DATA
	)
	_, _, err := unix.RawSyscall(unix.SYS_ARCH_PRCTL, request, data, 0)
	return err == 0
}
