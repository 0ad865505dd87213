package report

import (
	"fmt"
	"strconv"
	"strings"

	"mpbench/pkg/record"
)

// A column of a table for people. Its cells are made from one record each.
type column struct {
	head  [2]string // two lines
	right bool      // aligned to the right
	cell  func(g group, r *record.Record) string
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

func text(s string) string {
	if s == "" {
		return none
	}
	return s
}

// plainColumn makes a column whose cells need the record only.
func plainColumn(top, bottom string, right bool, cell func(*record.Record) string) column {
	return column{[2]string{top, bottom}, right, func(_ group, r *record.Record) string { return cell(r) }}
}

// variantColumns are choices that tell rows apart. Each is shown only if it differs between records.
var variantColumns = []column{
	plainColumn("", "device", false, func(r *record.Record) string { return r.Device }),
	plainColumn("", "threads", true, func(r *record.Record) string { return count(r.Threads) }),
	plainColumn("moduli", "bits", true, func(r *record.Record) string { return count(r.ModuliBits) }),
	plainColumn("", "rounding", false, func(r *record.Record) string { return text(r.Rounding) }),
	plainColumn("", "alignment", false, func(r *record.Record) string { return text(r.Alignment) }),
	plainColumn("", "blocks", true, func(r *record.Record) string { return count(r.Blocks) }),
	plainColumn("block", "size", true, func(r *record.Record) string { return count(r.BlockSize) }),
}

// variants returns the variant columns that are needed for the groups: those with two different cells for one method at one precision, and
// the device if it is not the CPU throughout.
func variants(all []group) []column {
	var needed []column
	for i, c := range variantColumns {
		first := map[string]string{} // the first cell of each method at each precision
		differs := false
		for _, g := range all {
			for _, r := range g.records {
				cell := c.cell(g, r)
				row := fmt.Sprint(r.Method, r.PrecisionBits)
				if before, ok := first[row]; ok && cell != before || i == 0 && cell != "cpu" {
					differs = true
				}
				first[row] = cell
			}
		}
		if differs {
			needed = append(needed, c)
		}
	}
	return needed
}

var (
	bitsColumn    = plainColumn("", "bits", true, bitsCell)
	correctColumn = plainColumn("corr.", "bits", true, correctBits)
	okColumn      = plainColumn("", "ok", false, withinBound)
	moduliColumn  = plainColumn("", "moduli", true, func(r *record.Record) string { return count(r.Moduli) })
	samplesColumn = plainColumn("", "samples", true, func(r *record.Record) string { return count(len(r.Time.Samples)) })
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

// errorColumn and boundColumn are headed by the kind of error that the group asks for.
func errorColumn(kind string) column {
	return column{[2]string{kind, "error"}, true, group.errorText}
}

func boundColumn(kind string) column {
	return column{[2]string{kind, "bound"}, true, group.boundText}
}

// valueColumn is the computed value with up to 17 digits.
func valueColumn() column {
	return column{[2]string{"", "value"}, true, func(g group, r *record.Record) string {
		if r.Row != nil {
			return g.value(r, maxValueWidth)
		}
		return g.notation.format(r.Value, maxValueDigits, maxValueWidth+1)
	}}
}

// timeColumn is the median with the reach of its interval.
func timeColumn(ascii bool) column {
	return plainColumn("", "time", true, ifTimed(func(r *record.Record) string {
		return strings.TrimSpace(siTime(r.Time.Median, ascii) + " " + spread(r.Time, ascii))
	}))
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

func bandwidthColumn() column {
	return plainColumn("", "GB/s", true, ifTimed(func(r *record.Record) string {
		if b := r.Throughput.BytesPerSecond; b > 0 {
			return fixedDigits(b / 1e9)
		}
		return none
	}))
}
