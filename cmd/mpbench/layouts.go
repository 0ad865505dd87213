package main

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"mpbench/datasets"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
)

// addStrides declares a flag for the layout of each array.
func (o *operands) addStrides(f *pflag.FlagSet) {
	for _, a := range o.laid() {
		usage := "increment of " + a.Name + "; negative from the end"
		if a.Kind == op.Matrix {
			usage = "leading dimension of " + strings.ToUpper(a.Name) + ", which is stored by columns; 0 for its rows"
		}
		f.Var(&entryFlag[int]{o.strides, a.Name, "int", parseInteger}, strideName(a), usage)
	}
}

// laid lists the arrays that have strides: all but a sparse matrix.
func (o *operands) laid() []op.Operand {
	return slices.DeleteFunc(o.op.Arrays(), func(a op.Operand) bool {
		return a.Kind == op.Matrix && o.op.Storage == op.Sparse
	})
}

// strideName is the name of the flag for an array's leading dimension or increment.
func strideName(a op.Operand) string {
	if a.Kind == op.Matrix {
		return "ld" + a.Name
	}
	return "inc" + a.Name
}

// laidOut tells whether an array has another layout than the default.
func (o operands) laidOut() bool {
	return slices.ContainsFunc(o.laid(), func(a op.Operand) bool {
		return o.strides[a.Name] != newOperands(o.op).strides[a.Name]
	})
}

// wantedLayout is the layout of an array that a flag wants.
type wantedLayout struct {
	numbers.Layout
	array  op.Operand
	stride int
}

// layouts lists what the flags want for arrays of these extents: nothing without a matrix, with which the flags go.
func (o operands) layouts(e datasets.Extents) (list []wantedLayout) {
	if !o.op.Has(op.Matrix) {
		return nil
	}
	for _, a := range o.laid() {
		stride := o.strides[a.Name]
		list = append(list, wantedLayout{e.Layout(a, stride), a, stride})
	}
	return list
}

// checkLayouts checks the flags for arrays of these extents.
func (o operands) checkLayouts(e datasets.Extents) error {
	need := int64(0)
	for _, l := range o.layouts(e) {
		if l.array.Kind == op.Matrix && l.stride != 0 && l.stride < max(1, l.Rows) {
			return l.errorf("want at least the %d rows of %s", l.Rows, strings.ToUpper(l.array.Name))
		}
		size := l.Size()
		if size == l.Rows*l.Cols {
			continue
		}
		over, bytes := bits.Mul64(uint64(size), 8)
		if over != 0 || bytes > math.MaxInt64/2 || size < 0 {
			return l.errorf("the padded numbers do not fit in any memory")
		}
		need += int64(bytes) + int64(l.Rows*l.Cols)*8
		if err := datasets.CheckMemory(need); err != nil {
			return l.errorf("with padding, %v", err)
		}
	}
	return nil
}

func (l wantedLayout) errorf(format string, args ...any) error {
	return usagef("--%s %d: %s", strideName(l.array), l.stride, fmt.Sprintf(format, args...))
}

// spread lays out the elements of an array, which lie one behind the other by columns, among numbers that are 0, or
// missing: no more than reach from the first element to the last.
func (l wantedLayout) spread(a *numbers.Array) error {
	if a.Absent() || a.Layout == l.Layout {
		return nil
	}
	switch x := a.Source.(type) {
	case numbers.Float64s:
		a.Source = numbers.Float64s(spreadSlice(x, l.Layout))
	case numbers.Bigs:
		a.Source = numbers.Bigs(spreadSlice(x, l.Layout))
	case numbers.Outline:
		a.Source = numbers.Outline{Count: l.Size(), Bytes: x.Bytes}
	default:
		return l.errorf("want 1 for numbers that are no binary fractions")
	}
	a.Layout = l.Layout
	return nil
}

func spreadSlice[T any](x []T, l numbers.Layout) []T {
	wide := make([]T, l.Size())
	for i, v := range x {
		wide[l.Index(i%l.Rows, i/l.Rows)] = v
	}
	return wide
}
