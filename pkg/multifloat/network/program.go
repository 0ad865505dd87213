package network

import "unsafe"

// Lanes is how many numbers a register has.
const Lanes = 32

// Program is a network as a list of steps on registers of [Lanes] numbers, which are computed with side by side.
//
// The registers 0 to Inputs-1 hold the operands, which are not changed; the results are in Results.
type Program[T float32 | float64] struct {
	Inputs    int
	Registers int
	Results   []int
	steps     []step
}

// step has registers in bytes from the start of a table of pointers to registers.
type step struct {
	kind    int32
	x, y, z int32 // operands
	s, e    int32 // results
}

const pointerBytes = 8

const (
	add = iota
	mul
	mulAdd
	single
	twoSum
	fastTwoSum
	twoProduct
)

// instructions is how many each kind of step takes, with fused multiply-adds.
var instructions = [...]int{add: 1, mul: 1, mulAdd: 1, single: 2, twoSum: 6, fastTwoSum: 3, twoProduct: 2}

// Instructions returns how many floating-point instructions a program takes for one number.
func (p *Program[T]) Instructions() (n int) {
	for _, s := range p.steps {
		n += instructions[s.kind]
	}
	return n
}

// Fused returns how many of them are fused multiply-adds: one for each error of a product, and for each product that
// is added.
func (p *Program[T]) Fused() (n int) {
	for _, s := range p.steps {
		if s.kind == twoProduct || s.kind == mulAdd {
			n++
		}
	}
	return n
}

// recorder is the arithmetic of registers: what is computed with them becomes steps, with numbers of registers.
type recorder struct {
	registers int
	steps     []step
}

func (r *recorder) record(kind, x, y, z int) (s, e int) {
	s, e = r.registers, r.registers+1
	r.registers += 2
	r.steps = append(r.steps, step{int32(kind), int32(x), int32(y), int32(z), int32(s), int32(e)})
	return s, e
}

func (r *recorder) Add(x, y int) int {
	s, _ := r.record(add, x, y, x)
	return s
}

func (r *recorder) Mul(x, y int) int {
	p, _ := r.record(mul, x, y, x)
	return p
}

func (r *recorder) MulAdd(x, y, z int) int {
	s, _ := r.record(mulAdd, x, y, z)
	return s
}

func (r *recorder) Narrow(x int) int {
	s, _ := r.record(single, x, x, x)
	return s
}

func (r *recorder) TwoSum(x, y int) (s, e int)     { return r.record(twoSum, x, y, x) }
func (r *recorder) FastTwoSum(x, y int) (s, e int) { return r.record(fastTwoSum, x, y, x) }
func (r *recorder) TwoProduct(x, y int) (p, e int) { return r.record(twoProduct, x, y, x) }

// Record returns a network of so many operands of K components each as a program: the registers 0 to K-1 hold the
// first operand, the next K the second one, and so on.
func Record[T float32 | float64](components, operands int, f func(r Arithmetic[int], x [][]int) []int) *Program[T] {
	p := &Program[T]{Inputs: operands * components}
	r := &recorder{registers: p.Inputs}
	x := make([][]int, operands)
	for i := range p.Inputs {
		x[i/components] = append(x[i/components], i)
	}
	p.Results = f(r, x)
	p.steps = r.steps
	p.allocate()
	return p
}

// allocate gives registers whose numbers are not needed any more to later steps: fewer of them stay in the cache. A
// result never takes the place of an operand of its own step.
func (p *Program[T]) allocate() {
	a := allocator{last: map[int32]int{}, place: map[int32]int32{}, registers: int32(p.Inputs)}
	for i, s := range p.steps {
		a.last[s.x], a.last[s.y], a.last[s.z] = i, i, i
	}
	for _, r := range p.Results {
		a.last[int32(r)] = len(p.steps)
	}
	for i := range int32(p.Inputs) {
		a.place[i], a.last[i] = i, len(p.steps)
	}
	for i, s := range p.steps {
		to := step{kind: s.kind, x: a.place[s.x], y: a.place[s.y], z: a.place[s.z], s: a.take(s.s)}
		to.e = to.s
		if s.kind >= twoSum {
			to.e = a.take(s.e)
		}
		for _, r := range []int32{s.x, s.y, s.z, s.s, s.e} {
			a.release(r, i)
		}
		for _, r := range []*int32{&to.x, &to.y, &to.z, &to.s, &to.e} {
			*r *= pointerBytes
		}
		p.steps[i] = to
	}
	for i, r := range p.Results {
		p.Results[i] = int(a.place[int32(r)])
	}
	p.Registers = int(a.registers)
}

// allocator finds places for the numbers of a program.
type allocator struct {
	last      map[int32]int   // the step that reads a number last
	place     map[int32]int32 // of a number that is still needed
	free      []int32
	registers int32
}

func (a *allocator) take(number int32) int32 {
	if n := len(a.free); n > 0 {
		a.place[number], a.free = a.free[n-1], a.free[:n-1]
	} else {
		a.place[number] = a.registers
		a.registers++
	}
	return a.place[number]
}

// release makes a place free if its number is not read after a step.
func (a *allocator) release(number int32, step int) {
	if r, ok := a.place[number]; ok && a.last[number] <= step {
		a.free = append(a.free, r)
		delete(a.place, number)
	}
}

// Run runs the program for several chains of computations, step by step for all of them. The table has pointers to
// the registers of each chain, one chain after the other.
func (p *Program[T]) Run(table []*T, chains int) {
	if chains > 0 {
		p.run(table[:chains*p.Registers], chains)
	}
}

func (p *Program[T]) runGeneric(table []*T, chains int) {
	var f Float[T]
	for _, step := range p.steps {
		for c := range chains {
			register := func(at int32) *[Lanes]T {
				return (*[Lanes]T)(unsafe.Pointer(table[c*p.Registers+int(at/pointerBytes)]))
			}
			x, y, z := register(step.x), register(step.y), register(step.z)
			s, e := register(step.s), register(step.e)
			switch step.kind {
			case add:
				for i := range s {
					s[i] = x[i] + y[i]
				}
			case mul:
				for i := range s {
					s[i] = x[i] * y[i]
				}
			case mulAdd:
				for i := range s {
					s[i] = f.MulAdd(x[i], y[i], z[i])
				}
			case single:
				for i := range s {
					s[i] = f.Narrow(x[i])
				}
			case twoSum:
				for i := range s {
					s[i], e[i] = f.TwoSum(x[i], y[i])
				}
			case fastTwoSum:
				for i := range s {
					s[i], e[i] = f.FastTwoSum(x[i], y[i])
				}
			case twoProduct:
				for i := range s {
					s[i], e[i] = f.TwoProduct(x[i], y[i])
				}
			}
		}
	}
}
