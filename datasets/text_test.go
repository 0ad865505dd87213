package datasets

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"mpbench/pkg/exact"
	"mpbench/pkg/numbers"
)

// readString reads text as if it were a file; of .csv, all columns.
func readString(text string, reading Reading, csv bool) (content, error) {
	if csv {
		return readColumn(text, reading, allColumns)
	}
	return readText(&file{Reader: strings.NewReader(text), name: "data.txt", size: int64(len(text))}, reading)
}

// readColumn reads a column of a .csv file.
func readColumn(text string, reading Reading, column string) (content, error) {
	f := &file{Reader: strings.NewReader(text), name: "data.csv", size: int64(len(text)), part: column}
	return readCSV(f, reading)
}

// show writes numbers so that NaN and -0 can be compared.
func show(c content) string {
	var parts []string
	for _, x := range c.float64s {
		parts = append(parts, strconv.FormatFloat(x, 'g', -1, 64))
	}
	for _, r := range wideNumbers(c) {
		parts = append(parts, r.RatString())
	}
	return strings.Join(parts, " ")
}

// wideNumbers returns the numbers of which one is no float64, nil where all are. The checksum is that of rationals.
func wideNumbers(c content) []*big.Rat {
	if c.short.Source == nil {
		return c.wide
	}
	var list []*big.Rat
	for i := range c.short.Len() {
		list = append(list, numbers.At(c.short.Source, i).Number())
	}
	if hash := hashRationals(list); hash != c.short.SHA256 {
		panic("the checksum is " + c.short.SHA256 + ", that of rationals " + hash)
	}
	return list
}

func TestText(t *testing.T) {
	long := strings.Repeat("1 ", 100_000) // a line longer than any buffer
	for _, c := range []struct{ text, want string }{
		{"1", "1"},
		{"1\n2\n", "1 2"},
		{"1\r\n2\r\n", "1 2"},
		{"\ufeff1\n", "1"},
		{"  1\t2 , 3;4 ,\n\n# 9\n5 # 9\n6#9", "1 2 3 4 5 6"},
		{"+1 -1 .5 5. 1e3 1E+3 1e-3 -0 0e5", "1 -1 0.5 5 1000 1000 0.001 -0 0"},
		{"0x1.8p3 -0X1P-1074 0x.8p1 0xap0", "12 -5e-324 1 10"},
		{"inf -Inf +INFINITY nan -NaN", "+Inf -Inf +Inf NaN NaN"},
		{"0.1", "0.1"},
		{"0.1000000000000000055511151231257827", "1000000000000000055511151231257827/10000000000000000000000000000000000"},
		// not exactly 0.1 in binary64
		{"0.1000000000000000055511151231257827021181583404541015625", "0.1"},
		// exactly
		{"0.50000000000000000000000000000", "0.5"},
		{"000000000000000000000000000012.5", "12.5"},
		{"12345678901234567", "1.2345678901234568e+16"},                                   // 17 digits: the nearest
		{"123456789012345678", "123456789012345678"},                                      // 18 digits: kept
		{"0123456789012345678901 0.012e21", "123456789012345678901 12000000000000000000"}, // a leading 0 is no octal
		{"0x1.00000000000008p0", "9007199254740993/9007199254740992"},
		{"1.7976931348623157e308 4.9e-324", "1.7976931348623157e+308 5e-324"},
		{"1 1e400", "1 1" + strings.Repeat("0", 400)},
		{"0x1p1024", new(big.Int).Lsh(big.NewInt(1), 1024).String()},
		{long, strings.TrimSpace(long)},
	} {
		got, err := readString(c.text, Double, false)
		if err != nil {
			t.Errorf("%.60q: %v", c.text, err)
		} else if show(got) != c.want {
			t.Errorf("%.60q: %.80s, want %.80s", c.text, show(got), c.want)
		}
	}
}

// TestTextExact: under the exact reading a decimal is what it says.
func TestTextExact(t *testing.T) {
	for text, want := range map[string]string{
		"0.5 3 -0":  "0.5 3 -0",
		"0.1":       "1/10",
		"0.5 0.1":   "1/2 1/10",
		"1e23":      "100000000000000000000000",
		"5e-324":    "1/2" + strings.Repeat("0", 323),
		"0x1p-1074": "5e-324",
	} {
		got, err := readString(text, Exact, false)
		if err != nil {
			t.Errorf("%q: %v", text, err)
		} else if show(got) != want {
			t.Errorf("%q: %s, want %s", text, show(got), want)
		}
	}
}

