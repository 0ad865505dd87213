package deferred

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"mpbench/internal/parallel"
	"mpbench/pkg/exact"
	"mpbench/pkg/numbers"
)

// LimbSum is an exact sum of numbers of any exponents. Numbers of one exponent and sign are summed in one bucket, 32
// bits of their significands in each 64-bit lane: additions without shifts and carries, so the cost of a number is
// that of reading it. A bucket takes 64 bytes for every 4 words (four times that for short numbers); the number of
// buckets is that of the exponents that occur.
//
// Being integers, the buckets make the sum independent of the order of the numbers and of how they are split over
// several sums. It is R. M. Neal's large superaccumulator ("Fast exact summation using small and large
// superaccumulators", arXiv 1505.05571, 2015) for long significands.
//
// The zero value is an empty sum. A LimbSum is not safe for concurrent use.
type LimbSum struct {
	width     int // words of the longest number
	lanes     int // 32-bit lanes of a number, padded to a multiple of 8
	ways      int // copies of a bucket used in turn, because adding to the memory just written waits for it
	count     int // numbers since buckets were emptied
	window    []int32
	base      int64           // window[h-base] is the place of the bucket of exponent h in lanes, or -1
	far       map[int64]int32 // the same for exponents outside the window
	exponents []int64         // of the buckets
	acc       []uint64
	spilled   []*term
	special   special
	product   []uint64 // scratch
}

const (
	windowSize = 1 << 13 // exponents: the exponents and signs of all binary64 numbers fit
	spillCount = 1 << 30 // additions; the lanes of all ways together hold 2^32
)

// widen makes room for numbers of the given number of words.
func (s *LimbSum) widen(width int) {
	if len(s.exponents) > 0 {
		s.spill()
	}
	s.exponents, s.acc, s.window, s.far = nil, nil, nil, nil
	s.width, s.ways = width, 1
	s.lanes = roundUp(2*width, 8)
	switch {
	case s.lanes == 8:
		s.ways = 4
	case s.lanes <= 24:
		s.ways = 2
	}
}

// bucket returns the place of the bucket of a exponent, which it makes if there is none.
func (s *LimbSum) bucket(exponent int64) int32 {
	if s.window == nil {
		s.window = make([]int32, windowSize)
		for i := range s.window {
			s.window[i] = -1
		}
		s.base = exponent - windowSize/2
	}
	at := uint64(exponent - s.base)
	if at < windowSize {
		if s.window[at] < 0 {
			s.window[at] = s.newBucket(exponent)
		}
		return s.window[at]
	}
	place, ok := s.far[exponent]
	if !ok {
		if s.far == nil {
			s.far = make(map[int64]int32)
		}
		place = s.newBucket(exponent)
		s.far[exponent] = place
	}
	return place
}

func (s *LimbSum) newBucket(exponent int64) int32 {
	s.exponents = append(s.exponents, exponent)
	place := len(s.acc)
	s.acc = append(s.acc, make([]uint64, s.lanes*s.ways)...)
	return int32(place)
}

// Add adds numbers i to j-1 of p.
func (s *LimbSum) Add(p *Packed, i, j int) {
	if p.width > s.width {
		s.widen(p.width)
	}
	for _, e := range p.special {
		if i <= e.i && e.i < j {
			s.special.add(e)
		}
	}
	for i < j {
		if s.count >= spillCount {
			s.spill()
		}
		n := min(j-i, spillCount-s.count)
		done := 0
		if s.window != nil && p.width == s.width {
			done = packedAdd(s, p, i, n)
		}
		s.count += done
		i += done
		if done < n { // a exponent without a bucket in the window
			s.addWords(p.words[i*p.width:(i+1)*p.width], p.exponents[i])
			i++
		}
	}
}

// AddNumber adds x.
func (s *LimbSum) AddNumber(x *numbers.Number) {
	switch x.Class {
	case numbers.Zero:
	case numbers.Finite:
		s.addWords(x.Words, signedExponent(x.Exp, x.Neg))
	default:
		s.special.add(special{class: x.Class, neg: x.Neg})
	}
}

// AddProduct adds x*y.
func (s *LimbSum) AddProduct(x, y *numbers.Number) {
	if x.Class == numbers.Finite && y.Class == numbers.Finite {
		s.addProduct(x.Words, y.Words, signedExponent(x.Exp+y.Exp, x.Neg != y.Neg))
		return
	}
	s.special.add(product(special{class: x.Class, neg: x.Neg}, special{class: y.Class, neg: y.Neg}))
}

