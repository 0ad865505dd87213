package reduce

import (
	"math/big"
	"runtime"
	"sync"
	"sync/atomic"

	"mpbench/pkg/exact"
	"mpbench/pkg/rns"
)

// residues is the part that reduce1, reduce2 and reduce3 share: the base, the terms as RNS numbers, the result.
type residues struct {
	context *rns.Context
	terms   *rns.Vector
	rounded bool
	special *exact.Value
	sum     *rns.Float

	allocate func(n int) (*rns.Vector, error) // memory for the terms, nil for the ordinary kind
}

func newResidues(o Options) (residues, error) {
	base, err := rns.NewBaseForPrecision(o.Precision, o.ModuliBits)
	if err != nil {
		return residues{}, err
	}
	return residues{context: rns.NewContext(base, o.Rounding, o.Alignment), sum: base.NewFloat()}, nil
}

// Load converts the terms: float64 exactly, wider ones rounded to nearest at the base's precision.
func (r *residues) Load(t Terms) error {
	r.special = nil
	if v, found := special(t.Float64); found {
		r.special = &v
		return nil
	}
	r.rounded = t.Wide != nil
	if r.terms == nil || r.terms.Len() != t.Len() {
		if err := r.newTerms(t.Len()); err != nil {
			return err
		}
	}
	if t.Wide == nil {
		r.context.SetFloat64s(r.terms, t.Float64)
		return nil
	}
	wide := make([]*big.Float, len(t.Wide))
	for i, x := range t.Wide {
		wide[i] = new(big.Float).SetPrec(uint(r.context.Base().Precision())).SetRat(x)
	}
	r.context.SetBigs(r.terms, wide)
	return nil
}

// newTerms replaces the terms by n zeros.
func (r *residues) newTerms(n int) (err error) {
	r.terms = nil
	if r.allocate == nil {
		r.terms = r.context.Base().NewVector(n)
		return nil
	}
	r.terms, err = r.allocate(n)
	return err
}

// empty handles what needs no addition and reports whether it did.
func (r *residues) empty() bool {
	if r.special != nil {
		return true
	}
	r.sum.SetZero()
	return r.terms.Len() == 0
}

func (r *residues) Value() exact.Value {
	if r.special != nil {
		return *r.special
	}
	return exact.FromBig(r.context.Big(r.sum))
}

func (r *residues) Format() Format {
	b := r.context.Base()
	return Format{
		Name: "rns", Actual: b.Precision(), Moduli: b.Len(), ModuliBits: b.ModuliBits(), TermBytes: b.TermBytes(),
		Rounding: r.context.Rounding().String(), Alignment: r.context.Alignment().String(), Threads: 1,
	}
}

// bound is gamma(depth) * sumAbs with the context's unit roundoff; rounding the terms counts as one more operation.
func (r *residues) bound(depth int, s exact.Summary) *big.Rat {
	if r.rounded {
		depth++
	}
	return exact.GammaTimes(depth, r.context.UnitRoundoff(), sumAbs(s))
}

// rnsSlots is the adder of one goroutine over the terms.
type rnsSlots struct {
	context *rns.Context
	terms   *rns.Vector
	slots   []*rns.Float
	term    *rns.Float // a view of the current term

	// For a dot product, whose terms are terms_i * factors_i:
	factors         *rns.Vector
	factor, product *rns.Float
}

// at returns term i.
func (s *rnsSlots) at(i int) *rns.Float {
	s.terms.View(s.term, i)
	if s.factors == nil {
		return s.term
	}
	s.factors.View(s.factor, i)
	s.context.Mul(s.product, s.term, s.factor)
	return s.product
}

func (r *residues) newSlots(n int) *rnsSlots {
	slots := make([]*rns.Float, n)
	for i := range slots {
		slots[i] = r.context.Base().NewFloat()
	}
	return &rnsSlots{context: r.context.Clone(), terms: r.terms, slots: slots, term: new(rns.Float)}
}

