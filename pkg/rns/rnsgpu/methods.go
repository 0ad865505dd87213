package rnsgpu

import (
	"mpbench/pkg/device"
	"mpbench/pkg/method"
	"mpbench/pkg/op"
	"mpbench/pkg/rns/rnsop"
)

// Methods returns the variants of the 2018 paper's reductions that exist on GPUs only.
func Methods() []method.Method {
	sum := func(name, summary, bound string, new method.New, options ...method.Option) method.Method {
		m := rnsop.Reduction(method.Method{Operation: op.Sum, Name: name, Summary: summary}, bound, options...)
		m.On = map[device.Kind]method.New{device.CUDA: new}
		return m
	}
	return []method.Method{
		sum("reduce1s", "reduce1 by one GPU thread", rnsop.RecursiveBound, NewRecursiveSum(false)),
		sum("reduce1p", "reduce1 by one GPU block, a thread for each residue", rnsop.RecursiveBound, NewRecursiveSum(true)),
		sum("reduce2s", "reduce2 by one GPU thread", rnsop.PairwiseBound, NewPairwiseSum(false)),
		sum("reduce2p", "reduce2 by one GPU block, a thread for each residue", rnsop.PairwiseBound, NewPairwiseSum(true)),
		sum("reduce3p", "reduce3 on a GPU, every addition by a group of threads", rnsop.BlockBound, NewBlockSum(true),
			rnsop.GridOptions()...),
	}
}
