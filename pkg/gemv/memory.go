package gemv

import "fmt"

// MemoryError says that a problem in a method's number format does not fit in the memory that Options.MaxBytes allows.
type MemoryError struct {
	Method     string
	Need, Have int64 // bytes
	M, N       int
	Detail     string // what takes the memory, "" for numbers of the format
}

func (e *MemoryError) Error() string {
	detail := ""
	if e.Detail != "" {
		detail = " (" + e.Detail + ")"
	}
	return fmt.Sprintf("gemv: %s needs %.1f GB for a %d x %d matrix%s; %.1f GB are available",
		e.Method, float64(e.Need)/1e9, e.M, e.N, detail, float64(e.Have)/1e9)
}

// checkBytes returns a *MemoryError if the need exceeds a limit that is not 0.
func (p *Problem) checkBytes(method string, need, limit int64, detail string) error {
	if limit > 0 && need > limit {
		return &MemoryError{method, need, limit, p.M, p.N, detail}
	}
	return nil
}
