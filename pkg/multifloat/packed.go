package multifloat

import (
	"fmt"
	"math"
	"math/big"

	"mpbench/pkg/exact"
	"mpbench/pkg/numbers"
)

// Packing is triple precision as a way to store numbers (Mukunoki, Takahashi 2010: "DS" and "DI"): a binary64 and 32
// bits of the double-double's lower part, rounded to nearest, ties to even. Arithmetic is double-double's, in
// registers, so that memory is read at 12 bytes a number.
//
// With a high part h in [2^e, 2^(e+1)) the low part is at most 2^(e-53), and its error at most half a unit of its last
// place: relative to the number 2^-78 with the 24 bits of a binary32, 2^-75 with the 21 bits that the upper half of a
// binary64 has, and as much again times 2^-5 for the double-double's own error and for h below the number.
type Packing struct {
	single bool // the low part is a binary32; otherwise the upper half of a binary64
	bits   int  // of the significand: 2^-bits is above the relative error
	digits int  // of the low part
	least  int  // low parts are multiples of 2^-least
	most   int  // numbers are below 2^most, and so low parts finite
	lost   int  // products and sums in binary32 lose at most 2^-lost where it underflows; 0 where none are computed
}

// The ways. Products of mixed precision lose 2^-150 times a low part below 2^(100-53) for each factor that is
// rounded to binary32, and 2^-150 a few times where they are rounded and added.
var (
	packedSingle = &Packing{single: true, bits: 77, digits: 24, least: 149, most: 180}
	packedNative = &Packing{single: true, bits: 77, digits: 24, least: 149, most: 100, lost: 101}
	packedHalf   = &Packing{bits: 74, digits: 21, least: 1042, most: 1023}
)

// error returns the relative error of a number whose low part is normal.
func (p *Packing) error() *big.Rat {
	return new(big.Rat).Mul(big.NewRat(33, 32), exact.PowerOfTwo(-54-p.digits))
}

// stored is error as a formula.
func (p *Packing) stored() string { return fmt.Sprintf("33*2^-%d", 59+p.digits) }

// Length returns how many binary64 numbers take the place of n packed ones.
func (p *Packing) Length(n int) int { return n + (n+1)/2 }

func (p *Packing) expand(low uint32) float64 {
	if p.single {
		return float64(math.Float32frombits(low))
	}
	return math.Float64frombits(uint64(low) << 32)
}

func (p *Packing) cut(low float64) uint32 {
	if p.single {
		return math.Float32bits(float32(low))
	}
	b := math.Float64bits(low)
	return uint32((b + 0x7fffffff + b>>32&1) >> 32)
}

// pack rounds the low part. One that becomes half a unit of the high part's last place may change its sign with it:
// the high part stays the number rounded to nearest even.
func (p *Packing) pack(high, low float64) (float64, uint32) {
	bits := p.cut(low)
	rest := p.expand(bits)
	if sum := high + rest; sum != high {
		return sum, p.cut(rest - (sum - high))
	}
	return high, bits
}

// packAll is pack for all numbers, most of which it only rounds.
func packAll[T Float](p *Packing, high []T, low []uint32, x, y []T) {
	if p.single {
		for i, h := range x {
			if f := float32(y[i]); h+T(f) == h {
				high[i], low[i] = h, math.Float32bits(f)
			} else {
				packOne(p, high, low, i, h, y[i])
			}
		}
		return
	}
	for i, h := range x {
		b := math.Float64bits(float64(y[i]))
		b = (b + 0x7fffffff + b>>32&1) >> 32
		if h+T(math.Float64frombits(b<<32)) == h {
			high[i], low[i] = h, uint32(b)
		} else {
			packOne(p, high, low, i, h, y[i])
		}
	}
}

func packOne[T Float](p *Packing, high []T, low []uint32, i int, x, y T) {
	h, b := p.pack(float64(x), float64(y))
	high[i], low[i] = T(h), b
}

// expandAll is expand for all numbers.
func expandAll[T Float](p *Packing, to []T, low []uint32) {
	if p.single {
		for i, b := range low {
			to[i] = T(math.Float32frombits(b))
		}
		return
	}
	for i, b := range low {
		to[i] = T(math.Float64frombits(uint64(b) << 32))
	}
}

// packed returns a number as it is stored.
func packed[T Float](p *Packing, x Number[T]) Number[T] {
	high, low := p.pack(float64(x[0]), float64(x[1]))
	return Number[T]{T(high), T(p.expand(low))}
}

// loses tells whether a low part is below the normal numbers: rounding it may cost more than the relative error.
func (p *Packing) loses(low float64) bool {
	return low != 0 && math.Abs(low) < math.Ldexp(1, p.digits-1-p.least)
}

// check returns an error that names the first element whose low part has no binary32, or that is too large to be
// computed with in binary32.
func (p *Packing) check(a numbers.Array) (err error) {
	if !p.single {
		return nil
	}
	for i := range a.Rows {
		row := a.Row(i)
		for j := range row.Rows {
			if s := row.SpanAt(j, 0); s.Class != numbers.Finite || s.Top < p.most {
				continue
			}
			var z numbers.Number
			row.ReadCut(&z, j, 0, 2*p.bits)
			x, _, _ := split[float64](&z, 2)
			what, beyond := "and its lower part beyond the range of binary32", math.IsInf(p.expand(p.cut(x[1])), 0)
			if p.lost > 0 {
				what, beyond = "beyond the range of its arithmetic", math.Abs(x[0]) >= math.Ldexp(1, p.most)
			}
			if !beyond {
				continue
			}
			place := fmt.Sprintf("[%d]", i)
			switch {
			case a.Pattern != nil:
				place = fmt.Sprintf("[%d,%d]", i, a.Pattern.Column[a.Pattern.Start[i]+j])
			case a.Cols != 1:
				place = fmt.Sprintf("[%d,%d]", i, j)
			}
			return fmt.Errorf("%s is %s, %s; want numbers below 2^%d", place, exact.FromFloat64(x[0]).Text(5), what, p.most)
		}
	}
	return nil
}
