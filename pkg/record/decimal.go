package record

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A Decimal is a number in a record, as it was written. It keeps all digits and any exponent, so that errors
// like 1e-5000 survive where float64 would make them 0.
type Decimal struct {
	Special string // "NaN" or "Inf"; empty for a number
	Neg     bool
	Digits  string // significant digits without zeros at either end; empty for zero
	Exp     int64  // the number is d.ddd... * 10^Exp with the digits of Digits
}

// maxDecimalExp bounds exponents, to keep arithmetic on them free of overflow.
const maxDecimalExp = 1 << 60

// ParseDecimal reads [+-]digits[.digits][e[+-]digits], where one of the two digit strings may be empty, or
// "NaN", "Inf", "+Inf", "-Inf".
func ParseDecimal(s string) (Decimal, error) {
	var d Decimal
	rest := s
	if strings.HasPrefix(rest, "-") || strings.HasPrefix(rest, "+") {
		d.Neg = rest[0] == '-'
		rest = rest[1:]
	}
	if rest == "Inf" || s == "NaN" {
		d.Special = rest
		return d, nil
	}
	mantissa, exponent, hasExp := strings.Cut(strings.ReplaceAll(rest, "E", "e"), "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := whole + fraction
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return Decimal{}, fmt.Errorf("%q is not a number", clip(s))
	}
	if hasExp {
		e, err := strconv.ParseInt(exponent, 10, 64)
		if err != nil || e > maxDecimalExp || e < -maxDecimalExp {
			return Decimal{}, fmt.Errorf("%q has no valid exponent", clip(s))
		}
		d.Exp = e
	}
	significant := strings.TrimLeft(digits, "0")
	d.Exp += int64(len(whole)) - 1 - int64(len(digits)-len(significant))
	d.Digits = strings.TrimRight(significant, "0")
	if d.Digits == "" {
		d.Exp = 0
	}
	return d, nil
}

func clip(s string) string {
	if len(s) > 40 {
		return s[:37] + "..."
	}
	return s
}

// IsFinite tells whether d is a number, not an infinity or NaN.
func (d Decimal) IsFinite() bool { return d.Special == "" }

// IsZero tells whether d is 0.
func (d Decimal) IsZero() bool { return d.Special == "" && d.Digits == "" }

// Round returns d rounded to n >= 1 significant digits, to nearest, ties to even.
func (d Decimal) Round(n int) Decimal {
	if len(d.Digits) <= n {
		return d
	}
	kept, tail := []byte(d.Digits[:n]), d.Digits[n:]
	up := tail > "5" || tail == "5" && kept[n-1]%2 == 1 // '0' is even, and tails have no zeros at the end
	d.Digits = string(kept)
	if up {
		i := n - 1
		for ; i >= 0 && kept[i] == '9'; i-- {
		}
		if i < 0 {
			d.Digits, d.Exp = "1", d.Exp+1
			return d
		}
		kept[i]++
		d.Digits = string(kept[:i+1])
	}
	d.Digits = strings.TrimRight(d.Digits, "0")
	return d
}

// Sci returns d in scientific notation with n >= 1 digits, or as many as it has if n is 0: "3.48734e-06".
func (d Decimal) Sci(n int) string {
	if d.Special != "" || d.Digits == "" {
		return d.plainOrSpecial()
	}
	if n > 0 {
		d = d.Round(n)
	}
	mantissa := d.Digits[:1]
	if rest := d.Digits[1:] + zeros(n-len(d.Digits)); rest != "" {
		mantissa += "." + rest
	}
	return fmt.Sprintf("%s%se%+03d", d.sign(), mantissa, d.Exp)
}

// Plain returns d without an exponent, rounded to n >= 1 significant digits, or with all that it has if n is 0.
// Zeros at the end of the fraction are kept where digits were dropped, as they are digits of the rounded number.
// It is meant for exponents of moderate size: the text has as many characters as the exponent asks for.
func (d Decimal) Plain(n int) string {
	if d.Special != "" || d.Digits == "" {
		return d.plainOrSpecial()
	}
	if n > 0 && len(d.Digits) > n {
		d = d.Round(n)
		d.Digits += zeros(n - len(d.Digits))
	}
	point := int(d.Exp) + 1 // digits before the point
	switch {
	case point <= 0:
		return d.sign() + "0." + zeros(-point) + d.Digits
	case point >= len(d.Digits):
		return d.sign() + d.Digits + zeros(point-len(d.Digits))
	}
	return d.sign() + d.Digits[:point] + "." + d.Digits[point:]
}

func (d Decimal) plainOrSpecial() string {
	switch {
	case d.Special == "NaN":
		return "NaN"
	case d.Special != "" && !d.Neg:
		return "+Inf"
	case d.Special != "":
		return "-Inf"
	}
	return "0"
}

func (d Decimal) sign() string {
	if d.Neg {
		return "-"
	}
	return ""
}

func zeros(n int) string { return strings.Repeat("0", max(n, 0)) }

// Log10 returns log10 |d|: -Inf for 0, whatever the size of d otherwise; NaN for NaN.
func (d Decimal) Log10() float64 {
	switch {
	case d.Special == "NaN":
		return math.NaN()
	case d.Special != "":
		return math.Inf(1)
	case d.Digits == "":
		return math.Inf(-1)
	}
	m, _ := strconv.ParseFloat(d.Digits[:1]+"."+d.Digits[1:], 64)
	return float64(d.Exp) + math.Log10(m)
}

// CmpAbs compares magnitudes: -1, 0 or 1. Infinities are above all numbers; a NaN is equal to everything.
func (d Decimal) CmpAbs(other Decimal) int {
	switch {
	case d.Special == "NaN" || other.Special == "NaN":
		return 0
	case d.Special != other.Special:
		return cmp.Compare(len(d.Special), len(other.Special))
	case d.Digits == "" || other.Digits == "":
		return cmp.Compare(min(len(d.Digits), 1), min(len(other.Digits), 1))
	case d.Exp != other.Exp:
		return cmp.Compare(d.Exp, other.Exp)
	}
	return strings.Compare(d.Digits, other.Digits)
}
