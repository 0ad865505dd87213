package datasets

import "testing"

// TestCSVColumn: a column by its name or number, or the only one; a header is a line of words and is told.
func TestCSVColumn(t *testing.T) {
	table := "time, price ;\"x, [m]\"\n2019-05-01,1.5,7 # a comment\n\n2019-05-02, 2 ,8,\n"
	for _, c := range []struct{ text, column, want, header string }{
		{"1\n2\n", "", "1 2", ""},
		{"value\n1,\n2\n", "", "1 2", "value"},
		{"# by hand\n\n _v \n1\n", "", "1", "_v"},
		{"\ufeffGröße\r\n\"1\"\r\n", "", "1", "Größe"},
		{"nan\n1\n", "", "NaN 1", ""},
		{table, "2", "1.5 2", `time, price ;"x, [m]"`},
		{table, "price", "1.5 2", `time, price ;"x, [m]"`},
		{table, "x, [m]", "7 8", `time, price ;"x, [m]"`},
		{"2019,\"2\"\"0\"\n1,2\n", `2"0`, "2", `2019,"2""0"`}, // what is asked for by name is a header
		{"2019,a\n1,2\n", "2", "2", "2019,a"},
		{"2019,a\n1,2\n", "1", "2019 1", ""},
		{",a\n1,2\n", "all", "1 2", ",a"},
	} {
		got, err := readColumn(c.text, Double, c.column)
		if err != nil || show(got) != c.want || got.header != c.header {
			t.Errorf("%q, column %q: %s, header %q, %v; want %s, %q", c.text, c.column, show(got), got.header, err, c.want,
				c.header)
		}
	}
}

func TestCSVErrors(t *testing.T) {
	const hint = " is not a number (want decimal such as 1.5e-3 or hexadecimal such as 0x1.8p3)"
	const several = " columns; name one, as data.csv:2 or by what the header calls it, or take all numbers as " +
		"one list, data.csv:all"
	for _, c := range []struct{ text, column, want string }{
		{"1O0\n2\n", "", `data.csv:1:1: "1O0"` + hint},
		{"1.5f\n2\n", "", `data.csv:1:1: "1.5f"` + hint},
		{"12..5\n2\n", "", `data.csv:1:1: "12..5"` + hint},
		{" $1.50\n2\n", "", `data.csv:1:2: "$1.50"` + hint},
		{"(1.5)\n2\n", "", `data.csv:1:1: "(1.5)"` + hint},
		{"\u22121.5\n2\n", "", "data.csv:1:1: \"\u22121.5\"" + hint},
		{"\"1.5f\"\n2\n", "", `data.csv:1:1: "1.5f"` + hint},
		{"a\nb\n1\n", "", `data.csv:2:1: "b"` + hint}, // one header only
		{"1,2\n", "", "data.csv:1:3: 2" + several},
		{"a\n1\n1;2;3\n", "", "data.csv:3:3: 3" + several},
		{"a,b\n1,\n", "2", "data.csv:2:3: there is no column 2 here"},
		{"a,b\n1,,3\n", "b", `data.csv:2:3: ""` + hint},
		{"a,b\n1,2\n", "3", "data.csv:1:1: there is no column 3 among 2"},
		{"a,b\n1,2\n", "0", "data.csv:1:1: there is no column 0 among 2"},
		{"price,b\n1,2\n", "prise", `data.csv:1:1: unknown column "prise" (did you mean price?)`},
		{"a,b,a\n1,2,3\n", "a", "data.csv:1:5: columns 1 and 3 are both called a; name one by its number"},
		{"a\n\"1\n", "", "data.csv:2:1: a quote has no end in this line"},
		{"\"1\"2\n", "", `data.csv:1:4: "2\n" after a quote`},
	} {
		_, err := readColumn(c.text, Double, c.column)
		checkError(t, err, ErrInput, c.want)
	}
}
