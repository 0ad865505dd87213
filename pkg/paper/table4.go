package paper

import (
	"context"
	"fmt"
	"math/big"

	"mpbench/pkg/exact"
	"mpbench/pkg/record"
)

var table4 = Experiment{
	Name:   "gemv2020-table4",
	Title:  "Occupancy, divergence and bandwidth of the most expensive kernels of GEMV",
	Source: paper2020 + ", Table 4 and equation (20)",
	Sizes:  "1000 x 1000, not transposed, 424 bits",
	Needs:  "10 seconds",
	run:    runTable4,
}

// metrics2020 are the rows of Table 4.
var metrics2020 = []struct{ kernel, phase, occupancy, divergence, bandwidth string }{
	{"mp_mat2vec_right_scal_digits", "matrix-residues", "95.5", "0", "163.3"},
	{"mp_matrix_row_sum", "sums", "26.8", "66.8", "49.9"},
}

const counters = "Occupancy and divergence are counters of NVIDIA's profiler, which this program does not read."

func runTable4(ctx context.Context, lab *Lab, r *Result) error {
	err := lab.profile(ctx, func(p place, record record.Record) {
		g := Group{Title: "on " + p.name, Facts: lab.sizeFacts(), Quantities: []string{"occ. %", "div. %", "GB/s"}}
		if p.name == "" {
			g.Title = "on a GPU"
		}
		for _, m := range metrics2020 {
			bandwidth := Cell{}
			if p.name == "" {
				bandwidth = r.missing(m.bandwidth, p.why)
			} else {
				ns := record.Phases[m.phase]
				bandwidth = r.otherMachine(m.bandwidth, "", p.why)
				if ns > 0 {
					bandwidth.Here = fmt.Sprintf("%.1f", float64(phaseBytes(m.phase, record))/ns)
				}
			}
			g.Rows = append(g.Rows, Row{Bits: profileBits, Label: m.phase, Device: p.name, Cells: []Cell{
				r.missing(m.occupancy, counters), r.missing(m.divergence, counters), bandwidth,
			}})
		}
		r.Groups = append(r.Groups, g)
	})
	r.note("bytes", "GB/s: the digits of B read the residues of A and write those of B; the sums read B, with signs, "+
		"exponents and intervals.")
	r.Groups = append(r.Groups, peakBandwidth())
	return err
}

// phaseBytes is what a phase of rns-split reads and writes of the memory.
func phaseBytes(phase string, record record.Record) int64 {
	if phase == "matrix-residues" {
		return 2 * 4 * int64(record.Moduli) * int64(record.Shape.M) * int64(record.Shape.N)
	}
	return record.MatrixBytes
}

// peakBandwidth recomputes equation (20) and the percentages that follow from it.
func peakBandwidth() Group {
	g := Group{Title: "equation (20) and what follows, computed again", Quantities: []string{"number"}}
	peak := big.NewRat(1251*1_000_000*(256/8)*8, 1_000_000_000)
	percent := func(tenths int64) *big.Rat {
		share := new(big.Rat).Mul(big.NewRat(tenths, 10), big.NewRat(100, 1))
		return share.Quo(share, peak)
	}
	for _, e := range []struct {
		label, printed string
		value          *big.Rat
		digits         int
	}{
		{"GTX 1080: 1251 MHz * 256/8 bytes * 8, GB/s", "320.3", peak, 1},
		{"163.3 GB/s in percent of it", "51", percent(1633), 1},
		{"49.9 GB/s in percent of it", "16", percent(499), 1},
	} {
		cell := compare(e.printed, e.value.FloatString(e.digits), exact.FromRat(e.value), "")
		g.Rows = append(g.Rows, Row{Label: e.label, Cells: []Cell{cell}})
	}
	return g
}
