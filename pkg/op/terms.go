package op

import (
	"math"
	"math/big"

	"mpbench/pkg/exact"
	"mpbench/pkg/numbers"
)

// Terms collects the terms of a component without rounding. The zero value has none.
type Terms struct {
	parts   []*part
	classes bool // only infinities, NaN and signs matter

	short   *exact.Short // what the terms are added to, instead of the parts; nil for the parts
	divisor float64      // of short
}

// part is a sum of terms with a common factor; an integer multiple of a common unit, and so cheap to add to.
type part struct {
	factor *big.Rat   // nil for 1
	first  [2]float64 // finite numbers that are added to the sums
	firsts int        // how many there are
	sum    exact.Sum  // of single binary64 numbers
	dot    exact.Dot  // of products
}

// add adds a number.
func (p *part) add(x float64) {
	if p.firsts < len(p.first) && x-x == 0 {
		p.first[p.firsts] = x
		p.firsts++
		return
	}
	p.dot.Add(x, 1)
}

// Sum adds the elements of x, a vector.
func (t *Terms) Sum(x numbers.Array) { t.Products(numbers.Array{}, x, numbers.Array{}) }

// Products adds scale * sum x_i*y_i for vectors x and y; an absent array is ones. What the arrays consist of is asked
// once: a binary64 number costs an addition to a fixed-point number, a product of two an integer multiplication, one
// of longer numbers an addition of big integers.
func (t *Terms) Products(scale, x, y numbers.Array) {
	if t.short != nil {
		t.shortProducts(scale, x, y)
		return
	}
	if !scale.Absent() && (t.classes || !scale.AllFinite()) {
		t.signs(scale, x, y)
		return
	}
	p := t.part(factorOf(scale, x, y))
	xs, xFloats := x.Source.(numbers.Float64s)
	ys, yFloats := y.Source.(numbers.Float64s)
	switch {
	case x.Chunked() && y.Absent() && (x.RowStride == 1 || x.Rows <= 1):
		p.addChunks(x)
	case y.Absent() && xFloats && x.Rows <= fewTerms:
		for i := range x.Rows {
			p.add(xs[x.Index(i, 0)])
		}
	case y.Absent() && xFloats:
		p.addFloats(xs, x)
	case xFloats && yFloats:
		for i := range x.Rows {
			p.dot.Add(xs[x.Index(i, 0)], ys[y.Index(i, 0)])
		}
	default:
		p.addWide(x, y)
	}
}

// factorOf returns scale / (the denominators of all arrays), nil for 1.
func factorOf(scale, x, y numbers.Array) *big.Rat {
	factor := one
	if !scale.Absent() {
		factor = numbers.At(scale.Source, scale.Offset).Number()
	}
	for _, a := range []numbers.Array{x, y} {
		if d := a.Denominator(); d != nil {
			factor = new(big.Rat).Quo(factor, new(big.Rat).SetInt(d))
		}
	}
	if factor.Cmp(one) == 0 {
		return nil
	}
	return factor
}

var one = big.NewRat(1, 1)

// part returns the part with a factor.
func (t *Terms) part(factor *big.Rat) *part {
	for _, p := range t.parts {
		if (p.factor == nil) == (factor == nil) && (factor == nil || p.factor.Cmp(factor) == 0) {
			return p
		}
	}
	p := &part{factor: factor}
	t.parts = append(t.parts, p)
	return p
}

func (p *part) addFloats(xs numbers.Float64s, x numbers.Array) {
	if list, ok := x.Contiguous(); ok {
		p.sum.AddSlice(list)
		return
	}
	for i := range x.Rows {
		p.sum.Add(xs[x.Index(i, 0)])
	}
}

// fewTerms is up to how many numbers are added as products with 1: a sum of numbers takes 64 kB, one of products 1 kB.
const fewTerms = 16

// chunk is how many numbers of a Chunked source are read at a time.
const chunk = 1 << 16

// addChunks adds numbers that are not in memory; an error of reading is the source's to keep.
func (p *part) addChunks(x numbers.Array) {
	source := x.Source.(numbers.Chunked)
	buffer := make([]float64, min(chunk, x.Rows))
	for from := 0; from < x.Rows; from += len(buffer) {
		run := buffer[:min(len(buffer), x.Rows-from)]
		if source.ReadRun(run, x.Index(from, 0)) != nil {
			return
		}
		p.sum.AddSlice(run)
	}
}

