package report

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"math/big"
	"strconv"
	"strings"

	"mpbench/pkg/answer"
	"mpbench/pkg/exact"
	"mpbench/pkg/record"
)

// Number writes an exact result correctly rounded to so many significant digits, fewer where it has fewer. With 0
// digits it writes the nearest float64 in as few digits as tell it from others, or 17 digits where that is infinite or
// 0.
func Number(s exact.Summary, digits int) string {
	if !s.Sum.IsFinite() {
		return s.Sum.Class.String()
	}
	if x := s.Sum.Float64(); digits == 0 && x != 0 && !math.IsInf(x, 0) {
		text := strconv.FormatFloat(x, 'e', -1, 64)
		d, _ := record.ParseDecimal(text)
		if whole(s, text) {
			return decimalText(d, mostPlain)
		}
		return decimalText(d, 17)
	}
	if digits == 0 {
		digits = 17
	}
	text := s.Text(digits)
	d, _ := record.ParseDecimal(text)
	if whole(s, text) {
		return decimalText(d, max(mostPlain, digits))
	}
	d.Digits += strings.Repeat("0", digits-len(d.Digits)) // zeros at the end are digits of the rounded number
	return decimalText(d, digits)
}

// Numbers are written without an exponent from 10^leastPlain to below 10^mostPlain, or to as many digits as are asked
// for.
const leastPlain, mostPlain = -5, 21

// decimalText writes all digits of a number, which zeros may follow up to that many digits.
func decimalText(d record.Decimal, most int) string {
	if d.Exp < leastPlain || d.Exp >= int64(most) {
		return d.Sci(0)
	}
	return d.Plain(0)
}

// whole tells whether a text is the result itself and not rounded.
func whole(s exact.Summary, text string) bool {
	x, ok := new(big.Rat).SetString(text)
	return ok && s.Square == nil && x.Cmp(s.Sum.Number()) == 0
}

// Answer writes an answer in a few lines: the result in so many digits, the condition number, what float64 gets right,
// and what to use. name is that of the data.
func Answer(w io.Writer, a *answer.Answer, name string, digits int, opts Options) error {
	o := a.Input.Problem.Op
	lines := [][2]string{{name, o.Summary + ", " + shapeText(a)},
		{"result", resultText(a, digits)}}
	lines = append(lines, [2]string{"condition", conditionLine(a)})
	if a.Float64 != nil {
		lines = append(lines, [2]string{a.Float64.Method, plainText(a)})
	}
	if text := useText(a); text != "" {
		lines = append(lines, [2]string{"use", text})
	}
	return writeAnswer(w, lines, opts)
}

// Result is an exact result about which nothing else is known.
type Result struct {
	What   string // "sum of the numbers of x, n = 5"
	Scalar bool
	Values []exact.Summary
	More   [][2]string // lines about it: a word and a text
}

// Write writes an exact result in a few lines. name is that of the data.
func (r Result) Write(w io.Writer, name string, digits int, opts Options) error {
	lines := [][2]string{{name, r.What}, {"result", r.text(digits)}}
	return writeAnswer(w, append(lines, r.More...), opts)
}

// minAnswerText is the least width of the texts of an answer, however narrow the terminal.
const minAnswerText = 20

