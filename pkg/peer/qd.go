package peer

import (
	"slices"

	"mpbench/pkg/exact"
	"mpbench/pkg/format"
	"mpbench/pkg/method"
	"mpbench/pkg/multifloat"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
)

var qd = &library{
	name: "QD", files: fileNames("qd", "0"), symbol: "c_dd_add", install: "Debian: apt-get install libqd0v5",
	version: func(*library) string { return "" }, // it does not say
	methods: []string{"libqd-dd", "libqd-qd"},
}

// components is what numbers of QD are: two or four float64.
type components interface{ [2]float64 | [4]float64 }

// qdLoops are loops over QD's functions on single numbers. Debian's are those without IEEE's bounds on sums: the error
// of an addition is bounded relative to |x| + |y|, which is all that bounds of recursive sums need.
func qdLoops() []method.Method {
	sums := []*op.Operation{op.Sum, op.Asum}
	double := qdMethods[[2]float64]("libqd-dd", "double-double", "dd")
	quad := qdMethods[[4]float64]("libqd-qd", "quad-double", "qd")
	return slices.Concat(
		double("u = 5*2^-106", "Joldes, Muller, Popescu 2017, DOI 10.1145/3121432: QD's are algorithms 5 and 10", looped),
		quad("u = 2^-211", "Hida, Li, Bailey, QD's manual, section 3.2", sums),
		quad("u = 2^-209", "QD 2.3, qd_real::_eps",
			[]*op.Operation{op.Dot, op.Scal, op.Gemv, op.Symv, op.Trmv, op.Gemm})) // axpy errs by 2^-7 of that
}

// qdMethods returns what completes methods of a unit roundoff, with its source, for some operations.
func qdMethods[T components](
	name, kind, prefix string,
) func(unit, source string, ops []*op.Operation) []method.Method {
	var some T
	k := len(some)
	l := loopsOfQD[T](kind, prefix)
	m := method.Method{
		Name: name, Bits: 53 * k, Summary: "in " + kind + " with c_" + prefix + "_add and c_" + prefix + "_mul of QD",
	}
	return func(unit, source string, ops []*op.Operation) []method.Method {
		return l.methods(m, unit, source, ops...)
	}
}

func loopsOfQD[T components](kind, prefix string) *loopFormat[T] {
	var some T
	k := len(some)
	i := slices.IndexFunc(multifloat.Formats(), func(f multifloat.Format) bool { return f.Name == kind })
	same := multifloat.In[float64](multifloat.Formats()[i]) // the numbers, not how they are added
	return &loopFormat[T]{
		library: qd, prefix: prefix,
		functions: []string{"c_" + prefix + "_add", "c_" + prefix + "_sub", "c_" + prefix + "_mul"},
		of: func(method.Config) format.Format[[]T, *T] {
			return format.Format[[]T, *T]{
				Name: kind, Bits: same.Bits, Bytes: same.Bytes, Range: same.Range,
				Make: func(n int) []T { return make([]T, n) },
				Set:  func(v []T, i int, x *T) { v[i] = *x },
				Value: func(x *T) exact.Value {
					var n multifloat.Number[float64]
					copy(n[:], parts(x))
					return same.Value(n)
				},
				Load: func(a numbers.Array) ([]T, method.Rounded) {
					v, rounded := same.Load(a)
					list := make([]T, v.Len)
					for i := range list {
						n := v.Get(i)
						copy(parts(&list[i]), n[:k])
					}
					return list, rounded
				},
			}
		},
	}
}

// parts returns the components of a number.
func parts[T components](x *T) []float64 {
	switch x := any(x).(type) {
	case *[2]float64:
		return x[:]
	case *[4]float64:
		return x[:]
	}
	return nil
}
