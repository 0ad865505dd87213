package digits

import (
	"slices"

	"mpbench/pkg/exact"
	"mpbench/pkg/format"
	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
)

// Vector is numbers of so many words: the words of a number lie together, and heads are 2*exponent, and 1 more for
// negative numbers.
type Vector struct {
	each  int
	words []uint64
	heads []int64
}

// MakeVector returns n zeros of so many words.
func MakeVector(n, words int) Vector {
	return Vector{words, make([]uint64, n*words), make([]int64, n)}
}

// Slice returns the numbers from to to-1; it shares them.
func (v Vector) Slice(from, to int) Vector {
	return Vector{v.each, v.words[from*v.each : to*v.each], v.heads[from:to]}
}

// Get returns number i, whose words are those of the vector.
func (v Vector) Get(i int) *Number {
	x := v.at(i)
	return &x
}

func (v Vector) at(i int) Number {
	return Number{v.words[i*v.each : (i+1)*v.each], v.heads[i] >> 1, v.heads[i]&1 == 1}
}

// Set makes number i equal to x.
func (v Vector) Set(i int, x *Number) {
	copy(v.words[i*v.each:(i+1)*v.each], x.words)
	v.heads[i] = x.exponent << 1
	if x.negative {
		v.heads[i]++
	}
}

// Storage returns the words of all numbers, one number behind the other from the highest word down, and their heads:
// twice the exponent, and 1 more for negative numbers.
func (v Vector) Storage() (words []uint64, heads []int64) { return v.words, v.heads }

// WordsFor returns how many words numbers of at least p bits have.
func WordsFor(p int) int { return (p-1+wordBits-1)/wordBits + 1 }

// Bits returns how many bits so many words have for certain.
func Bits(words int) int { return wordBits*(words-1) + 1 }

// Truncating is the format of truncated results, of at least the configuration's precision.
func Truncating(c method.Config) format.Format[Vector, *Number] {
	return formatOf(WordsFor(c.Precision), false)
}

// Rounding is the format of results rounded to nearest.
func Rounding(c method.Config) format.Format[Vector, *Number] {
	return formatOf(WordsFor(c.Precision), true)
}

func formatOf(words int, nearest bool) format.Format[Vector, *Number] {
	p := Bits(words)
	unit := exact.PowerOfTwo(1 - p)
	name := "digits, truncated"
	if nearest {
		name, unit = "digits, rounded", exact.PowerOfTwo(-p)
	}
	fresh := func() *arithmetic { return newArithmetic(words, nearest) }
	return format.Format[Vector, *Number]{
		Name: name, Bits: p, Bytes: wordBits / 8 * (words + 1), Parts: "W x 8 + 8 bytes",
		Range: method.Range{Unit: unit},
		Make:  func(n int) Vector { return MakeVector(n, words) },
		Slice: Vector.Slice, Get: Vector.Get, Set: Vector.Set, Value: (*Number).Value,
		Float64s: func(z []float64, x Vector) {
			for i := range x.heads {
				z[i], _ = x.Get(i).float().Float64()
			}
		},
		Load: func(from numbers.Array) (Vector, method.Rounded) {
			v, any, i, a := MakeVector(from.Len(), words), method.Rounded{}, 0, fresh()
			number := a.number()
			from.Each(format.ReadBits(p), func(z *numbers.Number) {
				if a.convert(number, z.Big()) {
					any.Factors = 1
				}
				v.Set(i, number)
				i++
			})
			return v, any
		},
		Loops: format.Loops[Vector, *Number]{
			Sum:  func(x Vector) *Number { return fresh().sum(x, false) },
			Asum: func(x Vector) *Number { return fresh().sum(x, true) },
			Dot:  func(x, y Vector) *Number { return fresh().dot(x, y) },
			Axpy: func(z Vector, a *Number, x, y Vector) { fresh().axpy(z, a, x, y) },
			Scal: func(z Vector, a *Number, x Vector) { fresh().scal(z, a, x) },
			Add: func(x, y *Number) *Number {
				a := fresh()
				z := a.number()
				a.add(z, x, y)
				return z
			},
			Mul: func(x, y *Number) *Number {
				a := fresh()
				z := a.number()
				a.mul(z, x, y)
				return z
			},
			Div:  func(x, y *Number) *Number { return fresh().div(x, y) },
			Sqrt: func(x *Number) *Number { return fresh().sqrt(x) },
		},
	}
}

// sum adds numbers, or their magnitudes, from the first to the last.
func (a *arithmetic) sum(x Vector, magnitudes bool) *Number {
	sum, next := a.number(), a.number()
	for i := range x.heads {
		term := x.at(i)
		term.negative = term.negative && !magnitudes
		a.add(next, sum, &term)
		sum, next = next, sum
	}
	return sum
}

// dot adds products from the first to the last.
func (a *arithmetic) dot(x, y Vector) *Number {
	sum, next, product := a.number(), a.number(), a.number()
	for i := range x.heads {
		left, right := x.at(i), y.at(i)
		a.mul(product, &left, &right)
		a.add(next, sum, product)
		sum, next = next, sum
	}
	return sum
}

func (a *arithmetic) axpy(z Vector, c *Number, x, y Vector) {
	product, sum := a.number(), a.number()
	for i := range x.heads {
		left, right := x.at(i), y.at(i)
		a.mul(product, c, &left)
		a.add(sum, product, &right)
		z.Set(i, sum)
	}
}

func (a *arithmetic) scal(z Vector, c *Number, x Vector) {
	product := a.number()
	for i := range x.heads {
		left := x.at(i)
		a.mul(product, c, &left)
		z.Set(i, product)
	}
}

const source = "package digits: results are exact ones, cut or rounded at the last word"

// Methods are all operations, in numbers that are truncated as in ARPREC, GARPREC and CUMP, or rounded to nearest.
func Methods() []method.Method {
	m := method.Method{Least: 2, Most: 1 << 14, Extra: true}
	m.Name, m.Summary = "digits", "in words of 64 bits with one exponent, truncated"
	truncating := format.Recursive(m, "u = 2^(1-p)", Truncating, op.All()...)
	m.Name, m.Summary = "digits-rounded", "in words of 64 bits with one exponent, rounded to nearest"
	list := slices.Concat(truncating, format.Recursive(m, "u = 2^-p", Rounding, op.All()...))
	for i := range list {
		list[i].Bound.Source += "; " + source
	}
	return list
}
