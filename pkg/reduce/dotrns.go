package reduce

import (
	"math/big"

	"mpbench/pkg/exact"
	"mpbench/pkg/rns"
)

// rnsDot is the dot product of RNS numbers: products, added in one of the orders of the sums.
type rnsDot struct {
	x, y    residues
	special *exact.Value
	order   string // "reduce1", "reduce2", "reduce3"
	grid    grid
	threads int
}

// newRNSDot returns the constructor for an order.
func newRNSDot(order string) func(Options) (Dotter, error) {
	return func(o Options) (Dotter, error) {
		s, err := newReduce3(o) // whose parts serve the other orders too
		if err != nil {
			return nil, err
		}
		r := s.(*reduce3)
		y := residues{context: r.context.Clone()}
		return &rnsDot{x: r.residues, y: y, order: order, grid: r.grid, threads: r.threads}, nil
	}
}

func (d *rnsDot) Load(x, y Terms) error {
	if d.special = specialDot(x, y); d.special != nil {
		return nil
	}
	_, _ = d.x.Load(x), d.y.Load(y)
	return nil
}

func (d *rnsDot) Dot() {
	d.x.sum.SetZero()
	n := 0
	if d.special == nil {
		n = d.x.terms.Len()
	}
	if n == 0 {
		return
	}
	switch d.order {
	case "reduce1":
		s := d.newSlots(1)
		recursive(s, n)
		d.x.sum.Set(s.slots[0])
	case "reduce2":
		s := d.newSlots(pairwiseSlots(n))
		pairwise(s, n)
		d.x.sum.Set(s.slots[0])
	default:
		for _, x := range blockSums(d.grid, d.threads, n, d.newSlots) {
			if x != nil {
				d.x.context.Add(d.x.sum, d.x.sum, x)
			}
		}
	}
}

// newSlots returns an adder whose terms are the products.
func (d *rnsDot) newSlots(n int) *rnsSlots {
	s := d.x.newSlots(n)
	s.factors, s.factor, s.product = d.y.terms, new(rns.Float), d.x.context.Base().NewFloat()
	return s
}

func (d *rnsDot) Value() exact.Value {
	if d.special != nil {
		return *d.special
	}
	return exact.FromBig(d.x.context.Big(d.x.sum))
}

// ErrorBound is gamma(1 + depth of the order) * sumAbs.
func (d *rnsDot) ErrorBound(s exact.Summary) *big.Rat {
	depth := map[string]int{"reduce1": recursiveDepth(s.N), "reduce2": pairwiseDepth(s.N), "reduce3": d.grid.depth(s.N)}[d.order]
	return d.x.bound(1+depth+count(d.y.rounded), s)
}

func (d *rnsDot) Format() Format {
	f := d.x.Format()
	f.TermBytes *= 2
	if d.order == "reduce3" {
		f.Threads, f.Blocks, f.BlockSize = min(d.threads, d.grid.Blocks), d.grid.Blocks, d.grid.BlockSize
	}
	return f
}
