package paper

import (
	"fmt"
	"slices"

	"mpbench/datasets"
	"mpbench/pkg/measure"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
)

// rows2020 is M = N = LDA of the 2020 paper's experiments.
const rows2020 = 1000

// profileBits and profileModuliBits are the precision of Tables 3 and 4 and the width that makes it 32 moduli of together 850 bits.
const (
	profileBits       = 424
	profileModuliBits = "28" // of which the 32 moduli need 27
)

// size returns M = N.
func (l *Lab) size() int {
	if l.N != 0 {
		return l.N
	}
	return rows2020
}

// matrix makes a matrix of numbers uniform in [-1, 1), of the given bits or float64 for 0, and a vector.
func (l *Lab) matrix(bits int) (*datasets.Data, error) {
	spec, err := datasets.Matrices.Parse("uniform11")
	if err != nil {
		return nil, err
	}
	l.begin("%d x %d numbers of %d bits", l.size(), l.size(), max(bits, 53))
	return datasets.Generate(spec, datasets.Options{M: l.size(), N: l.size(), Seed: l.Seed, Bits: bits})
}

// product computes the reference of y = op(A)*x.
func (l *Lab) product(d *datasets.Data, trans bool) (measure.Input, error) {
	p := d.Problem(op.Gemv)
	p.Trans, p.Y = trans, numbers.Array{}
	l.begin("exact result for %d x %d numbers", d.M, d.N)
	return measure.NewInput(d.Record(), p)
}

// sizeFacts say how large the matrix is, and what it is in the paper.
func (l *Lab) sizeFacts() []string {
	facts := []string{fmt.Sprintf("M = N = LDA = %d", l.size())}
	if l.size() != rows2020 {
		facts = append(facts, fmt.Sprintf("the paper has %d", rows2020))
	}
	return facts
}

// devicePlaces returns where a method runs: on GPUs and on the CPU. Where there is only the CPU, it says why there is no GPU, on which the paper
// measured.
func (l *Lab) devicePlaces(method string) []place {
	gpu, cpu := l.places(op.Gemv, method, true), l.places(op.Gemv, method, false)
	if gpu[0].name == "" && cpu[0].name != "" {
		cpu[0].why = "The paper measured on a GPU. Here: " + gpu[0].why + "."
		return cpu
	}
	if cpu[0].name == "" {
		return gpu
	}
	return slices.Concat(gpu, cpu)
}

// otherMachine is the cell of a figure that depends on the machine.
func (r *Result) otherMachine(printed, here, why string) Cell {
	c := Cell{Paper: printed, Here: here, Verdict: Other}
	if why != "" {
		c.Note = r.note(why, why)
	}
	return c
}

// missing is the cell of a figure that cannot be measured.
func (r *Result) missing(printed, why string) Cell {
	return Cell{Paper: printed, Verdict: Missing, Note: r.note(why, why)}
}
