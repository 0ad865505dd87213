package report

import (
	"testing"
	"time"

	"mpbench/pkg/selftest"
)

// TestGoldenSelftest renders passes and failures in every format; what the files hold was looked at.
func TestGoldenSelftest(t *testing.T) {
	rows := []selftest.Row{
		{Operation: "arithmetic", Method: "float64", Format: "binary64", Device: "cpu", Path: "avx2", Checks: 100},
		{Operation: "sum", Method: "reduce2", Format: "rns", Device: "cpu", Path: "avx2", Checks: 20, Failed: 3,
			Failure: "ties, 60 bits: expected 1.0000000000000000e+00, found 1.0000000000000002e+00",
			Advice:  "Do not trust it."},
		{Operation: "sum", Method: "reduce2", Format: "rns", Device: "cuda:0", Path: "avx2", Checks: 20},
		{Operation: "arithmetic", Method: "float64", Format: "binary64", Device: "cpu", Path: "none", Checks: 100},
		{Operation: "sum", Method: "reduce2", Format: "rns", Device: "cpu", Path: "none", Checks: 20},
	}
	goldenDocument(t, "selftest", Selftest(rows, 1500*time.Millisecond, []string{"no GPU was tested: no driver"}))
	if d := Selftest(rows[3:], time.Second, nil); d.Closing[0] != "all 2 tests passed, 120 checks, in 1.0 s" {
		t.Error(d.Closing)
	}
	for i, object := range Selftest(rows, 0, nil).Rows {
		if got := object.(SelftestRow).Row(); got != rows[i] {
			t.Errorf("%+v, want %+v", got, rows[i])
		}
	}
}
