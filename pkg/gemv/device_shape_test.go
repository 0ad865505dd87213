package gemv

import (
	"fmt"
	"testing"

	"mpbench/pkg/gpu/gputest"
)

// TestLargerThanGrid: more rows, columns and numbers than the blocks of a grid take at once.
func TestLargerThanGrid(t *testing.T) {
	gputest.Device(t)
	for seed, size := range [][2]int{{1500, 3}, {3, 1500}, {1, 66_000}, {66_000, 1}} {
		for op := range Op(2) {
			p := mediumProblem(uint64(seed), size[0], size[1], 0)
			p.Op = op
			p.X, p.Y = Numbers{Float64: p.A.Float64[:p.Terms()]}, Numbers{Float64: p.A.Float64[:p.Rows()]}
			for _, name := range []string{"rns-split", "rns-basic"} {
				m, _ := Lookup(name)
				o := Options{Precision: 30, ModuliBits: 31, Threads: 1}
				want := resultOf(t, m, o, p, 1)
				o.Device = gputest.Name(t)
				compareFields(t, fmt.Sprintf("%s, %v %d x %d", name, op, p.M, p.N), resultOf(t, m, o, p, 1), want)
			}
		}
	}
}

// TestResidueThreads: blocks of the paper's equation (8), with its own example.
func TestResidueThreads(t *testing.T) {
	for _, c := range []struct{ stride, threads, blocks, want int }{
		{4, 2048, 32, 64}, {8, 2048, 32, 64}, {24, 2048, 32, 48}, {112, 2048, 32, 112}, {216, 1024, 16, 216}, {2000, 2048, 32, MaxBlockSize}, {8, 0, 0, 64},
	} {
		if got := residueThreads(c.stride, c.threads, c.blocks); got != c.want {
			t.Errorf("%d residues, %d threads and %d blocks of a multiprocessor: %d threads, want %d", c.stride, c.threads, c.blocks, got, c.want)
		}
	}
}
