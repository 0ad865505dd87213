package bound

import (
	"math/big"
	"slices"
	"strings"
	"testing"

	"mpbench/pkg/exact"
)

func rat(text string) *big.Rat {
	x, ok := new(big.Rat).SetString(text)
	if !ok {
		panic(text)
	}
	return x
}

// TestEval compares formulas with their values by hand, for n = 5, p = 3, S = 8, |s| = 2.
func TestEval(t *testing.T) {
	vars := Vars{N: 5, P: 3, S: rat("8"), Sum: rat("-2"), More: map[string]*big.Rat{"B": rat("4"), "G": rat("2")}}
	for formula, want := range map[string]string{
		"S":                               "8",
		"|s|":                             "2",
		"|x'y| + |y|*|sum|":               "6",
		"g(n-1)*S, u = 2^-4":              "32/12", // 4/16 / (1 - 4/16) * 8
		"g(n-9)*S, u = 1":                 "0",
		"g(4)*S, u = 1/4":                 "",
		"3u + 12(n+1)u^2, u = 2^-p":       "3/2", // 3/8 + 72/64
		"(n+1)(n-1)":                      "24",
		"2^(1-p)":                         "1/4",
		"2n*2^-1074":                      "10/1",
		"ceil(n/B) + ceil(log2 n) - 3":    "2",
		"ceil(log2 1) + ceil(log2 B)":     "2",
		"min(n-1, 2ceil(n/(2G*B)) + 7)":   "4",
		"d, d = 2k, k = n+p":              "16",
		"B, B = 7: the engine knows":      "4",
		"u*S, u = 2^-p, any order":        "1",
		"S, for n*u <= 1/2, u = 2^-p":     "", // 5/8 > 1/2
		"S, for n*u <= 5/8, u = 2^-p":     "8",
		"Q*S":                             "",
		"S/(n-5)":                         "",
		"u*|y|, u = 2^-p: rounded = once": "1/4",
	} {
		b, err := Parse(formula)
		if err != nil {
			t.Errorf("%s: %v", formula, err)
			continue
		}
		got := b.Eval(vars)
		switch {
		case want == "" && got != nil:
			t.Errorf("%s: %v; want none", formula, got)
		case want == "10/1": // times 2^-1074
			if got.Cmp(new(big.Rat).Mul(rat("10"), exact.PowerOfTwo(-1074))) != 0 {
				t.Errorf("%s: %v", formula, got)
			}
		case want != "" && (got == nil || got.Cmp(rat(want)) != 0):
			t.Errorf("%s: %v; want %s", formula, got, want)
		}
	}
}

func TestNeeds(t *testing.T) {
	for formula, want := range map[string]string{
		"g(n-1)*S, u = 2^-53":           "",
		"g(n)*S":                        "u",
		"g(ceil(n/B)+2)*S, u = 2^(1-p)": "B",
		"g(d)*S, d = min(n-1, 2ceil(n/(2G*B))), u = 2^(1-p)":   "B G",
		"g(n)*S + (n*a+R)*2^-1074, u = 2^-53, R of the matrix": "R a",
		"S, for n*k <= 1": "k",
	} {
		b := New(formula, "")
		if got := strings.Join(b.Needs(), " "); got != want {
			t.Errorf("%s: needs %q, want %q", formula, got, want)
		}
	}
}

// TestErrors: a formula that cannot be read says what is wrong; no text makes the parser fail in another way.
func TestErrors(t *testing.T) {
	for _, formula := range []string{
		"", "S +", "(S", "S)", "gamma(n)*S", "g n", "min(n)*S", "log2 n", "|z|*S", "|s", "S, u = ", "S, for n < 3", "S $",
		"S, d = depth of the grid", "2^", "g(n", "min(n, 2",
	} {
		if _, err := Parse(formula); err == nil || !strings.HasPrefix(err.Error(), "bound ") {
			t.Errorf("%q: %v", formula, err)
		}
	}
}

func TestUnit(t *testing.T) {
	b := New("g(n-1)*S, u = 2^(1-p)", "")
	if u := b.Unit(Vars{P: 5}); u.Cmp(rat("1/16")) != 0 {
		t.Error(u)
	}
	if u := b.Unit(Vars{P: 5, More: map[string]*big.Rat{"u": rat("1/3")}}); u.Cmp(rat("1/3")) != 0 {
		t.Error(u)
	}
	if (Bound{}).Unit(Vars{}) != nil || (Bound{}).Eval(Vars{}) != nil || (Bound{}).Proved() {
		t.Error("the zero Bound proves something")
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{"g(n-1)*S, u = 2^-53", "min(n, 2ceil(log2 n))|s|", "(3u + 12(n+1)u^2)*S, for n*u <= 1/64"} {
		f.Add(text)
	}
	vars := Vars{N: 3, P: 10, S: rat("7"), Sum: rat("1"), More: map[string]*big.Rat{"u": rat("1/1024")}}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 100 || strings.ContainsAny(text, "^") && len(text) > 40 {
			t.Skip("powers of powers take long")
		}
		b, err := Parse(text)
		if err != nil {
			return
		}
		b.Eval(vars)
		if !slices.IsSorted(b.Needs()) {
			t.Error(b.Needs())
		}
	})
}
