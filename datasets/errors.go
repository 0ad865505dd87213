package datasets

import (
	"errors"
	"fmt"
)

// ErrUsage marks errors of the caller: an unknown data set or parameter, a value out of range.
var ErrUsage = errors.New("usage error")

// ErrInput marks errors of the input: a file that is missing, unreadable or not in the format it claims.
var ErrInput = errors.New("input error")

// kindError is a message with the sentinel that classifies it. The sentinel's own text is not printed.
type kindError struct {
	kind    error
	message string
	cause   error // may be nil
}

func (e *kindError) Error() string { return e.message }

func (e *kindError) Unwrap() []error {
	if e.cause == nil {
		return []error{e.kind}
	}
	return []error{e.kind, e.cause}
}

// usagef makes an ErrUsage.
func usagef(format string, args ...any) error {
	return &kindError{kind: ErrUsage, message: fmt.Sprintf(format, args...)}
}

// inputf makes an ErrInput.
func inputf(format string, args ...any) error {
	return &kindError{kind: ErrInput, message: fmt.Sprintf(format, args...)}
}