func TestCSVHeader(t *testing.T) {
	for text, want := range map[string]string{
		"x,y\n1,2\n":                      "1 2",
		"# made by hand\n\nx;y\r\n1;2\n":  "1 2",
		"\"column 1\", \"column 2\"\n3\n": "3",
		"value\n3\n4\n":                   "3 4",
		"1,2\n3,4\n":                      "1 2 3 4",
		"nan,inf\n":                       "NaN +Inf",
	} {
		got, err := readString(text, Double, true)
		if err != nil {
			t.Errorf("%q: %v", text, err)
		} else if show(got) != want {
			t.Errorf("%q: %s, want %s", text, show(got), want)
		}
	}
}

// TestParseNumber: a number by itself is read as one in a file.
func TestParseNumber(t *testing.T) {
	for text, want := range map[string]string{
		"0.1": "0.1", "1e-400": "1/1" + strings.Repeat("0", 400), "nan": "NaN", "-inf": "-Inf", "0x1.8p1": "3",
	} {
		got, err := ParseNumber(text, Double)
		if err != nil || got.Len() != 1 {
			t.Fatalf("%s: %v, %v", text, got, err)
		}
		wanted, err := readString(text, Double, false)
		if err != nil || show(wanted) != want {
			t.Fatalf("%s: %s, %v", text, show(wanted), err)
		}
		if x := numbers.At(wanted.numbers().Source, 0); !numbers.At(got, 0).Equal(x) && x.Class != exact.NaN {
			t.Errorf("%s became %v", text, numbers.At(got, 0))
		}
	}
	if got, err := ParseNumber("0.1", Exact); err != nil || numbers.At(got, 0).Number().RatString() != "1/10" {
		t.Errorf("0.1 read exactly is %v, %v", got, err)
	}
	for text, want := range map[string]string{
		"": `"" is not a number`, " 1": `" 1" is not a number`, "1 2": `"1 2" is not a number`,
		"1e200000": `"1e200000" has an exponent beyond 100000`, strings.Repeat("1", 20_001): `"1111`,
	} {
		_, err := ParseNumber(text, Double)
		checkError(t, err, ErrUsage, want)
	}
}

func TestTextErrors(t *testing.T) {
	const hint = " is not a number (want decimal such as 1.5e-3 or hexadecimal such as 0x1.8p3)"
	for text, want := range map[string]string{
		"1\n2\n3 4 12x\n":        `data.txt:3:5: "12x"` + hint,
		"abc":                    `data.txt:1:1: "abc"` + hint,
		"1_000":                  `data.txt:1:1: "1_000"` + hint,
		"0x_1p3":                 `data.txt:1:1: "0x_1p3"` + hint,
		"0x1.8":                  `data.txt:1:1: "0x1.8"` + hint,
		"1e":                     `data.txt:1:1: "1e"` + hint,
		"1e+":                    `data.txt:1:1: "1e+"` + hint,
		"1.2.3":                  `data.txt:1:1: "1.2.3"` + hint,
		".":                      `data.txt:1:1: "."` + hint,
		"- 1":                    `data.txt:1:1: "-"` + hint,
		"--1":                    `data.txt:1:1: "--1"` + hint,
		"0x":                     `data.txt:1:1: "0x"` + hint,
		"1\x00":                  `data.txt:1:1: "1\x00"` + hint,
		"infinit":                `data.txt:1:1: "infinit"` + hint,
		"1/3":                    `data.txt:1:1: "1/3"` + hint,
		strings.Repeat("z", 100): `data.txt:1:1: "` + strings.Repeat("z", 40) + `"...` + hint,
		"1,,2":                   "data.txt:1:3: no number before ','",
		"1\n ;2":                 "data.txt:2:2: no number before ';'",
		"1e100001":               `data.txt:1:1: "1e100001" has an exponent beyond 100000`,
		"1e-999999999999":        `data.txt:1:1: "1e-999999999999" has an exponent beyond 100000`,
		"0x1p400001":             `data.txt:1:1: "0x1p400001" has an exponent beyond 400000`,
		"1\n1 " + strings.Repeat("1", 20_001): `data.txt:2:3: "11111111111111111111111111111111" is longer than 20000 ` +
			`characters`,
		"1 inf 1e400\n": `data.txt:1:3: inf cannot stand beside numbers that are kept exactly ` +
			`("1e400" in line 1 is no float64)`,
		"\xff\xfe1\x00": "data.txt:1:1: the text is in UTF-16; save it as UTF-8",
		"# nothing":     "data.txt: holds no numbers",
	} {
		_, err := readString(text, Double, false)
		checkError(t, err, ErrInput, want)
	}
	for text, want := range map[string]string{
		"x,y\nz,1\n":  `data.csv:2:1: "z"` + hint, // one header only
		"1,x\n":       `data.csv:1:3: "x"` + hint, // a line with a number is no header
		"1O0,x\n":     `data.csv:1:1: "1O0"` + hint,
		"x,y\n1,,2\n": "data.csv:2:3: no number before ','",
	} {
		_, err := readString(text, Double, true)
		checkError(t, err, ErrInput, want)
	}
}

