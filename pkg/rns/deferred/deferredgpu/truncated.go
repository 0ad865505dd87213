package deferredgpu

import (
	"math"

	"mpbench/pkg/gpu"
)

// exactRow is that of cuda/round_rows.cuh.
const exactRow = math.MinInt64

// allocateErrors makes the buffers for truncated sums: row i is in error by less than 2^errorExp[i].
func (p *Product) allocateErrors() (err error) {
	errors := make([]int64, p.a.Rows())
	for i, low := range p.a.low {
		errors[i] = exactRow
		if bits := p.a.plan.ErrorBits(i, p.x.extent); bits >= 0 {
			errors[i] = int64(low+p.x.low+bits) + p.alpha.exp
			if !p.alpha.isUnit(p.options.Alpha) {
				errors[i] += int64(p.options.Alpha.MinPrec()) // the integer of alpha is less than this power of two
			}
			p.truncated = true
		}
	}
	if !p.truncated {
		return nil
	}
	if p.errorExp, err = gpu.Upload(p.device, errors); err != nil {
		return err
	}
	p.uncertain, err = gpu.Alloc[uint32](p.device, len(errors))
	return err
}

// Truncated reports whether factors are truncated, so that rows may have to be computed again. Then the numbers that
// the matrix and the vector were made of must stay on the device as long as the product is used.
func (p *Product) Truncated() bool { return p.truncated }

// openRows returns the rows of which the rounding is open.
func (p *Product) openRows() ([]int, error) {
	flags := make([]uint32, p.a.Rows())
	if err := p.uncertain.Download(flags); err != nil {
		return nil, err
	}
	var rows []int
	for i, f := range flags {
		if f != 0 {
			rows = append(rows, i)
		}
	}
	return rows, nil
}
