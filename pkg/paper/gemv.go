package paper

import (
	"fmt"
	"slices"

	"mpbench/datasets"
	"mpbench/pkg/bench"
	"mpbench/pkg/gemv"
)

// rows2020 is M = N = LDA of the 2020 paper's experiments.
const rows2020 = 1000

// profileBits and profileModuliBits are the precision of Tables 3 and 4 and the width that makes it 32 moduli of together 850 bits.
const (
	profileBits       = 424
	profileModuliBits = 28 // of which the 32 moduli need 27
)

// size returns M = N.
func (l *Lab) size() int {
	if l.N != 0 {
		return l.N
	}
	return rows2020
}

// matrix makes a matrix of numbers uniform in [-1, 1), of the given bits or float64 for 0, and a vector.
func (l *Lab) matrix(bits int) (*datasets.Matrix, error) {
	spec, err := datasets.ParseMatrix("uniform11")
	if err != nil {
		return nil, err
	}
	l.begin("%d x %d numbers of %d bits", l.size(), l.size(), max(bits, 53))
	return datasets.GenerateMatrix(spec, datasets.MatrixOptions{M: l.size(), N: l.size(), Seed: l.Seed, Bits: bits})
}

// product computes the reference of y = op(A)*x.
func (l *Lab) product(d *datasets.Matrix, op gemv.Op) (bench.GemvInput, error) {
	l.begin("exact result of %s for %d x %d numbers", op, d.M, d.N)
	return bench.NewGemvInput(d, gemv.Problem{
		Op: op, M: d.M, N: d.N, LDA: d.M, IncX: 1, IncY: 1, Alpha: gemv.Number(1), Beta: gemv.Number(0),
		A: gemv.Numbers{Float64: d.A, Wide: d.WideA}, X: gemv.Numbers{Float64: d.X, Wide: d.WideX}, Y: gemv.Numbers{Float64: d.Y, Wide: d.WideY},
	})
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
	gpu, cpu := l.gemvPlaces(method, true), l.gemvPlaces(method, false)
	if gpu[0].device == "" && cpu[0].device != "" {
		cpu[0].why = "The paper measured on a GPU. Here: " + gpu[0].why + "."
		return cpu
	}
	if cpu[0].device == "" {
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
