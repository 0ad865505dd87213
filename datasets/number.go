package datasets

import (
	"math"
	"math/big"
	"strconv"
	"strings"
)

// Limits on one number in a text file. They keep the cost of a file in proportion to its size; the exponents go far
// beyond every format in use (binary128 ends at 10^4932).
const (
	maxNumberLength    = 20_000
	maxDecimalExponent = 100_000
	maxBinaryExponent  = 400_000
)

// numeral is the outline of a number in text.
type numeral struct {
	hex      bool
	special  bool // an infinity or NaN
	digits   int  // significant digits, without leading and trailing zeros; 0 for the number 0
	exponent int  // as written, saturated at +-2^30
}

// outline checks that text is a number and returns its outline: a decimal with an optional exponent, a hexadecimal
// number with a binary exponent (0x1.8p3), inf, infinity or nan, each with an optional sign.
func outline(text string) (numeral, bool) {
	s := text
	if s != "" && (s[0] == '+' || s[0] == '-') {
		s = s[1:]
	}
	var n numeral
	if n.hex = len(s) > 1 && s[0] == '0' && s[1]|0x20 == 'x'; n.hex {
		s = s[2:]
	}
	s, ok := n.significand(s)
	if !ok {
		n.special = !n.hex && (equalFold(s, "inf") || equalFold(s, "infinity") || equalFold(s, "nan"))
		return n, n.special
	}
	if s == "" {
		return n, !n.hex // hexadecimal needs its exponent, as in C and in Go
	}
	return n, n.readExponent(s)
}

func equalFold(a, b string) bool { return len(a) == len(b) && strings.EqualFold(a, b) }

// significand counts the significant digits at the start of s and returns what follows; ok is whether there was a digit.
func (n *numeral) significand(s string) (rest string, ok bool) {
	zeros := 0 // since the last significant digit that is not 0
	point := false
	for i := range len(s) {
		c := s[i]
		switch {
		case c == '0':
			ok = true
			if n.digits > 0 {
				zeros++
			}
		case '1' <= c && c <= '9', n.hex && 'a' <= c|0x20 && c|0x20 <= 'f':
			ok = true
			n.digits += zeros + 1
			zeros = 0
		case c == '.' && !point:
			point = true
		default:
			return s[i:], ok
		}
	}
	return "", ok
}

// readExponent reads "e-12" or, in hexadecimal, "p-12"; it returns whether s is just that.
func (n *numeral) readExponent(s string) bool {
	mark := byte('e')
	if n.hex {
		mark = 'p'
	}
	if s[0]|0x20 != mark {
		return false
	}
	s = s[1:]
	sign := 1
	if s != "" && (s[0] == '+' || s[0] == '-') {
		if s[0] == '-' {
			sign = -1
		}
		s = s[1:]
	}
	if s == "" {
		return false
	}
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return false
		}
		n.exponent = min(n.exponent*10+int(c-'0'), 1<<30)
	}
	n.exponent *= sign
	return true
}

// limits returns what is too large about a number, or "".
func (n numeral) limits() string {
	limit := maxDecimalExponent
	if n.hex {
		limit = maxBinaryExponent
	}
	if n.exponent > limit || n.exponent < -limit {
		return "has an exponent beyond " + strconv.Itoa(limit)
	}
	return ""
}

// number converts text with the given outline: to a float64, or to a rational where the reading keeps the number exactly
// and it is no float64.
func (n numeral) number(text string, reading Reading) (float64, *big.Rat) {
	if n.special {
		return specialValue(text), nil
	}
	f, err := strconv.ParseFloat(text, 64)
	lost := err != nil || f == 0 && n.digits > 0 // out of range: the syntax has been checked
	switch {
	case lost:
	case n.digits == 0:
		return f, nil
	case n.hex && n.digits <= 13 && math.Abs(f) >= 0x1p-1022:
		return f, nil // at most 52 bits: nothing was rounded
	case !n.hex && n.digits <= 17 && reading == Double:
		return f, nil
	}
	r, _ := new(big.Rat).SetString(text)
	if f, exact := r.Float64(); exact {
		return f, nil
	}
	return 0, r
}

// specialValue returns the infinity or NaN that text names. The sign of a NaN, which C prints, is ignored.
func specialValue(text string) float64 {
	switch {
	case text[len(text)-1]|0x20 == 'n':
		return math.NaN()
	case text[0] == '-':
		return math.Inf(-1)
	}
	return math.Inf(1)
}
