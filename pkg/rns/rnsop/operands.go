// Package rnsop holds the operands of a problem in residue numbers: what methods over package rns share, on the CPU
// and on a GPU.
//
// Vectors and matrices are structures of arrays (Table 2 of the 2020 paper). A 2 x 3 matrix with three moduli, a_ij.k
// being residue k:
//
//	            column 0                    column 1                    column 2
//	digits   a00.0 a00.1 a00.2 | a10.0 ... | a01.0 ... | a11.0 ... | a02.0 ... | a12.0 a12.1 a12.2
//	sign     a00  a10 | a01  a11 | a02  a12
//	exp      a00  a10 | a01  a11 | a02  a12
//	lo       a00  a10 | a01  a11 | a02  a12        interval evaluation: lower bounds,
//	up       a00  a10 | a01  a11 | a02  a12        upper bounds
//	ivexp    a00  a10 | a01  a11 | a02  a12        and their exponents
//
// where the residues of one number are padded to a multiple of 8. The paper's buf array is not needed here.
package rnsop

import (
	"mpbench/internal/parallel"
	"mpbench/pkg/exact"
	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
	"mpbench/pkg/rns"
)

// Options are the choices that all methods over residue numbers offer.
func Options() []method.Option {
	return []method.Option{
		{
			Name: "moduli-bits", Default: "0", Least: 0, Most: rns.DefaultModuliBits,
			Usage: "width of the RNS moduli in bits, 0 for 31; the 2018 paper has 16",
		},
		{
			Name: "rounding", Default: "truncate", Values: []string{"truncate", "nearest"},
			Usage: "rounding of RNS numbers: truncate or nearest",
		},
		{
			Name: "alignment", Default: "2018", Values: []string{"2018", "blas"},
			Usage: "alignment of RNS exponents: 2018 or blas",
		},
	}
}

// NewContext returns the arithmetic that a configuration asks for. The error wraps rns.ErrModuli if it has no moduli.
func NewContext(c method.Config) (*rns.Context, error) {
	base, err := rns.NewBaseForPrecision(c.Precision, c.Int("moduli-bits"))
	if err != nil {
		return nil, err
	}
	rounding, err := rns.ParseRounding(c.Options["rounding"])
	if err != nil {
		return nil, err
	}
	alignment, err := rns.ParseAlignment(c.Options["alignment"])
	return rns.NewContext(base, rounding, alignment), err
}

// Operands are the numbers of a problem. Infinities and NaN count as 0: their components are in Special.
type Operands struct {
	Context *rns.Context
	Problem *op.Problem
	Shape   op.Shape
	Special []exact.Value // see op.Specials
	Rounded method.Rounded

	Alpha, Beta *rns.Float  // 1 and 0 where the problem has none
	A           *rns.Vector // element (i, j) is number j*M + i; of a sparse matrix the stored ones of op(A), row by row
	X, Y        *rns.Vector // the elements, in order
	workers     []*rns.Context
	counting    bool // ResetCounts has been called
}

// Load checks and converts a problem by so many threads: what it reads of each operand. Numbers are rounded only if a
// significand of F - 4 bits, about twice the precision, does not hold them. newX makes the vector X, unless nil.
func Load(c *rns.Context, p *op.Problem, threads int, newX func(n int) (*rns.Vector, error)) (*Operands, error) {
	shape, err := p.Op.Shape(p)
	if err != nil {
		return nil, err
	}
	b := c.Base()
	o := &Operands{Context: c, Problem: p, Shape: shape, Special: op.Specials(p, shape.Components)}
	for range parallel.Threads(threads) {
		o.workers = append(o.workers, c.Clone())
	}
	o.Alpha, o.Beta = b.NewFloat(), b.NewFloat()
	c.SetFloat64(o.Alpha, 1)
	if p.A.Absent() || p.Multiplies() {
		if o.X, err = o.vector(p.X, newX); err != nil {
			return nil, err
		}
		o.A = o.matrix(p.A)
		o.scalar(o.Alpha, p.Alpha)
	}
	if p.A.Absent() || p.Adds() {
		factors := o.Rounded.Factors
		if !p.A.Absent() {
			o.Rounded.Factors = 0 // beta*y is a term of its own
		}
		if o.Y, err = o.vector(p.Y, nil); err != nil {
			return nil, err
		}
		o.scalar(o.Beta, p.Beta)
		if !p.A.Absent() {
			o.Rounded.Factors = max(o.Rounded.Factors, factors)
		}
	}
	return o, nil
}

