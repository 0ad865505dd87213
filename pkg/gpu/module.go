package gpu

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"unsafe"

	"github.com/ebitengine/purego"

	"mpbench/cuda/ptx"
)

// Module is a compiled PTX file on a device.
type Module struct {
	device *Device
	name   string
	ptx    string
	handle uintptr
	early  bool // kernels may begin early

	reserved map[string]*int  // by kernel: bytes of dynamic shared memory that it may use
	sizes    map[string][]int // by kernel: bytes of each parameter
}

// Module compiles the kernels of cuda/NAME.cu for the device, at the first call. An error holds the driver's log; it
// wraps ErrTooOld where the driver does not know the PTX version.
func (d *Device) Module(name string) (*Module, error) { return d.ModuleOf(ptx.Kernels, name) }

// ModuleOf is Module for the kernels of a set: the first variant of the set that device and driver know.
func (d *Device) ModuleOf(set ptx.Set, name string) (*Module, error) {
	if m := d.modules[name]; m != nil {
		return m, nil
	}
	for _, v := range ptx.Variants {
		if !v.Has(name) || !v.Suits(10*d.info.Major+d.info.Minor) ||
			(v.Early || v.Exactly) && d.driver.launchKernelEx == 0 {
			continue
		}
		text, err := set.Text(name + v.Suffix)
		if err != nil {
			return nil, err
		}
		m, err := d.load(name+v.Suffix, text)
		if v.Suffix != "" && errors.Is(err, ErrTooOld) {
			continue
		}
		if err != nil {
			return nil, err
		}
		m.early = v.Early
		d.modules[name] = m
		return m, nil
	}
	return nil, fmt.Errorf("gpu: %s has no kernels %s for its compute capability %d.%d", d.Name(), name, d.info.Major,
		d.info.Minor)
}

// Options of cuModuleLoadDataEx.
const (
	jitErrorLog      = 5
	jitErrorLogBytes = 6
	logBytes         = 8 << 10
)

func (d *Device) load(name, text string) (*Module, error) {
	m := &Module{device: d, name: name, ptx: text, reserved: map[string]*int{}, sizes: map[string][]int{}}
	image := append([]byte(text), 0)
	log := make([]byte, logBytes)
	var pin runtime.Pinner
	defer pin.Unpin()
	pin.Pin(&log[0])
	options := []int32{jitErrorLog, jitErrorLogBytes}
	values := []uintptr{uintptr(unsafe.Pointer(&log[0])), logBytes} // each the value cast to a pointer
	code := d.driver.ModuleLoadDataEx(&m.handle, &image[0], uint32(len(options)), &options[0], &values[0])
	if code != 0 {
		note := strings.Join(strings.Fields(name+".ptx: "+goString(&log[0])), " ")
		return nil, d.callNote("cuModuleLoadDataEx", code, note)
	}
	return m, nil
}

// Dim is the shape of a grid or of a block; a zero field counts as 1.
type Dim struct{ X, Y, Z int }

// Kernel is a kernel whose parameters are the fields of P, in their order.
type Kernel[P any] struct {
	module *Module
	name   string
	handle uintptr
	shared *int // bytes of dynamic shared memory that it may use, in the module

	parameters P // what a launch reads; the heap does not move
	pointers   []unsafe.Pointer
}

// Has reports whether a kernel is in the variant of the module that suits the device and its driver.
func (m *Module) Has(kernel string) bool { return strings.Contains(m.ptx, ".entry "+kernel+"(") }

// Function finds a kernel of the module. P is a struct of fields of fixed size without Go pointers; numbers and sizes
// of its fields are compared with the parameters in the PTX, and a difference is an error.
func Function[P any](m *Module, name string) (*Kernel[P], error) {
	if m.reserved[name] == nil {
		m.reserved[name] = new(int)
		*m.reserved[name] = sharedByDefault
	}
	k := &Kernel[P]{module: m, name: name, shared: m.reserved[name]}
	if err := m.checkParameters(reflect.TypeFor[P](), name); err != nil {
		return nil, fmt.Errorf("gpu: kernel %s of %s.ptx: %w", name, m.name, err)
	}
	d := m.device
	if err := d.callNote("cuModuleGetFunction", d.driver.ModuleGetFunction(&k.handle, m.handle, name),
		name+" of "+m.name+".ptx"); err != nil {
		return nil, err
	}
	t := reflect.TypeFor[P]()
	for i := range t.NumField() {
		k.pointers = append(k.pointers, unsafe.Add(unsafe.Pointer(&k.parameters), t.Field(i).Offset))
	}
	return k, nil
}

