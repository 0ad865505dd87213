package datasets

import "testing"

// TestLimitOf compares with the digits of exp(-4 pi) and pi^2/6 in tables.
func TestLimitOf(t *testing.T) {
	for set, want := range map[string]string{
		"mcnamee1": "2.000000000000000000000000000000e-18",
		"mcnamee2": "1.000000000100000000000000000000e+00",
		"mcnamee3": "3.487342356208995491775266265208e-06",
		"basel":    "1.644934066848226436472415166646e+00",
	} {
		if r, ok := LimitOf(set); !ok || r.Value.Text('e', 30) != want {
			t.Errorf("%s: %s, want %s", set, r.Value.Text('e', 30), want)
		}
	}
	if _, ok := LimitOf("uniform01"); ok {
		t.Error("uniform01 stands for no number")
	}
}
