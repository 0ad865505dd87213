package datasets

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"mpbench/internal/suggest"
)

// Kind is the type of a parameter's value.
type Kind uint8

// The kinds of parameters.
const (
	Int    Kind = iota // an integer from Min to Max
	Real               // a float64 from Min to Max
	Choice             // one of Choices
)

// Param declares one parameter of a data set.
type Param struct {
	Name    string
	Meaning string
	Default string // in canonical form
	Kind    Kind
	Min     float64 // Int and Real
	Max     float64
	Choices []string // Choice
}

// Range says in words which values are right, for example "an integer from 0 to 2000".
func (p Param) Range() string {
	switch p.Kind {
	case Int:
		return fmt.Sprintf("an integer from %.0f to %.0f", p.Min, p.Max)
	case Real:
		return fmt.Sprintf("a number from %g to %g", p.Min, p.Max)
	}
	return strings.Join(p.Choices, ", ")
}

// canonical checks a value and returns it in the one form that it has in records.
func (p Param) canonical(text string) (string, error) {
	switch p.Kind {
	case Int:
		v, err := strconv.ParseInt(text, 10, 64)
		if err != nil || float64(v) < p.Min || float64(v) > p.Max {
			return "", usagef("%s=%s: want %s", p.Name, text, p.Range())
		}
		return strconv.FormatInt(v, 10), nil
	case Real:
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || !(v >= p.Min && v <= p.Max) { // NaN is neither
			return "", usagef("%s=%s: want %s", p.Name, text, p.Range())
		}
		return strconv.FormatFloat(v, 'g', -1, 64), nil
	}
	if slices.Contains(p.Choices, text) {
		return text, nil
	}
	if near, ok := suggest.Nearest(text, p.Choices); ok {
		return "", usagef("%s=%s: did you mean %s? (one of: %s)", p.Name, text, near, p.Range())
	}
	return "", usagef("%s=%s: want one of: %s", p.Name, text, p.Range())
}

// MaxN is the largest number of terms that a data set can have.
const MaxN = 1 << 40

// ParseCount reads a number of terms, from 1 to MaxN: "1000000", "1e6", "10^6" or "2^20".
func ParseCount(text string) (int, error) {
	wrong := usagef("n=%s: want an integer from 1 to 2^40, as 1000000, 1e6, 10^6 or 2^20", text)
	if base, exponent, ok := strings.Cut(text, "^"); ok {
		b, err1 := strconv.ParseUint(base, 10, 16)
		e, err2 := strconv.ParseUint(exponent, 10, 6) // at most 63
		if err1 != nil || err2 != nil {
			return 0, wrong
		}
		p := new(big.Int).Exp(new(big.Int).SetUint64(b), new(big.Int).SetUint64(e), nil)
		if p.Sign() == 0 || p.Cmp(big.NewInt(MaxN)) > 0 {
			return 0, wrong
		}
		return int(p.Int64()), nil
	}
	if n, err := strconv.Atoi(text); err == nil {
		if n < 1 || n > MaxN {
			return 0, wrong
		}
		return n, nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || !(f >= 1 && f <= MaxN) || f != math.Trunc(f) {
		return 0, wrong
	}
	return int(f), nil
}

// parseSeed reads a seed, any unsigned 64-bit integer.
func parseSeed(text string) (uint64, error) {
	seed, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, usagef("seed=%s: want an integer from 0 to 2^64 - 1", text)
	}
	return seed, nil
}