var parameter = regexp.MustCompile(`\.param\s+(?:\.align\s+\d+\s+)?\.([a-z])(\d+)\s+(?:\.ptr\s+)?` +
	`(?:\.\w+\s+)*(?:\.align\s+\d+\s+)?\w+(?:\[(\d+)\])?`)

// parameterSizes returns the bytes of each parameter of a kernel in a PTX text; ok tells whether it is there.
func parameterSizes(text, name string) (sizes []int, ok bool) {
	_, rest, found := strings.Cut(text, ".entry "+name+"(")
	if !found {
		return nil, false
	}
	list, _, _ := strings.Cut(rest, ")")
	for _, match := range parameter.FindAllStringSubmatch(list, -1) {
		size, _ := strconv.Atoi(match[2])
		size /= 8
		if match[3] != "" {
			length, _ := strconv.Atoi(match[3])
			size *= length
		}
		sizes = append(sizes, size)
	}
	return sizes, true
}

func (m *Module) checkParameters(t reflect.Type, name string) error {
	sizes, ok := m.sizes[name]
	if !ok {
		if sizes, ok = parameterSizes(m.ptx, name); ok {
			m.sizes[name] = sizes
		}
	}
	switch {
	case !ok:
		return fmt.Errorf("it is not there")
	case t.Kind() != reflect.Struct:
		return fmt.Errorf("%v is no struct of parameters", t)
	case t.NumField() != len(sizes):
		return fmt.Errorf("%v has %d fields, the kernel %d parameters", t, t.NumField(), len(sizes))
	}
	for i, want := range sizes {
		field := t.Field(i)
		if !plain(field.Type) {
			return fmt.Errorf("field %s of %v is of type %v, which a device cannot read", field.Name, t, field.Type)
		}
		if got := int(field.Type.Size()); got != want {
			return fmt.Errorf("field %s of %v has %d bytes, parameter %d of the kernel %d", field.Name, t, got, i, want)
		}
	}
	return nil
}

// plain reports whether a type is of fixed size without Go pointers.
func plain(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Bool, reflect.Int8, reflect.Uint8, reflect.Int16, reflect.Uint16, reflect.Int32, reflect.Uint32,
		reflect.Int64, reflect.Uint64, reflect.Float32, reflect.Float64:
		return true
	case reflect.Array:
		return plain(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if !plain(t.Field(i).Type) {
				return false
			}
		}
		return true
	}
	return false
}

// Launch says how a kernel is launched: blocks of the grid, threads of a block, bytes of dynamic shared memory, and
// the stream (nil for the default stream).
type Launch struct {
	Grid, Block Dim
	Shared      int
	Stream      *Stream
	// Early lets the kernel begin while the one before it in the stream ends, which must have called letNextBegin of
	// cuda/portable.cuh. The kernel calls waitForPrevious before it reads what that wrote. No effect where device or
	// driver cannot.
	Early bool
	// Cluster is how many neighbours of the grid are a cluster, which run at once; the grid is a multiple. For kernels of
	// compute capability 9.0.
	Cluster int
}

// attributes of a function in the driver API.
const (
	attributeThreads     = 0
	attributeStatic      = 1
	attributeLocal       = 3
	attributeRegisters   = 4
	attributeSharedLimit = 8
	sharedByDefault      = 48 << 10 // what a kernel may use without asking
)

// Launch puts the kernel into the stream; it does not wait. Not for use by two goroutines at once.
func (k *Kernel[P]) Launch(l Launch, p P) error {
	if err := k.reserve(l.Shared); err != nil {
		return err
	}
	k.parameters = p
	var list uintptr
	if len(k.pointers) > 0 {
		list = uintptr(unsafe.Pointer(&k.pointers[0]))
	}
	g, b := l.Grid.filled(), l.Block.filled()
	if l.Early && k.module.early || l.Cluster > 1 {
		return k.launchWith(l, g, b, list)
	}
	code, _, _ := purego.SyscallN(k.module.device.driver.launchKernel, k.handle, uintptr(g.X), uintptr(g.Y), uintptr(g.Z),
		uintptr(b.X), uintptr(b.Y), uintptr(b.Z), uintptr(l.Shared), l.Stream.raw(), list, 0)
	runtime.KeepAlive(k)
	return k.launched("cuLaunchKernel", code, g, b, l.Shared)
}

