// Package primer shows what reductions and scans are, and why they are computed as they are: the same operation over
// the same numbers by ways that are as simple as possible, and by ways that are fast, each timed and compared with the
// exact result.
//
// A reduction of a_0, ..., a_(n-1) by an associative operation o with an identity e is e o a_0 o ... o a_(n-1); a scan
// gives all e o a_0 o ... o a_i. Of 32- and 64-bit integers, + and * are modulo 2^w, so that every order of operations
// gives the same bits. Of floating-point numbers min and max, && and || are exact; + and * round, and depend on the
// order; any order of n - 1 operations is within g(n-1), [exact.Gamma].
//
// Ways on processors are those of OpenMP: a critical section, atomic updates, and what reduction(o:s) stands for, a
// private copy of the result in every thread that begins as the identity, and a combination of the copies at the end
// ([Team]). Scans on processors have two passes; sums of integers, and those in a fixed grouping, run in vector
// registers where they can (_asm). Ways on a GPU are in package primergpu.
//
// Sources: OpenMP Architecture Review Board, "OpenMP Application Programming Interface", version 5.2 (2021), section
// 5.5.5, for the identities; C. Lin, L. Snyder, "Principles of Parallel Programming", Pearson 2008, chapter 4, for
// Peril-L's reduce and scan.
package primer

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unsafe"

	"mpbench/internal/suggest"
)

// Number are the types of elements.
type Number interface {
	int32 | int64 | float32 | float64
}

// Types are their names.
var Types = []string{"int32", "int64", "float32", "float64"}

// Operation is what combines elements. Its index in Operations is its number in kernels (cuda/primer.cuh).
type Operation struct {
	Name    string // as users type it
	Summary string
	Bits    bool // takes integers only
	Rounds  bool // floating-point numbers
}

// Operations lists all of them.
var Operations = []Operation{
	{Name: "+", Summary: "sum; of integers modulo 2^w", Rounds: true},
	{Name: "*", Summary: "product; of integers modulo 2^w", Rounds: true},
	{Name: "min", Summary: "IEEE 754-2019 minimum: NaN if one is, -0 < +0"},
	{Name: "max", Summary: "IEEE 754-2019 maximum: NaN if one is, -0 < +0"},
	{Name: "&", Summary: "and of the bits of integers", Bits: true},
	{Name: "|", Summary: "or of the bits of integers", Bits: true},
	{Name: "^", Summary: "exclusive or of the bits of integers", Bits: true},
	{Name: "&&", Summary: "1 if all are different from 0, otherwise 0"},
	{Name: "||", Summary: "1 if one is different from 0, otherwise 0"},
}

// Names lists the operations by name.
func Names() (names []string) {
	for _, o := range Operations {
		names = append(names, o.Name)
	}
	return names
}

// Kind is what an operation is used for: its sign in Peril-L stands between the operation and its operand.
type Kind struct{ Name, sign string }

// The kinds: +/a is the sum of the elements of a, +\a their scan.
var (
	Reduction = Kind{"reduce", "/"}
	Scan      = Kind{"scan", `\`}
)

// Parse returns the operation of a name, alone ("+", "max") or with Peril-L's sign ("+/" of a reduction, "max\" of a
// scan), for elements of a type.
func (k Kind) Parse(name, elements string) (Operation, error) {
	bare := strings.TrimSuffix(name, k.sign)
	other := Scan
	if k == Scan {
		other = Reduction
	}
	if known := strings.TrimSuffix(name, other.sign); known != name && slices.Contains(Names(), known) {
		return Operation{}, fmt.Errorf("operation %s is one of %s: %s has %s%s", name, other.Name, k.Name, known, k.sign)
	}
	i := slices.Index(Names(), bare)
	if i < 0 {
		return Operation{}, fmt.Errorf("%s", suggest.Unknown("operation", name, Names()))
	}
	o := Operations[i]
	switch {
	case !slices.Contains(Types, elements):
		return Operation{}, fmt.Errorf("%s", suggest.Unknown("type", elements, Types))
	case o.Bits && strings.HasPrefix(elements, "float"):
		return Operation{}, fmt.Errorf("operation %s is for bits of integers, %s is none; use int32 or int64", o.Name,
			elements)
	}
	return o, nil
}

// Index returns the number of the operation.
func (o Operation) Index() int { return slices.Index(Names(), o.Name) }

// TypeName returns the name of a type of elements.
func TypeName[T Number]() string { return fmt.Sprintf("%T", T(0)) }

// SizeOf returns the bytes of an element.
func SizeOf[T Number]() int { return int(unsafe.Sizeof(T(0))) }

// IsFloat tells whether T is a floating-point type.
func IsFloat[T Number]() bool { return T(1)/2 != 0 }

// extremes returns the greatest and the least number of a type; of floating-point types infinities.
func extremes[T Number]() (greatest, least T) {
	var list [2]any
	switch any(greatest).(type) {
	case int32:
		list = [2]any{int32(math.MaxInt32), int32(math.MinInt32)}
	case int64:
		list = [2]any{int64(math.MaxInt64), int64(math.MinInt64)}
	case float32:
		list = [2]any{float32(math.Inf(1)), float32(math.Inf(-1))}
	case float64:
		list = [2]any{math.Inf(1), math.Inf(-1)}
	}
	return list[0].(T), list[1].(T)
}
