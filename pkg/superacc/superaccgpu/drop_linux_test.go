package superaccgpu

import (
	"os"

	"golang.org/x/sys/unix"
)

// dropCache lets the system forget what it holds in memory of a file that is on the disk.
func dropCache(f *os.File) error {
	return unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED)
}
