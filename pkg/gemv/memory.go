package gemv

import "fmt"

// MemoryError says that a problem in a method's number format does not fit in the memory that Options.MaxBytes allows, or in what is free
// on a GPU.
type MemoryError struct {
	Method     string
	Need, Have int64 // bytes
	M, N       int
	Detail     string // what takes the memory, "" for numbers of the format
	Device     string // the GPU, "" for the host
}

func (e *MemoryError) Error() string {
	detail := ""
	if e.Detail != "" {
		detail = " (" + e.Detail + ")"
	}
	if e.Device != "" {
		return fmt.Sprintf("gemv: %s needs %s of device memory for a %d x %d matrix%s; %s has %s free",
			e.Method, gigabytes(e.Need), e.M, e.N, detail, e.Device, gigabytes(e.Have))
	}
	return fmt.Sprintf("gemv: %s needs %s for a %d x %d matrix%s; %s are available",
		e.Method, gigabytes(e.Need), e.M, e.N, detail, gigabytes(e.Have))
}

// gigabytes writes a size with one digit after the point, below a tenth of a GB in MB.
func gigabytes(bytes int64) string {
	if bytes < 100e6 {
		return fmt.Sprintf("%.1f MB", float64(bytes)/1e6)
	}
	return fmt.Sprintf("%.1f GB", float64(bytes)/1e9)
}

// checkBytes returns a *MemoryError if the need exceeds a limit that is not 0.
func (p *Problem) checkBytes(method string, need, limit int64, detail string) error {
	if limit > 0 && need > limit {
		return &MemoryError{Method: method, Need: need, Have: limit, M: p.M, N: p.N, Detail: detail}
	}
	return nil
}

func moduliDetail(moduli int) string { return fmt.Sprintf("%d moduli of 4 bytes per element", moduli) }