// writeAnswer writes lines of a word and a text, of which the first is a heading.
func writeAnswer(w io.Writer, lines [][2]string, opts Options) error {
	width := 0
	for _, l := range lines[1:] {
		width = max(width, textWidth(l[0]))
	}
	var b strings.Builder
	for i, l := range lines {
		if i == 0 {
			l = [2]string{"", l[0] + ": " + l[1]}
		}
		indent := ""
		if i > 0 {
			indent = pad(l[0], width+columnGap, false)
		}
		for _, line := range BreakText(l[1], max(cmp.Or(opts.Width, 80)-textWidth(indent), minAnswerText)) {
			b.WriteString(indent + line + "\n")
			indent = strings.Repeat(" ", textWidth(indent))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Answers writes a table of answers of scalars, one line each.
func Answers(w io.Writer, list []*answer.Answer, names []string, digits int, opts Options) error {
	heads := []string{"data", "n", "condition", "float64", "any order", "result"}
	var rows [][]string
	for i, a := range list {
		plain, promised := none, none
		if a.Float64 != nil {
			plain, promised = plainDigits(a.Float64), promisedDigits(a.Float64.Promised)
		}
		rows = append(rows, []string{
			names[i], fmt.Sprint(a.Input.Reference.Shape.N), conditionText(a.Condition.Text(2)), plain, promised,
			Number(a.Value(0), digits),
		})
	}
	if err := List(w, heads, rows, opts.Width); err != nil {
		return err
	}
	wrap(w, "float64, any order: digits that plain float64 gets right here, and in any order at least", opts.Width)
	return nil
}

func shapeText(a *answer.Answer) string {
	s := a.Input.Reference.Shape
	text := fmt.Sprintf("n = %d", s.N)
	if s.M != 0 {
		text = fmt.Sprintf("A is %d x %d", s.M, s.N)
	}
	if s.K != 0 {
		text += fmt.Sprintf(", %d columns", s.K)
	}
	return text
}

func resultText(a *answer.Answer, digits int) string {
	if a.Input.Problem.Op.Scalar {
		return scalarText(a.Value(0), digits)
	}
	return vectorText(a.Components(), a.Norm, a.Special)
}

func (r Result) text(digits int) string {
	if r.Scalar {
		return scalarText(r.Values[0], digits)
	}
	norm, special := new(big.Rat), 0
	for _, s := range r.Values {
		if v := s.Sum.Abs(); v.IsFinite() {
			norm = exact.Add(norm, v.Number())
		} else {
			special++
		}
	}
	return vectorText(len(r.Values), norm, special)
}

func scalarText(s exact.Summary, digits int) string {
	text := Number(s, digits)
	if s.Sum.IsFinite() && whole(s, text) {
		text += " exactly"
	}
	return text
}

// vectorText writes how many numbers there are, the sum of the magnitudes of the finite ones, and how many are not.
func vectorText(n int, norm *big.Rat, special int) string {
	text := fmt.Sprintf("%s, magnitudes sum to %s", record.Count(n, "number"),
		shortDecimal(exact.FormatRat(norm, 6), 6))
	if special > 0 {
		text += fmt.Sprintf(", %d infinite or NaN", special)
	}
	return text
}

// unit is the unit roundoff of binary64, in decimal digits.
var unit = 53 * math.Log10(2)

func conditionLine(a *answer.Answer) string {
	c := a.Condition
	if c.Class == exact.NaN {
		return "none: a number is infinite or NaN"
	}
	text := conditionText(c.Text(2))
	if !c.IsFinite() {
		text = "infinite: the terms cancel to 0"
	}
	if !a.Input.Problem.Op.Scalar && a.Components() > 1 {
		text = fmt.Sprintf("at most %s, of %s", text, a.ComponentName(a.Worst))
	}
	if c.IsFinite() {
		d, _ := record.ParseDecimal(c.Text(3))
		text += "; data rounded to float64 determine "
		if left := unit - d.Log10(); left >= 0.05 {
			text += fmt.Sprintf("%.1f of its digits", left)
		} else {
			text += "none of its digits"
		}
	}
	return text
}

// plainText says what float64 gets right.
func plainText(a *answer.Answer) string {
	f := a.Float64
	text := digitsRight(plainDigits(f))
	switch {
	case f.Worst < 0:
		return "exact"
	case !f.Value.IsFinite() && f.Exact.Sum.IsFinite():
		text = "overflows to " + f.Value.Text(1)
	case !a.Input.Problem.Op.Scalar && a.Components() > 1 && !f.Rounded:
		text = fmt.Sprintf("%s by the norm, %s in the worst component, %s (%s instead of %s)",
			digitsRight(digitsOf(f.NormError.Text(3))), plainDigits(f), a.ComponentName(f.Judgment.Worst),
			f.Value.Text(17), f.Exact.Text(17))
	}
	if !f.Exact.Sum.IsFinite() {
		return text
	}
	switch promised := promisedDigits(f.Promised); promised {
	case none:
		return text + "; nothing is proved of another order"
	case "exact":
		return text
	case "0":
		return text + "; in another order perhaps none"
	default:
		return text + "; in any order at least " + promised
	}
}

func digitsRight(digits string) string {
	switch digits {
	case "0":
		return "no digit right"
	case "exact", "all":
		return map[string]string{"exact": "exact", "all": "all digits right, as if rounded once"}[digits]
	}
	return digits + " digits right"
}

// plainDigits writes how many digits are right: "exact", "all" where all components are rounded once, "13.9", "0".
func plainDigits(f *answer.Plain) string {
	switch {
	case f.Errors.Exact() || f.Worst < 0:
		return "exact"
	case f.Rounded:
		return "all"
	}
	return digitsOf(f.Errors.Rel.Text(3))
}

func promisedDigits(promised *big.Rat) string {
	if promised == nil {
		return none
	}
	return digitsOf(exact.FormatRat(promised, 3))
}

// digitsOf writes how many digits a relative error leaves: "exact", "13.9", "0".
func digitsOf(relative string) string {
	d, err := record.ParseDecimal(relative)
	switch {
	case err != nil || !d.IsFinite():
		return "0"
	case d.IsZero():
		return "exact"
	}
	if digits := -d.Log10(); digits >= 0.05 {
		return fmt.Sprintf("%.1f", digits)
	}
	return "0"
}

// useText says which method to use, "" where the numbers are such that none helps.
func useText(a *answer.Answer) string {
	u := a.Use
	switch {
	case a.Condition.Class == exact.NaN:
		return ""
	case u == nil:
		return "bigfloat, with a precision of 53 bits and those of the condition number at least"
	case u.Plain:
		return u.Method + " is enough, in any order"
	case u.Once:
		return u.Method + ": every digit right, at any precision"
	}
	text := u.Method + ": at least " + promisedDigits(u.Promised) + " digits right"
	if a.Float64 != nil && a.Float64.Rounded {
		text += "; " + a.Float64.Method + " does here, in this order"
	}
	return text
}