func (s *rnsSlots) load(slot, i int) { s.slots[slot].Set(s.at(i)) }

func (s *rnsSlots) addTerm(slot, i int) {
	s.context.Add(s.slots[slot], s.slots[slot], s.at(i))
}

func (s *rnsSlots) addSlot(slot, j int) {
	s.context.Add(s.slots[slot], s.slots[slot], s.slots[j])
}

func (s *rnsSlots) clear() {
	for _, x := range s.slots {
		x.SetZero()
	}
}

// reduce1 is recursive summation, Reduce1 of the 2018 paper.
type reduce1 struct{ residues }

func newReduce1(o Options) (Summer, error) {
	r, err := newResidues(o)
	return &reduce1{r}, err
}

func (r *reduce1) Sum() {
	if r.empty() {
		return
	}
	slots := r.newSlots(1)
	recursive(slots, r.terms.Len())
	r.sum.Set(slots.slots[0])
}

// ErrorBound is gamma(n-1) * sumAbs.
func (r *reduce1) ErrorBound(s exact.Summary) *big.Rat {
	return r.bound(recursiveDepth(s.N), s)
}

// reduce2 is pairwise summation, Reduce2 of the 2018 paper.
type reduce2 struct{ residues }

func newReduce2(o Options) (Summer, error) {
	r, err := newResidues(o)
	return &reduce2{r}, err
}

func (r *reduce2) Sum() {
	if r.empty() {
		return
	}
	n := r.terms.Len()
	slots := r.newSlots(pairwiseSlots(n))
	pairwise(slots, n)
	r.sum.Set(slots.slots[0])
}

// ErrorBound is gamma(ceil(log2 n)) * sumAbs.
func (r *reduce2) ErrorBound(s exact.Summary) *big.Rat {
	return r.bound(pairwiseDepth(s.N), s)
}

// reduce3 is the block reduction, Reduce3 of the 2018 paper, with goroutines in the place of GPU blocks.
type reduce3 struct {
	residues
	grid    grid
	threads int
}

func newReduce3(o Options) (Summer, error) {
	if o.Device != "" && o.Device != "cpu" {
		return newReduce3On(false)(o)
	}
	r, err := newResidues(o)
	if err != nil {
		return nil, err
	}
	g, err := newGrid(o.Blocks, o.BlockSize)
	if err != nil {
		return nil, err
	}
	threads := o.Threads
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	return &reduce3{r, g, threads}, nil
}

func (r *reduce3) Sum() {
	if r.empty() {
		return
	}
	for _, x := range blockSums(r.grid, r.threads, r.terms.Len(), r.newSlots) { // the paper's third stage, on the host
		if x != nil {
			r.context.Add(r.sum, r.sum, x)
		}
	}
}

// blockSums reduces every block of n terms; blocks without terms have nil. Which goroutine reduces a block changes nothing.
func blockSums(g grid, threads, n int, newSlots func(int) *rnsSlots) []*rns.Float {
	sums := make([]*rns.Float, g.Blocks)
	var next atomic.Int64
	var pool sync.WaitGroup
	for range min(threads, g.Blocks) {
		pool.Go(func() {
			slots := newSlots(g.BlockSize)
			for b := int(next.Add(1) - 1); b < g.Blocks; b = int(next.Add(1) - 1) {
				slots.clear()
				if block(slots, g, b, n) {
					sums[b] = slots.context.Base().NewFloat()
					sums[b].Set(slots.slots[0])
				}
			}
		})
	}
	pool.Wait()
	return sums
}

// ErrorBound is gamma(d) * sumAbs with the depth d of the grid.
func (r *reduce3) ErrorBound(s exact.Summary) *big.Rat {
	return r.bound(r.grid.depth(s.N), s)
}

func (r *reduce3) Format() Format {
	f := r.residues.Format()
	f.Threads, f.Blocks, f.BlockSize = min(r.threads, r.grid.Blocks), r.grid.Blocks, r.grid.BlockSize
	return f
}