// addWide adds products of numbers of any length, and those of infinities and NaN.
func (p *part) addWide(x, y numbers.Array) {
	var u, v numbers.Number
	for i := range x.Rows {
		x.ReadAt(&u, i, 0)
		left, right := u.Class, numbers.Finite
		if !y.Absent() {
			y.ReadAt(&v, i, 0)
			right = v.Class
		}
		a, short := u.Binary64()
		b := 1.0
		if short && !y.Absent() {
			b, short = v.Binary64()
		}
		switch {
		case max(left, right) >= numbers.Infinite:
			p.dot.Add(signOf(&u), otherSign(&v, y.Absent()))
		case short:
			p.dot.Add(a, b)
		case min(left, right) == numbers.Zero:
			p.dot.Add(0, 0)
		case y.Absent():
			p.dot.AddBig(u.Big(), oneFloat)
		default:
			p.dot.AddBig(u.Big(), v.Big())
		}
	}
}

var oneFloat = big.NewFloat(1)

// signs adds what infinities and NaN give: each finite factor counts as its sign.
func (t *Terms) signs(scale, x, y numbers.Array) {
	p := t.part(nil)
	s := 1.0
	var u, v numbers.Number
	if !scale.Absent() {
		scale.ReadAt(&u, 0, 0)
		s = signOf(&u)
	}
	for i := range x.Rows {
		x.ReadAt(&u, i, 0)
		if !y.Absent() {
			y.ReadAt(&v, i, 0)
		}
		p.dot.Add(s*signOf(&u), otherSign(&v, y.Absent()))
	}
}

// signOf returns an infinity or NaN as it is and a finite number's sign.
func signOf(z *numbers.Number) float64 {
	sign := 1.0
	if z.Neg {
		sign = -1
	}
	switch z.Class {
	case numbers.Zero:
		return 0
	case numbers.Infinite:
		return math.Inf(int(sign))
	case numbers.NaN:
		return math.NaN()
	}
	return sign
}

func otherSign(z *numbers.Number, absent bool) float64 {
	if absent {
		return 1
	}
	return signOf(z)
}

// Merge adds the terms of u, which must not be used afterwards.
func (t *Terms) Merge(u *Terms) {
	for _, q := range u.parts {
		p := t.part(q.factor)
		p.sum.Merge(&q.sum)
		p.dot.Merge(&q.dot)
		for _, x := range q.first[:q.firsts] {
			p.add(x)
		}
	}
}

// summary returns the sum and the sum of magnitudes.
func (t *Terms) summary() exact.Summary {
	total := exact.Summary{}
	for _, p := range t.parts {
		for _, x := range p.first[:p.firsts] {
			v := exact.FromFloat64(x)
			add(&total, p.factor, exact.Summary{N: 1, Sum: v, SumAbs: v.Abs()})
		}
		if p.sum.N() > 0 {
			add(&total, p.factor, p.sum.Summary())
		}
		if p.dot.N() > 0 {
			add(&total, p.factor, p.dot.Summary())
		}
	}
	return total
}

func add(total *exact.Summary, factor *big.Rat, s exact.Summary) {
	sum := times(factor, s.Sum)
	abs := sum.Abs()
	if s.N > 1 || !sum.IsFinite() {
		abs = times(factor, s.SumAbs).Abs()
	}
	finite := abs
	if !s.SumAbs.IsFinite() {
		finite = times(factor, s.Finite).Abs()
	}
	before := total.SumAbs.IsFinite() // and so the same as Finite
	total.Sum, total.SumAbs = plus(total.Sum, sum), plus(total.SumAbs, abs)
	if before && total.SumAbs.IsFinite() {
		total.Finite = total.SumAbs
	} else {
		total.Finite = plus(total.Finite, finite)
	}
}

// times returns the product of a finite factor, nil for 1, and a value; the factor 0 gives 0.
func times(factor *big.Rat, v exact.Value) exact.Value {
	switch {
	case factor == nil:
		return v
	case v.IsFinite():
		return exact.FromRat(exact.Mul(factor, v.Number()))
	case v.Class == exact.NaN || factor.Sign() > 0:
		return v
	case v.Class == exact.PosInf:
		return exact.Value{Class: exact.NegInf}
	}
	return exact.Value{Class: exact.PosInf}
}

// plus returns the sum of two values.
func plus(x, y exact.Value) exact.Value {
	switch {
	case x.IsFinite() && y.IsFinite():
		if x.Number().Sign() == 0 {
			return y
		}
		if y.Number().Sign() == 0 {
			return x
		}
		return exact.FromRat(exact.Add(x.Number(), y.Number()))
	case x.IsFinite():
		return y
	case y.IsFinite() || x.Class == y.Class:
		return x
	}
	return exact.Value{Class: exact.NaN}
}
