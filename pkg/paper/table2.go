package paper

import (
	"context"
	"fmt"
	"math/big"

	"mpbench/pkg/exact"
	"mpbench/pkg/method"
	"mpbench/pkg/record"
)

var table2 = Experiment{
	Name:   "mpres2018-table2",
	Title:  "Accuracy of the summation algorithms",
	Source: paper2018 + ", Table 2",
	Sizes:  "4096, 1000001 and 64 terms; 30, 60, 120 and 240 bits (4, 8, 16 and 32 moduli of 16 bits)",
	Needs:  "3 seconds",
	run:    runTable2,
}

// options2018 are the paper's parameters: moduli just above 2^15, so that n of them give 7.5 n bits; truncation; for
// Reduce3 256 blocks of 64 threads, of which the text names the first.
func options2018(bits int) method.Config {
	options := map[string]string{"moduli-bits": "16", "blocks": "256", "block-size": "64"}
	return method.Config{Precision: bits, Options: options}
}

// table2Rows are the cells of Table 2. Cells that the paper merges are repeated.
var table2Rows = []struct {
	bits, moduli int
	method       string
	cells        [3]printedCell
}{
	{30, 4, "reduce1", [3]printedCell{
		{value: "0", error: "10^0"}, {value: "1.0", error: "10^-10"}, {value: "1.24597778e-5", error: "10^0"}}},
	{30, 4, "reduce2", [3]printedCell{
		{value: "0", error: "10^0"}, {value: "1.0", error: "10^-10"}, {value: "1.31716952e-5", error: "10^0"}}},
	{30, 4, "reduce3", [3]printedCell{
		{value: "0", error: "10^0"}, {value: "1.0", error: "10^-10"}, {valueNote: "illegible"}}},

	{60, 8, "reduce1", [3]printedCell{
		{value: "0", error: "10^0"}, {value: "1.0000000001", error: "9e-13", errorNote: "unit"},
		{value: "3.48733745e-6", error: "10^-17"}}},
	{60, 8, "reduce2", [3]printedCell{
		{value: "0", error: "10^0", valueNote: "cut", errorNote: "cut"}, {value: "1.0000000001", errorNote: "merged"},
		{value: "3.48733745e-6", error: "10^-10"}}},
	{60, 8, "reduce3", [3]printedCell{
		{value: "0", error: "10^0"}, {value: "1.0000000001", errorNote: "merged"}, {value: "3.48733738e-6", error: "2e-8"}}},

	{120, 16, "reduce1", [3]printedCell{
		{value: "2e-18", error: "5e-15", errorNote: "eight"},
		{value: "1.0000000001", error: "6e-13", errorNote: "reference"}, {value: "3.48733745e-6", error: "0"}}},
	{120, 16, "reduce2", [3]printedCell{
		{value: "2e-18", error: "0", errorNote: "zero"}, {value: "1.0000000001", error: "6e-13", errorNote: "reference"},
		{value: "3.48733745e-6", error: "0"}}},
	{120, 16, "reduce3", [3]printedCell{
		{value: "2e-18", error: "5e-15", errorNote: "eight"},
		{value: "1.0000000001", error: "6e-13", errorNote: "reference"}, {value: "3.48733745e-6", error: "6e-27"}}},

	{240, 32, "reduce1", [3]printedCell{
		{value: "2e-18", error: "0"}, {value: "1.0000000001", error: "6e-13", errorNote: "reference"},
		{value: "3.48733745e-6", error: "0"}}},
	{240, 32, "reduce2", [3]printedCell{
		{value: "2e-18", error: "0"}, {value: "1.0000000001", error: "6e-13", errorNote: "reference"},
		{value: "3.48733745e-6", error: "0"}}},
	{240, 32, "reduce3", [3]printedCell{
		{value: "2e-18", error: "0"}, {value: "1.0000000001", error: "6e-13", errorNote: "reference"},
		{value: "3.48733745e-6", error: "0"}}},
}

