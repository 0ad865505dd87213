package peer

import (
	"runtime"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"

	"mpbench/pkg/format"
	"mpbench/pkg/method"
	"mpbench/pkg/op"
)

// looped are the operations that loops over the numbers of libraries are for.
var looped = []*op.Operation{op.Sum, op.Asum, op.Dot, op.Axpy, op.Scal, op.Gemv, op.Symv, op.Trmv, op.Gemm}

// loopFormat is a number format of a library that has operations on single numbers, which are T in memory: loops of
// helper/loops.c over them.
type loopFormat[T any] struct {
	library   *library
	prefix    string   // of the loops' names
	functions []string // that the loops call, in the order in which they take them
	of        func(method.Config) format.Format[[]T, *T]

	once   sync.Once
	failed error
	called []uintptr // addresses of the functions

	sum, asum, dots, axpy, scal uintptr // the loops
}

// methods completes a method for some operations; source says where the unit roundoff is from.
func (l *loopFormat[T]) methods(m method.Method, unit, source string, ops ...*op.Operation) []method.Method {
	list := format.Recursive(m, unit, l.complete, ops...)
	for i := range list {
		list[i].Bound.Source += "; " + source
	}
	return of(list, l.open)
}

// open finds the functions and the loops.
func (l *loopFormat[T]) open() error {
	l.once.Do(func() {
		if l.called, l.failed = l.library.functions(l.functions...); l.failed != nil {
			return
		}
		for name, address := range map[string]*uintptr{
			"sum": &l.sum, "asum": &l.asum, "dots": &l.dots, "axpy": &l.axpy, "scal": &l.scal,
		} {
			if *address, l.failed = loop(l.prefix + "_" + name); l.failed != nil {
				return
			}
		}
	})
	return l.failed
}

// complete returns the format with loops, which are called once open has found them.
func (l *loopFormat[T]) complete(c method.Config) format.Format[[]T, *T] {
	f := l.of(c)
	f.Slice = func(v []T, from, to int) []T { return v[from:to] }
	f.Get = func(v []T, i int) *T { return &v[i] }
	f.Loops = format.Loops[[]T, *T]{
		Sum:  func(x []T) *T { return l.reduce(l.sum, f.Make(1), x) },
		Asum: func(x []T) *T { return l.reduce(l.asum, f.Make(1), x) },
		Dots: func(z, a, x []T, rows, columns, n int) {
			t := f.Make(1)
			purego.SyscallN(l.dots, at(l.called), at(z), at(a), at(x), uintptr(rows), uintptr(columns), uintptr(n), at(t))
			runtime.KeepAlive(t)
		},
		Axpy: func(z []T, a *T, x, y []T) {
			t := f.Make(1)
			purego.SyscallN(l.axpy, at(l.called), at(z), uintptr(unsafe.Pointer(a)), at(x), at(y), uintptr(len(x)), at(t))
			runtime.KeepAlive(t)
		},
		Scal: func(z []T, a *T, x []T) {
			purego.SyscallN(l.scal, at(l.called), at(z), uintptr(unsafe.Pointer(a)), at(x), uintptr(len(x)))
		},
	}
	return f
}

// reduce calls a loop that sets a number.
func (l *loopFormat[T]) reduce(loop uintptr, z, x []T) *T {
	purego.SyscallN(loop, at(l.called), at(z), at(x), uintptr(len(x)))
	return &z[0]
}
