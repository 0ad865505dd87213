package rnsop

import "mpbench/pkg/method"

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
