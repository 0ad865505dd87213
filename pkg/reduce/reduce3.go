package reduce

import (
	"mpbench/internal/parallel"
	"mpbench/pkg/method"
	"mpbench/pkg/op"
	"mpbench/pkg/rns"
	"mpbench/pkg/rns/rnsop"
)

// reduce3 is the block reduction, Reduce3 of the 2018 paper, with goroutines in the place of GPU blocks. Which
// goroutine reduces a block changes nothing.
var reduce3 = order{addBlocks, describeBlocks}

func addBlocks(e *residues) {
	g := grid{e.config.Int("blocks"), e.config.Int("block-size")}
	sums := make([]*rns.Float, g.used(e.n()))
	workers := make([]*slots, e.operands.Workers())
	parallel.Ranges(len(workers), len(sums), 1, func(worker, b, _ int) {
		if workers[worker] == nil {
			workers[worker] = e.slots(worker, g.BlockSize)
		}
		s := workers[worker]
		s.clear()
		block(s, g, b, e.n())
		sums[b] = s.context.Base().NewFloat()
		sums[b].Set(s.slots[0])
	})
	for _, x := range sums { // the paper's third stage, on the host
		e.context.Add(e.sum, e.sum, x)
	}
}

func describeBlocks(c method.Config, info *method.Info) {
	rnsop.DescribeGrid(c, info)
	info.Threads = min(parallel.Threads(c.Threads), info.Blocks)
}

var reduce3Methods = []method.Method{
	reduce3.method(method.Method{
		Operation: op.Sum, Name: "reduce3", Summary: "block-parallel summation of RNS numbers", Threads: true,
	}, rnsop.BlockBound, rnsop.GridOptions()...),
	reduce3.method(method.Method{
		Operation: op.Dot, Name: "reduce3", Summary: "products of RNS numbers, added by blocks", Threads: true,
	}, "g(1+d)*S, "+rnsop.Depth, rnsop.GridOptions()...),
}
