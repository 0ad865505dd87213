package report

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"mpbench/pkg/record"
)

// A column of a table for people. Its cells are made from one record each.
type column struct {
	head  [2]string // two lines
	right bool      // aligned to the right
	cell  func(g group, r *record.Record) string

	id    columnID
	width int // in a table for terminals
}

// A columnID tells the columns apart that get special treatment.
type columnID int

const (
	otherID columnID = iota
	methodID
	valueID
	errorID
	boundID
	correctID
	okID
	noteID
	moduliID
	bitsID
	timeID
	spreadID // of the time
	ratioID
)

// as returns the column with an ID.
func (c column) as(id columnID) column {
	c.id = id
	return c
}

// title returns the heading as one line.
func (c column) title() string {
	if c.head[0] == "" {
		return c.head[1]
	}
	return c.head[0] + " " + c.head[1]
}

// of returns the column as it is headed in the table of a group: errors and bounds are relative or absolute.
func (c column) of(g group) column {
	if c.head[0] == relative || c.head[0] == absolute {
		c.head[0] = g.errorKind()
	}
	return c
}

func count(n int) string {
	if n == 0 {
		return none
	}
	return strconv.Itoa(n)
}

// plainColumn makes a column whose cells need the record only.
func plainColumn(top, bottom string, right bool, cell func(*record.Record) string) column {
	return groupColumn(top, bottom, right, func(_ group, r *record.Record) string { return cell(r) })
}

func groupColumn(top, bottom string, right bool, cell func(group, *record.Record) string) column {
	return column{head: [2]string{top, bottom}, right: right, cell: cell}
}

// variantColumns are choices that tell rows apart. Each is shown only if it differs between records.
var variantColumns = []column{
	plainColumn("", "device", false, func(r *record.Record) string { return r.Device }),
	plainColumn("", "threads", true, func(r *record.Record) string { return count(r.Threads) }),
	plainColumn("moduli", "bits", true, func(r *record.Record) string { return count(r.ModuliBits) }),
	plainColumn("", "rounding", false, func(r *record.Record) string { return cmp.Or(r.Rounding, none) }),
	plainColumn("", "alignment", false, func(r *record.Record) string { return cmp.Or(r.Alignment, none) }),
	plainColumn("", "blocks", true, func(r *record.Record) string { return count(r.Blocks) }),
	plainColumn("block", "size", true, func(r *record.Record) string { return count(r.BlockSize) }),
}

// variants returns the variant columns that are needed for the groups: those with two different cells for one method
// at one precision, the device if it is not the CPU throughout, and the threads if they are not the same for all.
func variants(all []group) []column {
	var needed []column
	for _, c := range variantColumns {
		first := map[string]string{} // the first cell of each method at each precision
		differs := false
		for g, r := range records(all) {
			cell, row := c.cell(g, r), fmt.Sprint(r.Method, r.PrecisionBits)
			switch c.head[1] {
			case "device":
				differs = differs || cell != "cpu"
			case "threads":
				row = "" // of all methods
			}
			before, ok := first[row]
			differs = differs || ok && cell != before
			first[row] = cell
		}
		if differs {
			needed = append(needed, c)
		}
	}
	return needed
}

var (
	bitsColumn    = plainColumn("", "bits", true, bitsCell).as(bitsID)
	correctColumn = plainColumn("corr.", "bits", true, correctBits).as(correctID)
	okColumn      = plainColumn("in", "bound", false, withinBound).as(okID)
	errorColumn   = groupColumn(relative, "error", true, group.errorText).as(errorID)
	boundColumn   = groupColumn(relative, "bound", true, group.boundText).as(boundID)
	moduliColumn  = plainColumn("", "moduli", true, func(r *record.Record) string { return count(r.Moduli) }).as(moduliID)
	samplesColumn = plainColumn("", "samples", true, func(r *record.Record) string { return count(len(r.Time.Samples)) })
)

// Columns of the counts of a run.
var (
	alignmentsColumn = plainColumn("", "alignments", true, func(r *record.Record) string { return count(r.Alignments) })
	roundingsColumn  = plainColumn("", "roundings", true, func(r *record.Record) string { return count(r.Roundings) })
)

// memoryColumn is the memory of a matrix in the method's number format.
func memoryColumn() column {
	return plainColumn("matrix", "MB", true, func(r *record.Record) string {
		if r.MatrixBytes == 0 {
			return none
		}
		return fmt.Sprintf("%.1f", float64(r.MatrixBytes)/1e6)
	})
}

