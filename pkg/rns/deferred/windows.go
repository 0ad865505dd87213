package deferred

import (
	"math/bits"
	"mpbench/pkg/numbers"
	"slices"
)

// Windows is how a device sums packed numbers: in passes, each of which adds up the 32-bit digits that a range of the
// numbers have in a window of exponents, in integers. Numbers whose exponents lie near each other need one window.
// Otherwise they are sorted by exponents, so that each window has its own numbers; the rest is the host's.
type Windows struct {
	Numbers   *Packed // the numbers, perhaps in another order
	Passes    []Window
	scattered [][2]int // ranges of numbers that no window holds
	special   special
}

// Window is one pass: it sums digits d of the numbers From to To-1, as integers in units of 2^(Low + 32d).
type Window struct {
	From, To    int
	Low         int64
	Digits      int   // at most WindowDigits
	At          int   // the place of its first digit among those of all windows
	Least, Most int64 // the numbers' exponents, but for zeros
}

// WindowDigits is the greatest number of digits of a window.
const WindowDigits = 256

const (
	digitBits    = 32
	fewWindows   = 8       // that are worth a pass each, however few numbers they have
	leastWindow  = 1 << 11 // numbers that make a window worth a pass
	mostInWindow = 1 << 30 // numbers; sums of digits stay below 2^63
)

// NewWindows plans the sum of the numbers of p, which must stay unchanged.
func NewWindows(p *Packed) *Windows {
	w := &Windows{Numbers: p}
	for _, e := range p.special {
		w.special.add(e)
	}
	low, high, any := p.exponentRange()
	if !any {
		return w
	}
	if digitsOf(high-low, p.bits) <= max(2*digitsOf(0, p.bits), fewWindows) {
		w.add(0, p.Len(), low, high)
		return w
	}
	w.Numbers = p.sorted()
	w.cut()
	return w
}

// digitsOf returns how many digits hold numbers of so many bits with exponents up to spread above the window's.
func digitsOf(spread int64, bits int) int64 {
	return (spread + int64(bits) + digitBits - 1) / digitBits
}

// exponentRange returns the least and greatest exponents of numbers other than 0; any tells whether there are some.
func (p *Packed) exponentRange() (low, high int64, any bool) {
	for i, exponent := range p.exponents {
		if p.isZero(i) {
			continue
		}
		e := exponent >> 1
		if !any {
			low, high, any = e, e, true
		}
		low, high = min(low, e), max(high, e)
	}
	return low, high, any
}

// isZero reports whether number i has the significand 0: the others have their top bit set.
func (p *Packed) isZero(i int) bool { return p.words[(i+1)*p.width-1] == 0 }

// sorted returns the finite numbers other than 0, by exponents.
func (p *Packed) sorted() *Packed {
	order := make([]int, 0, p.Len())
	for i := range p.exponents {
		if !p.isZero(i) {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(i, j int) int {
		if c := p.exponents[i]>>1 - p.exponents[j]>>1; c != 0 {
			return int(min(max(c, -1), 1))
		}
		return i - j
	})
	q := NewPacked(len(order), p.bits)
	for to, from := range order {
		q.exponents[to] = p.exponents[from]
		copy(q.words[to*p.width:(to+1)*p.width], p.words[from*p.width:])
	}
	return q
}

// cut makes windows for sorted numbers: for each as many as fit about twice a number's length.
func (w *Windows) cut() {
	p := w.Numbers
	room := max(2*digitsOf(0, p.bits), fewWindows)*digitBits - int64(p.bits) // between the exponents of a window
	var cuts []int
	for i, exponent := range p.exponents {
		if len(cuts) == 0 || exponent>>1-p.exponents[cuts[len(cuts)-1]]>>1 > room {
			cuts = append(cuts, i)
		}
	}
	for k, from := range cuts {
		to := p.Len()
		if k+1 < len(cuts) {
			to = cuts[k+1]
		}
		if len(cuts) > fewWindows && to-from < leastWindow {
			w.scattered = append(w.scattered, [2]int{from, to})
			continue
		}
		w.add(from, to, p.exponents[from]>>1, p.exponents[to-1]>>1)
	}
}

// add appends the passes for numbers with exponents from low to high.
func (w *Windows) add(from, to int, low, high int64) {
	for ; from < to; from += mostInWindow {
		digits := digitsOf(high-low, w.Numbers.bits)
		for first := int64(0); first < digits; first += WindowDigits {
			w.Passes = append(w.Passes, Window{
				From: from, To: min(to, from+mostInWindow), Low: low + first*digitBits,
				Digits: int(min(digits-first, WindowDigits)), At: w.Digits(),
				Least: low, Most: high,
			})
		}
	}
}

// Digits returns the number of digits of all windows.
func (w *Windows) Digits() int {
	if len(w.Passes) == 0 {
		return 0
	}
	last := w.Passes[len(w.Passes)-1]
	return last.At + last.Digits
}

// Scattered returns how many numbers no window holds.
func (w *Windows) Scattered() int {
	n := 0
	for _, r := range w.scattered {
		n += r[1] - r[0]
	}
	return n
}

// Sum returns the sum of the numbers from the digits of all windows, and of the scattered numbers.
func (w *Windows) Sum(digits []int64) *LimbSum {
	s := new(LimbSum)
	s.special.add(w.special)
	for _, r := range w.scattered {
		s.Add(w.Numbers, r[0], r[1])
	}
	for _, p := range w.Passes {
		s.addDigits(digits[p.At:p.At+p.Digits], p.Low)
	}
	return s
}

// addDigits adds sum digits[i] * 2^(low + 32i).
func (s *LimbSum) addDigits(digits []int64, low int64) {
	words := make([]uint64, (len(digits)+2+1)/2+1)
	var carry int64 // at most 2^31 in magnitude
	for i := range 2 * len(words) {
		sum := carry
		if i < len(digits) {
			sum += digits[i]
		}
		carry = sum >> digitBits
		words[i/2] |= uint64(sum) & 0xffffffff << (i % 2 * digitBits)
	}
	x := numbers.Number{Class: numbers.Finite, Neg: carry < 0, Exp: int(low), Words: words}
	if x.Neg { // the two's complement: negate
		borrow := uint64(0)
		for i, v := range words {
			words[i], borrow = bits.Sub64(0, v, borrow)
		}
	}
	if slices.ContainsFunc(words, func(v uint64) bool { return v != 0 }) {
		s.AddNumber(&x)
	}
}