func signedExponent(exp int, neg bool) int64 {
	exponent := int64(exp) << 1
	if neg {
		exponent++
	}
	return exponent
}

// addWords adds one number.
func (s *LimbSum) addWords(words []uint64, exponent int64) {
	if len(words) > s.width {
		s.widen(len(words))
	}
	if s.count >= spillCount {
		s.spill()
	}
	place := int(s.bucket(exponent)) + s.count%s.ways*s.lanes
	acc := s.acc[place:][:2*len(words)]
	for h, w := range words {
		acc[2*h] += w & 0xffffffff
		acc[2*h+1] += w >> 32
	}
	s.count++
}

// addProduct adds the product of two significands.
func (s *LimbSum) addProduct(x, y []uint64, exponent int64) {
	if len(x) == 1 && len(y) == 1 {
		var product [2]uint64
		product[1], product[0] = bits.Mul64(x[0], y[0])
		s.addWords(product[:], exponent)
		return
	}
	s.product = mulWords(s.product, x, y)
	s.addWords(s.product, exponent)
}

// spill empties the buckets into terms.
func (s *LimbSum) spill() {
	s.spilled = s.appendTerms(s.spilled)
	clear(s.acc)
	s.count = 0
}

// appendTerms appends the buckets' sums.
func (s *LimbSum) appendTerms(terms []*term) []*term {
	words := make([]uint64, s.width+1)
	for b, exponent := range s.exponents {
		bucket := s.acc[b*s.lanes*s.ways:][:s.lanes*s.ways]
		var carry uint64
		for d := range 2 * s.width {
			lane := carry // all lanes together have at most 2^30 additions: the sum is below 2^63
			for way := range s.ways {
				lane += bucket[way*s.lanes+d]
			}
			if d%2 == 0 {
				words[d/2] = lane & 0xffffffff
			} else {
				words[d/2] |= lane << 32
			}
			carry = lane >> 32
		}
		words[s.width] = carry
		n := numbers.Number{Class: numbers.Finite, Neg: exponent&1 != 0, Exp: int(exponent >> 1), Words: words}
		t := new(term)
		t.set(&n)
		if t.x.Sign() != 0 {
			terms = append(terms, t)
		}
	}
	return terms
}

// Merge adds t to s; t stays as it is.
func (s *LimbSum) Merge(t *LimbSum) {
	s.special.add(t.special)
	s.spilled = append(s.spilled, t.terms()...)
}

func (s *LimbSum) terms() []*term {
	terms := s.appendTerms(nil)
	for _, t := range s.spilled {
		c := &term{exp: t.exp}
		c.x.Set(&t.x)
		terms = append(terms, c)
	}
	return terms
}

// Round sets z to the sum rounded once to prec bits, to nearest even, and returns it; nil for NaN. An empty sum is +0.
func (s *LimbSum) Round(z *big.Float, prec uint) *big.Float {
	y := bigResults{[]*big.Float{z}, prec}
	if s.special.class >= numbers.Infinite {
		y.special(0, s.special.class, s.special.neg)
	} else {
		y.round(0, sumTerms(s.terms(), int(prec)), nil)
	}
	return y.y[0]
}

// RoundQuotient is Round of the sum divided by an odd integer d > 0.
func (s *LimbSum) RoundQuotient(z *big.Float, d *big.Int, prec uint) *big.Float {
	if s.special.class >= numbers.Infinite {
		return s.Round(z, prec)
	}
	t := sumTerms(s.terms(), quotientBits(d, prec))
	t.divide(d, prec)
	setRounded(z, t, prec)
	return z
}

// Value returns the exact sum. Its memory grows with the spread of the exponents.
func (s *LimbSum) Value() exact.Value {
	var z numbers.Number
	if z.Class, z.Neg = s.special.class, s.special.neg; z.Class >= numbers.Infinite {
		return z.Value()
	}
	total := new(big.Rat)
	for _, t := range s.terms() {
		x := new(big.Rat).SetInt(&t.x)
		total.Add(total, x.Mul(x, exact.PowerOfTwo(t.exp)))
	}
	return exact.FromRat(total)
}

// Float64 returns the sum rounded once to binary64.
func (s *LimbSum) Float64() float64 {
	var y floatResults
	y.y = []float64{0}
	if s.special.class >= numbers.Infinite {
		y.special(0, s.special.class, s.special.neg)
	} else {
		y.round(0, sumTerms(s.terms(), 53), new(big.Float))
	}
	return y.y[0]
}

