package accurate

import (
	"errors"
	"fmt"
	"unsafe"
)

// LengthError is what functions panic with if the lengths of their arguments do not match, as gonum does: the caller
// is wrong then, and no value is right.
type LengthError struct {
	Func    string // of this package
	Operand string // its argument that does not fit
	Len     int    // the length, or number of rows, that it has
	Want    int    // the one that it should have
}

func (e *LengthError) Error() string {
	return fmt.Sprintf("accurate.%s: %s has %d elements instead of %d", e.Func, e.Operand, e.Len, e.Want)
}

func checkLength(name, operand string, n, want int) {
	if n != want {
		panic(&LengthError{name, operand, n, want})
	}
}

// OverlapError is what functions panic with if a result would overwrite what they still have to read.
type OverlapError struct {
	Func    string // of this package
	Result  string // its argument that is written to
	Operand string // the one that it shares memory with
}

func (e *OverlapError) Error() string {
	return fmt.Sprintf("accurate.%s: %s shares memory with %s", e.Func, e.Result, e.Operand)
}

func checkOverlap(name, result string, y []float64, operand string, x []float64) {
	if overlap(x, y) {
		panic(&OverlapError{name, result, operand})
	}
}

// overlap tells whether slices share an element.
func overlap(x, y []float64) bool {
	if len(x) == 0 || len(y) == 0 {
		return false
	}
	return uintptr(unsafe.Pointer(&x[0])) <= uintptr(unsafe.Pointer(&y[len(y)-1])) &&
		uintptr(unsafe.Pointer(&y[0])) <= uintptr(unsafe.Pointer(&x[len(x)-1]))
}

// The reasons for which [Accumulator.UnmarshalBinary] refuses bytes; errors.Is tells them apart.
var (
	// ErrFormat is of bytes that no accumulator was marshalled to.
	ErrFormat = errors.New("not the bytes of an accumulator")
	// ErrVersion is of bytes of a version that is not known here.
	ErrVersion = errors.New("bytes of an accumulator of an unknown version")
	// ErrChecksum is of bytes that were damaged.
	ErrChecksum = errors.New("damaged bytes of an accumulator: their checksum is wrong")
)
