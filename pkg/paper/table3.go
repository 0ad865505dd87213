package paper

import (
	"context"
	"fmt"

	"mpbench/pkg/exact"
	"mpbench/pkg/method"
	"mpbench/pkg/record"
)

var table3 = Experiment{
	Name:   "gemv2020-table3",
	Title:  "Shares of the kernels in the time of GEMV",
	Source: paper2020 + ", Table 3",
	Sizes:  "1000 x 1000, not transposed, 424 bits (32 moduli of together 850 bits); entries that need few roundings",
	Needs:  "10 seconds",
	run:    runTable3,
}

// kernels2020 are the kernels of Table 3 with the phases of rns-split that do the same.
var kernels2020 = []struct{ kernel, phase, share string }{
	{"mp_vec2scal_mul_esi", "vector-fields", "0.2"},
	{"mp_vec2scal_mul_digits", "vector-residues", "0.1"},
	{"mp_mat2vec_right_scal_esi", "matrix-fields", "5.6"},
	{"mp_mat2vec_right_scal_digits", "matrix-residues", "20.8"},
	{"mp_vector_round", "rounding", "1.7"},
	{"mp_matrix_row_sum", "sums", "71.5"},
}

// profile runs rns-split as Tables 3 and 4 do, on every device, and calls use with the result. Entries are float64: a
// product of two has 106 bits and needs no rounding at 424.
func (l *Lab) profile(ctx context.Context, use func(p place, record record.Record)) error {
	d, err := l.matrix(0)
	if err != nil {
		return err
	}
	in, err := l.product(d, false)
	if err != nil {
		return err
	}
	for _, p := range l.devicePlaces("rns-split") {
		if p.name == "" {
			use(p, record.Record{})
			continue
		}
		c := method.Config{
			Precision: profileBits, Devices: p.set, Options: map[string]string{"moduli-bits": profileModuliBits},
		}
		record, ok, err := l.measure(ctx, l.Sampler, "rns-split", c, in)
		if err != nil || !ok {
			return err
		}
		use(p, record)
	}
	return nil
}

func runTable3(ctx context.Context, lab *Lab, r *Result) error {
	first := true
	err := lab.profile(ctx, func(p place, record record.Record) {
		g := Group{Title: "shares of the time on " + p.name, Facts: lab.sizeFacts(), Quantities: []string{"percent"}}
		if p.name == "" {
			g.Title = "shares of the time on a GPU"
			for _, k := range kernels2020 {
				g.Rows = append(g.Rows, Row{Bits: profileBits, Label: k.kernel + " (" + k.phase + ")",
					Cells: []Cell{r.missing(k.share, p.why)}})
			}
			r.Groups = append(r.Groups, g)
			return
		}
		if first {
			first = false
			r.Groups = append(r.Groups, parameters(record))
		}
		shares := phaseShares(record)
		for _, k := range kernels2020 {
			g.Rows = append(g.Rows, Row{
				Bits: profileBits, Label: k.kernel + " (" + k.phase + ")", Device: p.name,
				Cells: []Cell{r.otherMachine(k.share, fmt.Sprintf("%.1f", shares[k.phase]), p.why)},
			})
		}
		r.Groups = append(r.Groups, g, mostExpensive(r, p.name, shares))
	})
	return err
}

// phaseShares are the phases of rns-split in percent of their sum.
func phaseShares(record record.Record) map[string]float64 {
	total := 0.0
	for _, k := range kernels2020 {
		total += record.Phases[k.phase]
	}
	shares := map[string]float64{}
	for _, k := range kernels2020 {
		if total > 0 {
			shares[k.phase] = 100 * record.Phases[k.phase] / total
		}
	}
	return shares
}

// parameters compares what does not depend on the machine: the moduli.
func parameters(record record.Record) Group {
	g := Group{Title: "parameters", Quantities: []string{"number"}}
	add := func(label, printed string, here int) {
		cell := compare(printed, fmt.Sprint(here), exact.FromFloat64(float64(here)), "")
		g.Rows = append(g.Rows, Row{Label: label, Cells: []Cell{cell}})
	}
	add("precision in bits", "424", record.ActualBits)
	add("moduli", "32", record.Moduli)
	return g
}

// mostExpensive compares the order of the kernels that the text names.
func mostExpensive(r *Result, device string, shares map[string]float64) Group {
	g := statements(", on " + device)
	for _, s := range []struct{ text, printed, slow, fast string }{
		{"the sums take longer than the digits of B", "3.44", "sums", "matrix-residues"},
		{"the digits of B take longer than its signs, exponents and intervals", "3.71", "matrix-residues", "matrix-fields"},
		{"the digits of B take longer than all roundings", "12.2", "matrix-residues", "rounding"},
	} {
		g.Rows = append(g.Rows, ratioRow(r, s.text, s.printed, shares[s.slow], shares[s.fast], true))
	}
	return g
}
