package paper

import (
	"context"
	"fmt"

	"mpbench/pkg/measure"
	"mpbench/pkg/method"
	"mpbench/pkg/op"
)

var table5 = Experiment{
	Name:   "gemv2020-table5",
	Title:  "Time of GEMV",
	Source: paper2020 + ", Table 5",
	Sizes:  "1000 x 1000, numbers of 106, 212, 424, 848 and 1696 bits uniform in [-1, 1)",
	Needs:  "a minute and 3 GB of memory",
	run:    runTable5,
}

var precisions2020 = []int{106, 212, 424, 848, 1696}

// times2020 are the rows of Table 5, in milliseconds.
var times2020 = []struct {
	label, method string // method "" for libraries that are no part of this program
	trans         bool
	times         [5]string
}{
	{"rns-split", "rns-split", false, [5]string{"3.1", "5.6", "8.5", "12.9", "24.6"}},
	{"rns-split, transposed", "rns-split", true, [5]string{"2.9", "4.6", "7.1", "11.2", "19.4"}},
	{"rns-basic", "rns-basic", false, [5]string{"12.1", "22.8", "42.4", "75.5", "150.6"}},
	{"CUMP", "", false, [5]string{"20.1", "20.8", "26.8", "56.8", "154.0"}},
	{"CAMPARY", "", false, [5]string{"0.7", "6.0", "26.3", "124.4", "2499.9"}},
	{"GARPREC", "", false, [5]string{"26.5", "37.4", "70.2", "206.0", "689.1"}},
	{"format of CUMP and GARPREC: digits", "digits", false, [5]string{}},
	{"format of QD: dd", "dd", false, [5]string{}},
	{"format of QD: qd", "qd", false, [5]string{}},
	{"format of CAMPARY: expansion:8", "expansion:8", false, [5]string{}},
	{"deferred", "deferred", false, [5]string{}},
	{"deferred, transposed", "deferred", true, [5]string{}},
}

const peers2020 = "CUMP, CAMPARY and GARPREC are no part of this program; the paper's times are of a GeForce GTX " +
	"1080. The rows \"format of ...\" are our own arithmetic in their number formats, not these programs."

// runTable5 goes by precisions, so that one matrix is held at a time, and puts the rows into the order of the table.
func runTable5(ctx context.Context, lab *Lab, r *Result) error {
	rows := make([][]Row, len(times2020))
	times := map[string]float64{}
	for k, bits := range precisions2020 {
		d, err := lab.matrix(bits)
		if err != nil {
			return err
		}
		inputs := map[bool]measure.Input{}
		for _, trans := range []bool{false, true} {
			if inputs[trans], err = lab.product(d, trans); err != nil {
				return err
			}
		}
		for i, t := range times2020 {
			if ctx.Err() != nil {
				return nil
			}
			if t.method == "" {
				rows[i] = append(rows[i], Row{Bits: bits, Label: t.label, Cells: []Cell{r.missing(t.times[k], peers2020)}})
				continue
			}
			m, _ := lab.Methods.Lookup(op.Gemv, t.method)
			if m.Bits != 0 && m.Bits != bits { // one format, one row
				continue
			}
			for _, p := range lab.devicePlaces(t.method) {
				row := Row{Bits: bits, Label: t.label, Device: p.name, Cells: []Cell{{Paper: t.times[k]}}}
				if p.name == "" {
					if t.times[k] == "" {
						continue
					}
					row.Cells[0] = r.missing(t.times[k], p.why)
				} else {
					c := method.Config{Precision: bits, Devices: p.set}
					record, ok, err := lab.measure(ctx, lab.Sampler, t.method, c, inputs[t.trans])
					if err != nil || !ok {
						return err
					}
					ns := record.Time.Median
					times[fmt.Sprint(t.label, bits, p.name)] = ns
					row.Cells[0] = r.otherMachine(t.times[k], fmt.Sprintf("%.3g", ns/1e6), p.why)
					if t.times[k] == "" {
						row.Cells[0].Verdict, row.Cells[0].Note = Unprinted, ""
					}
				}
				rows[i] = append(rows[i], row)
			}
		}
	}
	g := Group{Title: "time in milliseconds", Facts: lab.sizeFacts(), Quantities: []string{"time, ms"}}
	for _, list := range rows {
		g.Rows = append(g.Rows, list...)
	}
	r.Groups = append(r.Groups, g)
	for _, device := range lab.Devices {
		r.Groups = append(r.Groups, table5Statements(r, device.String(), times))
	}
	return nil
}

// table5Statements compares what the text says of Table 5 with the times on one device.
func table5Statements(r *Result, device string, times map[string]float64) Group {
	g := statements(", on " + device)
	add := func(text, printed, slow string, slowBits int, fast string, fastBits int) {
		a, okA := times[fmt.Sprint(slow, slowBits, device)]
		b, okB := times[fmt.Sprint(fast, fastBits, device)]
		g.Rows = append(g.Rows, ratioRow(r, text, printed, a, b, okA && okB))
	}
	basic := [5]string{"3.90", "4.07", "4.99", "5.85", "6.12"}
	for k, bits := range precisions2020 {
		add(fmt.Sprintf("%d bits: rns-split is faster than rns-basic", bits), basic[k], "rns-basic", bits, "rns-split", bits)
	}
	transposed := [5]string{"1.07", "1.22", "1.20", "1.15", "1.27"}
	for k, bits := range precisions2020 {
		add(fmt.Sprintf("%d bits: the transposed matrix is faster", bits), transposed[k], "rns-split", bits,
			"rns-split, transposed", bits)
	}
	short, okShort := times[fmt.Sprint("rns-split", 106, device)]
	long, okLong := times[fmt.Sprint("rns-split", 1696, device)]
	g.Rows = append(g.Rows, ratioRow(r, "the time of rns-split grows no faster than the precision: 16 times that at 106 "+
		"bits against that at 1696",
		"2.02", 16*short, long, okShort && okLong))
	return g
}
