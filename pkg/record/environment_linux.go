package record

import (
	"bufio"
	"bytes"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// captureSystem adds what the kernel and its files tell.
func captureSystem(env *Environment) {
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) == nil {
		env.MemoryBytes = uint64(info.Totalram) * uint64(info.Unit)
		env.LoadAverage = float64(info.Loads[0]) / (1 << 16)
	}
	var name unix.Utsname
	if unix.Uname(&name) == nil {
		env.Kernel = unix.ByteSliceToString(name.Sysname[:]) + " " + unix.ByteSliceToString(name.Release[:])
	}
	env.OS = fileValue("/etc/os-release", "PRETTY_NAME", "=")
	if governor, err := os.ReadFile("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"); err == nil {
		env.Governor = strings.TrimSpace(string(governor))
	}
	if env.CPU.Brand == "" { // not on x86
		env.CPU.Brand = fileValue("/proc/cpuinfo", "model name", ":")
	}
	if env.CPU.L1D == 0 && env.CPU.L2 == 0 {
		env.CPU.L1D, env.CPU.L2, env.CPU.L3 = cacheSizes("/sys/devices/system/cpu/cpu0/cache")
	}
}

// fileValue returns the value of the first line of the form key, separator, value.
func fileValue(path, key, separator string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		k, v, ok := strings.Cut(lines.Text(), separator)
		if ok && strings.TrimSpace(k) == key {
			return strings.Trim(strings.TrimSpace(v), `"`)
		}
	}
	return ""
}

// cacheSizes reads the sizes in bytes of the data caches from the folder of one processor.
func cacheSizes(folder string) (l1d, l2, l3 int) {
	for i := range 8 {
		read := func(name string) string {
			text, _ := os.ReadFile(folder + "/index" + strconv.Itoa(i) + "/" + name)
			return strings.TrimSpace(string(text))
		}
		kib, err := strconv.Atoi(strings.TrimSuffix(read("size"), "K"))
		if err != nil || read("type") == "Instruction" {
			continue
		}
		switch read("level") {
		case "1":
			l1d = kib << 10
		case "2":
			l2 = kib << 10
		case "3":
			l3 = kib << 10
		}
	}
	return l1d, l2, l3
}