// Sum returns the sum of all numbers of p; threads = 0 stands for GOMAXPROCS.
func (p *Packed) Sum(threads int) *LimbSum {
	return sumRange(p.Len(), threads, func(s *LimbSum, _ *sumScratch, i, j int) { s.Add(p, i, j) })
}

// Dot returns the exact sum of the products of the elements of x and y, vectors of one length laid out by lx and ly,
// in memory that does not grow with it; threads = 0 stands for GOMAXPROCS. Nothing is aligned: products are formed in
// words and added to the bucket of their exponent. That suits data that are used once; residues pay where one factor
// is a [Matrix] that is used again.
func Dot(x numbers.Source, lx numbers.Layout, y numbers.Source, ly numbers.Layout, threads int) (*LimbSum, error) {
	if err := lx.Check(x.Len()); err != nil {
		return nil, err
	}
	if err := ly.Check(y.Len()); err != nil {
		return nil, err
	}
	if lx.Cols != 1 || ly.Cols != 1 || lx.Rows != ly.Rows {
		return nil, fmt.Errorf("deferred: a dot product of %d x %d and %d x %d elements", lx.Rows, lx.Cols, ly.Rows, ly.Cols)
	}
	xf, xIsFloats := x.(numbers.Float64s)
	yf, yIsFloats := y.(numbers.Float64s)
	return sumRange(lx.Rows, threads, func(s *LimbSum, w *sumScratch, from, to int) {
		if xIsFloats && yIsFloats {
			w.addFloat64s(s, xf, lx.Index(from, 0), lx.RowStride, yf, ly.Index(from, 0), ly.RowStride, to-from)
			return
		}
		for t := from; t < to; t++ {
			x.Read(&w.x, lx.Index(t, 0))
			y.Read(&w.y, ly.Index(t, 0))
			s.AddProduct(&w.x, &w.y)
		}
	}), nil
}

// sumScratch is the scratch memory of a goroutine that sums: two numbers, and binary64 products for the kernel.
type sumScratch struct {
	x, y  numbers.Number
	block *Packed
}

// addFloat64s adds the products of n elements of x, the first being i and each incX further, with those of y.
func (w *sumScratch) addFloat64s(s *LimbSum, x numbers.Float64s, i, incX int, y numbers.Float64s, j, incY, n int) {
	const blockSize = 512
	if w.block == nil {
		w.block = NewPacked(blockSize, 128)
	}
	for n > 0 {
		count := min(n, blockSize)
		n -= count
		words, exponents := w.block.words[:2*blockSize], w.block.exponents[:count]
		for t := range exponents {
			xi, yj := x[i], y[j]
			i, j = i+incX, j+incY
			bx, by := math.Float64bits(xi), math.Float64bits(yj)
			if bx>>52&0x7ff == 0x7ff || by>>52&0x7ff == 0x7ff {
				w.addSpecial(s, xi, yj)
				bx, by = 0, 0
			}
			sx, ex := numbers.Significand(math.Float64frombits(bx))
			sy, ey := numbers.Significand(math.Float64frombits(by))
			words[2*t+1], words[2*t] = bits.Mul64(sx, sy)
			exponents[t] = int64(ex+ey)<<1 | int64((bx^by)>>63)
		}
		s.Add(w.block, 0, count)
	}
}

// addSpecial adds x*y, at least one of which is infinite or NaN.
func (w *sumScratch) addSpecial(s *LimbSum, x, y float64) {
	numbers.Float64s{x}.Read(&w.x, 0)
	numbers.Float64s{y}.Read(&w.y, 0)
	s.AddProduct(&w.x, &w.y)
}

// sumRange returns the sum of what add adds for the range 0 to n-1, in parts.
func sumRange(n, threads int, add func(s *LimbSum, w *sumScratch, from, to int)) *LimbSum {
	const chunk = 1 << 13
	tasks := (n + chunk - 1) / chunk
	threads = max(1, min(parallel.Threads(threads), tasks))
	sums := make([]LimbSum, threads)
	scratch := make([]sumScratch, threads)
	parallel.Tasks(threads, tasks, func(worker, task int) {
		add(&sums[worker], &scratch[worker], task*chunk, min((task+1)*chunk, n))
	})
	for i := 1; i < threads; i++ {
		sums[0].Merge(&sums[i])
	}
	return &sums[0]
}
