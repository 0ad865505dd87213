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
		"S/3^2 + 3^-1":                    "11/9",
		"2^(1/2)":                         "", // no rational
		"3^65":                            "", // only powers of 2 are that large
		"(n-5)^-1":                        "",
		"(n-5)^0":                         "1",
		"2^Q":                             "",
		"g(1/2)*S, u = 1/8":               "", // no number of operations
		"g(2)*S":                          "", // no u
		"ceil(Q)":                         "",
		"ceil(7/2) + ceil(0-7/2)":         "1",
		"ceil(log2 (1/8)) + ceil(log2 9)": "4",
		"min(n, n)":                       "5",
		"S, for Q <= 1":                   "",
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
	for _, text := range []string{"g(n-1)*S, u = 2^-53", "min(n, 2ceil(log2 n))|s|",
		"(3u + 12(n+1)u^2)*S, for n*u <= 1/64"} {
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

// TestUses: what a formula depends on, by its definitions and conditions too.
func TestUses(t *testing.T) {
	for formula, quantities := range map[string]string{
		"g(n-1)*S, u = 2^-p":                "n S u p",
		"u*|y|, u = 2^-p":                   "u |s| p",
		"min(d, 3)*S, d = ceil(n/B), k = n": "d S n B",
		"S, for n*k <= 1":                   "S n k",
	} {
		b := New(formula, "")
		for _, q := range []string{"n", "p", "S", "|s|", "u", "d", "B", "k", "Q"} {
			if got := b.Uses(q); got != slices.Contains(strings.Fields(quantities), q) {
				t.Errorf("%s uses %s: %v", formula, q, got)
			}
		}
	}
}

// TestMissing: without the result or the sum of magnitudes there is no bound that needs it.
func TestMissing(t *testing.T) {
	for _, formula := range []string{"|s|", "S", "S*|s|", "min(1, S)", "min(|s|, 1)", "1 - ceil(S)"} {
		if got := New(formula, "").Eval(Vars{N: 3, P: 5}); got != nil {
			t.Errorf("%s is %v", formula, got)
		}
	}
	if b := New("n", "Author 1999"); b.Source != "Author 1999" || b.Formula != "n" || !b.Proved() {
		t.Errorf("%+v", b)
	}
	defer func() {
		if text, ok := recover().(string); !ok || !strings.HasPrefix(text, `bound "n +": `) {
			t.Errorf("%q", text)
		}
	}()
	New("n +", "")
}

// TestCircular: a definition must not need itself.
func TestCircular(t *testing.T) {
	for _, formula := range []string{"d, d = d+1", "S*a, a = b, b = 2*a", "g(n), u = g(2)"} {
		if _, err := Parse(formula); err == nil || !strings.Contains(err.Error(), "defined by itself") {
			t.Errorf("%s: %v", formula, err)
		}
	}
}
