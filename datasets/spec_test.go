package datasets

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"mcnamee1":                            "mcnamee1",
		" uniform01 ":                         "uniform01",
		"zhuhayes3:delta=2000,n=1000":         "zhuhayes3:delta=2000,n=1000",
		"zhuhayes3:n=1e3, delta=0010":         "zhuhayes3:delta=10,n=1000",
		"gensum:cond=1e16":                    "gensum:cond=1e+16",
		"gensum:cond=100,seed=7,n=2^10":       "gensum:cond=100,n=1024,seed=7",
		"extremes:kind=infinf":                "extremes:kind=infinf",
		"repro:fill=2rand-1,drop=yes":         "repro:fill=2rand-1,drop=yes",
		"basel:order=backward":                "basel:order=backward",
		"uniform01:seed=18446744073709551615": "uniform01:seed=18446744073709551615",
	} {
		s, err := Vectors.Parse(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if got := s.String(); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                          "empty name of a data set (known: mcnamee1 mcnamee2",
		":n=3":                      "empty name of a data set",
		"mcname1":                   `unknown data set "mcname1" (did you mean mcnamee1?)`,
		"UNIFORM01":                 `unknown data set "UNIFORM01" (did you mean uniform01?)`,
		"zhu-hayes3":                `unknown data set "zhu-hayes3" (did you mean zhuhayes3?)`,
		"xyzzyxyzzy":                `unknown data set "xyzzyxyzzy" (known: mcnamee1 mcnamee2`,
		"zhuhayes3:detla=1":         `zhuhayes3: unknown parameter "detla" (did you mean delta?)`,
		"mcnamee1:seed=1":           `mcnamee1: unknown parameter "seed" (known: n)`,
		"zhuhayes3:delta":           `zhuhayes3: "delta" is not of the form key=value (keys: delta n seed)`,
		"zhuhayes3:":                `zhuhayes3: "" is not of the form key=value`,
		"zhuhayes3:delta=x":         "zhuhayes3: delta=x: want an integer from 0 to 2000",
		"zhuhayes3:delta=-1":        "zhuhayes3: delta=-1: want an integer from 0 to 2000",
		"zhuhayes3:delta=2001":      "zhuhayes3: delta=2001: want an integer from 0 to 2000",
		"zhuhayes3:delta=1,delta=2": "zhuhayes3: delta is given twice",
		"zhuhayes3:n=1,n=2":         "zhuhayes3: n is given twice",
		"gensum:cond=0.5":           "gensum: cond=0.5: want a number from 1 to 1e+300",
		"gensum:cond=nan":           "gensum: cond=nan: want a number from 1 to 1e+300",
		"gensum:cond=":              "gensum: cond=: want a number from 1 to 1e+300",
		"basel:order=up":            "basel: order=up: want one of: forward, backward",
		"basel:order=foward":        "basel: order=foward: did you mean forward? (one of: forward, backward)",
		"repro:fill=sin":            "repro: fill=sin: did you mean sine?",
		"uniform01:n=0": "uniform01: n=0: want an integer from 1 to 2^40, as 1000000, 1e6, " +
			"10^6 or 2^20",
		"uniform01:n=-1":                      "uniform01: n=-1: want an integer from 1",
		"uniform01:n=1.5":                     "uniform01: n=1.5: want an integer from 1",
		"uniform01:n=10^99999999":             "uniform01: n=10^99999999: want an integer from 1",
		"uniform01:n=2^41":                    "uniform01: n=2^41: want an integer from 1",
		"uniform01:seed=-1":                   "uniform01: seed=-1: want an integer from 0 to 2^64 - 1",
		"uniform01:seed=18446744073709551616": "uniform01: seed=18446744073709551616: want an integer",
	} {
		_, err := Vectors.Parse(text)
		checkError(t, err, ErrUsage, want)
	}
}

func TestParseCount(t *testing.T) {
	for text, want := range map[string]int{"1": 1, "1000": 1000, "1e6": 1e6, "10^6": 1e6, "2^20": 1 << 20,
		"2^40": 1 << 40, "2.5e3": 2500} {
		if got, err := ParseCount(text); err != nil || got != want {
			t.Errorf("%s: %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "0", "-1", "x", "1e400", "nan", "inf", "2^", "^2", "2^64", "0^0x", "0^3", "1e13"} {
		_, err := ParseCount(text)
		checkError(t, err, ErrUsage, "n="+text+": want an integer from 1 to 2^40")
	}
}

func TestParseList(t *testing.T) {
	specs, err := Vectors.ParseList("mcnamee1,zhuhayes3:delta=2000,n=1000,uniform01, gensum:cond=10")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range specs {
		got = append(got, s.String())
	}
	want := []string{"mcnamee1", "zhuhayes3:delta=2000,n=1000", "uniform01", "gensum:cond=10"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for text, want := range map[string]string{
		"":                   "empty name",
		"mcnamee1,":          "empty name",
		"mcnamee1,n=4":       `unknown data set "n=4"`,
		"uniform01:n=4,,n=5": "empty name",
	} {
		_, err := Vectors.ParseList(text)
		checkError(t, err, ErrUsage, want)
	}
}

// TestSpecRoundTrip: the canonical form of a spec parses to itself.
func TestSpecRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		set := rapid.SampledFrom(Vectors.Sets()).Draw(t, "set")
		var args []string
		for _, p := range set.Params {
			switch {
			case rapid.Bool().Draw(t, "skip"):
			case p.Kind == Choice:
				args = append(args, p.Name+"="+rapid.SampledFrom(p.Choices).Draw(t, p.Name))
			default:
				args = append(args, p.Name+"="+p.Default)
			}
		}
		text := set.Name
		if len(args) > 0 {
			text += ":" + strings.Join(args, ",")
		}
		s, err := Vectors.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if s.String() != text {
			t.Fatalf("%q became %q", text, s)
		}
	})
}

// FuzzParse: no spec makes the parser panic, and what it accepts prints as a spec that means the same.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"mcnamee1", "zhuhayes3:delta=2000,n=1000", "gensum:cond=1e16,seed=3",
		"repro:fill=2rand-1,drop=yes", "a:b=c,d,e=f"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if specs, err := Vectors.ParseList(text); err == nil && len(specs) == 0 {
			t.Fatalf("%q is neither a list nor an error", text)
		}
		s, err := Vectors.Parse(text)
		if err != nil {
			return
		}
		again, err := Vectors.Parse(s.String())
		if err != nil || again.String() != s.String() {
			t.Fatalf("%q became %q, then %q (%v)", text, s, again, err)
		}
	})
}