// TestTextBudget: numbers kept exactly may take a multiple of the file's size, no more.
func TestTextBudget(t *testing.T) {
	r := textReader{file: &file{name: "data.txt"}, budget: 200_000}
	line := []byte(strings.Repeat("1e100000 ", 4) + "1e100000")
	err := r.parse(line)
	checkError(t, err, ErrInput, "data.txt:0:37: the numbers kept exactly need too much memory, more than 64 times the "+
		"size of the file")
}

// TestTextRoundTrip: every float64 printed with 17 digits, in hexadecimal or with all its digits comes back.
func TestTextRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Map(rapid.Uint64(), math.Float64frombits).Draw(t, "x")
		if x != x {
			return
		}
		full := strconv.FormatFloat(x, 'e', 800, 64)
		for _, text := range []string{fmt.Sprint(x), fmt.Sprintf("%.16e", x), fmt.Sprintf("%x", x), full} {
			c, err := readString(text, Double, false)
			if err != nil {
				t.Fatal(err)
			}
			if len(c.float64s) != 1 || math.Float64bits(c.float64s[0]) != math.Float64bits(x) {
				t.Fatalf("%s became %s", text, show(c))
			}
		}
	})
}

// FuzzText: no text makes the reader panic; what it accepts agrees with big.Rat.
func FuzzText(f *testing.F) {
	for _, text := range []string{"1\n2 3,4;5\n", "x,y\n0x1.8p3,inf\n", "1e400\n0.12345678901234567890123",
		"\ufeff1 # c\r\n", "-0x.8P-1074 nan 5."} {
		f.Add(text, true, false)
		f.Add(text, false, true)
	}
	f.Add("\"a\",b;2#\n,1;\"x,\n", true, true)
	f.Fuzz(func(t *testing.T, text string, csv, exactly bool) {
		reading := Double
		if exactly {
			reading = Exact
		}
		c, err := readString(text, reading, csv)
		if err != nil {
			checkError(t, err, ErrInput, "data.")
			return
		}
		n, wide := c.len(), wideNumbers(c)
		if n == 0 || n > len(text) || len(c.float64s) > 0 && len(wide) > 0 || n != len(c.float64s)+len(wide) {
			t.Fatalf("%d and %d numbers from %q", len(c.float64s), len(wide), text)
		}
		if n != 1 {
			return
		}
		want, ok := new(big.Rat).SetString(strings.Trim(text, " \t\r\n\v\f"))
		switch {
		case !ok || strings.ContainsAny(text, "/_"): // a special value, a comment, or what only big.Rat takes
		case wide != nil:
			if wide[0].Cmp(want) != 0 {
				t.Fatalf("%q became %v", text, wide[0])
			}
		default:
			if f, isExact := want.Float64(); f != c.float64s[0] || exactly && !isExact {
				t.Fatalf("%q became %g", text, c.float64s[0])
			}
		}
	})
}

func BenchmarkText(b *testing.B) {
	var text strings.Builder
	for _, x := range floats(generate(b, "uniform11:n=1000000").X) {
		fmt.Fprintln(&text, x)
	}
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		if _, err := readString(text.String(), Double, false); err != nil {
			b.Fatal(err)
		}
	}
}
