package deferredgpu

import (
	"time"

	"mpbench/cuda"
	"mpbench/pkg/gpu"
)

// Stages of 128 terms that byteProducts keeps in shared memory, and the threads of a block and its shared memory for
// tiles of 256, of which a block has half of the rows.
const (
	stages      = 3
	wideThreads = 384
	wideStages  = 4
	wideShared  = wideStages*(wideTile/2+wideTile)*stageTerms + 16*wideStages + 1024
	clusterSize = 2
)

// multiplyLaunch describes the products of a panel, of padded rows and columns.
func (p *gemmProduct) multiplyLaunch(rows, cols int) gpu.Launch {
	tiles := rows / p.tile * (cols / p.tile) * len(p.moduli.Moduli)
	if p.tile == wideTile {
		clusters := min(tiles, p.device.Info().Multiprocessors/clusterSize)
		return gpu.Launch{Grid: gpu.Dim{X: clusterSize * clusters}, Block: gpu.Dim{X: wideThreads}, Shared: wideShared,
			Cluster: clusterSize}
	}
	return gpu.Launch{Grid: gpu.Dim{X: tiles}, Block: gpu.Dim{X: planesBlock}, Shared: stages * 2 * p.tile * stageTerms}
}

// instruction is what byteProducts multiplies with.
func (p *gemmProduct) instruction() string {
	if p.tile == wideTile {
		return "wgmma"
	}
	return "mma.sync"
}

// entryShared is the shared memory of a warp of roundEntries.
func (p *gemmProduct) entryShared() int {
	f := &p.rounding
	return entryPitch * 4 * int(f.Scratch+8*f.Chunks+f.ScratchEnd)
}

// roundLaunch describes the rounding of so many entries.
func (p *gemmProduct) roundLaunch(rows, cols int) gpu.Launch {
	warps := 4
	for warps > 1 && warps*p.entryShared() > sharedAtMost {
		warps /= 2
	}
	items := rows * ((cols + 31) / 32)
	return gpu.Launch{Grid: gpu.Dim{X: (items + warps - 1) / warps}, Block: gpu.Dim{X: 32 * warps},
		Shared: warps * p.entryShared()}
}

// gemmPanel is a part of the result: rows and columns from the first ones on, and its first word of uncertain.
type gemmPanel struct{ row, col, rows, cols, word int }

// eachPanel calls f with the panels, row by row.
func (p *gemmProduct) eachPanel(f func(gemmPanel) error) error {
	word := 0
	for row := 0; row < p.rows; row += p.sides[0].panel {
		for col := 0; col < p.cols; col += p.sides[1].panel {
			q := gemmPanel{row, col, min(p.sides[0].panel, p.rows-row), min(p.sides[1].panel, p.cols-col), word}
			if err := f(q); err != nil {
				return err
			}
			word += q.rows * ((q.cols + 31) / 32)
		}
	}
	return nil
}

// run computes the result and waits; timed takes times.
func (p *gemmProduct) run(timed bool) error {
	p.times = gemmTimes{}
	err := p.eachPanel(func(q gemmPanel) error {
		record := func(i int) func() error {
			return func() error {
				if !timed {
					return nil
				}
				return p.events[i].Record(nil)
			}
		}
		err := gpu.InTurn(
			record(0),
			func() error { return p.load(&p.sides[0], q.row) },
			func() error { return p.load(&p.sides[1], q.col) },
			record(1),
			func() error { return p.launchProducts(q) },
			record(2),
			func() error { return p.launchRounding(q) },
			record(3),
		)
		if err == nil && timed {
			err = p.takeTimes()
		}
		return err
	})
	if err != nil {
		p.sides[0].held, p.sides[1].held = -1, -1 // who knows
		return err
	}
	return p.device.Sync()
}

func (p *gemmProduct) takeTimes() error {
	if err := p.events[3].Sync(); err != nil {
		return err
	}
	for i, total := range []*time.Duration{&p.times.convert, &p.times.multiply, &p.times.round} {
		t, err := gpu.Elapsed(p.events[i], p.events[i+1])
		if err != nil {
			return err
		}
		*total += t
	}
	return nil
}

func (p *gemmProduct) launchProducts(q gemmPanel) error {
	a, b := &p.sides[0], &p.sides[1]
	rows, cols := roundUp(q.rows, p.tile), roundUp(q.cols, p.tile)
	return p.multiply.Launch(p.multiplyLaunch(rows, cols), cuda.ByteProductsArgs{P: cuda.ByteProducts{
		A: a.planes.Pointer(), B: b.planes.Pointer(), C: p.residues.Pointer(), Moduli: p.list.Pointer(),
		AStride: uint64(a.panel) * uint64(p.terms), BStride: uint64(b.panel) * uint64(p.terms),
		CStride: uint64(rows) * uint64(cols), Rows: uint32(rows), Columns: uint32(cols), Terms: uint32(p.terms),
		Turns: uint32(p.turns), Count: uint32(len(p.moduli.Moduli)),
	}})
}

func (p *gemmProduct) launchRounding(q gemmPanel) error {
	f := p.rounding
	rows, cols := roundUp(q.rows, p.tile), roundUp(q.cols, p.tile)
	f.Residues, f.PlaneStride, f.Pitch = p.residues.Pointer(), uint64(rows)*uint64(cols), uint32(cols)
	f.RowLow, f.ColumnLow = p.sides[0].low.Pointer().At(q.row), p.sides[1].low.Pointer().At(q.col)
	f.Rows, f.Columns = uint32(q.rows), uint32(q.cols)
	if p.uncertain != nil {
		f.RowBits, f.ColumnBits = f.RowBits.At(q.row), f.ColumnBits.At(q.col)
		f.Uncertain = p.uncertain.Pointer().At(q.word)
	}
	if f.BetaWords > 0 {
		at := q.row*int(f.RowStride) + q.col*int(f.ColumnStride)
		f.Source, f.Exponents = f.Source.At(at*max(1, int(f.Width))), f.Exponents.At(at)
	}
	at := q.row*p.cols + q.col
	f.Out, f.OutExponents = p.out.Pointer().At(at*p.width), p.exponents.Pointer().At(at)
	return p.round.Launch(p.roundLaunch(q.rows, q.cols), cuda.RoundEntriesArgs{F: f})
}
