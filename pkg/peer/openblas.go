package peer

import (
	"strings"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"

	"mpbench/internal/parallel"
	"mpbench/pkg/format"
	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
)

var openblas = &library{
	name: "OpenBLAS", files: fileNames("openblas", "0"), symbol: "openblas_set_num_threads",
	install: "Debian: apt-get install libopenblas0",
	since:   map[string]string{"cblas_dsum": "0.3.6 or newer"},
	methods: []string{"openblas"},
	version: func(l *library) string {
		return strings.TrimPrefix(l.textOf("openblas_get_config"), "OpenBLAS ")
	},
}

// blas are the functions of OpenBLAS that are called. Those without a result take pointers alone, as in Fortran.
var blas struct {
	once   sync.Once
	failed error

	sum, asum                     func(n int32, x *float64, step int32) float64
	dot                           func(n int32, x *float64, xStep int32, y *float64, yStep int32) float64
	axpy, scal, gemv, gemm, limit uintptr

	threads    int // as they were set last
	sync.Mutex     // of threads
}

func openBLAS() error {
	b := &blas
	b.once.Do(func() {
		list, err := openblas.functions("cblas_dsum", "cblas_dasum", "cblas_ddot", "daxpy_", "dscal_", "dgemv_", "dgemm_",
			"openblas_set_num_threads")
		if b.failed = err; err != nil {
			return
		}
		purego.RegisterFunc(&b.sum, list[0])
		purego.RegisterFunc(&b.asum, list[1])
		purego.RegisterFunc(&b.dot, list[2])
		b.axpy, b.scal, b.gemv, b.gemm, b.limit = list[3], list[4], list[5], list[6], list[7]
	})
	return b.failed
}

// setThreads sets how many threads OpenBLAS has from now on.
func setThreads(n int) {
	blas.Lock()
	defer blas.Unlock()
	if n != blas.threads {
		purego.SyscallN(blas.limit, uintptr(n))
		blas.threads = n
	}
}

// blasMethods are loops in binary64, in the order of OpenBLAS: the bounds are those of any order.
func blasMethods() []method.Method {
	list := format.Recursive(method.Method{Name: "openblas", Summary: "by OpenBLAS, in its order", Bits: 53}, "u = 2^-53",
		inOpenBLAS, op.Sum, op.Asum, op.Dot, op.Axpy, op.Scal, op.Gemv, op.Symv, op.Trmv, op.Gemm)
	for i := range list {
		list[i].Bound.Source += ", in any order"
	}
	return of(list, openBLAS)
}

// inOpenBLAS is binary64 with loops of OpenBLAS; infinities and NaN are left to the engine, as BLAS may leave out
// products with 0. Lengths are below 2^31.
func inOpenBLAS(c method.Config) format.Format[[]float64, float64] {
	f := format.Binary64
	f.IEEE, f.Alone = false, true
	f.Same = func(a numbers.Array) ([]float64, bool) {
		x, ok := a.Contiguous()
		return x, ok && a.AllFinite()
	}
	f.Loops = format.Loops[[]float64, float64]{
		Sum: func(x []float64) float64 {
			setThreads(1)
			return blas.sum(int32(len(x)), unsafe.SliceData(x), 1)
		},
		Asum: func(x []float64) float64 {
			setThreads(1)
			return blas.asum(int32(len(x)), unsafe.SliceData(x), 1)
		},
		Dot: func(x, y []float64) float64 {
			setThreads(1)
			return blas.dot(int32(len(x)), unsafe.SliceData(x), 1, unsafe.SliceData(y), 1)
		},
		Dots: func(z, a, x []float64, rows, columns, n int) {
			setThreads(parallel.Threads(c.Threads))
			multiply(z, a, x, int32(rows), int32(columns), int32(n))
		},
		Axpy: func(z []float64, a float64, x, y []float64) {
			setThreads(1)
			if at(z) != at(y) {
				copy(z, y)
			}
			n, one := int32(len(z)), int32(1)
			purego.SyscallN(blas.axpy, uintptr(unsafe.Pointer(&n)), uintptr(unsafe.Pointer(&a)), at(x),
				uintptr(unsafe.Pointer(&one)), at(z), uintptr(unsafe.Pointer(&one)))
		},
		Scal: func(z []float64, a float64, x []float64) {
			setThreads(1)
			copy(z, x)
			n, one := int32(len(z)), int32(1)
			purego.SyscallN(blas.scal, uintptr(unsafe.Pointer(&n)), uintptr(unsafe.Pointer(&a)), at(z),
				uintptr(unsafe.Pointer(&one)))
		},
		Mul: f.Mul, Add: f.Add, Sqrt: f.Sqrt, Div: f.Div,
	}
	return f
}

// multiply sets z, row by row, to the products of rows of a with columns of x, of n numbers that lie together: by
// dgemv of a, which Fortran takes for its transpose, or by dgemm of x' and a.
func multiply(z, a, x []float64, rows, columns, n int32) {
	one, zero, step, trans, plain := 1.0, 0.0, int32(1), byte('T'), byte('N')
	if columns == 1 {
		purego.SyscallN(blas.gemv, uintptr(unsafe.Pointer(&trans)), uintptr(unsafe.Pointer(&n)),
			uintptr(unsafe.Pointer(&rows)), uintptr(unsafe.Pointer(&one)), at(a), uintptr(unsafe.Pointer(&n)), at(x),
			uintptr(unsafe.Pointer(&step)), uintptr(unsafe.Pointer(&zero)), at(z), uintptr(unsafe.Pointer(&step)))
		return
	}
	purego.SyscallN(blas.gemm, uintptr(unsafe.Pointer(&trans)), uintptr(unsafe.Pointer(&plain)),
		uintptr(unsafe.Pointer(&columns)), uintptr(unsafe.Pointer(&rows)), uintptr(unsafe.Pointer(&n)),
		uintptr(unsafe.Pointer(&one)), at(x), uintptr(unsafe.Pointer(&n)), at(a), uintptr(unsafe.Pointer(&n)),
		uintptr(unsafe.Pointer(&zero)), at(z), uintptr(unsafe.Pointer(&columns)))
}
