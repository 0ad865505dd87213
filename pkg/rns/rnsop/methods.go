package rnsop

import (
	"mpbench/pkg/bound"
	"mpbench/pkg/method"
	"mpbench/pkg/rns"
)

// Reduction completes a method that adds residue numbers: on CPU or GPU, in the same order with the same bound.
func Reduction(m method.Method, formula string, options ...method.Option) method.Method {
	m.Format, m.Least, m.Most = "rns", rns.MinPrecision, rns.MaxPrecision
	m.Bound = bound.New(formula, "Isupov, Knyazkov, Kuvaev 2018, DOI 10.23683/2311-3103-2018-8-191-203")
	m.Options = append(Options(), options...)
	return m
}

// GridOptions are the shape of a block reduction, within the limits of a CUDA launch.
func GridOptions() []method.Option {
	return []method.Option{
		{Name: "blocks", Default: "256", Least: 1, Most: 1 << 20, Usage: "reduce3, reduce3p: number of blocks"},
		{
			Name: "block-size", Default: "64", Least: 1, Most: 1024, PowerOfTwo: true,
			Usage: "reduce3, reduce3p: terms that a block adds side by side, a power of two",
		},
	}
}

// The bounds of Reduce1, Reduce2 and Reduce3 for sums. The depth of a grid is the largest number of additions that one
// of n terms passes through, additions to zero not counted: 2*ceil(n / (2*G*B)) - 1 in its thread, log2 B in its
// block, and one for each further block that has terms; never more than in any order, n - 1.
const (
	RecursiveBound = "g(n-1)*S, u = 2^(1-p)"
	PairwiseBound  = "g(ceil(log2 n))*S, u = 2^(1-p)"
	BlockBound     = "g(d)*S, " + Depth
	Depth          = "d = min(n-1, 2ceil(n/(2G*B)) + ceil(log2 B) + min(G, ceil(n/(2B))) - 2), u = 2^(1-p), " +
		"G blocks of B terms side by side"
)

// DescribeGrid completes what is said of a block reduction.
func DescribeGrid(c method.Config, info *method.Info) {
	info.Blocks, info.BlockSize = c.Int("blocks"), c.Int("block-size")
	info.Bound = map[string]int{"G": info.Blocks, "B": info.BlockSize}
}

// The stages of rns-split, algorithm 1 of the 2020 paper, in the order in which they first run: those of its Table 3.
const (
	VectorFields = iota
	VectorResidues
	MatrixFields
	MatrixResidues
	Rounding
	Sums
)

// SplitStages names the stages.
var SplitStages = [...]method.Stage{
	VectorFields:   {Name: "vector-fields", Summary: "x by alpha and y by beta: signs, exponents, interval evaluations"},
	VectorResidues: {Name: "vector-residues", Summary: "x by alpha and y by beta: residues"},
	MatrixFields:   {Name: "matrix-fields", Summary: "the matrix B: signs, exponents, interval evaluations"},
	MatrixResidues: {Name: "matrix-residues", Summary: "the matrix B: residues"},
	Rounding:       {Name: "rounding", Summary: "rounding of the vectors and of B"},
	Sums:           {Name: "sums", Summary: "sums of the rows or columns of B, added to beta*y"},
}

// TuneOption says what is done about the launch parameters of kernels.
var TuneOption = method.Option{
	Name: "tune", Default: "auto", Values: []string{"auto", "force", "off"}, Neutral: true,
	Usage: "launch parameters on a GPU: auto finds them at first use and keeps them, force finds them anew,\n" +
		"off takes defaults; never changes a result",
}
