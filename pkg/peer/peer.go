// Package peer has methods that are other people's: functions of MPFR, FLINT, GMP, OpenBLAS, QD, cuBLAS and cuSPARSE,
// of the libraries that are installed, called without cgo. They have the contract of all methods: numbers are
// converted in Prepare, which is timed apart, results are compared with the exact ones and with a bound that is proved
// of what the library documents. A library that is missing is no error until one of its methods is run.
//
// What is timed is one call, of the library's function for whole arrays where it has one, otherwise of a loop of
// helper/loops.c, which calls the library's function for each number as a program in C would. Numbers lie in Go's
// memory as the libraries' public headers lay them out: these functions write to the words that are there, or to
// memory of the library that Close gives back.
package peer

import (
	"runtime"
	"slices"

	"mpbench/pkg/method"
)

// Group is the name of all methods together.
const Group = "peers"

// Methods returns the methods, those of libraries that are missing too.
func Methods() []method.Method {
	return slices.Concat(mpfrWhole(), mpfrLoops(), flintMethods(), gmpLoops(), blasMethods(), qdLoops(),
		cublasMethods(), cusparseMethods())
}

// of completes methods that need what check looks for.
func of(list []method.Method, check func() error) []method.Method {
	for i := range list {
		list[i].Extra, list[i].Group, list[i].Available = true, Group, check
	}
	return list
}

// A Status is what is known of a library.
type Status struct {
	Name, Version, Path string
	Missing             error    // why it cannot be used; nil if it can
	Methods             []string // that call it
}

// libraries are all there are, in the order of tables.
func libraries() []*library { return []*library{mpfr, flint, gmp, openblas, qd, cublas, cusparse} }

// Statuses opens all libraries, and that of the loops, which has no methods of its own.
func Statuses() (list []Status) {
	for _, l := range libraries() {
		list = append(list, l.status())
	}
	s := Status{Name: "loops", Path: loopsPath()}
	_, s.Missing = openLoops()
	return append(list, s)
}

// Used returns what is known of the libraries that methods of these names call.
func Used(names []string) (list []Status) {
	for _, l := range libraries() {
		if slices.ContainsFunc(l.methods, func(name string) bool { return slices.Contains(names, name) }) {
			list = append(list, l.status())
		}
	}
	return list
}

func (l *library) status() Status {
	s := Status{Name: l.name, Methods: l.methods}
	if s.Missing = l.open(); s.Missing == nil {
		s.Version, s.Path = l.version(l), l.path
	}
	return s
}

// fileNames returns names under which a library may be there, with the numbers of its interface, the best first.
func fileNames(name string, versions ...string) (list []string) {
	if runtime.GOOS == "darwin" {
		return []string{"lib" + name + ".dylib", "/opt/homebrew/lib/lib" + name + ".dylib"}
	}
	for _, v := range versions {
		list = append(list, "lib"+name+".so."+v)
	}
	return append(list, "lib"+name+".so")
}
