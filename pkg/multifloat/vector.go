package multifloat

import (
	"math"
	"math/big"
	"slices"
	"unsafe"

	"mpbench/pkg/exact"
	"mpbench/pkg/format"
	"mpbench/pkg/numbers"
)

// Float is a type of components.
type Float interface{ float32 | float64 }

// Most is the greatest number of components.
const Most = 8

// Number is a number, the sum of its components from the highest down; those that a format lacks are 0.
type Number[T Float] [Most]T

// Value returns the exact value.
func (x Number[T]) Value() exact.Value {
	sum := new(big.Rat)
	for _, c := range x {
		if c == 0 {
			continue
		}
		v := exact.FromFloat64(float64(c))
		if !v.IsFinite() {
			return exact.FromFloat64(float64(x[0]))
		}
		sum = exact.Add(sum, v.Number())
	}
	return exact.FromRat(sum)
}

// abs returns |x|, exactly: the sign is that of the highest component that is not 0.
func (x Number[T]) abs() Number[T] {
	for _, c := range x {
		if c != 0 {
			if c < 0 {
				for k := range x {
					x[k] = -x[k]
				}
			}
			break
		}
	}
	return x
}

// Vector is a vector as a structure of arrays: the components k of all numbers lie side by side in Planes[k], or the
// second one of packed numbers in Low.
type Vector[T Float] struct {
	Len     int
	Planes  [Most][]T
	Storage []T // all planes, one behind the other, of what MakeVector or MakePacked made; Low is the last one
	Low     []uint32
	packing *Packing // nil if nothing is packed
}

// Sums returns the first n numbers as sums of binary64 numbers, those of planes of them shared with v.
func (v Vector[T]) Sums(n int) numbers.Source {
	var list numbers.Sums
	for _, p := range v.Planes {
		if x, ok := any(p).([]float64); ok && x != nil {
			list = append(list, x[:n])
			continue
		}
		if p != nil {
			wide := make([]float64, n)
			for i, x := range p[:n] {
				wide[i] = float64(x)
			}
			list = append(list, wide)
		}
	}
	if v.packing != nil {
		low := make([]float64, n)
		expandAll(v.packing, low, v.Low[:n])
		list = append(list, low)
	}
	return list
}

// Parts returns how many of the components there are up to the last one that is not 0 in all numbers.
func (v Vector[T]) Parts() int {
	if v.packing != nil && slices.ContainsFunc(v.Low, func(x uint32) bool { return v.packing.expand(x) != 0 }) {
		return 2
	}
	for k := Most; k > 0; k-- {
		if slices.ContainsFunc(v.Planes[k-1], func(x T) bool { return x != 0 }) {
			return k
		}
	}
	return 0
}

// Slice returns the numbers from to to-1; it shares them.
func (v Vector[T]) Slice(from, to int) Vector[T] {
	v.Len, v.Storage = to-from, nil
	for k, p := range v.Planes {
		if p != nil {
			v.Planes[k] = p[from:to]
		}
	}
	if v.packing != nil {
		v.Low = v.Low[from:to]
	}
	return v
}

// Get returns number i.
func (v Vector[T]) Get(i int) (x Number[T]) {
	for k, p := range v.Planes {
		if p != nil {
			x[k] = p[i]
		}
	}
	if v.packing != nil {
		x[1] = T(v.packing.expand(v.Low[i]))
	}
	return x
}

// Set makes number i equal to x, rounded if it is packed.
func (v Vector[T]) Set(i int, x Number[T]) {
	if v.packing != nil {
		high, low := v.packing.pack(float64(x[0]), float64(x[1]))
		v.Planes[0][i], v.Low[i] = T(high), low
		return
	}
	for k, p := range v.Planes {
		if p != nil {
			p[i] = x[k]
		}
	}
}

// Interleaved returns the components of all numbers one number after the other.
func (v Vector[T]) Interleaved(components int) []T {
	list := make([]T, 0, v.Len*components)
	for i := range v.Len {
		for k := range components {
			list = append(list, v.Planes[k][i])
		}
	}
	return list
}

