package peer

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"

	"mpbench/internal/dynamic"
	"mpbench/pkg/method"
)

// Variable names the environment variable with the folder in which the loops, and libraries before those of the
// system, are looked for; Off in it switches peers off.
const (
	Variable = "MPBENCH_PEERS"
	Off      = "off"
)

// Folder returns the folder of the loops: that of [Variable], otherwise mpbench in the user's cache folder.
func Folder() string {
	if folder := os.Getenv(Variable); folder != "" {
		return folder
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	return filepath.Join(cache, "mpbench", "peers")
}

// library is a shared library, opened when it is asked for first.
type library struct {
	name    string            // as it is called: "MPFR"
	files   []string          // names under which it may be there, the best first
	symbol  string            // one of its own
	install string            // how to get it
	since   map[string]string // versions that functions are in from on
	methods []string
	version func(*library) string // of one that is open
	explain string                // the function, if any, that returns the text of a status

	once   sync.Once
	handle uintptr
	path   string
	failed error
}

// missing is the error of what is not there.
func missing(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{method.ErrUnavailable}, args...)...)
}

// open opens the library.
func (l *library) open() error {
	l.once.Do(func() { l.failed = l.find() })
	return l.failed
}

func (l *library) find() error {
	folder := os.Getenv(Variable)
	switch {
	case folder == Off:
		return missing("%s is switched off by %s=%s", l.name, Variable, Off)
	case unsafe.Sizeof(uintptr(0)) != 8 || runtime.GOOS == "windows":
		return missing("%s is called on 64-bit Unix systems alone", l.name)
	}
	var places []string
	for _, f := range l.files {
		if folder != "" {
			places = append(places, filepath.Join(folder, f))
		}
	}
	var first error
	for _, f := range append(places, l.files...) {
		handle, err := dynamic.Open(f)
		if err == nil {
			l.handle, l.path = handle, cmp.Or(pathOf(handle, l.symbol), f)
			if _, err = l.lookup(l.symbol); err == nil {
				return nil
			}
		}
		if _, there := os.Stat(f); there == nil || first == nil {
			first = err // of a file that is there, or of the best name
		}
	}
	return missing("%s is not there (%s); %s", l.name, strings.TrimSpace(first.Error()), l.install)
}

// pathOf returns the file of the library that a symbol is in, "" if that is not known.
func pathOf(handle uintptr, symbol string) string {
	address, err := dynamic.Symbol(handle, symbol)
	dladdr, failed := dynamic.Loaded("dladdr")
	if err != nil || failed != nil {
		return ""
	}
	var info struct {
		file    uintptr
		_, _, _ uintptr // base, symbol, its address
	}
	purego.SyscallN(dladdr, address, uintptr(unsafe.Pointer(&info)))
	return textAt(info.file)
}

// functions returns the addresses of functions, or an error that names the first that is missing.
func (l *library) functions(names ...string) ([]uintptr, error) {
	if err := l.open(); err != nil {
		return nil, err
	}
	return l.lookup(names...)
}

// lookup is functions of a library that is open.
func (l *library) lookup(names ...string) ([]uintptr, error) {
	var list []uintptr
	for _, name := range names {
		address, err := dynamic.Symbol(l.handle, name)
		if err != nil {
			return nil, missing("%s in %s has no %s; it needs %s", l.title(), l.path, name, cmp.Or(l.since[name],
				"another version"))
		}
		list = append(list, address)
	}
	return list, nil
}

// title returns name and version of a library that is open.
func (l *library) title() string { return strings.TrimSpace(l.name + " " + l.version(l)) }

// textOf returns the text at the address that a function returns.
func (l *library) textOf(function string) string {
	address, err := dynamic.Symbol(l.handle, function)
	if err != nil {
		return ""
	}
	at, _, _ := purego.SyscallN(address)
	return textAt(at)
}

// textBehind returns the text that a variable of the type const char * points to.
func (l *library) textBehind(variable string) string {
	address, err := dynamic.Symbol(l.handle, variable)
	if err != nil {
		return ""
	}
	return textAt(*(*uintptr)(pointer(address)))
}

// textAt returns the text of C at an address, at most a line of a thousand characters.
func textAt(address uintptr) string {
	var text []byte
	for address != 0 && len(text) < 1000 {
		c := *(*byte)(pointer(address + uintptr(len(text))))
		if c == 0 {
			break
		}
		text = append(text, c)
	}
	return string(text)
}

// loopsVersion is what mpbench_loops returns in helper/loops.c.
const loopsVersion = 1

// loop returns a function of helper/loops.c.
func loop(name string) (uintptr, error) {
	handle, err := openLoops()
	if err != nil {
		return 0, err
	}
	return dynamic.Symbol(handle, name)
}

// loopsPath is where the loops are looked for.
func loopsPath() string { return filepath.Join(Folder(), "loops.so") }

var openLoops = sync.OnceValues(findLoops)

func findLoops() (uintptr, error) {
	file := loopsPath()
	if os.Getenv(Variable) == Off {
		return 0, missing("peers are switched off by %s=%s", Variable, Off)
	}
	if _, err := os.Stat(file); errors.Is(err, os.ErrNotExist) {
		return 0, missing("there is no %s with the loops over numbers; scripts/peers compiles it", file)
	}
	handle, err := dynamic.Open(file)
	if err != nil {
		return 0, missing("%v; scripts/peers compiles %s", err, file)
	}
	if version, err := dynamic.Symbol(handle, "mpbench_loops"); err == nil {
		if got, _, _ := purego.SyscallN(version); int32(got) == loopsVersion {
			return handle, nil
		}
	}
	return 0, missing("%s is of another version of mpbench; scripts/peers compiles this one's", file)
}
