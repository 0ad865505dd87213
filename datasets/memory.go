package datasets

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
)

// checkMemory returns an error, phrased to follow a colon, if an array of that many bytes cannot fit in this machine's
// memory, of which an eighth is left to everything else. Where the size of the memory is not known, nothing is refused.
func checkMemory(bytes int64) error {
	if have := memoryBytes(); have > 0 && bytes > have-have/8 {
		return fmt.Errorf("%s of terms do not fit in this machine's memory of %s", formatBytes(bytes), formatBytes(have))
	}
	return nil
}

// memoryBytes returns the size of the memory that this process may use, 0 where it is not known: on Linux the lesser of
// physical memory and the control group's limit.
var memoryBytes = sync.OnceValue(func() int64 {
	have := int64(0)
	if text, err := os.ReadFile("/proc/meminfo"); err == nil {
		have = memTotal(string(text))
	}
	if text, err := os.ReadFile("/sys/fs/cgroup/memory.max"); err == nil {
		limit, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64) // "max" is no number: no limit
		if err == nil && limit > 0 && (have == 0 || limit < have) {
			have = limit
		}
	}
	return have
})

// MemoryBytes returns the size of the memory that this process may use, 0 where it is not known.
func MemoryBytes() int64 { return memoryBytes() }

// memTotal reads the line "MemTotal: 16384 kB" of /proc/meminfo.
func memTotal(meminfo string) int64 {
	for line := range strings.Lines(meminfo) {
		if rest, ok := strings.CutPrefix(line, "MemTotal:"); ok {
			kib, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64)
			if err == nil {
				return kib * 1024
			}
		}
	}
	return 0
}

// formatBytes writes a number of bytes in decimal units: "8.0 TB".
func formatBytes(n int64) string {
	value, unit := float64(n), 0
	units := []string{"bytes", "kB", "MB", "GB", "TB", "PB", "EB"}
	for value >= 1000 && unit < len(units)-1 {
		value /= 1000
		unit++
	}
	if unit == 0 {
		return fmt.Sprintf("%d bytes", n)
	}
	return fmt.Sprintf("%.1f %s", value, units[unit])
}