// Deinterleave is the inverse of [Vector.Interleaved].
func Deinterleave[T Float](list []T, components int) Vector[T] {
	v := MakeVector[T](len(list)/components, components)
	for i, x := range list[:v.Len*components] {
		v.Planes[i%components][i/components] = x
	}
	return v
}

// MakeVector returns a vector of zeros.
func MakeVector[T Float](n, components int) Vector[T] {
	v := Vector[T]{Len: n, Storage: make([]T, n*components)}
	for k := range components {
		v.Planes[k] = v.Storage[k*n : (k+1)*n : (k+1)*n]
	}
	return v
}

// MakePacked is MakeVector for numbers that may be packed.
func MakePacked[T Float](n, components int, p *Packing) Vector[T] {
	if p == nil {
		return MakeVector[T](n, components)
	}
	v := Vector[T]{Len: n, Storage: make([]T, p.Length(n)), packing: p}
	v.Planes[0] = v.Storage[:n:n]
	v.Low = unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(v.Storage[n:]))), n)
	return v
}

// sqrt returns the square root of x >= 0, rounded as split does.
func sqrt[T Float](x Number[T], components int) Number[T] {
	var z numbers.Number
	z.SetBig(exact.RoundRoot(x.Value(), uint(format.ReadBits(components*componentOf[T]().bits))))
	root, _, _ := split[T](&z, components)
	return root
}

// quotient returns x/y, rounded to 2*bits + 64 bits, and then as split does.
func quotient[T Float](x, y Number[T], components int) Number[T] {
	if y[0] == 0 || x[0]-x[0] != 0 || y[0]-y[0] != 0 {
		return Number[T]{0: x[0] / y[0]}
	}
	prec := uint(format.ReadBits(components * componentOf[T]().bits))
	a, b := x.float(prec), y.float(prec)
	var z numbers.Number
	z.SetBig(a.Quo(a, b))
	result, _, _ := split[T](&z, components)
	return result
}

// float returns a finite number rounded to so many bits.
func (x Number[T]) float(prec uint) *big.Float {
	sum := new(big.Float).SetPrec(prec)
	for _, c := range x {
		if c != 0 {
			sum.Add(sum, new(big.Float).SetFloat64(float64(c)))
		}
	}
	return sum
}

// component describes the type of components: numbers of so many bits, multiples of 2^-least, below 2^(most+1).
type component struct{ bits, least, most int }

func componentOf[T Float]() component {
	if _, narrow := any(T(0)).(float32); narrow {
		return component{24, 149, 127}
	}
	return component{53, 1074, 1023}
}

// split returns a number rounded to nearest component by component; rounded tells whether it is not exact, lost
// whether that cost more than the bound below, as not all components are normal numbers.
//
// The relative error is at most u^K * 2^(1-K): with 2^e <= |x| what is left of a number that has no more than a
// component is 0, or else below u*2^e in magnitude, and so in a binade below that; each component halves the bound
// once more.
func split[T Float](z *numbers.Number, components int) (x Number[T], rounded, lost bool) {
	if z.Class >= numbers.Infinite {
		x[0] = T(z.Value().Float64())
		return x, false, false
	}
	if v, ok := z.Binary64(); ok && float64(T(v)) == v {
		x[0] = T(v)
		return x, false, false
	}
	leastNormal := T(math.Ldexp(1, 1-componentOf[T]().most))
	rest := z.Big()
	rest.SetPrec(rest.MinPrec() + 64)
	for k := range components {
		c := nearest[T](rest)
		if x[k] = c; c-c != 0 {
			return Number[T]{0: c}, true, true
		}
		rest.Sub(rest, new(big.Float).SetFloat64(float64(c)))
		if rest.Sign() == 0 {
			return x, false, false
		}
		lost = max(c, -c) <= leastNormal
	}
	return x, true, lost
}

// nearest rounds to nearest, ties to even.
func nearest[T Float](x *big.Float) T {
	if _, narrow := any(T(0)).(float32); narrow {
		f, _ := x.Float32()
		return T(f)
	}
	f, _ := x.Float64()
	return T(f)
}
