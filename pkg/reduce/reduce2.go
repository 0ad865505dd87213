package reduce

import (
	"mpbench/pkg/method"
	"mpbench/pkg/op"
	"mpbench/pkg/rns/rnsop"
)

// reduce2 is pairwise summation, Reduce2 of the 2018 paper.
var reduce2 = order{add: func(e *residues) {
	s := e.slots(0, pairwiseSlots(e.n()))
	pairwise(s, e.n())
	e.sum.Set(s.slots[0])
}}

var reduce2Methods = []method.Method{
	reduce2.method(method.Method{
		Operation: op.Sum, Name: "reduce2", Summary: "pairwise summation of RNS numbers",
	}, rnsop.PairwiseBound),
	reduce2.method(method.Method{
		Operation: op.Dot, Name: "reduce2", Summary: "products of RNS numbers, added pairwise",
	}, "g(1 + ceil(log2 n))*S, u = 2^(1-p)"),
}
