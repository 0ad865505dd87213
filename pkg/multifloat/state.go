package multifloat

import (
	"unsafe"

	"mpbench/pkg/multifloat/network"
)

// chains is how many segments are added side by side: while one waits for a result, the others go on.
const chains = 4

// block is the lanes of a register; beyond them are zeros.
type block[T Float] [2 * lanes]T

// state is what a goroutine runs programs with.
type state[T Float] struct {
	program *network.Program[T]
	table   []*T               // pointers to the registers of each chain
	memory  [chains][]block[T] // of registers
	tails   [chains][]block[T] // of operands with fewer numbers than there are lanes
	sums    [chains][]block[T] // of the lanes, by component
}

func newState[T Float](components int, p *programs[T]) *state[T] {
	registers := max(p.add.Registers, p.addProduct.Registers, p.mul.Registers, p.axpy.Registers)
	s := &state[T]{table: make([]*T, chains*registers)}
	for c := range chains {
		s.memory[c] = make([]block[T], registers)
		s.tails[c] = make([]block[T], registers)
		s.sums[c] = make([]block[T], components)
	}
	return s
}

// begin makes the registers ready for a program.
func (s *state[T]) begin(p *network.Program[T]) {
	s.program = p
	for c := range chains {
		for r := range p.Registers {
			*s.pointer(c, r) = &s.memory[c][r][0]
		}
	}
}

// constant makes the first registers of all chains a number.
func (s *state[T]) constant(c *Number[T], components int) {
	for chain := range chains {
		for k := range components {
			for i, r := 0, s.register(chain, k); i < len(r); i++ {
				r[i] = c[k]
			}
		}
	}
}

// pointer returns where the pointer to a register of a chain is.
func (s *state[T]) pointer(c, r int) **T { return &s.table[c*s.program.Registers+r] }

// register returns the lanes of a register.
func (s *state[T]) register(c, r int) []T { return unsafe.Slice(*s.pointer(c, r), lanes) }

// read makes the first lanes of x a register, which is not written to; where there are fewer, zeros follow.
func (s *state[T]) read(c, r int, x []T) {
	if len(x) < lanes {
		tail := &s.tails[c][r]
		clear(tail[copy(tail[:], x):])
		x = tail[:]
	}
	*s.pointer(c, r) = &x[0]
}

// load makes the numbers from to to-1 of a vector, lanes of them at most, registers from r on.
func (s *state[T]) load(c, r int, v Vector[T], from, to int) {
	for k := range s.sums[c] {
		if k == 1 && v.packing != nil {
			tail := &s.tails[c][r+k]
			clear(tail[v.Slice(0, to).expand(tail[:lanes], from):lanes])
			*s.pointer(c, r+k) = &tail[0]
			continue
		}
		s.read(c, r+k, v.Planes[k][from:to])
	}
}

// store sets the numbers from from on of a vector, lanes of them at most, to the results of a chain.
func (s *state[T]) store(c int, v Vector[T], from int) {
	results := s.program.Results
	if v.packing != nil {
		n := min(lanes, v.Len-from)
		packAll(v.packing, v.Planes[0][from:], v.Low[from:], s.register(c, results[0])[:n], s.register(c, results[1])[:n])
		return
	}
	for k, r := range results {
		copy(v.Planes[k][from:], s.register(c, r))
	}
}

// gather makes some numbers of a vector registers from r on, with zeros behind them.
func (s *state[T]) gather(c, r int, v Vector[T], which []int32) {
	for k := range s.sums[c] {
		tail := &s.tails[c][r+k]
		for l, i := range which {
			if k == 1 && v.packing != nil {
				tail[l] = T(v.packing.expand(v.Low[i]))
			} else {
				tail[l] = v.Planes[k][i]
			}
		}
		clear(tail[len(which):lanes])
		*s.pointer(c, r+k) = &tail[0]
	}
}

// run runs the program for chains from to to-1.
func (s *state[T]) run(from, to int) { s.program.Run(s.table[from*s.program.Registers:], to-from) }

// feedBack makes the results of chains from to to-1 the first operand of the next run.
func (s *state[T]) feedBack(from, to int) {
	for c := from; c < to; c++ {
		for k, r := range s.program.Results {
			x, z := s.pointer(c, k), s.pointer(c, r)
			*x, *z = *z, *x
		}
	}
}

// keep copies a chain's first operand, or its results, to its sums.
func (s *state[T]) keep(c int, results bool) {
	for k := range s.sums[c] {
		r := k
		if results {
			r = s.program.Results[k]
		}
		copy(s.sums[c][k][:], s.register(c, r))
	}
}

// addLanes adds the lanes of the sums of the first n chains, by a program that adds; the result is in lane 0.
func (s *state[T]) addLanes(add *network.Program[T], n int) {
	s.begin(add)
	for half := lanes / 2; half > 0; half /= 2 {
		for c := range n {
			for k := range s.sums[c] {
				s.read(c, k, s.sums[c][k][:])
				s.read(c, len(s.sums[c])+k, s.sums[c][k][half:])
			}
		}
		s.run(0, n)
		for c := range n {
			s.keep(c, true)
		}
	}
}
