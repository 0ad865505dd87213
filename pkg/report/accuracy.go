package report

import (
	"fmt"
	"math"
	"strings"

	"mpbench/pkg/record"
)

// enoughDigits is how many correct digits are enough, if a method has them: those that float64 always holds.
const enoughDigits = 15

// accuracy is the number of correct bits, +Inf of an exact result, -Inf where it is not known.
func accuracy(r *record.Record) float64 {
	switch {
	case r.ExactResult:
		return math.Inf(1)
	case r.CorrectBits == nil:
		return math.Inf(-1)
	}
	return *r.CorrectBits
}

// correctDigits is the number of correct decimal digits.
func correctDigits(r *record.Record) float64 { return accuracy(r) * math.Log10(2) }

// mostAccurate returns the record with the most correct bits, of several the fastest.
func (g group) mostAccurate() *record.Record {
	best := g.first()
	for _, r := range g.records {
		if accuracy(r) > accuracy(best) {
			best = r
		}
	}
	if f := g.fastest(func(r *record.Record) bool { return accuracy(r) == accuracy(best) }); f != nil {
		return f
	}
	return best
}

// fastest returns the record with the least time among those that are wanted, nil if none has a time.
func (g group) fastest(wanted func(*record.Record) bool) *record.Record {
	var best *record.Record
	for _, r := range g.records {
		if hasTime(r) && wanted(r) && (best == nil || r.Time.Median < best.Time.Median) {
			best = r
		}
	}
	return best
}

// fastestWithEnough returns the fastest record with enough correct digits and how many that are: enoughDigits, or
// those of the most accurate one if it has fewer; nil where no record with a time has a correct digit.
func (g group) fastestWithEnough() (best *record.Record, digits int) {
	most := math.Inf(-1)
	for _, r := range g.records {
		if hasTime(r) {
			most = max(most, correctDigits(r))
		}
	}
	if most < 1 {
		return nil, 0
	}
	digits = int(min(enoughDigits, most))
	return g.fastest(func(r *record.Record) bool { return correctDigits(r) >= float64(digits) }), digits
}

// winner says in a line which method is the fastest with enough digits, "" where there is nothing to choose from.
func (g group) winner(ascii bool) string {
	best, digits := g.fastestWithEnough()
	if best == nil || len(g.records) < 2 {
		return ""
	}
	return fmt.Sprintf("fastest with at least %s: %s, %s", plural(digits, "correct digit", "correct digits"),
		methodCell(best).Text, strings.Join(strings.Fields(siTime(best.Time.Median, ascii)), " "))
}

// wrongFrom returns the byte of a number at which its digits begin to be wrong, and where they end; no digit is wrong
// where both are the same. Names in front, as in "y[3] 1.5", and exponents are left out.
func wrongFrom(text string, r *record.Record) (from, to int) {
	start := strings.LastIndexByte(strings.TrimRight(text, " "), ' ') + 1
	to = len(strings.TrimRight(text, " "))
	if e := strings.IndexByte(text[start:], 'e'); e >= 0 {
		to = start + e
	}
	right := math.Floor(correctDigits(r))
	if strings.ContainsAny(text[start:to], "NIn") || right >= float64(to) {
		return to, to
	}
	counting := false
	for i := start; i < to; i++ {
		digit := text[i] >= '0' && text[i] <= '9'
		counting = counting || digit && text[i] != '0'
		if !digit || !counting {
			continue
		}
		if right--; right < 0 {
			return i, to
		}
	}
	if !counting && right < 1 { // 0 instead of another number
		return start, to
	}
	return to, to
}
