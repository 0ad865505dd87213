package record

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/cpuid/v2"
)

// An Environment is what a result depends on beside the fields of its record. What is not known is left out.
type Environment struct {
	Schema string    `json:"schema"` // EnvironmentSchema
	ID     string    `json:"env_id"` // short hash of everything but the time, the load and the exact memory size
	Time   time.Time `json:"time"`   // when it was captured, in UTC

	CPU         CPU    `json:"cpu"`
	Threads     int    `json:"threads"` // GOMAXPROCS: goroutines that run at the same time
	MemoryBytes uint64 `json:"memory_bytes,omitempty"`
	OS          string `json:"os,omitempty"`     // distribution or product
	Kernel      string `json:"kernel,omitempty"` // release
	Virtual     bool   `json:"virtual,omitempty"`

	Governor    string  `json:"governor,omitempty"`     // how the processor's clock is set
	LoadAverage float64 `json:"load_average,omitempty"` // of the last minute

	Go      GoBuild `json:"go"`
	Program Program `json:"program"`
	GPUs    []GPU   `json:"gpus,omitempty"`
	Peers   []Peer  `json:"peers,omitempty"` // those that the run calls
}

// CPU describes the processor. Cache sizes are in bytes.
type CPU struct {
	Brand   string `json:"brand"`
	Vendor  string `json:"vendor,omitempty"`
	Family  int    `json:"family,omitempty"`
	Model   int    `json:"model,omitempty"`
	SIMD    string `json:"simd,omitempty"` // widest vector extension: "avx512ifma", "avx2", "neon"
	Cores   int    `json:"cores,omitempty"`
	Threads int    `json:"threads,omitempty"` // that the system may use
	Line    int    `json:"cache_line,omitempty"`
	L1D     int    `json:"l1d,omitempty"`
	L2      int    `json:"l2,omitempty"`
	L3      int    `json:"l3,omitempty"`
}

// GoBuild tells how the program was compiled.
type GoBuild struct {
	Version string `json:"version"`
	OS      string `json:"goos"`
	Arch    string `json:"goarch"`
	Level   string `json:"level,omitempty"` // GOAMD64, GOARM64, ...
	Tags    string `json:"tags,omitempty"`
	Debug   string `json:"godebug,omitempty"` // GODEBUG, which can switch vector extensions off
	CGO     bool   `json:"cgo,omitempty"`
}

// Program tells which version of the program ran.
type Program struct {
	Module   string `json:"module,omitempty"`
	Version  string `json:"version,omitempty"`
	Commit   string `json:"commit,omitempty"`
	Modified bool   `json:"modified,omitempty"` // the working tree had changes
}

// GPU describes one device.
type GPU struct {
	Device      string `json:"device"` // "cuda:0"
	Name        string `json:"name"`
	Driver      string `json:"driver,omitempty"`
	Compute     string `json:"compute,omitempty"` // compute capability, "9.0"
	MemoryBytes uint64 `json:"memory_bytes,omitempty"`
}

// Peer describes a library of others that methods call.
type Peer struct {
	Library string `json:"library"` // "MPFR"
	Version string `json:"version,omitempty"`
	Path    string `json:"path,omitempty"`
}

// CaptureEnvironment describes the machine and the program. What the system does not tell stays empty.
// A caller that adds to it, GPUs for instance, calls SetID afterwards.
func CaptureEnvironment() Environment {
	env := Environment{
		Schema:  EnvironmentSchema,
		Time:    time.Now().UTC().Truncate(time.Second),
		CPU:     captureCPU(),
		Threads: runtime.GOMAXPROCS(0),
		Virtual: cpuid.CPU.VM(),
	}
	env.Program, env.Go = CaptureProgram()
	captureSystem(&env)
	if env.CPU.Brand == "" {
		env.CPU.Brand = "unknown " + runtime.GOARCH
	}
	env.SetID()
	return env
}

// CaptureProgram says which program this is, and how it was compiled.
func CaptureProgram() (Program, GoBuild) {
	env := Environment{
		Go: GoBuild{Version: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH, Debug: os.Getenv("GODEBUG")},
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		env.setBuild(info)
	}
	return env.Program, env.Go
}

func captureCPU() CPU {
	c := cpuid.CPU
	return CPU{
		Brand:   strings.Join(strings.Fields(c.BrandName), " "),
		Vendor:  c.VendorString,
		Family:  c.Family,
		Model:   c.Model,
		SIMD:    simdLevel(c),
		Cores:   c.PhysicalCores,
		Threads: runtime.NumCPU(),
		Line:    max(c.CacheLine, 0),
		L1D:     max(c.Cache.L1D, 0),
		L2:      max(c.Cache.L2, 0),
		L3:      max(c.Cache.L3, 0),
	}
}

