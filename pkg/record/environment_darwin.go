package record

import "golang.org/x/sys/unix"

// captureSystem adds what sysctl tells.
func captureSystem(env *Environment) {
	if bytes, err := unix.SysctlUint64("hw.memsize"); err == nil {
		env.MemoryBytes = bytes
	}
	if release, err := unix.Sysctl("kern.osrelease"); err == nil {
		env.Kernel = "Darwin " + release
	}
	if version, err := unix.Sysctl("kern.osproductversion"); err == nil {
		env.OS = "macOS " + version
	}
	if brand, err := unix.Sysctl("machdep.cpu.brand_string"); err == nil && env.CPU.Brand == "" {
		env.CPU.Brand = brand
	}
	if cores, err := unix.SysctlUint32("hw.physicalcpu"); err == nil && env.CPU.Cores == 0 {
		env.CPU.Cores = int(cores)
	}
	for name, size := range map[string]*int{
		"hw.l1dcachesize": &env.CPU.L1D, "hw.l2cachesize": &env.CPU.L2, "hw.l3cachesize": &env.CPU.L3,
	} {
		if bytes, err := unix.SysctlUint64(name); err == nil && *size == 0 {
			*size = int(bytes)
		}
	}
}