// notes2018 explain the cells of Tables 1 and 2 that are not as printed.
var notes2018 = map[string]string{
	"illegible": "The cell is merged with Reduce2's in the text at hand. Reduce3 pairs term i with term i + 32; at 30 " +
		"bits nothing is left of the sum.",
	"cut": "Merged in the paper with cells that are 0. Truncating 10 - 1e-18 to 60 bits takes a whole unit off, 2^-56, " +
		"and each level of the tree truncates again to a unit twice as large; 2^-45 = 2.8e-14 is left. The paper's error " +
		"is capped at 1.",
	"unit": "Reduce1 truncates a million times to 60 bits. With the unit 2^-59 of a 60-bit number in [1, 2) that loses " +
		"1.1e-12; with 2^-60 it would be 2.5e-13, and 2.5e-13 + 6.1e-13 = 8.7e-13 against the paper's reference (see " +
		"there) is the printed 9e-13.",
	"merged": "Merged in the paper with the 9e-13 of Reduce1, which an addition in a tree, with 20 and not a million " +
		"roundings, cannot have.",
	"eight": "Set 1 needs 125 bits. Truncating to 120 cuts each of the two terms 1e-18 by 11 units of 2^-110: 8.5e-15. " +
		"A 5 for an 8 is a likely misprint: no uniform rounding gives 5e-15.",
	"zero": "Not explained: with pairwise summation, too, 120 bits do not hold 10 + 1e-18, and no uniform rounding " +
		"makes the error 0.",
	"reference": "The sum is exact here: every partial sum of set 2 fits in 105 bits. The printed 6e-13 is the error " +
		"of a reference that was itself summed with 59 or 60 bits, each 1e-16 becoming 58 units of 2^-59; the last table " +
		"shows that the figures agree with such a reference.",
}

func runTable2(ctx context.Context, lab *Lab, r *Result) error {
	for i, set := range sets2018 {
		in, err := lab.terms(set.name, 0)
		if err != nil {
			return err
		}
		g := Group{Title: set.title, Quantities: valueAndError}
		for _, row := range table2Rows {
			o := options2018(row.bits)
			if err := lab.compareSum(ctx, r, &g, in, row.method, row.method, o, row.bits, row.cells[i], false); err != nil {
				return err
			}
			for _, variant := range gpuVariants(row.method) {
				if err := lab.compareSum(ctx, r, &g, in, variant, variant, o, row.bits, row.cells[i], true); err != nil {
					return err
				}
			}
		}
		r.Groups = append(r.Groups, g)
	}
	r.note("capped", capNote)
	if lab.hasCPU() && ctx.Err() == nil {
		r.Groups = append(r.Groups, againstRoundedReference(lab.records))
	}
	if same := bitForBit(lab.records, len(lab.gpus()) > 0); len(same.Rows) > 0 {
		r.Groups = append(r.Groups, same)
	}
	return nil
}

// gpuVariants are the GPU versions of an algorithm of the 2018 paper: S is serial, P has one thread for each residue.
func gpuVariants(method string) []string {
	if method == "reduce3" {
		return []string{"reduce3", "reduce3p"}
	}
	return []string{method + "s", method + "p"}
}

// roundedReference is the sum of set 2 with round-to-nearest at 60 bits: 1 + 10^6 * 58 * 2^-59.
func roundedReference() *big.Rat {
	x := new(big.Rat).Mul(big.NewRat(58_000_000, 1), exact.PowerOfTwo(-59))
	return x.Add(x, big.NewRat(1, 1))
}

// againstRoundedReference compares errors of set 2 against roundedReference with those printed (note "reference").
func againstRoundedReference(records []record.Record) Group {
	g := Group{
		Title:      "set 2 against a reference summed with 60 bits, as the paper's seems to be",
		Quantities: []string{"error"},
	}
	reference := exact.FromRat(roundedReference())
	for _, row := range table2Rows {
		printed := row.cells[1]
		if printed.errorNote != "reference" {
			continue
		}
		for _, record := range records {
			if record.Dataset.Name == "mcnamee2" && record.Method == row.method && record.PrecisionBits == row.bits &&
				record.Device == "cpu" {
				e := exact.Measure(number(record.Value), reference).Rel
				g.Rows = append(g.Rows, Row{Bits: row.bits, Label: row.method, Device: "cpu",
					Cells: []Cell{compare(printed.error, shortExponent(e.Text(2)), e, "")}})
			}
		}
	}
	return g
}

// bitForBit checks the text's statement that CPU and GPU give the same bits in all versions of Reduce1 and Reduce2.
func bitForBit(records []record.Record, gpu bool) Group {
	g := Group{Title: "statements of the text", Quantities: []string{"differing"}, Statements: true}
	if !gpu {
		return g
	}
	for _, method := range []string{"reduce1", "reduce2"} {
		compared, differing := 0, 0
		for _, c := range records {
			if c.Method != method || c.Device != "cpu" {
				continue
			}
			for _, d := range records {
				if d.Device != "cpu" && (d.Method == method+"s" || d.Method == method+"p") && d.Dataset.Name == c.Dataset.Name &&
					d.PrecisionBits == c.PrecisionBits {
					compared++
					if d.ResultHash != c.ResultHash {
						differing++
					}
				}
			}
		}
		if compared == 0 {
			continue
		}
		verdict := Agrees
		if differing > 0 {
			verdict = Differs
		}
		g.Rows = append(g.Rows, Row{
			Label: "CPU and GPU give the same bits in all versions of " + method,
			Cells: []Cell{{Paper: "0", Here: fmt.Sprintf("%d of %d", differing, compared), Verdict: verdict}},
		})
	}
	return g
}