// valueColumn is the computed value with up to 17 digits.
func valueColumn() column {
	return groupColumn("", "value", true, func(g group, r *record.Record) string {
		if r.Row != nil {
			return g.value(r, maxValueWidth)
		}
		return g.notation.format(r.Value, maxValueDigits, maxValueWidth+1)
	}).as(valueID)
}

// timeColumn is the median with the reach of its interval.
func timeColumn(ascii bool) column {
	return plainColumn("", "time", true, ifTimed(func(r *record.Record) string {
		return strings.TrimSpace(siTime(r.Time.Median, ascii) + " " + spread(r.Time, ascii))
	}))
}

// ratioColumn is the ratio of the time to that of the baseline, with the reach of its interval.
func ratioColumn(all []group, ascii bool) column {
	baseline := ""
	for _, r := range records(all) {
		if r.Ratio != nil {
			baseline = r.Ratio.Baseline
		}
	}
	return plainColumn("time /", baseline, true, func(r *record.Record) string {
		switch {
		case r.Ratio != nil:
			reach := max(r.Ratio.Hi-r.Ratio.Median, r.Ratio.Median-r.Ratio.Lo) / r.Ratio.Median
			return strings.TrimSpace(threeDigits(r.Ratio.Median) + " " + percentReach(reach, ascii))
		case baseline != "" && r.Method == baseline && hasTime(r):
			return "1"
		}
		return none
	}).as(ratioID)
}

// ifTimed makes a cell of records that have a time.
func ifTimed(cell func(*record.Record) string) func(*record.Record) string {
	return func(r *record.Record) string {
		if !hasTime(r) {
			return none
		}
		return cell(r)
	}
}

func perElementColumn() column {
	return plainColumn("ns per", "element", true, ifTimed(func(r *record.Record) string {
		if ns := perElementNs(r); ns > 0 {
			return fixedDigits(ns)
		}
		return none
	}))
}

// fixedDigits writes numbers so that right-aligned ones have their points in one column.
func fixedDigits(x float64) string {
	if x >= 0.005 && x < 999_999 {
		return strconv.FormatFloat(x, 'f', 2, 64)
	}
	return threeDigits(x)
}

func convertColumn(ascii bool) column {
	return plainColumn("", "convert", true, ifTimed(func(r *record.Record) string {
		if ns := r.Phases[record.PhaseConvert]; ns > 0 {
			return siTime(ns, ascii)
		}
		return none
	}))
}

// oneShotColumn is what a run takes that has to convert its numbers first.
func oneShotColumn(ascii bool) column {
	return plainColumn("", "one-shot", true, ifTimed(func(r *record.Record) string {
		if ns := r.OneShotNs(); ns > 0 {
			return siTime(ns, ascii)
		}
		return none
	}))
}

func bandwidthColumn() column {
	return plainColumn("", "GB/s", true, ifTimed(func(r *record.Record) string {
		if b := r.Throughput.BytesPerSecond; b > 0 {
			return fixedDigits(b / 1e9)
		}
		return none
	}))
}

// flopsColumn is a multiplication and an addition for each stored element of a sparse matrix, in the format's numbers.
func flopsColumn() column {
	return plainColumn("", "GFlop/s", true, ifTimed(func(r *record.Record) string {
		if f := flops(r); f > 0 {
			return fixedDigits(f / 1e9)
		}
		return none
	}))
}

// flops is record.SparseFlops of measured products, 0 for others.
func flops(r *record.Record) float64 {
	if r.Solve != nil || !hasTime(r) {
		return 0
	}
	return r.SparseFlops()
}

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
	_, exponent, _ := strings.Cut(strconv.FormatFloat(x, 'e', 2, 64), "e") // of the rounded number: 9.999 is 10.0
	e, _ := strconv.Atoi(exponent)
	return strconv.FormatFloat(x, 'f', 2-e, 64)
}

func hasTime(r *record.Record) bool { return len(r.Time.Samples) > 0 }

// spread writes how far the interval reaches from the median, in percent of the median: "±3%".
func spread(t record.Timing, ascii bool) string {
	if len(t.Samples) < 2 || t.Median <= 0 {
		return ""
	}
	return percentReach(reach(t), ascii)
}

// percentReach writes how far an interval reaches from its median, relative to it.
func percentReach(reach float64, ascii bool) string {
	sign := "±"
	if ascii {
		sign = "+-"
	}
	percent := 100 * reach
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
