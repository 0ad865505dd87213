package report

import (
	"bytes"
	"math/big"
	"testing"

	"mpbench/pkg/advise"
	"mpbench/pkg/exact"
)

// testAdvice is an advice with a candidate of each kind.
func testAdvice() *advise.Result {
	error := func(exponent int) exact.Value { return exact.FromRat(exact.PowerOfTwo(exponent)) }
	unknown := exact.Value{Class: exact.NaN}
	r := &advise.Result{
		Operation: "sum",
		Facts: advise.Facts{Size: []string{"n = 1000000"}, Condition: exact.FromRat(big.NewRat(12345, 100)), Least: -20,
			Most: 3, Spread: 23},
		Options: advise.Options{Wish: advise.Digits(12), Reuse: 1},
		Candidates: []advise.Candidate{
			{Method: "float64", Format: "binary64", Device: "cpu", Precision: 53, Fixed: true, Bound: error(-30), Ran: true,
				Found: error(-45), Meets: true, RunNs: 470e3, CostNs: 470e3},
			{Method: "deferred", Format: "exact", Device: "cuda:0", Precision: 53, Bound: error(-53), Promised: true, Ran: true,
				Found: error(-54), Meets: true, ConvertNs: 1e6, RunNs: 95e3, CostNs: 1.095e6},
			{Method: "deferred", Format: "exact", Device: "cuda:0", Precision: 30, Bound: error(-30), Ran: true,
				Found: error(-31), RunNs: 95e3, CostNs: 1.095e6},
			{Method: "float32", Format: "binary32", Device: "cpu", Precision: 24, Fixed: true, Bound: unknown, Ran: true,
				Found: exact.Value{Class: exact.NaN}, RunNs: 500e3, CostNs: 500e3},
			{Method: "reduce1", Format: "rns", Device: "cpu", Precision: 64, Bound: unknown, CostNs: 27e6},
			{Method: "bigfloat", Format: "big.Float", Device: "cpu", Precision: 64, Bound: unknown, Problem: "needs 9.9 GB"},
		},
		Check: &advise.Check{Found: error(-45), Holds: true},
		Ratio: 1.234,
	}
	r.Best, r.Promised, r.Cheapest = &r.Candidates[0], &r.Candidates[1], &r.Candidates[0]
	return r
}

// goldenText is a document as a table.
func goldenText(t *testing.T, d *Document) []byte {
	return render(t, func(b *bytes.Buffer) error { return documentTable(b, d, Options{}) })
}

// TestGoldenAdvise renders an advice in every format; what the files hold was looked at.
func TestGoldenAdvise(t *testing.T) {
	goldenDocument(t, "advise", Advise(testAdvice(), "uniform01", "mpbench sum --dataset uniform01 --method float64"))
	failed := testAdvice()
	failed.Check.Holds = false
	failed.Promised, failed.Cheapest = nil, nil
	golden(t, "advise-failed", goldenText(t, Advise(failed, "uniform01", "mpbench sum")))
	none := testAdvice()
	none.Best, none.Promised, none.Cheapest, none.Check = nil, nil, nil, nil
	none.Candidates = none.Candidates[2:]
	none.Facts.Condition = exact.Value{Class: exact.NaN}
	golden(t, "advise-none", goldenText(t, Advise(none, "uniform01", "")))
}
