package main

import "mpbench/pkg/op"

// guide is what help says of an operation's command, and the precision that it begins with.
type guide struct{ short, long, example, precision string }

// guideOf returns the guide of an operation; of one without its own, what holds for all.
func guideOf(o *op.Operation) guide {
	if g, ok := guides[o]; ok {
		return g
	}
	return guide{
		short: "Compute " + o.Summary + " by many methods and compare with the exact result",
		long: "Computes " + o.Summary + ` of each data set by each method at each precision. Every component is
compared with the exact one and with the method's proved error bound. A row shows the component with
the largest relative error.`,
		example:   "  mpbench " + o.Name + " --precision 106",
		precision: "106",
	}
}

var guides = map[*op.Operation]guide{
	op.Sum: {
		short: "Sum numbers by many methods and compare with the exact sum",
		long: `Sums each data set by each method at each precision. Every result is compared with the exact sum
of the same numbers and with the method's proved error bound, and timed.

A row's error is |value - exact| / |exact|, never capped; correct bits are -log2 of it. The
time is that of the summation alone, of numbers converted to the method's format beforehand; the
conversion is shown apart.`,
		example: `  mpbench sum --precision 240
  mpbench sum --precision 30,60,120,240 --moduli-bits 16 --dataset mcnamee1,mcnamee2,mcnamee3
  mpbench sum --input data.npy --method float64,kahan,reduce2 --export run.jsonl
  mpbench sum --dataset gensum --method neumaier,reduce1 -L cond=1e0..1e60:x1e10
  mpbench sum --dataset uniform01 --method reduce1,reduce2 -L n=2^10..2^20:x4 --format csv`,
		precision: "240",
	},
	op.Dot: {
		short: "Multiply vectors by many methods and compare with the exact dot product",
		long: `Computes the dot product of each pair of vectors by each method at each precision. Every result is
compared with the exact dot product of the same numbers and with the method's proved error bound, and
timed. The condition number is 2 sum|x_i y_i| / |sum x_i y_i|.`,
		example: `  mpbench dot --precision 120
  mpbench dot --dataset gendot --method float64,dot2,deferred -L cond=1e5..1e100:x1e5
  mpbench dot --input-x x.npy --input-y y.npy --precision 106,212`,
		precision: "240",
	},
	op.Gemv: {
		short: "Multiply a matrix by a vector by many methods and compare with the exact result",
		long: `Computes y = alpha*op(A)*x + beta*y for an M x N matrix A, op(A) = A or its transpose, by each method at
each precision. Every component is compared with the exact one and with the method's proved error
bound. A row shows the component with the largest relative error.

The numbers of a data set are float64, or, with --full, of as many bits as the precision. The time is
that of the product alone; converting A and x to the method's format is a phase of its own, and a
converted matrix can be used again. deferred keeps A in 4 bytes times the number of moduli per element.

On a GPU, deferred leaves a matrix in host memory that does not fit the GPU's in this form, or with
--stream any: every run copies it in panels of columns, while others become residues and are multiplied.
Its time is then by the clock, bounded by the bus.`,
		example: `  mpbench gemv --n 1000 --transpose
  mpbench gemv --n 500 --precision 106,212,424 --full --method rns-split,deferred --profile
  mpbench gemv --n 100 --dataset gengemv --method float64,rns-basic,deferred -L cond=1e10..1e60:x1e10
  mpbench gemv --n 20000 --method deferred --precision 53 --device cuda:0 --stream --profile
  mpbench gemv --input-a A.npy --input-x x.npy --method deferred --precision 53 --save-result y.npy`,
		precision: "106",
	},
}