// simdLevel names the widest vector extension that kernels of this program can use.
func simdLevel(c cpuid.CPUInfo) string {
	switch {
	case c.Supports(cpuid.AVX512F, cpuid.AVX512DQ, cpuid.AVX512BW, cpuid.AVX512VL, cpuid.AVX512IFMA):
		return "avx512ifma"
	case c.Supports(cpuid.AVX512F, cpuid.AVX512DQ, cpuid.AVX512BW, cpuid.AVX512VL):
		return "avx512"
	case c.Supports(cpuid.AVX2, cpuid.FMA3):
		return "avx2+fma"
	case c.Supports(cpuid.AVX2):
		return "avx2"
	case c.Supports(cpuid.AVX):
		return "avx"
	case c.Supports(cpuid.SSE2):
		return "sse2"
	case c.Supports(cpuid.SVE):
		return "sve"
	case c.Supports(cpuid.ASIMD):
		return "neon"
	}
	return ""
}

func (env *Environment) setBuild(info *debug.BuildInfo) {
	env.Program.Module = info.Main.Path
	if info.Main.Version != "(devel)" {
		env.Program.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "GOAMD64", "GOARM64", "GOARM", "GOPPC64", "GORISCV64", "GO386", "GOMIPS64":
			env.Go.Level = s.Value
		case "-tags":
			env.Go.Tags = s.Value
		case "CGO_ENABLED":
			env.Go.CGO = s.Value == "1"
		case "vcs.revision":
			env.Program.Commit = s.Value
		case "vcs.modified":
			env.Program.Modified = s.Value == "true"
		}
	}
}

// SetID computes the ID from the other fields. Two captures on the same machine with the same program have the
// same ID: the time and the load are no part of it, and memory counts in whole GiB.
func (env *Environment) SetID() {
	stable := *env
	stable.ID, stable.Time, stable.LoadAverage = "", time.Time{}, 0
	stable.MemoryBytes >>= 30
	text, err := json.Marshal(stable)
	if err != nil { // no field can fail
		panic(fmt.Sprintf("bench: environment: %v", err))
	}
	env.ID = shortHash(text)
}

// Warnings tells what in the environment makes times unreliable.
func (env *Environment) Warnings() []Warning {
	var ws []Warning
	if t := max(env.CPU.Threads, 1); env.LoadAverage > 0.5*float64(t) {
		ws = append(ws, Warning{WarnBusy, fmt.Sprintf("the load average was %.2g on %s when the run began",
			env.LoadAverage, Count(t, "processor")), "close other programs"})
	}
	if env.Governor == "powersave" && env.CPU.Vendor != "GenuineIntel" || env.Governor == "conservative" {
		ws = append(ws, Warning{WarnGovernor, fmt.Sprintf("the clock's governor is %q", env.Governor),
			"set it to performance"})
	}
	return ws
}

// A Difference is a field that two environments have different contents in.
type Difference struct {
	Field    string // as it is called in JSON, "cpu.brand", "gpus[0].driver"
	Old, New string // "" where it is not known
}

// String says what differs in one line.
func (d Difference) String() string {
	return fmt.Sprintf("%s %s -> %s", d.Field, cmp.Or(d.Old, "unknown"), cmp.Or(d.New, "unknown"))
}

// Differences lists the fields in which two environments differ, in alphabetical order. The time of capture, the load
// and the ID, which follows from the other fields, are none.
func Differences(from, to Environment) []Difference {
	before, after := from.fields(), to.fields()
	names := slices.Concat(slices.Collect(maps.Keys(before)), slices.Collect(maps.Keys(after)))
	slices.Sort(names)
	var list []Difference
	for _, name := range slices.Compact(names) {
		if before[name] != after[name] {
			list = append(list, Difference{name, before[name], after[name]})
		}
	}
	return list
}

// passing are the fields that say nothing of how the environment computes.
var passing = []string{"schema", "env_id", "time", "load_average"}

// fields returns the texts of all fields by their names in JSON.
func (env Environment) fields() map[string]string {
	text, err := json.Marshal(env)
	if err != nil { // no field can fail
		panic(fmt.Sprintf("bench: environment: %v", err))
	}
	var tree map[string]any
	if err := json.Unmarshal(text, &tree); err != nil {
		panic(fmt.Sprintf("bench: environment: %v", err))
	}
	for _, name := range passing {
		delete(tree, name)
	}
	flat := map[string]string{}
	flatten(flat, "", tree)
	return flat
}

func flatten(flat map[string]string, name string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for key, inner := range v {
			flatten(flat, strings.TrimPrefix(name+"."+key, "."), inner)
		}
	case []any:
		for i, inner := range v {
			flatten(flat, fmt.Sprintf("%s[%d]", name, i), inner)
		}
	case float64:
		flat[name] = fmt.Sprintf("%.0f", v) // all numbers of an environment but the load are integers
	default:
		flat[name] = fmt.Sprint(v)
	}
}

// harmless are the fields that may change while a run is continued: an updated system, a clock set otherwise.
var harmless = []string{"os", "kernel", "governor", "memory_bytes", "go.cgo", "virtual"}

// Comparable returns the first field whose difference makes results and times of two environments no parts of one run:
// another processor, number of threads, program, build, or GPU. ok is true if there is none.
func Comparable(from, to Environment) (d Difference, ok bool) {
	for _, d := range Differences(from, to) {
		if !slices.Contains(harmless, d.Field) {
			return d, false
		}
	}
	return Difference{}, true
}
