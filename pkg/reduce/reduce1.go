package reduce

import (
	"mpbench/pkg/method"
	"mpbench/pkg/op"
	"mpbench/pkg/rns/rnsop"
)

// reduce1 is recursive summation, Reduce1 of the 2018 paper.
var reduce1 = order{add: func(e *residues) {
	s := e.slots(0, 1)
	recursive(s, e.n())
	e.sum.Set(s.slots[0])
}}

var reduce1Methods = []method.Method{
	reduce1.method(method.Method{
		Operation: op.Sum, Name: "reduce1", Summary: "recursive summation of RNS numbers",
	}, rnsop.RecursiveBound),
	reduce1.method(method.Method{
		Operation: op.Dot, Name: "reduce1", Summary: "products of RNS numbers, added recursively",
	}, "g(n)*S, u = 2^(1-p)"),
}
