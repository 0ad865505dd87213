package partial

import (
	"errors"
	"fmt"
	"strings"
)

// The reasons for which [State.UnmarshalBinary] refuses bytes; errors.Is tells them apart.
var (
	// ErrFormat is of bytes that no state was marshalled to.
	ErrFormat = errors.New("not a partial result")
	// ErrTruncated is of bytes that end too early.
	ErrTruncated = errors.New("a partial result that ends too early")
	// ErrVersion is of bytes of a version that is not known here.
	ErrVersion = errors.New("a partial result of an unknown version")
	// ErrChecksum is of bytes that were damaged.
	ErrChecksum = errors.New("a damaged partial result: its checksum is wrong")
)

// MismatchError is of a state that is a part of another problem.
type MismatchError struct {
	What       string // "operation", "number of terms"
	Have, Want string // of the state that was to be merged, and of the one that it was to be merged with
}

func (e *MismatchError) Error() string {
	return fmt.Sprintf("partial: the %s is %s, not %s", e.What, e.Have, e.Want)
}

// OverlapError is of terms that would be added twice.
type OverlapError struct {
	Block Block // the first of them
	Rows  string
}

func (e *OverlapError) Error() string { return "partial: " + e.Rows + " are there already" }

// MissingError is of a result of which terms are missing.
type MissingError struct {
	Blocks []Block
	Rows   []string // the same in words
}

// mostMissing is how many blocks an error lists.
const mostMissing = 4

func (e *MissingError) Error() string { return "partial: " + e.List() + " are missing" }

// List names what is missing: "rows 0:10, rows 20:30 and 5 more ranges".
func (e *MissingError) List() string {
	text := strings.Join(e.Rows[:min(mostMissing, len(e.Rows))], ", ")
	if more := len(e.Rows) - mostMissing; more > 0 {
		text += fmt.Sprintf(" and %d more ranges", more)
	}
	return text
}

// PartError is of one of several states that were to be merged.
type PartError struct {
	Part int // the number of the state
	With int // that of the one that it does not go with
	Err  error
}

func (e *PartError) Error() string {
	return fmt.Sprintf("part %d with part %d: %v", e.Part, e.With, e.Err)
}
func (e *PartError) Unwrap() error { return e.Err }