func (k *Kernel[P]) launched(call string, code uintptr, g, b Dim, shared int) error {
	if code == 0 {
		return nil
	}
	return k.module.device.callNote(call, int32(code),
		fmt.Sprintf("%s with a grid of %v, blocks of %v and %d bytes of shared memory", k.name, g, b, shared))
}

// launchConfig and launchAttribute are CUlaunchConfig and CUlaunchAttribute of the driver API.
type (
	launchConfig struct {
		grid, block [3]uint32
		shared      uint32
		stream      uintptr
		attributes  *launchAttribute
		count       uint32
	}
	launchAttribute struct {
		id    uint32
		_     uint32
		value [16]uint32
	}
)

// Attributes of a launch: clusters of so many blocks; the kernel may begin before the one in front of it has ended.
const (
	clusterDimension          = 4
	programmaticSerialization = 6
)

// launchWith launches with attributes.
func (k *Kernel[P]) launchWith(l Launch, g, b Dim, list uintptr) error {
	attributes := make([]launchAttribute, 0, 2)
	if l.Early && k.module.early {
		attributes = append(attributes, launchAttribute{id: programmaticSerialization, value: [16]uint32{1}})
	}
	if l.Cluster > 1 {
		attributes = append(attributes, launchAttribute{id: clusterDimension, value: [16]uint32{uint32(l.Cluster), 1, 1}})
	}
	config := &launchConfig{
		grid: [3]uint32{uint32(g.X), uint32(g.Y), uint32(g.Z)}, block: [3]uint32{uint32(b.X), uint32(b.Y), uint32(b.Z)},
		shared: uint32(l.Shared), stream: l.Stream.raw(), attributes: &attributes[0], count: uint32(len(attributes)),
	}
	var pin runtime.Pinner
	defer pin.Unpin()
	pin.Pin(&attributes[0])
	pin.Pin(config)
	code, _, _ := purego.SyscallN(k.module.device.driver.launchKernelEx, uintptr(unsafe.Pointer(config)), k.handle, list,
		0)
	runtime.KeepAlive(k)
	return k.launched("cuLaunchKernelEx", code, g, b, l.Shared)
}

func (d Dim) filled() Dim { return Dim{max(d.X, 1), max(d.Y, 1), max(d.Z, 1)} }

// reserve lets launches use so many bytes of dynamic shared memory, up to Info.SharedPerBlock. What the driver allows
// belongs to the kernel, not to the launch, and is never made less: others may hold the same kernel.
func (k *Kernel[P]) reserve(bytes int) error {
	if bytes <= *k.shared {
		return nil
	}
	d := k.module.device
	if limit := d.info.SharedPerBlock; bytes > limit {
		return fmt.Errorf("%s: %s wants %d bytes of shared memory a block; the device has %d", d.Name(), k.name, bytes,
			limit)
	}
	if err := d.callNote("cuFuncSetAttribute", d.driver.FuncSetAttribute(k.handle, attributeSharedLimit, int32(bytes)),
		k.name); err != nil {
		return err
	}
	*k.shared = bytes
	return nil
}

// Attributes are what the driver's compiler made of a kernel.
type Attributes struct {
	Threads   int // most threads of a block
	Registers int // of a thread
	Local     int // bytes of local memory of a thread: spills and arrays
	Static    int // bytes of static shared memory of a block
}

// Attributes returns the kernel's needs.
func (k *Kernel[P]) Attributes() (Attributes, error) {
	var a Attributes
	d := k.module.device
	for attribute, field := range map[int32]*int{attributeThreads: &a.Threads, attributeRegisters: &a.Registers,
		attributeLocal: &a.Local, attributeStatic: &a.Static} {
		var value int32
		if err := d.callNote("cuFuncGetAttribute", d.driver.FuncGetAttribute(&value, attribute, k.handle),
			k.name); err != nil {
			return a, err
		}
		*field = int(value)
	}
	return a, nil
}

// Occupancy returns the share of a multiprocessor's threads that are resident at a launch, 0 to 1.
func (k *Kernel[P]) Occupancy(threads, shared int) (float64, error) {
	if err := k.reserve(shared); err != nil { // what is not allowed has the occupancy 0
		return 0, err
	}
	d := k.module.device
	var blocks int32
	err := d.callNote("cuOccupancyMaxActiveBlocksPerMultiprocessor", d.driver.OccupancyMaxActiveBlocks(&blocks, k.handle,
		int32(threads), uint64(shared)), k.name)
	return float64(blocks) * float64(threads) / float64(max(d.info.ThreadsPerMP, 1)), err
}

// Name returns the kernel's name.
func (k *Kernel[P]) Name() string { return k.name }
