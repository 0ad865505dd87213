package gpu

import (
	"errors"
	"fmt"
	"reflect"
	"unsafe"
)

// Kinds of errors, to be asked for with errors.Is.
var (
	ErrNoDriver    = errors.New("no CUDA driver")
	ErrNoDevice    = errors.New("no such device")
	ErrOutOfMemory = errors.New("out of device memory")
	ErrTooOld      = errors.New("driver or device too old")
	ErrFault       = errors.New("fault in a kernel")
	ErrNested      = errors.New("a call into a device from the device's own thread")
)

// PanicError is a panic on a device's thread.
type PanicError struct {
	Device string
	Value  any
	Stack  string // of the device's thread
}

// Error returns one line; Stack has the rest.
func (e *PanicError) Error() string { return fmt.Sprintf("%s: panic: %v", e.Device, e.Value) }

// Error is a call of the driver that failed.
type Error struct {
	Call string // the driver's function
	Code int    // its result
	Name string // CUDA's name for it, CUDA_ERROR_...
	Text string // CUDA's description
	Note string // what the call was about, and the driver's log if there is one
}

// Error returns one line.
func (e *Error) Error() string {
	s := fmt.Sprintf("%s: %s (%d): %s", e.Call, e.Name, e.Code, e.Text)
	if e.Note != "" {
		s += ": " + e.Note
	}
	return s
}

// Results of the driver API that say what kind of error it is.
const (
	codeOutOfMemory    = 2
	codeNoBinary       = 209 // no kernel image for the device
	codeInvalidPTX     = 218
	codeUnsupportedPTX = 222
	codeJITNotFound    = 221
	codeIllegalAddress = 700
)

// faultCodes leave the context unusable.
var faultCodes = map[int]bool{codeIllegalAddress: true, 702: true, 710: true, 714: true, 715: true, 716: true,
	717: true, 718: true, 719: true}

// Is says which of the kinds of errors e is.
func (e *Error) Is(kind error) bool {
	switch kind {
	case ErrOutOfMemory:
		return e.Code == codeOutOfMemory
	case ErrTooOld:
		return e.Code == codeNoBinary || e.Code == codeInvalidPTX || e.Code == codeUnsupportedPTX ||
			e.Code == codeJITNotFound
	case ErrFault:
		return faultCodes[e.Code]
	}
	return false
}

// check returns nil for success and otherwise an Error about the call.
func (d *driver) check(call string, code int32) error {
	if code == 0 {
		return nil
	}
	return d.failure(call, code, "")
}

func (d *driver) failure(call string, code int32, note string) *Error {
	var name, text *byte
	e := &Error{Call: call, Code: int(code), Name: "CUDA_ERROR_UNKNOWN", Text: "unknown error", Note: note}
	if d.GetErrorName(code, &name) == 0 && name != nil {
		e.Name = goString(name)
	}
	if d.GetErrorString(code, &text) == 0 && text != nil {
		e.Text = goString(text)
	}
	return e
}

// goString copies a NUL-terminated string.
func goString(p *byte) string {
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(p), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(p, n))
}

// function is a field of driver with the symbol it stands for.
type function struct {
	pointer any
	symbol  string
	raw     bool
}

// functions lists the exported fields of d that are functions: symbol cuName with the end that the
// field's tag has.
func (d *driver) functions() []function {
	var list []function
	v := reflect.ValueOf(d).Elem()
	for i := range v.NumField() {
		field := v.Type().Field(i)
		if field.Type.Kind() != reflect.Func || !field.IsExported() {
			continue
		}
		name := "cu" + field.Name + field.Tag.Get("end")
		list = append(list, function{v.Field(i).Addr().Interface(), name, field.Tag.Get("raw") != ""})
	}
	return list
}
