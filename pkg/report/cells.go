package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"mpbench/pkg/record"
)

// none stands in a cell for what is not known or does not apply.
const none = "-"

// siTime writes a duration with three significant digits and the unit that makes it a number from 1 to 1000;
// the unit takes two columns, so that right-aligned cells line up: "51.2 µs", "1.20  s".
func siTime(ns float64, ascii bool) string {
	micro := "µs"
	if ascii {
		micro = "us"
	}
	units := []string{"ns", micro, "ms", " s"}
	i := 0
	for ; i < len(units)-1 && ns >= 999.5; i++ {
		ns /= 1000
	}
	return threeDigits(ns) + " " + units[i]
}

// threeDigits writes x >= 0 with three significant digits and no exponent below 10^6: "0.0812", "51.2", "12300".
func threeDigits(x float64) string {
	switch {
	case x == 0:
		return "0"
	case x >= 999_500 || x < 0.000_1:
		return strconv.FormatFloat(x, 'e', 2, 64)
	case x >= 99.95:
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	decimals := 2 - int(math.Floor(math.Log10(x)))
	text := strconv.FormatFloat(x, 'f', decimals, 64)
	if next := 2 - int(math.Floor(math.Log10(mustFloat(text)))); next < decimals { // 9.999 became 10.00
		text = strconv.FormatFloat(x, 'f', next, 64)
	}
	return text
}

func mustFloat(s string) float64 {
	x, err := strconv.ParseFloat(s, 64)
	if err != nil {
		panic(err) // s was made by FormatFloat
	}
	return x
}

// hasTime tells whether a record has a time at all.
func hasTime(r *record.Record) bool { return len(r.Time.Samples) > 0 }

// spread writes how far the interval reaches from the median, in percent of the median: "±3%".
func spread(t record.Timing, ascii bool) string {
	if len(t.Samples) < 2 || t.Median <= 0 {
		return ""
	}
	sign := "±"
	if ascii {
		sign = "+-"
	}
	percent := 100 * max(t.Hi-t.Median, t.Median-t.Lo) / t.Median
	if percent < 0.95 {
		return fmt.Sprintf("%s%.1f%%", sign, percent)
	}
	return fmt.Sprintf("%s%.0f%%", sign, percent)
}

// perElementNs is the time of an element, 0 if it is not known.
func perElementNs(r *record.Record) float64 {
	if r.Throughput.Elements == 0 {
		return 0
	}
	return r.Time.Median / float64(r.Throughput.Elements)
}

// shortDecimal writes a decimal string of a record with the given number of significant digits.
func shortDecimal(s string, digits int) string {
	d, err := record.ParseDecimal(s)
	if s == "" || err != nil {
		return none
	}
	if d.IsFinite() && !d.IsZero() {
		return d.Sci(digits)
	}
	return d.Sci(1)
}

func correctBits(r *record.Record) string {
	switch {
	case r.ExactResult:
		return "exact"
	case r.CorrectBits == nil:
		return none
	}
	return strconv.FormatFloat(max(*r.CorrectBits, 0), 'f', 1, 64)
}

func withinBound(r *record.Record) string {
	switch {
	case r.WithinBound == nil:
		return none
	case *r.WithinBound:
		return "yes"
	}
	return "NO"
}

func bitsCell(r *record.Record) string {
	if r.ActualBits != 0 && r.ActualBits != r.PrecisionBits {
		return fmt.Sprintf("%d/%d", r.PrecisionBits, r.ActualBits)
	}
	return strconv.Itoa(r.PrecisionBits)
}

// notation tells how the values of a group are written: all with an exponent, or all without.
type notation struct{ plain bool }

// newNotation chooses the plain notation when that is short for every value.
func newNotation(values ...string) notation {
	for _, s := range values {
		d, err := record.ParseDecimal(s)
		if err == nil && d.IsFinite() && !d.IsZero() && (d.Exp < -3 || d.Exp > 6) {
			return notation{}
		}
	}
	return notation{plain: true}
}

// format writes a decimal string with at most the given numbers of significant digits and characters; it takes
// more characters only where one digit does not fit.
func (n notation) format(s string, digits, width int) string {
	d, err := record.ParseDecimal(s)
	if s == "" || err != nil {
		return none
	}
	if !d.IsFinite() || d.IsZero() {
		return d.Sci(1)
	}
	for ; digits > 1; digits-- {
		if text := n.digits(d, digits); len(text) <= width {
			return text
		}
	}
	return n.digits(d, 1)
}

// digits writes no more digits than the record has: zeros behind them would be made up.
func (n notation) digits(d record.Decimal, digits int) string {
	digits = min(digits, len(d.Digits))
	if n.plain {
		return d.Plain(digits)
	}
	return d.Sci(digits)
}

// textWidth is the number of columns that a text without control characters takes.
func textWidth(s string) int { return utf8.RuneCountInString(s) }

func pad(s string, width int, right bool) string {
	fill := strings.Repeat(" ", max(width-textWidth(s), 0))
	if right {
		return fill + s
	}
	return s + fill
}
