package paper

import (
	"context"
	"math/big"
	"strings"

	"mpbench/pkg/exact"
	"mpbench/pkg/measure"
	"mpbench/pkg/method"
	"mpbench/pkg/op"
	"mpbench/pkg/record"
)

// printedCell is a value and its relative error as the 2018 paper prints them; the notes are keys of notes2018.
type printedCell struct {
	value, error         string
	valueNote, errorNote string
}

// sets2018 are the paper's data sets, in the order of its columns.
var sets2018 = []struct{ name, title string }{
	{"mcnamee1", "set 1 (mcnamee1): 2047 times 10, twice 1e-18, 2047 times -10"},
	{"mcnamee2", "set 2 (mcnamee2): 1, then 10^6 times 1e-16"},
	{"mcnamee3", "set 3 (mcnamee3): x^i/i!, x = -4 pi, i = 0..63"},
}

var table1 = Experiment{
	Name:   "mpres2018-table1",
	Title:  "Data sets, their exact sums, and sums in float and double",
	Source: paper2018 + ", Table 1",
	Sizes:  "4096, 1000001 and 64 terms",
	Needs:  "a second",
	run:    runTable1,
}

// table1Rows are the columns MPFR, Float and Double of Table 1, with the cells of the three sets.
var table1Rows = []struct {
	method string // "" for the exact sum
	label  string
	cells  [3]printedCell
}{
	{"", "exact", [3]printedCell{{value: "2e-18"}, {value: "1.0000000001"}, {value: "3.48733745e-6"}}},
	{"float32", "float32", [3]printedCell{{value: "0", error: "10^0"}, {value: "1.0", error: "10^-10"},
		{value: "2.00600782e-3", error: "10^0"}}},
	{"float64", "float64", [3]printedCell{{value: "0", error: "10^0"}, {value: "1.0", error: "10^-10"},
		{value: "3.48733650e-6", error: "3e-7"}}},
}

func runTable1(ctx context.Context, lab *Lab, r *Result) error {
	for i, set := range sets2018 {
		g := Group{Title: set.title, Quantities: valueAndError}
		in, err := lab.terms(set.name, 0)
		if err != nil {
			return err
		}
		sum := in.Reference.Component(0).Sum
		for _, row := range table1Rows {
			if row.method == "" {
				c := compare(row.cells[i].value, writeLike(row.cells[i].value, sum), sum, "")
				g.Rows = append(g.Rows, Row{Label: row.label, Device: "cpu", Cells: []Cell{c, {}}})
				continue
			}
			err := lab.compareSum(ctx, r, &g, in, row.label, row.method, method.Config{}, 0, row.cells[i], false)
			if err != nil {
				return err
			}
		}
		r.Groups = append(r.Groups, g)
	}
	r.note("capped", capNote)
	r.note("terms", "The terms are binary64 numbers, taken as exact: set 3 has rounded powers and factorials, so that "+
		"its exact sum differs from exp(-4 pi) = 3.48734236e-6 in the sixth digit.")
	return nil
}

const capNote = "The paper prints errors of more than 1 as 1 = 10^0; here they are not capped."

// valueAndError are the quantities of Tables 1 and 2.
var valueAndError = []string{"value", "error"}

// compareSum adds a row for each place where a method runs; if there is none, one that says so, but not for a GPU.
func (l *Lab) compareSum(
	ctx context.Context, r *Result, g *Group, in measure.Input, label, method string, c method.Config, bits int,
	printed printedCell, gpu bool,
) error {
	for _, p := range l.places(op.Sum, method, gpu) {
		if p.name == "" {
			if !gpu {
				key := r.note(p.why, p.why)
				g.Rows = append(g.Rows, Row{Bits: bits, Label: label, Cells: []Cell{
					{Paper: printed.value, Verdict: Missing, Note: key}, {Paper: printed.error, Verdict: Missing},
				}})
			}
			continue
		}
		c.Devices = p.set
		record, ok, err := l.measure(ctx, once, method, c, in)
		if err != nil || !ok {
			return err
		}
		g.Rows = append(g.Rows, Row{Bits: bits, Label: label, Device: p.name, Cells: cells2018(r, record, printed)})
	}
	return nil
}

// cells2018 compares a record with the printed value and error.
func cells2018(r *Result, record record.Record, printed printedCell) []Cell {
	explain := func(key string) string {
		if key == "" {
			return ""
		}
		return r.note(key, notes2018[key])
	}
	value := number(record.Value)
	relative := capped(number(record.RelError))
	return []Cell{
		compare(printed.value, writeLike(printed.value, value), value, explain(printed.valueNote)),
		compare(printed.error, shortError(record), relative, explain(printed.errorNote)),
	}
}

// writeLike writes a value with at least the printed digits and nine, without an exponent where the paper has none.
func writeLike(printed string, x exact.Value) string {
	n := max(9, digits(printed))
	if x.IsFinite() && x.Sign() != 0 && printed != "0" && !strings.Contains(printed, "e") {
		d, err := record.ParseDecimal(x.Text(n))
		if err == nil && d.Exp > -3 && d.Exp < 9 {
			return d.Plain(n)
		}
	}
	return shortExponent(x.Text(n))
}

// shortError is the error of a record in two digits, never capped.
func shortError(record record.Record) string { return shortExponent(number(record.RelError).Text(2)) }

func number(text string) exact.Value {
	switch x, ok := new(big.Rat).SetString(text); {
	case ok:
		return exact.FromRat(x)
	case text == "+Inf":
		return exact.Value{Class: exact.PosInf}
	case text == "-Inf":
		return exact.Value{Class: exact.NegInf}
	}
	return exact.Value{Class: exact.NaN}
}
