package primer

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"strconv"

	"mpbench/pkg/exact"
)

// PrefixReference judges scans.
type PrefixReference[T Number] struct {
	combiner  Combiner[T]
	exclusive bool
	exact     []T // of operations that do not round
	x         []T
}

// NewPrefixReference computes the exact results.
func NewPrefixReference[T Number](c Combiner[T], x []T, exclusive bool) *PrefixReference[T] {
	r := &PrefixReference[T]{combiner: c, exclusive: exclusive, x: x}
	if !c.Rounds || !IsFloat[T]() {
		r.exact = make([]T, len(x))
		scanSerial(c, r.exact, x, exclusive, 1)
	}
	return r
}

// Exclusive tells whether the scans are exclusive.
func (r *PrefixReference[T]) Exclusive() bool { return r.exclusive }

// Judge compares every result with the exact one: of operations that round with the bound g(k-1) of k elements in any
// order, or, if it is to be, with the exact one rounded once. The relative error of a verdict is the largest.
func (r *PrefixReference[T]) Judge(y []T, rounded bool) Verdict {
	v := Verdict{Value: hash(y), Right: true}
	if r.exact != nil {
		for i := range y {
			v.Right = v.Right && same(y[i], r.exact[i])
		}
		v.Exact = v.Right
		return v
	}
	p := newPrefix(r.combiner.Name)
	largest := 0.0
	for i, f := range r.x {
		if f-f != 0 {
			return v // nothing is proved from an infinity or NaN on
		}
		if !r.exclusive {
			p.combine(float64(f))
		}
		relative, right := p.judge(float64(y[i]), precisionOf[T](), rounded)
		v.Right = v.Right && right
		largest = max(largest, relative)
		if r.exclusive {
			p.combine(float64(f))
		}
	}
	v.RelError = strconv.FormatFloat(largest, 'e', 1, 64)
	u, _ := unit[T]()
	if g := exact.Gamma(max(0, len(y)-1), u); g != nil && !rounded {
		v.Bound = exact.FormatRat(g, 2)
	}
	return v
}

// prefix is the exact combination of elements so far: a sum, or a product within 2^-200 of what it is.
type prefix struct {
	product          bool
	terms            int
	value, magnitude *big.Float // magnitude: the sum of the magnitudes
}

// prefixBits hold sums of any binary64 numbers.
const prefixBits = 2400

func newPrefix(operation string) *prefix {
	if operation == "*" {
		return &prefix{product: true, value: one(productBits), magnitude: one(productBits)}
	}
	zero := func() *big.Float { return new(big.Float).SetPrec(prefixBits) }
	return &prefix{value: zero(), magnitude: zero()}
}

func (p *prefix) combine(f float64) {
	p.terms++
	x := new(big.Float).SetFloat64(f)
	if p.product {
		p.value.Mul(p.value, x)
		p.magnitude.Abs(p.value)
		return
	}
	p.value.Add(p.value, x)
	p.magnitude.Add(p.magnitude, x.Abs(x))
}

// judge returns |y - value| / magnitude and whether it is right: at most g(terms-1), or y the value rounded.
func (p *prefix) judge(y float64, precision uint, rounded bool) (relative float64, right bool) {
	if math.IsInf(y, 0) || y != y {
		return y, false
	}
	e := new(big.Float).SetPrec(prefixBits).SetFloat64(y)
	e.Abs(e.Sub(e, p.value))
	if p.magnitude.Sign() != 0 {
		relative, _ = new(big.Float).SetPrec(53).Quo(e, p.magnitude).Float64()
	}
	if rounded {
		return relative, new(big.Float).SetPrec(precision).Set(p.value).Cmp(big.NewFloat(y)) == 0
	}
	k := max(0, p.terms-1)
	rest := float64(uint64(1)<<precision) - float64(k)
	if rest <= 0 { // nothing is proved
		return relative, true
	}
	e.Mul(e, big.NewFloat(rest))
	limit := new(big.Float).SetPrec(prefixBits).SetInt64(int64(k))
	limit.Mul(limit, p.magnitude)
	if p.product { // what its value may be off
		limit.Sub(limit, new(big.Float).SetMantExp(limit, -100))
	}
	return relative, e.Cmp(limit) <= 0
}

// hash is that of the bits of a result.
func hash[T Number](y []T) string {
	h := sha256.New()
	var word [8]byte
	for _, v := range y {
		if v != v {
			binary.LittleEndian.PutUint64(word[:], 1<<63) // every NaN is the same
		} else {
			binary.LittleEndian.PutUint64(word[:], bitsOf(v))
		}
		h.Write(word[:])
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:8])
}