// Worker returns the context of a goroutine, numbered from 0.
func (o *Operands) Worker(i int) *rns.Context { return o.workers[i] }

// ResetCounts begins to count the alignments and roundings of a run; without it Info has none.
func (o *Operands) ResetCounts() {
	o.counting = true
	o.Context.ResetCounts()
	for _, c := range o.workers {
		c.ResetCounts()
	}
}

// counts returns those of all goroutines.
func (o *Operands) counts() rns.Counts {
	total := o.Context.Counts()
	for _, c := range o.workers {
		total.Add(c.Counts())
	}
	return total
}

// Workers returns how many goroutines can work.
func (o *Operands) Workers() int { return len(o.workers) }

func (o *Operands) vector(a numbers.Array, make func(int) (*rns.Vector, error)) (v *rns.Vector, err error) {
	if a.Absent() {
		return nil, nil
	}
	if v = nil; make == nil {
		v = o.Context.Base().NewVector(a.Rows)
	} else if v, err = make(a.Rows); err != nil {
		return nil, err
	}
	o.fill(v, a)
	return v, nil
}

func (o *Operands) matrix(a numbers.Array) *rns.Vector {
	switch {
	case a.Absent():
		return nil
	case a.Pattern != nil:
		a = o.Problem.Matrix().Elements()
	}
	v := o.Context.Base().NewVector(a.Len())
	o.fill(v, a)
	return v
}

func (o *Operands) scalar(z *rns.Float, a numbers.Array) {
	if !a.Absent() {
		v := o.Context.Base().NewVector(1)
		o.fill(v, a)
		v.View(z, 0)
	}
}

// fillGrain is how many numbers a goroutine converts at a time.
const fillGrain = 1 << 10

// fill sets v to the elements of a, column by column.
func (o *Operands) fill(v *rns.Vector, a numbers.Array) {
	rounded := make([]bool, len(o.workers))
	grain := fillGrain
	if a.Cols > 1 {
		grain = max(1, a.Rows)
	}
	parallel.Ranges(len(o.workers), a.Len(), grain, func(worker, from, to int) {
		var f rns.Float
		var z numbers.Number
		c := o.workers[worker]
		x, floats := a.Source.(numbers.Float64s)
		for k := from; k < to; k++ {
			i, j := k%a.Rows, k/a.Rows
			v.View(&f, k)
			if floats {
				c.SetFloat64(&f, finite(x[a.Index(i, j)]))
			} else {
				a.ReadCut(&z, i, j, 2*c.Base().ExactBits())
				rounded[worker] = set(c, &f, &z) || rounded[worker]
			}
			v.SetFields(k, &f)
		}
	})
	for _, r := range rounded {
		if r {
			o.Rounded.Factors++
			return
		}
	}
}

// finite returns x, or 0 if x is infinite or NaN.
func finite(x float64) float64 {
	if x-x != 0 {
		return 0
	}
	return x
}

// set sets f to z, or to 0 for infinities and NaN, and reports whether it rounded.
func set(c *rns.Context, f *rns.Float, z *numbers.Number) bool {
	if z.Class != numbers.Finite {
		f.SetZero()
		return false
	}
	c.SetBig(f, z.Big())
	return z.Span().Bits() > c.Base().ExactBits()
}

// Result returns the components of a result, with what is infinite or NaN in its place.
func (o *Operands) Result(y *rns.Vector) numbers.Values {
	result := make(numbers.Values, y.Len())
	var f rns.Float
	for i := range result {
		if o.Special != nil && !o.Special[i].IsFinite() {
			result[i] = o.Special[i]
			continue
		}
		y.View(&f, i)
		result[i] = exact.FromBig(o.Context.Big(&f))
	}
	return result
}

// Info describes the numbers; o may be nil before anything is loaded.
func (o *Operands) Info(c *rns.Context) method.Info {
	b := c.Base()
	info := method.Info{
		Format: "rns", Bits: b.Precision(), NumberBytes: b.TermBytes(), Moduli: b.Len(), ModuliBits: b.ModuliBits(),
		Rounding: c.Rounding().String(), Alignment: c.Alignment().String(), Threads: 1,
		Unit: c.UnitRoundoff(), Range: method.Range{Unit: c.UnitRoundoff()},
	}
	if o != nil {
		info.Rounded = o.Rounded
		if o.counting {
			counts := o.counts()
			info.Alignments, info.Roundings = counts.Alignments, counts.Roundings
		}
	}
	return info
}
