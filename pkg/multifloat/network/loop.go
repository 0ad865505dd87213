package network

import (
	"sync"
	"unsafe"
)

// LoopOf describes a loop over vectors: what it does with a number of each operand. The first operand is one number
// for each lane where the loop accumulates, and otherwise one for all.
type LoopOf[R any] struct {
	Name        string
	Operands    int
	Accumulates bool // the result is the next first operand
	Network     func(r Arithmetic[R], x [][]R) []R
}

// LoopsOf returns the loops of a scheme: z + x, z + x*y, c*x and c*x + y.
func LoopsOf[R any](s Scheme) [4]LoopOf[R] {
	type f = Arithmetic[R]
	return [4]LoopOf[R]{
		{"Add", 2, true, func(r f, x [][]R) []R { return Add(r, s, x[0], x[1]) }},
		{"AddProduct", 3, true, func(r f, x [][]R) []R { return Add(r, s, x[0], Mul(r, s, x[1], x[2])) }},
		{"Mul", 2, false, func(r f, x [][]R) []R { return Mul(r, s, x[0], x[1]) }},
		{"Axpy", 3, false, func(r f, x [][]R) []R { return Add(r, s, Mul(r, s, x[0], x[1]), x[2]) }},
	}
}

// Loops are the loops of a scheme.
type Loops[T float32 | float64] struct {
	Add, AddProduct, Mul, Axpy Loop[T]
	Product                    Loop[T] // x*y of two vectors
}

// Loop is a loop over vectors of numbers of so many components.
type Loop[T float32 | float64] struct {
	program    *Program[T]
	fused      fusedLoop[T] // nil where the program is run step by step
	components int
	lanes      int // components of the first operand that is no vector
	accumulate bool
	states     *sync.Pool // of *state[T]
}

// fusedLoop runs a loop with all numbers in registers: see [Loop.Run]; n may be a multiple of 8.
type fusedLoop[T float32 | float64] func(lanes *T, table **T, n int)

// loops are those of a scheme in the order of [LoopsOf].
type loops[T float32 | float64] [4]fusedLoop[T]

// NewLoops returns the loops of a scheme.
func NewLoops[T float32 | float64](s Scheme) *Loops[T] {
	var list [4]Loop[T]
	fused := fusedLoops[T](s)
	for i, l := range LoopsOf[int](s) {
		p := Record[T](s.Components, l.Operands, l.Network)
		states := &sync.Pool{New: func() any { return newState(p) }}
		list[i] = Loop[T]{p, fused[i], s.Components, s.Components, l.Accumulates, states}
	}
	product := list[2]
	product.fused, product.lanes = nil, 0
	return &Loops[T]{list[0], list[1], list[2], list[3], product}
}

// Instructions returns how many floating-point instructions the loop takes for one number.
func (l *Loop[T]) Instructions() int { return l.program.Instructions() }

// Run runs the loop for n numbers, rounded up to a multiple of [Lanes]; all memory must have as many.
//
// lanes has the first operand, if it is no vector: the Lanes numbers of component 0, then of component 1, and so on.
// The table has pointers to the numbers of each component of the other operands, and behind them, unless the loop
// accumulates, to the components of the results. Where it accumulates, number i is added to lane i modulo Lanes.
func (l *Loop[T]) Run(lanes []T, table []*T, n int) {
	switch {
	case n <= 0:
	case l.fused != nil:
		l.fused(&lanes[0], &table[0], n)
	case l.accumulate:
		l.interpretSum(lanes, table, n)
	default:
		l.interpretMap(lanes, table, n)
	}
}

// chains is how many blocks of numbers are computed side by side: while one waits for a result, the others go on.
const chains = 4

// state is what a goroutine runs a program with.
type state[T float32 | float64] struct {
	table  []*T       // pointers to the registers of each chain
	memory [][Lanes]T // of registers
}

func newState[T float32 | float64](p *Program[T]) *state[T] {
	return &state[T]{make([]*T, chains*p.Registers), make([][Lanes]T, chains*p.Registers)}
}

// begin makes all registers those in memory.
func (s *state[T]) begin() {
	for i := range s.table {
		s.table[i] = &s.memory[i][0]
	}
}

func (l *Loop[T]) interpretSum(lanes []T, table []*T, n int) {
	s := l.states.Get().(*state[T])
	defer l.states.Put(s)
	s.begin()
	for k := range l.components {
		copy(s.memory[k][:], lanes[k*Lanes:])
	}
	for at := 0; at < n; at += Lanes {
		for i, p := range table[:l.program.Inputs-l.components] {
			s.table[l.components+i] = (*T)(unsafe.Add(unsafe.Pointer(p), uintptr(at)*unsafe.Sizeof(*p)))
		}
		l.program.Run(s.table, 1)
		for k, r := range l.program.Results {
			s.table[k], s.table[r] = s.table[r], s.table[k]
		}
	}
	for k := range l.components {
		copy(lanes[k*Lanes:(k+1)*Lanes], unsafe.Slice(s.table[k], Lanes))
	}
}

func (l *Loop[T]) interpretMap(lanes []T, table []*T, n int) {
	s := l.states.Get().(*state[T])
	defer l.states.Put(s)
	s.begin()
	p := l.program
	block := func(i, at int) *T {
		return (*T)(unsafe.Add(unsafe.Pointer(table[i]), uintptr(at)*unsafe.Sizeof(*table[i])))
	}
	for at := 0; at < n; at += chains * Lanes {
		count := min(chains, (n-at+Lanes-1)/Lanes)
		for c := range count {
			registers := s.table[c*p.Registers:]
			for k := range l.lanes {
				registers[k] = &lanes[k*Lanes]
			}
			for i := range p.Inputs - l.lanes {
				registers[l.lanes+i] = block(i, at+c*Lanes)
			}
		}
		p.Run(s.table, count)
		for c := range count {
			for k, r := range p.Results {
				z := block(p.Inputs-l.lanes+k, at+c*Lanes)
				copy(unsafe.Slice(z, Lanes), unsafe.Slice(s.table[c*p.Registers+r], Lanes))
			}
		}
	}
}
